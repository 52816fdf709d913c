//! Lists of definitions and single definitions, as Elsa's clients read them; and helpers for the other tests of
//! definitions.

use serde_json::{Value, json};

use crate::support::{Api, World};

/// A workflow of one line.
pub fn line(id: &str, name: &str) -> Value {
    json!({"definitionId": id, "name": name, "root": {"type": "Elsa.Sequence", "id": "root", "activities": [
        {"type": "Elsa.WriteLine", "id": "say", "text": "hello"}]}})
}

/// Publishes a document as a role, without the gateway.
pub fn define(world: &World, role: &str, document: &Value) {
    world.sql(&format!("SET ROLE {role}; SELECT wf_define({})", quoted(&document.to_string())));
}

/// A text as a SQL literal.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The definition as an editor opens it.
pub fn open(api: &Api, id: &str) -> Value {
    api.get(&format!("/workflow-definitions/by-definition-id/{id}?versionOptions=Latest")).ok()
}

/// Saves a definition as an editor does.
pub fn save(api: &Api, model: &Value, publish: bool) -> crate::support::Answer {
    api.post("/workflow-definitions", &json!({"model": model, "publish": publish}))
}

/// The latest content of a definition as the database exports it.
pub fn exported(world: &World, id: &str) -> Value {
    let text = world.value(&format!("SELECT wf_export({})::text", quoted(id))).expect("an export");
    serde_json::from_str(&text).expect("JSON")
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().expect("items").iter().map(|item| item["name"].as_str().expect("a name")).collect()
}

/// Fails unless the object has exactly these members.
pub fn has_members(object: &Value, members: &[&str]) {
    let mut known: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut members = members.to_vec();
    known.sort_unstable();
    members.sort_unstable();
    assert_eq!(known, members);
}

/// ISO 8601 with an offset.
pub fn is_time(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.len() >= 20 && &text[10..11] == "T" && (text.ends_with('Z') || &text[text.len() - 6..text.len() - 5] == "+")
}

#[test]
fn a_list_has_summaries_and_links() {
    let world = World::new();
    let ada = world.client("ada");
    for (id, name) in [("b", "Beta"), ("a", "Alpha"), ("c", "Gamma 50%")] {
        define(&world, "ada", &line(id, name));
    }
    define(&world, "ada", &json!({"definitionId": "a", "name": "Alpha", "description": "new", "root": []}));
    let list = ada.get(
        "/workflow-definitions?versionOptions=Latest&Page=0&PageSize=2&SearchTerm=&IsSystem=False&OrderBy=Name\
         &OrderDirection=Ascending",
    );
    let list = list.ok();
    assert_eq!((names(&list), &list["totalCount"]), (vec!["Alpha", "Beta"], &json!(3)));
    has_members(&list, &["items", "totalCount", "links"]);
    assert!(list["links"].as_array().unwrap().iter().any(|link| link["rel"] == "bulk-publish"));
    let first = &list["items"][0];
    has_members(
        first,
        &[
            "id",
            "definitionId",
            "name",
            "description",
            "version",
            "createdAt",
            "isLatest",
            "isPublished",
            "materializerName",
            "isMaterializerAvailable",
            "links",
        ],
    );
    assert_eq!(
        (&first["definitionId"], &first["version"], &first["isLatest"], &first["isPublished"]),
        (&json!("a"), &json!(2), &json!(true), &json!(true))
    );
    assert!(is_time(&first["createdAt"]) && first["materializerName"] == "Json");
    assert_eq!(
        first["links"],
        json!([{"href": "/workflow-definitions/a/publish", "rel": "publish", "method": "POST"}])
    );
    let get = |query: &str| ada.get(&format!("/workflow-definitions?{query}")).ok();
    assert_eq!(names(&get("versionoptions=latest&page=1&pagesize=2&orderby=name")), ["Gamma 50%"]);
    let beyond = get("versionOptions=Latest&Page=9&PageSize=2");
    assert_eq!((names(&beyond).len(), &beyond["totalCount"]), (0, &json!(3)));
    assert_eq!(names(&get("versionOptions=Latest&SearchTerm=50%25")), ["Gamma 50%"]);
    assert_eq!(names(&get("versionOptions=Latest&SearchTerm=ALPHA")), ["Alpha"]);
    let versions = get("versionOptions=AllVersions&DefinitionIds=a&OrderBy=Version&OrderDirection=Descending");
    assert_eq!((&versions["items"][0]["version"], &versions["items"][1]["version"]), (&json!(2), &json!(1)));
    assert_eq!(names(&get("versionOptions=Published&DefinitionIds=a&DefinitionIds=b&OrderBy=Name")), ["Alpha", "Beta"]);
    assert_eq!(names(&get("versionOptions=Draft&OrderBy=Name")), ["Alpha"]);
    assert_eq!(get("versionOptions=1")["totalCount"], 3);
    assert_eq!(get("versionOptions=LatestAndPublished")["totalCount"], 3);
    assert_eq!(get("versionOptions=LatestOrPublished")["totalCount"], 3);
    assert_eq!(get("versionOptions=Latest&IsSystem=True")["totalCount"], 0);
    assert_eq!(get("versionOptions=Latest&PageSize=0")["totalCount"], 3);
    for wrong in [
        "versionOptions=Newest",
        "Page=-1&PageSize=10",
        "PageSize=x",
        "IsSystem=perhaps",
        "OrderBy=Size",
        "OrderDirection=Up",
        "PageSize=99999999999999999999",
    ] {
        assert!(!ada.get(&format!("/workflow-definitions?{wrong}")).errors(400).is_empty(), "{wrong}");
    }
    assert_eq!(get("Page=9223372036854775807&PageSize=9223372036854775807")["items"], json!([]));
}

#[test]
fn versions_are_found_by_id_when_they_are_deleted() {
    let world = World::new();
    let ada = world.client("ada");
    define(&world, "ada", &line("a", "Alpha"));
    define(&world, "ada", &line("b", "Beta"));
    let id = |id: &str| open(&ada, id)["id"].as_str().unwrap().to_owned();
    let (a, b) = (id("a"), id("b"));
    ada.post("/workflow-definitions/a/execute", &json!({})).ok();
    assert_eq!(ada.delete("/workflow-definitions/a").status, 204);
    let list =
        ada.get(&format!("/workflow-definitions?versionOptions=&Ids={a}&Ids={b}&Ids=nonsense&OrderBy=Name")).ok();
    assert_eq!(names(&list), ["Alpha", "Beta"]);
    assert_eq!(list["items"][0]["links"], json!([]));
    // Invalid ids are not the same as no ids.
    assert_eq!(ada.get("/workflow-definitions?versionOptions=&Ids=nonsense").ok()["totalCount"], 0);
    let deleted = ada.get(&format!("/workflow-definitions/by-id/{a}")).ok();
    assert_eq!(
        (&deleted["definitionId"], &deleted["isLatest"], &deleted["links"]),
        (&json!("a"), &json!(false), &json!([]))
    );
    assert_eq!(ada.get("/workflow-definitions/by-definition-id/a").status, 404);
    let many = ada.get(&format!("/workflow-definitions/many-by-id?ids={a}&ids={b}&ids=x")).ok();
    assert_eq!((&many["count"], &many["items"][1]["id"]), (&json!(2), &json!(b)));
}

/// Studio drops instances of versions that are not in the list, and a requester may not be able to read the version.
#[test]
fn versions_of_requested_instances_are_found_by_id() {
    let world = World::new();
    define(&world, "ada", &line("a", "Alpha"));
    define(&world, "ada", &line("b", "Beta"));
    world.sql("SET ROLE ada; SELECT wf_grant('a', 'ben', '{start}')");
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    let versions = ["a", "b"].map(|id| open(&ada, id)["id"].as_str().expect("an id").to_owned());
    let address = format!("/workflow-definitions?versionOptions=&Ids={}&Ids={}", versions[0], versions[1]);
    assert_eq!(ben.get(&address).ok()["totalCount"], 0);
    ben.post("/workflow-definitions/a/execute", &json!({"versionOptions": "Published"})).ok();
    let list = ben.get(&address).ok();
    let found = &list["items"][0];
    assert_eq!((&list["totalCount"], &found["id"], &found["name"]), (&json!(1), &json!(versions[0]), &json!("a")));
    assert_eq!((&found["version"], &found["isPublished"], &found["links"]), (&json!(1), &json!(false), &json!([])));
    assert_eq!(ben.get(&format!("/workflow-definitions/by-id/{}", versions[0])).status, 404);
    assert_eq!(ada.get(&address).ok()["totalCount"], 2);
}

#[test]
fn a_definition_has_what_studio_reads() {
    let world = World::new();
    let ada = world.client("ada");
    define(
        &world,
        "ada",
        &json!({"definitionId": "x", "name": "X", "variables": {"Rate": 0.5},
        "inputs": [{"name": "A", "type": "Decimal"}], "outputs": [{"name": "B", "type": "String"}],
        "root": [{"type": "If", "id": "if1", "condition": true, "then": {"type": "WriteLine", "id": "w", "text": "x"}}]}),
    );
    let model = open(&ada, "x");
    has_members(
        &model,
        &[
            "id",
            "definitionId",
            "name",
            "description",
            "createdAt",
            "version",
            "isLatest",
            "isPublished",
            "isReadonly",
            "toolVersion",
            "materializerName",
            "providerName",
            "variables",
            "inputs",
            "outputs",
            "outcomes",
            "customProperties",
            "options",
            "root",
            "links",
        ],
    );
    has_members(
        &model["options"],
        &[
            "activationStrategyType",
            "usableAsActivity",
            "autoUpdateConsumingWorkflows",
            "activityCategory",
            "incidentStrategyType",
            "commitStrategyName",
        ],
    );
    assert_eq!(
        model["variables"],
        json!([{"id": "Rate", "name": "Rate", "typeName": "Object", "isArray": false, "value": "0.5"}])
    );
    assert_eq!((&model["inputs"][0]["type"], &model["inputs"][0]["isArray"]), (&json!("Decimal"), &json!(false)));
    assert_eq!((&model["outcomes"], &model["outputs"][0]["name"]), (&json!([]), &json!("B")));
    assert_eq!((&model["materializerName"], &model["isReadonly"]), (&json!("Json"), &json!(false)));
    assert!(is_time(&model["createdAt"]) && model["toolVersion"] == "3.6.0.0");
    assert_eq!(model["root"]["activities"][0]["then"]["nodeId"], "Workflow1:Sequence1:if1:w");
    assert!(model["links"].as_array().unwrap().iter().any(|link| link["rel"] == "publish"));
    let again = ada.get(&format!("/workflow-definitions/by-id/{}", model["id"].as_str().unwrap())).ok();
    assert_eq!(again["root"], model["root"]);
}

#[test]
fn what_is_not_there_is_not_found() {
    let world = World::new();
    let ada = world.client("ada");
    let nobody = "00000000-0000-7000-8000-000000000000";
    for path in [
        "/workflow-definitions/by-definition-id/none".to_owned(),
        "/workflow-definitions/by-id/none".to_owned(),
        format!("/workflow-definitions/by-id/{nobody}"),
        "/workflow-definitions/none/export".to_owned(),
        "/workflow-definitions/none/consumers".to_owned(),
        format!("/workflow-definitions/subgraph/{nobody}"),
        "/workflow-definitions/subgraph/segments/none?childNodeId=Workflow1".to_owned(),
    ] {
        assert_eq!(ada.get(&path).status, 404, "{path}");
    }
    for path in ["publish", "retract", "execute", "dispatch", "revert/1", "revert/x", "update-references"] {
        assert_eq!(ada.post(&format!("/workflow-definitions/none/{path}"), &json!({})).status, 404, "{path}");
    }
    for path in ["/workflow-definitions/none", "/workflow-definition-versions/none"] {
        assert_eq!(ada.delete(path).status, 404);
    }
    assert_eq!(ada.delete(&format!("/workflow-definition-versions/{nobody}")).status, 404);
    assert_eq!(ada.get("/workflow-definitions/by-definition-id/a%00b").status, 400);
}

#[test]
fn names_and_numbers_are_told() {
    let world = World::new();
    let ada = world.client("ada");
    define(&world, "ada", &line("a", "Alpha"));
    let unique = |query: &str| ada.get(&format!("/workflow-definitions/validation/is-name-unique?{query}")).ok();
    assert_eq!(unique("name=Alpha"), json!({"isUnique": false}));
    assert_eq!(unique("name=Alpha&definitionId=a"), json!({"isUnique": true}));
    assert_eq!(unique("name=Workflow%201"), json!({"isUnique": true}));
    assert_eq!(ada.get("/workflow-definitions/validation/is-name-unique").status, 400);
    assert_eq!(ada.get("/workflow-definitions/query/count").ok(), json!({"count": 1}));
}

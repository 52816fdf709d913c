//! Publishing, retracting, rolling back and deleting, one by one and many at once; and who may do it.

use std::io::{Cursor, Read as _};

use serde_json::{Value, json};

use crate::definitions::{define, exported, has_members, line, open, quoted, save};
use crate::definitions_save::through_studio;
use crate::support::{Answer, World};

#[test]
fn a_definition_is_published_and_retracted() {
    let world = World::new();
    let ada = world.client("ada");
    save(&ada, &line("a", "Alpha"), false).ok();
    let published = ada.post("/workflow-definitions/a/publish", &json!({})).ok();
    has_members(&published, &["workflowDefinition", "alreadyPublished", "consumingWorkflowCount", "validationErrors"]);
    assert_eq!(
        (&published["workflowDefinition"]["isPublished"], &published["alreadyPublished"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(ada.post("/workflow-definitions/a/publish", &json!({})).ok()["alreadyPublished"], true);
    let retracted = ada.post("/workflow-definitions/a/retract", &json!({})).ok();
    assert_eq!((&retracted["definitionId"], &retracted["isPublished"]), (&json!("a"), &json!(false)));
    assert_eq!(ada.post("/workflow-definitions/a/retract", &json!({})).ok()["isPublished"], false);
    save(&ada, &json!({"definitionId": "bad", "root": {"type": "Elsa.Nonsense", "id": "n"}}), false).ok();
    let problems = ada.post("/workflow-definitions/bad/publish", &json!({})).errors(400);
    assert!(problems.iter().any(|text| text.starts_with("n: ")), "{problems:?}");
}

#[test]
fn a_version_comes_back() {
    let world = World::new();
    let ada = world.client("ada");
    define(&world, "ada", &line("a", "One"));
    define(&world, "ada", &line("a", "Two"));
    let summary = ada.send("POST", "/workflow-definitions/a/revert/1", "").ok();
    assert_eq!(
        (&summary["version"], &summary["name"], &summary["isPublished"]),
        (&json!(3), &json!("One"), &json!(false))
    );
    assert_eq!(exported(&world, "a")["name"], "One");
    // The draft that was the latest version stays as a version of its own.
    let mut model = through_studio(&open(&ada, "a"));
    model["name"] = json!("Draft");
    save(&ada, &model, false).ok();
    let summary = ada.send("POST", "/workflow-definitions/a/revert/2", "").ok();
    assert_eq!((&summary["version"], &summary["name"]), (&json!(4), &json!("Two")));
    let list = ada.get("/workflow-definitions?versionOptions=3&DefinitionIds=a").ok();
    assert_eq!(list["items"][0]["name"], "Draft");
    assert_eq!(ada.send("POST", "/workflow-definitions/a/revert/9", "").status, 404);
    // An editor continues from what it reads then.
    let opened = ada.get(&format!("/workflow-definitions/by-id/{}", summary["id"].as_str().unwrap())).ok();
    save(&ada, &through_studio(&opened), false).ok();
}

#[test]
fn what_is_in_use_is_not_deleted() {
    let world = World::new();
    let ada = world.client("ada");
    let waits = json!({"definitionId": "w", "name": "W", "root": [{"type": "RunTask", "taskName": "Check"}]});
    define(&world, "ada", &waits);
    define(&world, "ada", &line("a", "Alpha"));
    ada.post("/workflow-definitions/w/execute", &json!({"versionOptions": "Latest"})).ok();
    let refused = ada.delete("/workflow-definitions/w").errors(409);
    assert!(refused[0].contains("is in use") && refused[1].contains("has not ended"), "{refused:?}");
    let version = open(&ada, "w")["id"].as_str().unwrap().to_owned();
    assert_eq!(ada.delete(&format!("/workflow-definition-versions/{version}")).status, 409);
    let bulk = |ids: Value| {
        ada.post("/bulk-actions/delete/workflow-definitions/by-definition-id", &json!({"definitionIds": ids}))
    };
    let answer = bulk(json!(["a", "w", "none", "a"])).ok();
    assert_eq!((&answer["deleted"], &answer["failed"][0]["id"]), (&json!(1), &json!("w")));
    assert_eq!(bulk(json!(["w"])).status, 409);
    assert_eq!(bulk(json!(["none"])).ok()["deleted"], 0);
    assert_eq!(ada.get("/workflow-definitions?versionOptions=Latest").ok()["totalCount"], 1);
}

#[test]
fn versions_are_deleted_one_by_one() {
    let world = World::new();
    let ada = world.client("ada");
    for name in ["One", "Two", "Three", "Four"] {
        define(&world, "ada", &line("a", name));
    }
    let list = ada
        .get(
            "/workflow-definitions?versionOptions=AllVersions&DefinitionIds=a&OrderBy=Version&OrderDirection=Ascending",
        )
        .ok();
    let ids: Vec<&str> = list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(ada.delete(&format!("/workflow-definition-versions/{}", ids[0])).status, 204);
    assert_eq!(ada.delete(&format!("/workflow-definition-versions/{}", ids[0])).status, 404);
    let answer =
        ada.post("/bulk-actions/delete/workflow-definitions/by-id", &json!({"ids": [ids[1], ids[2], "x"]})).ok();
    assert_eq!(answer["deleted"], 2);
    assert_eq!(ada.get("/workflow-definitions?versionOptions=AllVersions").ok()["items"][0]["name"], "Four");
}

#[test]
fn many_are_published_and_retracted_each_on_its_own() {
    let world = World::new();
    let ada = world.client("ada");
    save(&ada, &line("a", "Alpha"), false).ok();
    save(&ada, &json!({"definitionId": "bad", "root": {"type": "Elsa.Nonsense", "id": "n"}}), false).ok();
    define(&world, "ada", &line("b", "Beta"));
    let ids = json!({"definitionIds": ["bad", "a", "b", "none"]});
    let answer = ada.post("/bulk-actions/publish/workflow-definitions/by-definition-ids", &ids).ok();
    has_members(&answer, &["published", "alreadyPublished", "notFound", "updatedConsumers", "failed"]);
    assert_eq!(
        (&answer["published"], &answer["alreadyPublished"], &answer["notFound"], &answer["failed"][0]["id"]),
        (&json!(["a"]), &json!(["b"]), &json!(["none"]), &json!("bad"))
    );
    let ids = json!({"definitionIds": ["a", "bad", "none"]});
    let answer = ada.post("/bulk-actions/retract/workflow-definitions/by-definition-ids", &ids).ok();
    assert_eq!(
        (&answer["retracted"], &answer["alreadyRetracted"], &answer["notFound"]),
        (&json!(["a"]), &json!(["bad"]), &json!(["none"]))
    );
    let many: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
    for call in ["publish/workflow-definitions/by-definition-ids", "delete/workflow-definitions/by-definition-id"] {
        assert_eq!(ada.post(&format!("/bulk-actions/{call}"), &json!({"definitionIds": many})).status, 400);
        assert_eq!(ada.post(&format!("/bulk-actions/{call}"), &json!({"ids": []})).status, 400);
    }
}

/// A definition that is used as an activity, and one that uses it.
fn define_consumer(world: &World) {
    let inner = json!({"definitionId": "inner", "name": "Inner", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true},
        "root": {"type": "Sequence", "id": "steps", "activities": [{"type": "If", "id": "if1", "condition": true, "then": {"type": "WriteLine", "id": "deep", "text": "x"}}]}});
    define(world, "ada", &inner);
    let outer = json!({"definitionId": "outer", "name": "Outer", "root": {"type": "Flowchart", "id": "f",
        "activities": [{"type": "Inner", "id": "use"}, {"type": "WriteLine", "id": "after", "text": "y"}]}});
    define(world, "ada", &outer);
}

#[test]
fn consumers_are_told_and_updated() {
    let world = World::new();
    let ada = world.client("ada");
    define_consumer(&world);
    let consumers = |id: &str| ada.get(&format!("/workflow-definitions/{id}/consumers")).ok();
    assert_eq!(consumers("inner"), json!({"consumingWorkflowDefinitionIds": ["outer"]}));
    assert_eq!(consumers("outer"), json!({"consumingWorkflowDefinitionIds": []}));
    let mut model = through_studio(&open(&ada, "inner"));
    model["description"] = json!("changed");
    let saved = save(&ada, &model, true).ok();
    assert_eq!(saved["consumingWorkflowCount"], 1);
    assert_eq!(open(&ada, "outer")["version"], 2);
    let updated = ada.post("/workflow-definitions/inner/update-references", &json!({})).ok();
    assert_eq!(updated, json!({"affectedWorkflows": []}));
    world.sql("SET ROLE ada; SELECT wf_define(wf_export('outer', 1) - 'version' || '{\"description\": \"again\"}')");
    let refused = ada.delete("/workflow-definitions/inner").errors(409);
    assert!(refused[0].contains("another workflow definition uses it"), "{refused:?}");
}

#[test]
fn definitions_are_files() {
    let world = World::new();
    let ada = world.client("ada");
    define_consumer(&world);
    let file = ada.get("/workflow-definitions/outer/export?versionOptions=Latest&includeConsumingWorkflows=False");
    assert_eq!(file.headers["content-disposition"], "attachment; filename=\"workflow-definition-outer.json\"");
    assert_eq!(file.ok(), exported(&world, "outer"));
    assert_eq!(ada.get("/workflow-definitions/outer/export?versionOptions=7").status, 404);
    let archive = unzip(ada.bytes("GET", "/workflow-definitions/inner/export?includeConsumingWorkflows=True", ""));
    let names: Vec<&str> = archive.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["workflow-definition-inner.json", "workflow-definition-outer.json"]);
    assert_eq!(archive[1].1, exported(&world, "outer"));
    let ids = json!({"ids": [open(&ada, "inner")["id"], open(&ada, "outer")["id"]], "includeConsumingWorkflows": true});
    let archive = unzip(ada.bytes("POST", "/bulk-actions/export/workflow-definitions", &ids.to_string()));
    assert_eq!(archive.len(), 2);
    assert_eq!(ada.post("/bulk-actions/export/workflow-definitions", &json!({"ids": ["x"]})).status, 404);
    // A file of Elsa's is stored unchanged, and any other is refused.
    let elsa = json!({"$schema": "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json", "definitionId": "elsa", "id": "7", "name": "Elsa",
        "createdAt": "2024-01-01T00:00:00+00:00", "toolVersion": "3.2.0.0", "description": null, "options": {"commitStrategyName": null},
        "root": {"type": "Elsa.Flowchart", "version": 1, "id": "f", "nodeId": "Workflow1:f", "activities": [], "connections": []}});
    let imported = ada.post("/workflow-definitions/import", &elsa).ok();
    assert_eq!((&imported["definitionId"], &imported["toolVersion"]), (&json!("elsa"), &json!("3.2.0.0")));
    let stored = exported(&world, "elsa");
    for member in ["id", "createdAt", "toolVersion", "description", "options"] {
        assert_eq!(stored[member], elsa[member], "{member}");
    }
    assert_eq!(ada.post("/workflow-definitions/import", &json!({"name": "x"})).status, 400);
}

pub fn unzip(content: Vec<u8>) -> Vec<(String, Value)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(content)).expect("a zip file");
    let names = archive.file_names().map(|name| name.expect("a name").into_owned()).collect::<Vec<_>>();
    let read = |name: String| {
        let mut text = String::new();
        archive.by_name(&name).expect("a file").read_to_string(&mut text).expect("text");
        (name, serde_json::from_str(&text).expect("JSON"))
    };
    names.into_iter().map(read).collect()
}

#[test]
fn nodes_are_found_also_inside_of_workflows() {
    let world = World::new();
    let ada = world.client("ada");
    define_consumer(&world);
    let id = open(&ada, "outer")["id"].as_str().unwrap().to_owned();
    let subgraph = |node: &str| ada.get(&format!("/workflow-definitions/subgraph/{id}?parentNodeId={node}"));
    let whole = subgraph("").ok();
    has_members(&whole, &["nodeId", "port", "activity", "children"]);
    assert_eq!(
        (&whole["nodeId"], &whole["activity"]["type"], &whole["activity"]["root"]["id"]),
        (&json!("Workflow1"), &json!("Elsa.Workflow"), &json!("f"))
    );
    let used = subgraph("Workflow1:f:use").ok();
    assert_eq!(
        (&used["port"], &used["activity"]["root"]["nodeId"]),
        (&json!("Activities"), &json!("Workflow1:f:use:Workflow1:steps"))
    );
    assert_eq!(used["activity"]["root"]["activities"][0]["then"]["nodeId"], "Workflow1:f:use:Workflow1:steps:if1:deep");
    assert_eq!(subgraph("Workflow1:f:none").status, 404);
    assert_eq!(subgraph("Workflow1:f:after:none").status, 404);
    let segments = |node: &str| ada.get(&format!("/workflow-definitions/subgraph/segments/{id}?childNodeId={node}"));
    let found = segments("Workflow1:f:use:Workflow1:steps:if1:deep").ok();
    has_members(&found, &["childNode", "container", "pathSegments"]);
    let ports: Vec<(&str, &str)> = found["pathSegments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| (segment["activityId"].as_str().unwrap(), segment["portName"].as_str().unwrap()))
        .collect();
    assert_eq!(ports, [("use", "Root"), ("steps", "Activities"), ("if1", "Then")]);
    has_members(
        &found["pathSegments"][0],
        &["activityNodeId", "activityId", "activityType", "portName", "activityName"],
    );
    assert_eq!(
        (&found["childNode"]["activity"]["id"], &found["container"]["nodeId"]),
        (&json!("deep"), &json!("Workflow1:f:use:Workflow1:steps:if1"))
    );
    let outside = segments("Workflow1:f:after").ok();
    assert_eq!((&outside["pathSegments"], &outside["container"]["nodeId"]), (&json!([]), &json!("Workflow1")));
    // The journal has the same nodes.
    ada.post("/workflow-definitions/outer/execute", &json!({})).ok();
    let node = world.value("SELECT node_id FROM workflow.journal WHERE event = 'Line' AND activity = 'deep'");
    assert_eq!(node.as_deref(), Some("Workflow1:f:use:Workflow1:steps:if1:deep"));
    assert_eq!(segments("").status, 400);
    assert_eq!(segments("nonsense").status, 404);
}

#[test]
fn ports_of_parts_have_their_own_names() {
    let world = World::new();
    let ada = world.client("ada");
    let document = json!({"definitionId": "s", "root": {"type": "Switch", "id": "sw", "cases": [
        {"label": "first/one", "condition": true, "activity": {"type": "WriteLine", "id": "a", "text": "a"}}],
        "default": {"type": "WriteLine", "id": "b", "text": "b"}}});
    define(&world, "ada", &document);
    let id = open(&ada, "s")["id"].as_str().unwrap().to_owned();
    for (node, port) in [("Workflow1:sw:a", "first/one"), ("Workflow1:sw:b", "Default")] {
        let found = ada.get(&format!("/workflow-definitions/subgraph/segments/{id}?childNodeId={node}")).ok();
        assert_eq!((&found["pathSegments"][0]["portName"], &found["childNode"]["port"]), (&json!(port), &json!(port)));
        assert_eq!(found["childNode"]["nodeId"], node);
    }
}

#[test]
fn roles_do_what_they_may() {
    let world = World::new();
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    define(&world, "ada", &line("seen", "Seen"));
    define(&world, "ada", &line("run", "Run"));
    define(&world, "ada", &line("secret", "Secret"));
    world.sql("SET ROLE ada; SELECT wf_grant('seen', 'ben', '{read}'), wf_grant('run', 'ben', '{start}')");
    let list = ben.get("/workflow-definitions?versionOptions=Latest").ok();
    assert_eq!((&list["totalCount"], &list["items"][0]["links"]), (&json!(1), &json!([])));
    let seen = open(&ben, "seen");
    assert_eq!(seen["links"], json!([]));
    assert!(!open(&ada, "seen")["links"].as_array().unwrap().is_empty());
    let secret = open(&ada, "secret");
    let id = |model: &Value| model["id"].as_str().unwrap().to_owned();
    for path in [
        "by-definition-id/secret".into(),
        "by-definition-id/run".into(),
        format!("by-id/{}", id(&secret)),
        "secret/export".into(),
        "secret/consumers".into(),
        format!("subgraph/{}", id(&secret)),
        format!("subgraph/segments/{}?childNodeId=Workflow1", id(&secret)),
    ] {
        assert_eq!(ben.get(&format!("/workflow-definitions/{path}")).status, 404, "{path}");
    }
    assert_eq!(ben.get(&format!("/workflow-definitions/many-by-id?ids={}", id(&secret))).ok()["count"], 0);
    let post = |path: &str, body: Value| ben.post(path, &body);
    let refused = |answer: Answer| assert_eq!(answer.status, 403, "{answer:?}");
    let mut changed = through_studio(&seen);
    changed["name"] = json!("Mine");
    refused(save(&ben, &changed, false));
    refused(save(&ben, &line("secret", "Mine"), true));
    refused(post("/workflow-definitions/import", line("run", "Mine")));
    refused(post("/workflow-definitions/seen/retract", json!({})));
    refused(post("/workflow-definitions/seen/revert/1", json!({})));
    refused(post("/workflow-definitions/seen/update-references", json!({})));
    refused(post("/workflow-definitions/seen/execute", json!({"versionOptions": "Latest"})));
    refused(post("/workflow-definitions/secret/dispatch", json!({})));
    refused(ben.delete("/workflow-definitions/seen"));
    refused(ben.delete(&format!("/workflow-definition-versions/{}", id(&seen))));
    refused(post(
        "/bulk-actions/delete/workflow-definitions/by-definition-id",
        json!({"definitionIds": ["seen", "secret"]}),
    ));
    refused(post("/bulk-actions/delete/workflow-definitions/by-id", json!({"ids": [id(&seen)]})));
    refused(post("/bulk-actions/retract/workflow-definitions/by-definition-ids", json!({"definitionIds": ["seen"]})));
    assert_eq!(ben.delete(&format!("/workflow-definition-versions/{}", id(&secret))).status, 404);
    world.sql("SET ROLE ada; SELECT wf_retract('seen')");
    refused(post("/workflow-definitions/seen/publish", json!({})));
    refused(post("/bulk-actions/publish/workflow-definitions/by-definition-ids", json!({"definitionIds": ["seen"]})));
    assert_eq!(exported(&world, "seen")["name"], "Seen");
    // A user without any right to use the extension gets neither link nor definition.
    world.sql("SELECT wf_revoke_usage('ben')");
    assert_eq!(ben.get("/workflow-definitions").ok()["links"], json!([]));
    refused(save(&ben, &line("new", "New"), false));
    // A definition shared by a role belongs to all its members.
    world.sql(&format!("SET ROLE clerks; SELECT wf_define({})", quoted(&line("shared", "Shared").to_string())));
    assert!(!open(&ada, "shared")["links"].as_array().unwrap().is_empty());
    assert_eq!(ada.delete("/workflow-definitions/shared").status, 204);
}

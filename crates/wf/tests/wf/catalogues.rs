//! What a designer can use: constants, and descriptors of activities.

use serde_json::{Value, json};

use crate::support::{Api, World};

fn items(answer: &Value) -> &Vec<Value> {
    answer["items"].as_array().expect("items")
}

/// The descriptor of a type and version. There must be exactly one.
fn descriptor(ada: &Api, type_name: &str, version: u64) -> Value {
    let all = ada.get("/descriptors/activities?Refresh=True").ok();
    assert_eq!(all["count"], items(&all).len());
    let found: Vec<&Value> =
        items(&all).iter().filter(|one| one["typeName"] == type_name && one["version"] == version).collect();
    assert_eq!(found.len(), 1, "{type_name} {version}: {found:?}");
    found[0].clone()
}

#[test]
fn constants_have_the_members_that_the_client_reads() {
    let world = World::new();
    let ada = world.client("ada");
    for (path, members) in [
        ("expression-descriptors", &["type", "displayName", "isSerializable", "isBrowsable", "properties"][..]),
        ("variables", &["typeName", "displayName", "category", "description"]),
        ("storage-drivers", &["typeName", "displayName", "priority", "deprecated"]),
        ("incident-strategies", &["typeName", "displayName", "description"]),
        ("workflow-activation-strategies", &["typeName", "displayName", "description"]),
    ] {
        let answer = ada.get(&format!("/descriptors/{path}")).ok();
        assert!(!items(&answer).is_empty(), "{path}");
        for item in items(&answer) {
            let mut known: Vec<&str> = item.as_object().unwrap().keys().map(String::as_str).collect();
            let mut wanted = members.to_vec();
            known.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(known, wanted, "{path}");
        }
    }
    for path in ["log-persistence-strategies", "commit-strategies/workflows", "commit-strategies/activities"] {
        assert_eq!(ada.get(&format!("/descriptors/{path}")).ok(), json!({"items": [], "count": 0}));
    }
    assert_eq!(
        ada.get("/descriptors/output-converters?sourceType=String&destinationType=Int32").ok(),
        json!({"items": []})
    );
    assert_eq!(
        ada.post("/descriptors/activities/Elsa.If/options/Condition", &json!({"context": {}})).ok(),
        json!({"items": {}})
    );
    assert_eq!(ada.get("/package/version").ok()["packageVersion"], "3.8.2");
    ada.get("/features/installed").ok();
    assert_eq!(ada.post("/tests/activities", &json!({})).errors(400)[0], "activities cannot be tested alone");
    assert_eq!(ada.get("/descriptors/nothing").status, 404);
    assert_eq!(ada.post("/descriptors/variables", &json!({})).status, 405);
}

/// The strategies and types that are offered are exactly those that the database accepts.
#[test]
fn what_is_offered_can_be_defined() {
    let world = World::new();
    let ada = world.client("ada");
    let names = |path: &str| -> Vec<String> {
        let answer = ada.get(&format!("/descriptors/{path}")).ok();
        items(&answer).iter().map(|item| item["typeName"].as_str().unwrap().to_owned()).collect()
    };
    let mut documents = Vec::new();
    for name in names("incident-strategies") {
        documents.push(json!({"options": {"incidentStrategyType": name}}));
    }
    for name in names("workflow-activation-strategies") {
        documents.push(json!({"options": {"activationStrategyType": name}}));
    }
    for name in names("variables") {
        documents.push(
            json!({"variables": [{"id": "v", "name": "V", "typeName": name}], "inputs": [{"name": "I", "type": name}]}),
        );
    }
    for mut document in documents {
        document["definitionId"] = json!("offered");
        document["root"] = json!({"type": "Elsa.WriteLine", "text": "x"});
        let problems = world.value(&format!("SELECT string_agg(message, '; ') FROM wf_validate($x${document}$x$)"));
        assert_eq!(problems, None, "{document}");
    }
}

#[test]
fn descriptors_are_in_elsas_form() {
    let world = World::new();
    let ada = world.client("ada");
    let endpoint = descriptor(&ada, "Elsa.HttpEndpoint", 1);
    assert_eq!(endpoint["kind"], "Trigger");
    assert_eq!(
        (&endpoint["name"], &endpoint["namespace"], &endpoint["category"]),
        (&json!("HttpEndpoint"), &json!("Elsa"), &json!("HTTP"))
    );
    let methods = &endpoint["inputs"][1];
    assert_eq!(
        (&methods["name"], &methods["displayName"], &methods["uiHint"]),
        (&json!("SupportedMethods"), &json!("Supported methods"), &json!("checklist"))
    );
    assert_eq!(
        methods["uiSpecifications"]["checklist"]["checkList"]["items"][1],
        json!({"text": "POST", "value": "POST", "isChecked": false})
    );
    assert_eq!((&methods["defaultValue"], &methods["defaultSyntax"]), (&json!(["GET"]), &json!("Object")));

    let decision = descriptor(&ada, "Elsa.If", 1);
    let ports: Vec<(&str, &str)> = decision["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|port| (port["name"].as_str().unwrap(), port["type"].as_str().unwrap()))
        .collect();
    assert_eq!(ports, [("Then", "Embedded"), ("Else", "Embedded"), ("Done", "Flow")]);
    assert_eq!(decision["isContainer"], false);
    assert_eq!(descriptor(&ada, "Elsa.Flowchart", 1)["isContainer"], true);
    assert_eq!(descriptor(&ada, "Elsa.Start", 1)["isStart"], true);
    assert_eq!(descriptor(&ada, "Elsa.Finish", 1)["isTerminal"], true);
    let language =
        &descriptor(&ada, "Elsa.RunJavaScript", 1)["inputs"][0]["uiSpecifications"]["code-editor"]["language"];
    assert_eq!(language, "javascript");
    for (type_name, display_name) in
        [("Workflow.Sql", "Sql"), ("Workflow.Compensable", "Compensable"), ("Elsa.RunTask", "RunTask")]
    {
        assert_eq!(descriptor(&ada, type_name, 1)["displayName"], display_name);
    }
}

#[test]
fn workflows_are_activities_in_all_versions_that_are_in_use() {
    let world = World::new();
    let child = |text: &str| {
        json!({"definitionId": "child", "name": "Child", "options": {"usableAsActivity": true},
        "outputs": [{"name": "Total", "type": "Decimal"}], "root": {"type": "WriteLine", "text": text}})
    };
    world.sql(&format!(
        "SET ROLE ada; SELECT wf_define($x${}$x$); \
         SELECT wf_define('{{\"definitionId\": \"parent\", \"root\": {{\"type\": \"Child\", \"id\": \"c\"}}}}'); SELECT wf_define($x${}$x$)",
        child("one"), child("two")
    ));
    let ada = world.client("ada");
    let (used, published) = (descriptor(&ada, "Child", 1), descriptor(&ada, "Child", 2));
    assert_eq!((&used["isBrowsable"], &published["isBrowsable"]), (&json!(false), &json!(true)));
    assert_eq!(published["customProperties"]["RootType"], "WorkflowDefinitionActivity");
    assert_eq!(published["constructionProperties"]["Version"], 2);
    assert_eq!(published["constructionProperties"]["WorkflowDefinitionId"], "child");
    assert_eq!(published["outputs"][0]["name"], "Total");
    assert_eq!(
        published["ports"][0],
        json!({"name": "Root", "displayName": "Root", "type": "Embedded", "isBrowsable": false})
    );
    let of_ben = world.client("ben").get("/descriptors/activities").ok();
    assert!(!items(&of_ben).iter().any(|one| one["typeName"] == "Child"), "ben may not read it");
}

/// A canvas with an activity that has no descriptor stays empty.
#[test]
fn what_stands_in_a_definition_has_a_descriptor() {
    let world = World::new();
    let ada = world.client("ada");
    let count = |ada: &Api| ada.get("/descriptors/activities").ok()["count"].as_u64().unwrap();
    let before = count(&ada);
    let draft = json!({"definitionId": "draft", "root": {"type": "Elsa.Flowchart", "id": "f", "activities": [
        {"type": "Acme.Teleport", "id": "a", "version": 3}, {"type": "Elsa.WriteLine", "id": "b", "version": 7},
        {"type": "Elsa.WriteLine", "id": "c"}, {"type": "Acme.Odd", "id": "d", "version": "x"}]}});
    world.sql(&format!("SET ROLE ada; SELECT wf_save_draft($x${draft}$x$)"));
    let unknown = descriptor(&ada, "Acme.Teleport", 3);
    assert_eq!((&unknown["isBrowsable"], &unknown["name"]), (&json!(false), &json!("Teleport")));
    descriptor(&ada, "Elsa.WriteLine", 7);
    assert_eq!(count(&ada), before + 2);
    // After it is registered, there is a more detailed one.
    world.sql("CREATE FUNCTION public.teleport(jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT $1'; ALTER FUNCTION public.teleport OWNER TO ada;
               SET ROLE ada; SELECT wf_register_activity('Elsewhere', 'public.teleport(jsonb)')");
    assert_eq!(descriptor(&ada, "Elsewhere", 1)["category"], "Custom");
}

#[test]
fn scripts_are_completed_by_what_they_can_call() {
    let world = World::new();
    let document = json!({"definitionId": "typed", "variables": [{"name": "orderId"}, {"name": "not a name"}], "inputs": [{"name": "Customer", "type": "String"}],
        "root": {"type": "Sequence", "variables": [{"name": "Inner"}], "activities": []}});
    world.sql(&format!("SET ROLE ada; SELECT wf_define($x${document}$x$)"));
    let path = "/scripting/javascript/type-definitions/typed";
    let text =
        world.client("ada").post(path, &json!({"activityTypeName": "Elsa.WriteLine", "propertyName": "Text"})).text;
    for line in [
        "function getVariable(",
        "function getOrderId(): any;",
        "function setInner(value: any)",
        "function getCustomer(): any;",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(!text.contains("not a name") && !text.contains("setCustomer"), "{text}");
    let of_ben = world.client("ben").post(path, &json!({})).text;
    assert!(of_ben.contains("getVariable") && !of_ben.contains("Customer"), "{of_ben}");
}

//! The requests of Studio's activity editors, and the effects of what they write.

use serde_json::{Value, json};

use crate::definitions::{define, exported, open, save};
use crate::definitions_save::through_studio;
use crate::support::{Api, World};

fn descriptors(ada: &Api) -> Vec<Value> {
    ada.get("/descriptors/activities?Refresh=True").ok()["items"].as_array().unwrap().clone()
}

fn input<'a>(descriptors: &'a [Value], type_name: &str, name: &str) -> Option<&'a Value> {
    let descriptor = descriptors.iter().find(|one| one["typeName"] == type_name).expect(type_name);
    descriptor["inputs"].as_array().unwrap().iter().find(|input| input["name"] == name)
}

/// A text as Studio's code editors write it, whether the input is wrapped or not.
fn typed(text: &str) -> Value {
    json!({"typeName": null, "expression": {"type": "Literal", "value": text}, "memoryReference": null})
}

#[test]
fn every_activity_has_editors_of_retry_and_timeout() {
    let world = World::new();
    let ada = world.client("ada");
    world.sql("SET ROLE ada; SELECT wf_define('{\"definitionId\": \"child\", \"name\": \"Child\", \"options\": {\"usableAsActivity\": true}, \"root\": []}')");
    let all = descriptors(&ada);
    assert!(all.len() > 50 && all.iter().any(|one| one["customProperties"]["WorkflowDefinitionId"] == "child"));
    for descriptor in &all {
        let type_name = descriptor["typeName"].as_str().unwrap();
        let retry = input(&all, type_name, "CustomProperties.retry");
        // This type has an input of that name.
        assert_eq!(retry.is_none(), type_name == "Workflow.ScheduledCommand", "{type_name}");
        if let Some(retry) = retry {
            assert_eq!(retry["isWrapped"], false);
            assert_eq!((&retry["uiHint"], &retry["displayName"]), (&json!("code-editor"), &json!("Retry")));
            assert_eq!(retry["uiSpecifications"]["code-editor"]["language"], "json");
        }
        let timeout = input(&all, type_name, "CustomProperties.timeout").expect(type_name);
        assert_eq!((&timeout["isWrapped"], &timeout["uiHint"]), (&json!(false), &json!("singleline")));
        let mut orders: Vec<i64> =
            descriptor["inputs"].as_array().unwrap().iter().map(|input| input["order"].as_i64().unwrap()).collect();
        let sorted = orders.clone();
        orders.sort_unstable();
        orders.dedup();
        assert_eq!(orders, sorted, "{type_name}");
    }
    // Studio's client throws at an editor height given as a name, and its whole canvas disappears.
    assert!(!Value::from(all).to_string().contains("editorHeight"));
}

#[test]
fn own_inputs_have_editors_that_fit() {
    let world = World::new();
    let all = descriptors(&world.client("ada"));
    for (type_name, name, hint, language) in [
        ("Workflow.Sql", "Statement", "code-editor", "sql"),
        ("Workflow.ScheduledCommand", "Statement", "code-editor", "sql"),
        ("Elsa.SqlQuery", "Query", "code-editor", "sql"),
        ("Elsa.RunJavaScript", "Script", "code-editor", "javascript"),
        ("Workflow.Sql", "Parameters", "json-editor", "json"),
        ("Elsa.RunTask", "Form", "json-editor", "json"),
        ("Elsa.RunTask", "ResultSchema", "json-editor", "json"),
        ("Workflow.Try", "Catch", "code-editor", "json"),
    ] {
        let input = input(&all, type_name, name).unwrap_or_else(|| panic!("{type_name}.{name}"));
        assert_eq!(input["uiHint"], hint, "{type_name}.{name}");
        assert_eq!(input["uiSpecifications"]["code-editor"]["language"], language, "{type_name}.{name}");
    }
    for (type_name, ports) in [
        ("Workflow.Try", &["Body", "Finally"][..]),
        ("Workflow.Compensable", &["Body", "Compensation", "Confirmation", "Cancellation"]),
        ("Workflow.CancellationScope", &["Body", "Cancellation"]),
    ] {
        let descriptor = all.iter().find(|one| one["typeName"] == type_name).unwrap();
        let embedded = descriptor["ports"].as_array().unwrap().iter().filter(|port| port["type"] == "Embedded");
        assert_eq!(embedded.map(|port| port["name"].as_str().unwrap()).collect::<Vec<_>>(), ports, "{type_name}");
    }
}

#[test]
fn what_editors_write_is_stored_where_the_engine_reads_it() {
    let world = World::new();
    let ada = world.client("ada");
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "own", "root": [
            {"type": "WriteLine", "id": "w", "text": "a", "timeout": "1 min", "retry": {"maxAttempts": 2, "delay": "1.50 s"}},
            {"type": "Try", "id": "t", "body": {"type": "WriteLine", "id": "b", "text": "b", "retry": {"maxAttempts": 5}},
             "catch": [{"on": ["22012"], "body": {"type": "WriteLine", "id": "c", "text": "c"}}]},
            {"type": "RunTask", "id": "r", "taskName": "Ask", "payload": {"a": 1}, "candidates": ["ada"]}]}')"#,
    );
    let before = exported(&world, "own");
    let mut model = through_studio(&open(&ada, "own"));
    let activities = model["root"]["activities"].as_array_mut().unwrap();
    let line = &activities[0];
    assert_eq!(line["customProperties.retry"], json!({"maxAttempts": 2, "delay": "1.50 s"}));
    assert_eq!(line["customProperties.timeout"], "1 min");
    assert!(line["customProperties"].get("retry").is_none());
    assert_eq!(activities[1]["body"]["customProperties.retry"], json!({"maxAttempts": 5}));
    let task = &activities[2];
    assert_eq!(task["payload"]["expression"], json!({"type": "Json", "value": "{\"a\":1}", "was": "Object"}));
    assert_eq!(task["candidates"]["expression"]["type"], "Object");
    // Whatever no editor has changed is unchanged.
    save(&ada, &model, false).ok();
    assert_eq!(exported(&world, "own")["root"], before["root"]);

    let mut model = through_studio(&open(&ada, "own"));
    let activities = model["root"]["activities"].as_array_mut().unwrap();
    activities[0]["customProperties.retry"] = typed("{\"maxAttempts\": 3}");
    activities[0]["customProperties.timeout"] = json!(" ");
    activities[1]["body"]["customProperties.retry"] = typed("");
    activities[1]["catch"] = typed(r#"[{"body": {"type": "WriteLine", "text": "d"}}]"#);
    activities[2]["form"] = typed("{\"title\": \"Ask\"}");
    save(&ada, &model, true).ok();
    let root = exported(&world, "own")["root"].clone();
    assert_eq!(root["activities"][0]["customProperties"]["retry"], json!({"maxAttempts": 3}));
    assert!(root["activities"][0]["customProperties"].get("timeout").is_none());
    assert!(root["activities"][1]["body"]["customProperties"].get("retry").is_none());
    assert_eq!(root["activities"][1]["catch"][0]["body"]["type"], "Elsa.WriteLine");
    assert!(!root.to_string().contains("customProperties."));
    let opened = open(&ada, "own");
    assert_eq!(opened["root"]["activities"][0]["customProperties.retry"], json!({"maxAttempts": 3}));
    world.sql("SET ROLE ada; SELECT wf_run('own')");
    assert_eq!(world.value("SELECT form ->> 'title' FROM workflow.open_tasks").as_deref(), Some("Ask"));
}

#[test]
fn what_is_not_finished_is_kept_and_not_published() {
    let world = World::new();
    let ada = world.client("ada");
    define(&world, "ada", &json!({"definitionId": "half", "root": []}));
    let mut model = through_studio(&open(&ada, "half"));
    model["root"] = json!({"type": "Elsa.Sequence", "id": "s", "version": 1, "customProperties": {}, "activities": [
        {"type": "Elsa.WriteLine", "id": "w", "version": 1, "customProperties": {}, "customProperties.retry": typed("{\"maxAtt")}]});
    let draft = save(&ada, &model, false).ok()["workflowDefinition"].clone();
    assert_eq!(draft["root"]["activities"][0]["customProperties.retry"], "{\"maxAtt");
    let refused = save(&ada, &through_studio(&draft), true).errors(400);
    assert!(refused.iter().any(|text| text.contains("\"retry\" must be an object")), "{refused:?}");
    assert_eq!(open(&ada, "half")["root"]["activities"][0]["customProperties.retry"], "{\"maxAtt");
}

#[test]
fn activities_without_a_position_are_shown_apart_and_stored_as_they_are() {
    let world = World::new();
    let ada = world.client("ada");
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "drawn", "root": {"type": "Flowchart", "id": "f", "activities": [
            {"type": "WriteLine", "id": "a", "text": "a"}, {"type": "WriteLine", "id": "b", "text": "b"},
            {"type": "If", "id": "i", "condition": true, "then": {"type": "Flowchart", "id": "in", "activities": [
                {"type": "WriteLine", "id": "c", "text": "c"}, {"type": "WriteLine", "id": "d", "text": "d"}], "connections": []}}],
            "connections": [{"source": "a", "target": "b"}, {"source": "b", "target": "i"}, {"source": "i", "target": "a"}]}}')"#,
    );
    let (before, revision) = (exported(&world, "drawn"), "SELECT revision::text FROM workflow.definition_list");
    assert!(!before.to_string().contains("position"));
    let saves = world.value(revision);
    let opened = open(&ada, "drawn");
    let version = ada.get(&format!("/workflow-definitions/by-id/{}", opened["id"].as_str().unwrap())).ok();
    let many = ada.get(&format!("/workflow-definitions/many-by-id?ids={}", opened["id"].as_str().unwrap())).ok();
    let graph = ada.get(&format!("/workflow-definitions/subgraph/{}", opened["id"].as_str().unwrap())).ok();
    assert_eq!(opened["root"], version["root"]);
    assert_eq!(opened["root"], many["items"][0]["root"]);
    assert_eq!(opened["root"], graph["activity"]["root"]);
    let x =
        |pointer: &str| opened.pointer(&format!("{pointer}/metadata/designer/position/x")).unwrap().as_i64().unwrap();
    assert!(x("/root/activities/0") + 250 <= x("/root/activities/1"), "{opened}");
    assert!(x("/root/activities/1") + 250 <= x("/root/activities/2"), "{opened}");
    let inner = |at: usize| opened["root"]["activities"][2]["then"]["activities"][at]["metadata"]["designer"].clone();
    assert_ne!(inner(0), inner(1));
    // Reading changes nothing, and an exported file has what is stored.
    assert_eq!((exported(&world, "drawn"), world.value(revision)), (before, saves));
    let file = ada.get("/workflow-definitions/drawn/export?versionOptions=Latest").ok();
    assert!(!file.to_string().contains("position"));
    // A save stores what the editor received, and it is kept.
    save(&ada, &through_studio(&opened), false).ok();
    assert_eq!(open(&ada, "drawn")["root"], opened["root"]);
    assert_eq!(
        exported(&world, "drawn")["root"]["activities"][1]["metadata"],
        opened["root"]["activities"][1]["metadata"]
    );
}

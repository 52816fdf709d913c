//! Running definitions, as Studio's button does.

use serde_json::{Value, json};

use crate::definitions::{define, has_members, line, open, save};
use crate::definitions_save::through_studio;
use crate::support::{Answer, World};

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.headers.get(name).map(|value| value.to_str().expect("text"))
}

/// The state of a run that has started.
fn state(answer: &Answer) -> Value {
    let body = answer.ok();
    has_members(&body, &["workflowState"]);
    assert_eq!(header(answer, "x-elsa-workflow-cannot-start"), Some("False"));
    assert_eq!(header(answer, "x-elsa-workflow-instance-id"), body["workflowState"]["id"].as_str());
    body["workflowState"].clone()
}

const LATEST: &str = r#"{"correlationId":null,"triggerActivityId":null,"versionOptions":"Latest","input":null}"#;

#[test]
fn a_draft_runs_for_its_owner_alone() {
    let world = World::new();
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    define(&world, "ada", &line("a", "Alpha"));
    world.sql("SET ROLE ada; SELECT wf_grant('a', 'ben', '{start}')");
    let mut model = through_studio(&open(&ada, "a"));
    model["root"]["activities"][0]["text"]["expression"]["value"] = json!("draft");
    save(&ada, &model, false).ok();
    let run = ada.send("POST", "/workflow-definitions/a/execute", LATEST);
    let own = state(&run);
    has_members(
        &own,
        &[
            "id",
            "definitionId",
            "definitionVersion",
            "status",
            "subStatus",
            "input",
            "output",
            "bookmarks",
            "incidents",
            "completionCallbacks",
            "activityExecutionContexts",
            "properties",
        ],
    );
    assert_eq!(
        (&own["definitionVersion"], &own["status"], &own["subStatus"]),
        (&json!(2), &json!("Finished"), &json!("Finished"))
    );
    let theirs = state(&ben.send("POST", "/workflow-definitions/a/execute", LATEST));
    let line_of = |state: &Value| {
        let id = state["id"].as_str().unwrap();
        world.value(&format!(
            "SELECT data #>> '{{}}' FROM workflow.journal WHERE event = 'Line' AND instance_id = '{id}'"
        ))
    };
    assert_eq!((line_of(&own).as_deref(), line_of(&theirs).as_deref()), (Some("draft"), Some("hello")));
    // Elsa's default is the published version; a number selects that version.
    let published = state(&ada.send("POST", "/workflow-definitions/a/execute", ""));
    assert_eq!(published["definitionVersion"], 1);
    assert_eq!(
        state(&ada.post("/workflow-definitions/a/execute", &json!({"versionOptions": "1"})))["definitionVersion"],
        1
    );
    let dispatched = ada.post("/workflow-definitions/a/dispatch", &json!({"correlationId": "c"})).ok();
    has_members(&dispatched, &["workflowInstanceId"]);
}

#[test]
fn what_cannot_start_is_told() {
    let world = World::new();
    let ada = world.client("ada");
    let cannot = |answer: &Answer, status| {
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(header(answer, "x-elsa-workflow-cannot-start"), Some("True"));
        assert_eq!(header(answer, "x-elsa-workflow-instance-id"), None);
    };
    save(&ada, &json!({"definitionId": "bad", "root": {"type": "Elsa.Nonsense", "id": "n"}}), false).ok();
    cannot(&ada.send("POST", "/workflow-definitions/bad/execute", LATEST), 409);
    define(
        &world,
        "ada",
        &json!({"definitionId": "one", "options": {"activationStrategy": "Singleton"}, "root": [{"type": "Event", "id": "e", "eventName": "E"}]}),
    );
    let waiting = state(&ada.send("POST", "/workflow-definitions/one/execute", LATEST));
    assert_eq!((&waiting["subStatus"], &waiting["bookmarks"][0]["name"]), (&json!("Suspended"), &json!("Elsa.Event")));
    cannot(&ada.send("POST", "/workflow-definitions/one/execute", LATEST), 409);
    define(&world, "ada", &json!({"definitionId": "typed", "inputs": [{"name": "n", "type": "Int32"}], "root": []}));
    for input in [json!({"n": "x"}), json!({"m": 1}), json!([1]), json!("x")] {
        cannot(&ada.post("/workflow-definitions/typed/execute", &json!({"input": input})), 400);
    }
    for body in [json!({"versionOptions": "Newest"}), json!({"instanceId": "x"}), json!({"correlationId": "*"})] {
        cannot(&ada.post("/workflow-definitions/typed/execute", &body), 400);
    }
    cannot(&ada.post("/workflow-definitions/typed/execute", &json!({"triggerActivityId": "none"})), 404);
    assert_eq!(ada.send("POST", "/workflow-definitions/typed/execute", "{").status, 400);
    cannot(&ada.send("POST", "/workflow-definitions/none/execute", LATEST), 404);
}

#[test]
fn a_fault_is_an_answer() {
    let world = World::new();
    let ada = world.client("ada");
    define(
        &world,
        "ada",
        &json!({"definitionId": "f", "root": [{"type": "RunJavaScript", "id": "js", "script": "throw new Error('broken')"}]}),
    );
    let faulted = state(&ada.send("POST", "/workflow-definitions/f/execute", LATEST));
    assert_eq!((&faulted["status"], &faulted["subStatus"]), (&json!("Finished"), &json!("Faulted")));
    let incident = &faulted["incidents"][0];
    assert_eq!((&incident["activityId"], &incident["exception"]["type"]), (&json!("js"), &json!("38000")));
    assert!(incident["exception"]["message"].as_str().unwrap().contains("broken"), "{incident}");
}

#[test]
fn a_workflow_that_begins_with_a_trigger_runs_as_if_it_had_fired() {
    let world = World::new();
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    let trigger = |id: &str| json!({"type": "Elsa.Event", "id": id, "eventName": "Go", "customProperties": {"canStartWorkflow": true}});
    let document = json!({"definitionId": "t", "root": {"type": "Sequence", "id": "s", "activities": [
        {"type": "WriteLine", "id": "marked", "text": "not a trigger", "customProperties": {"canStartWorkflow": true}},
        trigger("go"), {"type": "WriteLine", "id": "w", "text": "gone"}]}});
    save(&ada, &document, false).ok();
    assert_eq!(state(&ada.send("POST", "/workflow-definitions/t/execute", LATEST))["subStatus"], "Finished");
    ada.post("/workflow-definitions/t/publish", &json!({})).ok();
    world.sql("SET ROLE ada; SELECT wf_grant('t', 'ben', '{start,read}')");
    assert_eq!(state(&ben.send("POST", "/workflow-definitions/t/execute", LATEST))["subStatus"], "Finished");
}

#[test]
fn input_keeps_its_digits_and_a_run_can_be_repeated() {
    let world = World::new();
    let ada = world.client("ada");
    define(
        &world,
        "ada",
        &json!({"definitionId": "echo", "outputs": [{"name": "Out"}], "root": {"type": "SetOutput", "outputName": "Out", "outputValue": {"input": "n"}}}),
    );
    let id = "01900000-0000-7000-8000-0000000000aa";
    let body = format!(r#"{{"input":{{"n":12345678901234567890.10}},"correlationId":"c1","instanceId":"{id}"}}"#);
    let first = ada.send("POST", "/workflow-definitions/echo/execute", &body);
    assert!(first.text.contains(r#"{"Out": 12345678901234567890.10}"#), "{first:?}");
    let ran = state(&first);
    assert_eq!((&ran["id"], &ran["correlationId"]), (&json!(id), &json!("c1")));
    assert_eq!(state(&ada.send("POST", "/workflow-definitions/echo/execute", &body))["id"], id);
    assert_eq!(world.value("SELECT count(*)::text FROM workflow.instance_list").as_deref(), Some("1"));
}

//! Reading instances: the list, and single instances.

#![allow(clippy::unwrap_used, reason = "what is not as expected fails the test")]

use serde_json::{Value, json};

use crate::definitions_lifecycle::unzip;
use crate::support::{Answer, Api, World};

/// Ids of instances that [`orders`] creates: one waiting, one faulted, one finished.
pub const WAITING: &str = "01900000-0000-7000-8000-000000000001";
pub const FAULTED: &str = "01900000-0000-7000-8000-000000000002";
pub const FINISHED: &str = "01900000-0000-7000-8000-000000000003";
/// The id of no instance.
pub const NONE: &str = "01900000-0000-7000-8000-0000000000ff";

/// Three instances of a definition of ada's.
pub fn orders() -> World {
    let world = World::new();
    let definition = json!({"definitionId": "order", "name": "Order", "options": {"journal": {"level": "full", "values": true}},
        "inputs": [{"name": "Customer", "type": "String"}], "outputs": [{"name": "Total", "type": "Decimal"}],
        "variables": [{"id": "v1", "name": "Price", "typeName": "Decimal", "value": "12345678901234567890.10"}, {"name": "Note"}],
        "root": {"type": "Elsa.Sequence", "id": "root1", "activities": [
            {"id": "hello", "type": "Elsa.WriteLine", "text": "hello"},
            {"id": "t1", "name": "Check", "type": "Elsa.RunTask", "taskName": "Check order",
             "payload": {"typeName": "Object", "expression": {"type": "Object", "value": "{\"a\": 1.10}"}}},
            {"id": "pay", "type": "Workflow.Sql", "statement": "SELECT 1 / length($1)", "parameters": [{"input": "Customer"}]},
            {"id": "done", "type": "Elsa.SetOutput", "outputName": "Total", "outputValue": {"sql": "1.50"}}]}});
    world.sql(&format!(
        "SET ROLE ada; SET client_min_messages = error; SELECT wf_define($x${definition}$x$); \
         SELECT wf_start('order', '{{\"Customer\": \"Ada\"}}', correlation_id => 'o-1', name => 'first', instance_id => '{WAITING}'); \
         SELECT wf_start('order', '{{\"Customer\": \"\"}}', correlation_id => 'o-2', name => 'second', instance_id => '{FAULTED}'); \
         SELECT wf_complete_task(task_id, '{{\"by\": \"Ada\"}}') FROM workflow.open_tasks WHERE instance_id = '{FAULTED}'; \
         SELECT wf_start('order', '{{\"Customer\": \"Eve\"}}', name => 'third', instance_id => '{FINISHED}'); \
         SELECT wf_complete_task(task_id, '{{\"by\": \"Eve\"}}') FROM workflow.open_tasks WHERE instance_id = '{FINISHED}'"
    ));
    world
}

/// Asserts that an object has exactly these members.
pub fn members(object: &Value, wanted: &[&str]) {
    let mut known: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut wanted = wanted.to_vec();
    known.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(known, wanted, "{object}");
}

pub fn is_time(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() > 24 && &text[10..11] == "T" && (text.ends_with("+00:00") || text.contains('+')))
}

pub fn items(answer: &Answer) -> Vec<Value> {
    let body = answer.ok();
    body["items"].as_array().expect("items").clone()
}

fn names(answer: &Answer) -> Vec<String> {
    items(answer).iter().map(|item| item["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn list(api: &Api, body: &Value) -> Vec<String> {
    names(&api.post("/workflow-instances", body))
}

const SUMMARY: &[&str] = &[
    "id",
    "definitionId",
    "definitionVersionId",
    "version",
    "status",
    "subStatus",
    "correlationId",
    "name",
    "incidentCount",
    "createdAt",
    "updatedAt",
    "finishedAt",
    "parentWorkflowInstanceId",
];

#[test]
fn the_list_has_a_summary_of_each() {
    let world = orders();
    let ada = world.client("ada");
    // As Studio sends it.
    let answer = ada.post("/workflow-instances", &json!({"page": 0, "pageSize": 10, "searchTerm": "", "definitionId": null,
        "definitionIds": [], "correlationId": null, "version": null, "hasIncidents": null, "isSystem": false, "status": null,
        "statuses": [], "subStatus": null, "subStatuses": [], "orderBy": "Created", "orderDirection": "Ascending",
        "timestampFilters": []}));
    assert_eq!(answer.ok()["totalCount"], 3);
    assert_eq!(names(&answer), ["first", "second", "third"]);
    let [first, second, third] = &items(&answer)[..] else { panic!("{answer:?}") };
    members(first, SUMMARY);
    let version = world.value("SELECT version_id::text FROM workflow.definition_list").unwrap();
    assert_eq!(
        (
            &first["id"],
            &first["definitionId"],
            &first["definitionVersionId"],
            &first["version"],
            &first["correlationId"]
        ),
        (&json!(WAITING), &json!("order"), &json!(version), &json!(1), &json!("o-1"))
    );
    assert!(is_time(&first["createdAt"]) && is_time(&first["updatedAt"]), "{first}");
    let state = |one: &Value| [one["status"].clone(), one["subStatus"].clone(), one["incidentCount"].clone()];
    assert_eq!(state(first), [json!("Running"), json!("Suspended"), json!(0)]);
    assert_eq!(state(second), [json!("Finished"), json!("Faulted"), json!(1)]);
    assert_eq!(state(third), [json!("Finished"), json!("Finished"), json!(0)]);
    assert!(first["finishedAt"].is_null() && is_time(&third["finishedAt"]) && third["correlationId"].is_null());
    // Newest first by default.
    assert_eq!(list(&ada, &json!({})), ["third", "second", "first"]);
    assert_eq!(names(&ada.send("POST", "/workflow-instances", "")), ["third", "second", "first"]);
}

#[test]
fn the_list_is_filtered_ordered_and_cut_into_pages() {
    let world = orders();
    let ada = world.client("ada");
    for (body, found) in [
        (json!({"statuses": ["Running"]}), &["first"][..]),
        (json!({"status": "Running"}), &["first"]),
        (
            json!({"subStatuses": ["Faulted", "Suspended"], "orderBy": "Name", "orderDirection": "Ascending"}),
            &["first", "second"],
        ),
        (json!({"subStatuses": ["Faulted", "Interrupted"]}), &["second"]),
        (json!({"subStatuses": ["Interrupted"]}), &[]),
        (json!({"subStatus": "Cancelled"}), &[]),
        (json!({"hasIncidents": true}), &["second"]),
        (json!({"hasIncidents": false, "orderBy": "Name", "orderDirection": "Descending"}), &["third", "first"]),
        (json!({"correlationId": "o-2"}), &["second"]),
        (json!({"searchTerm": "IRS"}), &["first"]),
        (json!({"definitionIds": ["order", "other"], "version": 1, "pageSize": 1}), &["third"]),
        (json!({"definitionIds": ["other"]}), &[]),
        (json!({"version": 2}), &[]),
        (json!({"isSystem": true}), &[]),
        (json!({"orderBy": "Name", "orderDirection": "Ascending", "page": 1, "pageSize": 2}), &["third"]),
        (json!({"page": 9, "pageSize": 2}), &[]),
        (
            json!({"timestampFilters": [{"column": "CreatedAt", "operator": "LessThan", "timestamp": "2020-01-01T00:00:00+00:00"}]}),
            &[],
        ),
        (
            json!({"timestampFilters": [{"column": "FinishedAt", "operator": "GreaterThan", "timestamp": "2020-01-01T00:00:00+00:00"}]}),
            &["third"],
        ),
        (json!({"orderBy": "Finished", "orderDirection": "Descending", "pageSize": 1}), &["third"]),
    ] {
        assert_eq!(list(&ada, &body), found, "{body}");
    }
    let second_page = ada.post("/workflow-instances", &json!({"page": 1, "pageSize": 2})).ok();
    assert_eq!(second_page["totalCount"], 3);
    assert_eq!(ada.post("/workflow-instances", &json!({"page": 9, "pageSize": 2})).ok()["totalCount"], 3);
    for wrong in [
        json!([]),
        json!({"page": -1}),
        json!({"pageSize": 100_000}),
        json!({"statuses": 7}),
        json!({"version": "x"}),
        json!({"orderBy": "Colour"}),
        json!({"page": 10_000, "pageSize": 1000}),
    ] {
        ada.post("/workflow-instances", &wrong).errors(400);
    }
    ada.send("POST", "/workflow-instances", "{\"page\":").errors(400);
}

#[test]
fn an_instance_has_its_state() {
    let world = orders();
    let ada = world.client("ada");
    let waiting = ada.get(&format!("/workflow-instances/{WAITING}")).ok();
    members(&waiting, &[SUMMARY, &["workflowState"]].concat());
    let state = &waiting["workflowState"];
    members(
        state,
        &[
            "id",
            "definitionId",
            "definitionVersionId",
            "definitionVersion",
            "correlationId",
            "status",
            "subStatus",
            "createdAt",
            "updatedAt",
            "finishedAt",
            "bookmarks",
            "incidents",
            "fault",
            "completionCallbacks",
            "activityExecutionContexts",
            "input",
            "output",
            "properties",
        ],
    );
    assert_eq!((&state["input"], &state["output"]), (&json!({"Customer": "Ada"}), &json!({})));
    let bookmark = &state["bookmarks"][0];
    assert_eq!(
        (&bookmark["name"], &bookmark["activityNodeId"], &bookmark["autoBurn"]),
        (&json!("Elsa.RunTask"), &json!("Workflow1:root1:t1"), &json!(true))
    );
    assert_eq!(bookmark["payload"]["TaskName"], "Check order");
    assert_eq!(bookmark["hash"].as_str().map(str::len), Some(64));

    let faulted = ada.get(&format!("/workflow-instances/{FAULTED}")).ok();
    let incident = &faulted["workflowState"]["incidents"][0];
    members(incident, &["activityId", "activityNodeId", "activityType", "message", "exception", "timestamp"]);
    assert_eq!(
        (&incident["activityId"], &incident["activityNodeId"], &incident["activityType"]),
        (&json!("pay"), &json!("Workflow1:root1:pay"), &json!("Workflow.Sql"))
    );
    let exception = &incident["exception"];
    members(exception, &["type", "message", "stackTrace", "innerException"]);
    assert_eq!((&exception["type"], &exception["message"]), (&json!("22012"), &json!("division by zero")));
    assert!(exception["stackTrace"].as_str().unwrap().contains("CONTEXT: SQL statement"), "{exception}");

    // A number keeps its digits.
    let finished = ada.get(&format!("/workflow-instances/{FINISHED}"));
    assert!(finished.text.contains("\"output\": {\"Total\": 1.50}"), "{finished:?}");

    let exported = ada.get(&format!("/workflow-instances/{WAITING}/export"));
    assert_eq!(
        exported.headers["content-disposition"],
        format!("attachment; filename=\"workflow-instance-{WAITING}.json\"")
    );
    assert_eq!(exported.ok()["workflowState"]["input"], json!({"Customer": "Ada"}));
}

/// A single one is exported as a file, several as an archive.
#[test]
fn instances_are_exported_together() {
    let world = orders();
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    let path = "/bulk-actions/export/workflow-instances";
    let archive = unzip(ada.bytes("POST", path, &json!({"ids": [WAITING, NONE, "x", FINISHED, WAITING]}).to_string()));
    let names: Vec<String> = [WAITING, FINISHED].map(|id| format!("workflow-instance-{id}.json")).into();
    assert_eq!(archive.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), names);
    assert_eq!(archive[0].1, ada.get(&format!("/workflow-instances/{WAITING}/export")).ok());
    let one = ada.post(path, &json!({"ids": [WAITING]}));
    assert_eq!(one.headers["content-disposition"], format!("attachment; filename=\"{}\"", names[0]));
    assert_eq!(one.ok(), archive[0].1);
    ada.post(path, &json!({"ids": [NONE]})).errors(404);
    assert_eq!(ada.post(path, &json!({"ids": [NONE, "x"]})).status, 204);
    assert_eq!(ben.post(path, &json!({"ids": [WAITING, FINISHED]})).status, 204);
    ada.post(path, &json!({})).errors(400);
}

#[test]
fn one_that_is_being_cancelled_is_suspended() {
    let world = World::new();
    let definition = json!({"definitionId": "trip", "root": [
        {"id": "book", "type": "Workflow.Compensable", "body": {"type": "WriteLine", "text": "booked"}, "compensation": {"type": "RunTask", "taskName": "Undo"}},
        {"type": "RunTask", "taskName": "Go"}]});
    world.sql(&format!(
        "SET ROLE ada; SELECT wf_define($x${definition}$x$); SELECT wf_start('trip', instance_id => '{WAITING}'); SELECT wf_cancel('{WAITING}')"
    ));
    let known = world.value(&format!("SELECT sub_status FROM workflow.instance_list WHERE instance_id = '{WAITING}'"));
    assert_eq!(known.as_deref(), Some("Cancelling"));
    let ada = world.client("ada");
    assert_eq!(ada.get(&format!("/workflow-instances/{WAITING}")).ok()["workflowState"]["subStatus"], "Suspended");
    assert_eq!(ada.get(&format!("/workflow-instances/{WAITING}/execution-state")).ok()["subStatus"], "Suspended");
    assert_eq!(
        ada.post("/workflow-instances", &json!({"subStatuses": ["Suspended"]})).ok()["items"][0]["subStatus"],
        "Suspended"
    );
}

#[test]
fn the_state_changes_with_whatever_happens() {
    let world = orders();
    let ada = world.client("ada");
    let state = || ada.get(&format!("/workflow-instances/{WAITING}/execution-state")).ok();
    let mut before = state();
    members(&before, &["status", "subStatus", "updatedAt"]);
    assert_eq!((&before["status"], &before["subStatus"]), (&json!("Running"), &json!("Suspended")));
    for done in [
        "SELECT wf_pause(id) FROM i",
        "SELECT wf_unpause(id) FROM i",
        "SELECT wf_assign_task(task_id, 'ada') FROM i JOIN workflow.open_tasks ON instance_id = id",
        "SELECT wf_set_variable(id, 'Note', '1') FROM i",
        "SELECT wf_complete_task(task_id) FROM i JOIN workflow.open_tasks ON instance_id = id",
    ] {
        world.sql(&format!("SET ROLE ada; WITH i AS (SELECT uuid '{WAITING}' AS id) {done}"));
        let after = state();
        assert!(after["updatedAt"].as_str() > before["updatedAt"].as_str(), "{done}: {after}");
        before = after;
    }
    assert_eq!(before["status"], "Finished");
}

#[test]
fn variables_have_the_ids_of_the_document() {
    let world = orders();
    let ada = world.client("ada");
    let path = format!("/workflow-instances/{WAITING}/variables");
    let answer = ada.get(&path);
    assert_eq!(answer.ok()["count"], 2);
    assert!(answer.text.contains("12345678901234567890.10"), "{answer:?}");
    let shown: Vec<[Value; 2]> = items(&answer).iter().map(|one| [one["id"].clone(), one["name"].clone()]).collect();
    assert_eq!(shown, [[json!("v1"), json!("Price")], [json!("Note"), json!("Note")]]);
    members(&items(&answer)[0], &["id", "name", "value"]);
    // Also when the version has been deleted.
    world.sql(&format!(
        "SET ROLE ada; SELECT wf_cancel('{WAITING}'), wf_cancel('{FAULTED}'); SELECT wf_delete_definition('order')"
    ));
    assert_eq!(items(&ada.get(&path))[0]["id"], "v1");
}

#[test]
fn who_may_not_read_an_instance_sees_none() {
    let world = orders();
    let ben = world.client("ben");
    let calls = |id: &str| {
        let answers = vec![
            ben.get(&format!("/workflow-instances/{id}")),
            ben.get(&format!("/workflow-instances/{id}/execution-state")),
            ben.get(&format!("/workflow-instances/{id}/variables")),
            ben.get(&format!("/workflow-instances/{id}/export")),
            ben.post(&format!("/workflow-instances/{id}/journal"), &Value::Null),
            ben.get(&format!("/workflow-instances/{id}/journal")),
            ben.post("/activity-executions/report", &json!({"workflowInstanceId": id})),
            ben.get(&format!("/activity-executions/list?WorkflowInstanceId={id}")),
            ben.get(&format!("/activity-execution-summaries/list?WorkflowInstanceId={id}")),
            ben.get(&format!("/activity-executions/by-id?id={id}.{id}")),
        ];
        answers.into_iter().map(|answer| answer.status).collect::<Vec<u16>>()
    };
    assert_eq!(list(&ben, &json!({})), [""; 0]);
    for id in [WAITING, NONE, "x", "%00"] {
        assert_eq!(calls(id), [404; 10], "{id}");
    }
    world.sql("SET ROLE ada; SELECT wf_grant('order', 'ben', '{read}')");
    assert_eq!(list(&ben, &json!({})), ["third", "second", "first"]);
    // The first execution has the number 0.
    assert_eq!(calls(WAITING), [200; 10]);
}

//! The history of an instance: its journal, and executions of activities.

#![allow(clippy::unwrap_used, reason = "what is not as expected fails the test")]

use serde_json::{Value, json};

use crate::instances::{FAULTED, NONE, WAITING, is_time, items, members, orders};
use crate::support::World;

#[test]
fn the_journal_has_elsas_names() {
    let world = orders();
    let ada = world.client("ada");
    let path = format!("/workflow-instances/{FAULTED}/journal");
    let whole = ada.post(&format!("{path}?skip=0&take=111"), &json!({"filter": null}));
    let events: Vec<(String, String)> = items(&whole)
        .iter()
        .map(|one| (one["eventName"].as_str().unwrap().into(), one["activityId"].as_str().unwrap().into()))
        .collect();
    let known = [
        ("Started", "Workflow1"),
        ("Started", "root1"),
        ("WriteLine", "hello"),
        ("Completed", "hello"),
        ("Suspended", "t1"),
        ("Suspended", "Workflow1"),
        ("Resumed", "Workflow1"),
        ("Resumed", "t1"),
        ("Completed", "t1"),
        ("Faulted", "pay"),
        ("Faulted", "Workflow1"),
    ];
    let without_values: Vec<(&str, &str)> = events
        .iter()
        .map(|(event, activity)| (event.as_str(), activity.as_str()))
        .filter(|(event, _)| !["InputsEvaluated", "OutputsSet"].contains(event))
        .collect();
    assert_eq!(without_values, known);
    assert_eq!(whole.ok()["totalCount"], events.len());
    for (number, item) in items(&whole).iter().enumerate() {
        members(
            item,
            &[
                "id",
                "activityInstanceId",
                "parentActivityInstanceId",
                "activityId",
                "activityType",
                "activityTypeVersion",
                "activityName",
                "nodeId",
                "timestamp",
                "sequence",
                "eventName",
                "message",
                "source",
                "activityState",
                "payload",
            ],
        );
        assert_eq!(item["sequence"], number + 1);
        assert!(is_time(&item["timestamp"]), "{item}");
    }
    let of = |event: &str, activity: &str| {
        items(&whole).into_iter().find(|one| one["eventName"] == event && one["activityId"] == activity).unwrap()
    };
    let suspended = of("Suspended", "t1");
    assert_eq!(
        (&suspended["activityType"], &suspended["activityName"], &suspended["nodeId"]),
        (&json!("Elsa.RunTask"), &json!("Check"), &json!("Workflow1:root1:t1"))
    );
    assert_eq!(suspended["activityState"]["TaskName"], "Check order");
    assert_eq!(of("WriteLine", "hello")["message"], "hello");
    assert_eq!(of("Faulted", "pay")["message"], "division by zero");
    assert_eq!(of("Started", "Workflow1")["activityType"], "Elsa.Workflow");

    let filtered = |filter: &Value| {
        let answer = ada.post(&path, &json!({"filter": filter})).ok();
        let shown: Vec<String> = answer["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| format!("{} {}", one["activityId"].as_str().unwrap(), one["eventName"].as_str().unwrap()))
            .collect();
        assert_eq!(answer["totalCount"], shown.len());
        shown
    };
    assert_eq!(
        filtered(&json!({"eventNames": ["Faulted"], "excludedActivityTypes": ["Elsa.Workflow"]})),
        ["pay Faulted"]
    );
    assert_eq!(filtered(&json!({"activityIds": ["hello"], "eventNames": ["Completed"]})), ["hello Completed"]);
    assert_eq!(filtered(&json!({"activityNodeIds": ["Workflow1:root1"]})), ["root1 Started"]);
    assert_eq!(filtered(&json!({"activityNodeIds": []})), [""; 0]);
    let page = ada.post(&format!("{path}?Skip=1&take=1"), &Value::Null).ok();
    assert_eq!((&page["items"][0]["activityId"], &page["totalCount"]), (&json!("root1"), &json!(events.len())));
    assert_eq!(ada.get(&format!("{path}?take=1")).ok()["items"][0]["activityId"], "Workflow1");
    assert_eq!(ada.get(&format!("{path}/hello")).ok()["items"][0]["activityId"], "hello");
    for wrong in ["?skip=-1", "?take=x", "?take=99999999999999999999"] {
        ada.post(&format!("{path}{wrong}"), &Value::Null).errors(400);
    }
    ada.post(&path, &json!({"filter": "x"})).errors(400);
}

#[test]
fn executions_tell_what_each_activity_did() {
    let world = orders();
    let ada = world.client("ada");
    let summaries = |node: &str| {
        ada.get(&format!("/activity-execution-summaries/list?WorkflowInstanceId={FAULTED}&ActivityNodeId={node}"))
    };
    let answer = summaries("Workflow1:root1:t1");
    assert_eq!(answer.ok()["count"], 1);
    let summary = &items(&answer)[0];
    let common = [
        "id",
        "workflowInstanceId",
        "activityId",
        "activityNodeId",
        "activityType",
        "activityTypeVersion",
        "activityName",
        "startedAt",
        "completedAt",
        "hasBookmarks",
        "status",
        "metadata",
    ];
    members(summary, &common);
    assert_eq!(
        (&summary["status"], &summary["activityType"], &summary["hasBookmarks"]),
        (&json!("Completed"), &json!("Elsa.RunTask"), &json!(false))
    );

    let id = summary["id"].as_str().unwrap();
    let answer = ada.get(&format!("/activity-executions/by-id?id={id}"));
    let record = answer.ok();
    members(
        &record,
        &[
            &common[..],
            &[
                "activityState",
                "payload",
                "outputs",
                "properties",
                "exception",
                "aggregateFaultCount",
                "schedulingActivityExecutionId",
                "schedulingActivityId",
                "schedulingWorkflowInstanceId",
                "callStackDepth",
            ],
        ]
        .concat(),
    );
    assert_eq!((&record["activityId"], &record["activityState"]["TaskName"]), (&json!("t1"), &json!("Check order")));
    assert!(answer.text.contains("\"Payload\": {\"a\": 1.10}"), "{answer:?}");
    assert_eq!(
        (&record["outputs"]["Result"], &record["payload"]),
        (&json!({"by": "Ada"}), &json!({"Outcomes": ["Done"]}))
    );
    assert_eq!(record["schedulingActivityId"], "root1");

    // Without any state Studio would ask for ever.
    let list = |node: &str| {
        items(&ada.get(&format!("/activity-executions/list?WorkflowInstanceId={FAULTED}&ActivityNodeId={node}")))
    };
    assert_eq!(list("Workflow1:root1")[0]["activityState"], json!({}));
    assert_eq!(list("Workflow1"), [Value::Null; 0]);
    let all = items(&ada.get(&format!("/activity-executions/list?workflowInstanceId={FAULTED}")));
    assert_eq!(
        all.iter().map(|one| one["activityId"].as_str().unwrap()).collect::<Vec<_>>(),
        ["root1", "hello", "t1", "pay"]
    );
    let faulted = &all[3];
    assert_eq!(
        (&faulted["status"], &faulted["aggregateFaultCount"], &faulted["exception"]["message"]),
        (&json!("Faulted"), &json!(1), &json!("division by zero"))
    );
    assert!(all[0]["exception"].is_null());

    let stack = ada.get(&format!("/activity-executions/{id}/call-stack?includeCrossWorkflowChain=True")).ok();
    assert_eq!((&stack["activityExecutionId"], &stack["totalCount"]), (&json!(id), &json!(2)));
    assert_eq!(
        stack["items"].as_array().unwrap().iter().map(|one| one["activityId"].as_str().unwrap()).collect::<Vec<_>>(),
        ["root1", "t1"]
    );
    assert_eq!(ada.get(&format!("/resilience/retries/{id}")).ok(), json!({"items": [], "totalCount": 0}));
    for unknown in ["x", NONE, &format!("{FAULTED}.{NONE}"), &format!("{NONE}.{NONE}")] {
        ada.get(&format!("/activity-executions/by-id?id={unknown}")).errors(404);
        ada.get(&format!("/activity-executions/{unknown}/call-stack")).errors(404);
    }
    ada.get("/activity-executions/by-id").errors(400);
    ada.get("/activity-executions/list").errors(400);
}

#[test]
fn badges_count_executions_by_node() {
    let world = World::new();
    let definition = json!({"definitionId": "rounds", "root": {"id": "for", "type": "For", "start": 1, "end": 3, "body": {"id": "task", "type": "RunTask", "taskName": "T"}}});
    world.sql(&format!(
        "SET ROLE ada; SELECT wf_define($x${definition}$x$); SELECT wf_start('rounds', instance_id => '{WAITING}'); \
         SELECT wf_complete_task(task_id) FROM workflow.open_tasks"
    ));
    let ada = world.client("ada");
    let report = |nodes: Value| {
        ada.post("/activity-executions/report", &json!({"workflowInstanceId": WAITING, "activityNodeIds": nodes})).ok()
    };
    let task = json!({"activityId": "task", "activityNodeId": "Workflow1:for:task", "startedCount": 2, "completedCount": 1, "uncompletedCount": 1,
        "isBlocked": true, "isFaulted": false, "metadata": {}});
    assert_eq!(report(json!(["Workflow1:for:task", "Workflow1:other"])), json!({"stats": [task]}));
    assert_eq!(report(Value::Null)["stats"].as_array().unwrap().len(), 2);
    assert_eq!(report(json!([])), json!({"stats": []}));
    ada.post("/activity-executions/report", &json!({})).errors(400);
}

/// A version of a workflow that is an activity has its own descriptor.
#[test]
fn a_workflow_as_activity_has_its_version() {
    let world = World::new();
    let child = |text: &str| json!({"definitionId": "child", "name": "Child", "options": {"usableAsActivity": true}, "root": {"type": "WriteLine", "text": text}});
    world.sql(&format!(
        "SET ROLE ada; SELECT wf_define($x${}$x$); SELECT wf_define($x${}$x$); \
         SELECT wf_define('{{\"definitionId\": \"parent\", \"root\": {{\"type\": \"Child\", \"id\": \"c\"}}}}'); SELECT wf_start('parent', instance_id => '{WAITING}')",
        child("one"), child("two")
    ));
    let shown =
        world.client("ada").get(&format!("/activity-execution-summaries/list?WorkflowInstanceId={WAITING}")).ok();
    let of_child = shown["items"].as_array().unwrap().iter().find(|one| one["activityType"] == "Child").unwrap();
    assert_eq!(of_child["activityTypeVersion"], 2);
}

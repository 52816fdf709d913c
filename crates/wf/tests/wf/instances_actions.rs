//! Actions on instances, and who may perform them.

#![allow(clippy::unwrap_used, reason = "what is not as expected fails the test")]

use serde_json::{Value, json};

use crate::instances::{FAULTED, FINISHED, NONE, WAITING, orders};
use crate::support::{Api, World};

fn sub_status(world: &World, id: &str) -> Option<String> {
    world.value(&format!("SELECT sub_status FROM workflow.instance_list WHERE instance_id = '{id}'"))
}

fn open_task(world: &World, id: &str) -> String {
    world.value(&format!("SELECT task_id::text FROM workflow.open_tasks WHERE instance_id = '{id}'")).expect("a task")
}

#[test]
fn instances_are_cancelled() {
    let world = orders();
    let ada = world.client("ada");
    let path = format!("/cancel/workflow-instances/{WAITING}");
    assert_eq!(ada.send("POST", &path, "").status, 200);
    assert_eq!(sub_status(&world, WAITING).as_deref(), Some("Cancelled"));
    // Another call may have been faster.
    assert_eq!(ada.send("POST", &path, "").status, 200);
    ada.send("POST", &format!("/cancel/workflow-instances/{NONE}"), "").errors(404);
    ada.send("POST", "/cancel/workflow-instances/x", "").errors(404);
}

#[test]
fn many_are_cancelled_by_id_or_by_version() {
    let world = orders();
    let ada = world.client("ada");
    let cancel =
        |body: Value| ada.post("/bulk-actions/cancel/workflow-instances", &body).ok()["cancelledCount"].clone();
    assert_eq!(
        cancel(
            json!({"ids": [WAITING, FINISHED, NONE, "x"], "definitionVersionId": null, "definitionId": null, "versionOptions": null})
        ),
        1
    );
    world.sql("SET ROLE ada; SELECT wf_start('order', '{\"Customer\": \"A\"}'), wf_start('order', '{\"Customer\": \"B\"}'), wf_start('order', '{\"Customer\": \"C\"}')");
    let version = world.value("SELECT version_id::text FROM workflow.definition_list").unwrap();
    assert_eq!(cancel(json!({"definitionVersionId": NONE})), 0);
    assert_eq!(cancel(json!({"definitionId": "order", "versionOptions": "2"})), 0);
    assert_eq!(cancel(json!({"definitionVersionId": version})), 3);
    assert_eq!(
        world.value("SELECT count(*)::text FROM workflow.instance_list WHERE status = 'Running'").as_deref(),
        Some("0")
    );
    world.sql("SET ROLE ada; SELECT wf_start('order', '{\"Customer\": \"A\"}')");
    assert_eq!(cancel(json!({"definitionId": "order", "versionOptions": "Published"})), 1);
    ada.post("/bulk-actions/cancel/workflow-instances", &json!({"ids": [7]})).errors(400);
    ada.post("/bulk-actions/cancel/workflow-instances", &json!({"definitionId": "order", "versionOptions": "Newest"}))
        .errors(400);
    let many: Vec<String> = (0..10_001).map(|number| format!("01900000-0000-7000-8000-{number:012x}")).collect();
    ada.post("/bulk-actions/cancel/workflow-instances", &json!({"ids": many})).errors(400);
}

#[test]
fn instances_are_deleted() {
    let world = orders();
    let ada = world.client("ada");
    assert_eq!(ada.delete(&format!("/workflow-instances/{FINISHED}")).status, 204);
    assert_eq!(sub_status(&world, FINISHED), None);
    ada.delete(&format!("/workflow-instances/{FINISHED}")).errors(404);
    ada.delete("/workflow-instances/x").errors(404);
    let answer =
        ada.post("/bulk-actions/delete/workflow-instances/by-id", &json!({"ids": [WAITING, FAULTED, NONE, "x"]}));
    assert_eq!(answer.ok(), json!({"deleted": 2}));
    assert_eq!(world.value("SELECT count(*)::text FROM workflow.instance_list").as_deref(), Some("0"));
    ada.post("/bulk-actions/delete/workflow-instances/by-id", &json!({})).errors(400);
}

#[test]
fn faulted_ones_are_retried() {
    let world = orders();
    let ada = world.client("ada");
    let retry = |ids: Value, activities: Value| {
        ada.post("/alterations/workflows/retry", &json!({"workflowInstanceIds": ids, "activityIds": activities})).ok()
    };
    let answer = retry(json!([FAULTED, WAITING, NONE, "x"]), Value::Null);
    let results = answer["results"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> =
        results.iter().map(|one| (&one["workflowInstanceId"], &one["isSuccessful"])).collect();
    // The fault is still recorded: the retry itself has succeeded.
    assert_eq!(
        told,
        [
            (&json!(FAULTED), &json!(true)),
            (&json!(WAITING), &json!(false)),
            (&json!(NONE), &json!(false)),
            (&json!("x"), &json!(false))
        ]
    );
    assert_eq!(
        (&results[0]["log"], &results[0]["workflowHasScheduledWork"]),
        (&json!({"logEntries": []}), &json!(false))
    );
    let entry = &results[2]["log"]["logEntries"][0];
    assert_eq!(
        (&entry["message"], &entry["logLevel"]),
        (&json!(format!("workflow instance {NONE} does not exist")), &json!("Error"))
    );
    assert_eq!(retry(json!([FAULTED]), json!(["hello"]))["results"][0]["isSuccessful"], false);
    assert_eq!(retry(json!([FAULTED]), json!(["pay"]))["results"][0]["isSuccessful"], true);
    ada.post("/alterations/workflows/retry", &json!({})).errors(400);
}

#[test]
fn a_plan_cancels_what_its_filter_selects() {
    let world = orders();
    let ada = world.client("ada");
    world.sql("SET ROLE ada; SELECT wf_start('order', '{\"Customer\": \"A\"}', correlation_id => 'many') FROM generate_series(1, 250)");
    let submit = |filter: Value| {
        ada.post("/alterations/submit", &json!({"alterations": [{"type": "Cancel"}], "filter": filter}))
    };
    // As Studio sends it.
    let none = submit(
        json!({"emptyFilterSelectsAll": true, "hasIncidents": null, "isSystem": false, "searchTerm": "no such text", "statuses": [],
        "subStatuses": [], "timestampFilters": [], "definitionIds": ["order"]}),
    );
    assert!(none.ok()["planId"].is_string());
    assert_eq!(sub_status(&world, WAITING).as_deref(), Some("Suspended"));
    let all = submit(json!({"emptyFilterSelectsAll": true, "searchTerm": null, "subStatuses": ["Suspended"]}));
    assert!(all.ok()["planId"].is_string());
    assert_eq!(
        world.value("SELECT count(*)::text FROM workflow.instance_list WHERE sub_status = 'Cancelled'").as_deref(),
        Some("251")
    );
    submit(json!({})).errors(400);
    submit(json!({"statuses": ["Sleeping"]})).errors(400);
    ada.post(
        "/alterations/submit",
        &json!({"alterations": [{"type": "Explode"}], "filter": {"definitionIds": ["order"]}}),
    )
    .errors(400);
    ada.post("/alterations/submit", &json!({"filter": {}})).errors(400);
}

#[test]
fn alterations_run_by_id_and_have_a_result_for_each() {
    let world = orders();
    let ada = world.client("ada");
    let run = |alterations: Value, ids: Value| {
        ada.post("/alterations/run", &json!({"alterations": alterations, "workflowInstanceIds": ids}))
    };
    let change = json!([{"type": "ModifyVariable", "variableId": "Price", "value": 9}]);
    let answer = run(change.clone(), json!([NONE, WAITING, "x", WAITING])).ok();
    let results = answer["results"].as_array().expect("results");
    let told: Vec<(&Value, &Value)> =
        results.iter().map(|one| (&one["workflowInstanceId"], &one["isSuccessful"])).collect();
    assert_eq!(told, [(&json!(NONE), &json!(false)), (&json!(WAITING), &json!(true)), (&json!("x"), &json!(false))]);
    let message = results[0]["log"]["logEntries"][0]["message"].as_str().expect("a message");
    assert!(message.contains("does not exist"), "{message}");
    assert_eq!(results[1]["log"]["logEntries"], json!([]));
    let price = format!("SELECT variables ->> 'Price' FROM workflow.instance_list WHERE instance_id = '{WAITING}'");
    assert_eq!(world.value(&price).as_deref(), Some("9"));

    // More instances than one transaction alters; and an invalid alteration changes nothing.
    world.sql("SET ROLE ada; SELECT wf_start('order', '{\"Customer\": \"A\"}') FROM generate_series(1, 150)");
    let ids: Vec<String> = world
        .value("SELECT string_agg(instance_id::text, ' ') FROM workflow.instance_list WHERE sub_status = 'Suspended'")
        .map(|ids| ids.split(' ').map(str::to_owned).collect())
        .expect("instances");
    let results = run(json!([{"type": "Cancel"}]), json!(ids)).ok()["results"].clone();
    assert!(results.as_array().expect("results").iter().all(|one| one["isSuccessful"] == true) && ids.len() > 150);
    assert_eq!(sub_status(&world, &ids[149]).as_deref(), Some("Cancelled"));
    run(json!([{"type": "Explode"}]), json!([WAITING])).errors(400);
    run(json!([]), json!([WAITING])).errors(400);
    assert_eq!(run(change, json!([])).ok()["results"], json!([]));
    ada.post("/alterations/run", &json!({"alterations": []})).errors(400);
}

#[test]
fn a_dry_run_lists_what_a_filter_selects_and_changes_nothing() {
    let world = orders();
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    let find = |filter: Value| ada.post("/alterations/dry-run", &filter);
    let all = find(json!({"definitionIds": ["order"], "subStatuses": ["Suspended"], "searchTerm": ""})).ok();
    assert!(all["workflowInstanceIds"].as_array().expect("ids").contains(&json!(WAITING)), "{all}");
    assert_eq!(sub_status(&world, WAITING).as_deref(), Some("Suspended"));
    assert_eq!(find(json!({"definitionIds": ["none"]})).ok(), json!({"workflowInstanceIds": []}));
    assert_eq!(
        ben.post("/alterations/dry-run", &json!({"definitionIds": ["order"]})).ok(),
        json!({"workflowInstanceIds": []})
    );
    find(json!({})).errors(400);
    find(json!({"statuses": ["Sleeping"]})).errors(400);
    find(json!([])).errors(400);
    // A missing instance is reported in Elsa's form.
    let said = ada.get(&format!("/alterations/{NONE}"));
    assert!(said.errors(404)[0].contains("alteration plan"));
    ada.post("/workflow-definitions/import-files", &json!({})).errors(400);
}

#[test]
fn instances_cannot_be_imported() {
    let answer = World::new().client("ada").post("/bulk-actions/import/workflow-instances", &json!({}));
    assert_eq!(answer.errors(400)[0], "importing instances is not supported");
}

#[test]
fn tasks_are_completed() {
    let world = orders();
    let ada = world.client("ada");
    let task = open_task(&world, WAITING);
    let path = format!("/tasks/{task}/complete");
    assert_eq!(ada.send("POST", &path, "{\"result\": {\"n\": 1.10}}").status, 200);
    let kept = world
        .value(&format!("SELECT outputs::text FROM workflow.activity_executions('{WAITING}') WHERE activity_id = 't1'"))
        .unwrap();
    assert!(kept.contains("1.10"), "{kept}");
    let again = ada.send("POST", &path, "{}").errors(409);
    assert!(again[0].contains("completed"), "{again:?}");
    ada.send("POST", &format!("/tasks/{NONE}/complete"), "").errors(404);
    ada.send("POST", "/tasks/x/complete", "").errors(404);
    ada.send("POST", &path, "{\"result\": \"\\u0000\"}").errors(400);
}

#[test]
fn of_two_completions_at_once_one_wins() {
    let world = World::new();
    world.sql("SET ROLE ada; SELECT wf_define('{\"definitionId\": \"race\", \"root\": {\"id\": \"t\", \"type\": \"RunTask\", \"taskName\": \"T\"}}')");
    let (one, other) = (world.client("ada"), world.client("ada"));
    for _ in 0..20 {
        world.sql("SET ROLE ada; SELECT wf_start('race')");
        let task = world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap();
        let complete = |api: &Api| api.post(&format!("/tasks/{task}/complete"), &json!({"result": 1})).status;
        let mut statuses = std::thread::scope(|scope| {
            let (one, other) = (scope.spawn(|| complete(&one)), scope.spawn(|| complete(&other)));
            [one.join().unwrap(), other.join().unwrap()]
        });
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
    }
    let journal = "SELECT count(*)::text FROM workflow.journal WHERE event = 'Resumed'";
    assert_eq!(world.value(journal).as_deref(), Some("20"));
}

#[test]
fn events_are_delivered() {
    let world = World::new();
    let definition = json!({"definitionId": "heard", "outputs": [{"name": "Heard"}], "root": {"type": "Event", "eventName": "Order paid", "result": {"output": "Heard"}}});
    world.sql(&format!(
        "SET ROLE ada; SELECT wf_define($x${definition}$x$); SELECT wf_start('heard', correlation_id => 'c-1', instance_id => '{WAITING}'); \
         SELECT wf_start('heard', correlation_id => 'c-2', instance_id => '{FAULTED}')"
    ));
    let ada = world.client("ada");
    let trigger = |body: Value| ada.post("/events/Order%20paid/trigger", &body).ok();
    assert_eq!(trigger(json!({"correlationId": "c-9"})), json!({"started": [], "resumed": [], "withheld": 0}));
    let resumed =
        trigger(json!({"correlationId": "c-2", "input": {"amount": 1}, "workflowExecutionMode": "Asynchronous"}));
    assert_eq!(resumed["resumed"], json!([FAULTED]));
    assert_eq!(trigger(json!({"workflowInstanceId": WAITING}))["resumed"], json!([WAITING]));
    let heard = world
        .value(&format!("SELECT output::text FROM workflow.instance_list WHERE instance_id = '{FAULTED}'"))
        .unwrap();
    assert!(heard.contains("amount"), "{heard}");
    assert_eq!(ada.send("POST", "/events/Nothing/trigger", "").ok()["resumed"], json!([]));
    ada.post("/events/x/trigger", &json!({"workflowInstanceId": "x"})).errors(404);
}

#[test]
fn who_may_only_read_changes_nothing() {
    let world = orders();
    let ben = world.client("ben");
    let task = open_task(&world, WAITING);
    let attempts = || {
        vec![
            ben.send("POST", &format!("/cancel/workflow-instances/{WAITING}"), ""),
            ben.delete(&format!("/workflow-instances/{WAITING}")),
            ben.post("/bulk-actions/delete/workflow-instances/by-id", &json!({"ids": [WAITING]})),
            ben.post("/bulk-actions/cancel/workflow-instances", &json!({"ids": [WAITING]})),
            ben.post(&format!("/tasks/{task}/complete"), &json!({"result": 1})),
        ]
    };
    let version = world.value("SELECT version_id::text FROM workflow.definition_list").unwrap();
    // An instance that he may not see is not selected.
    for (grant, altered) in [("", 200), ("SELECT wf_grant('order', 'ben', '{read}')", 409)] {
        world.sql(&format!("SET ROLE ada; {grant}"));
        for refused in attempts() {
            refused.errors(403);
        }
        let retried = ben.post("/alterations/workflows/retry", &json!({"workflowInstanceIds": [FAULTED]})).ok();
        assert_eq!(retried["results"][0]["isSuccessful"], false);
        let filter = json!({"alterations": [{"type": "Cancel"}], "filter": {"definitionIds": ["order"]}});
        assert_eq!(ben.post("/alterations/submit", &filter).status, altered);
    }
    ben.post("/bulk-actions/cancel/workflow-instances", &json!({"definitionVersionId": version})).errors(403);
    assert_eq!([WAITING, FAULTED].map(|id| sub_status(&world, id).unwrap()), ["Suspended", "Faulted"]);
    assert_eq!(open_task(&world, WAITING), task);
    // With the right to resume, some of it works.
    world.sql("SET ROLE ada; SELECT wf_grant('order', 'ben', '{resume}')");
    assert_eq!(attempts().iter().map(|answer| answer.status).collect::<Vec<_>>(), [200, 403, 403, 200, 409]);
}

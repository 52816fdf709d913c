//! Each call once, with its arguments and its result.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_postgres::NoTls;
use uuid::Uuid;
use workflow_client::{
    AfterFailure, AssignTask, CallOnce, Cancel, ClaimTask, ClaimTasks, Client, CompleteTask, CompleteTasks, Define,
    EnqueueBookmark, Error, Explain, ExtendTask, FailTask, HttpRequest, Instance, LimitTasks, List, OnFault,
    OpenIncident, OpenTask, Pause, Publish, PublishEvent, ReleaseTask, Resume, Retract, Retry, Run, SendStimulus,
    Start, UnassignTask, Unpause, Validate, Waiting, run_on,
};

use crate::{World, connect, define_task, soon};

async fn define(client: &Client, document: Value) {
    client.run(Define::new(document)).await.unwrap();
}

#[tokio::test]
async fn an_instance_is_started_resumed_and_explained() {
    let world = World::new().await;
    let client = world.client().await;
    define(
        &client,
        json!({"definitionId": "request", "outputs": [{"name": "Answer"}], "root": {
        "id": "Approval", "type": "Event", "eventName": "Approved", "result": {"output": "Answer"}}}),
    )
    .await;
    let state = client.run(Run::new("request").correlation_id("r-1").name("Ada's request")).await.unwrap();
    assert_eq!((&*state.status, &*state.sub_status, state.is_new), ("Running", "Suspended", Some(true)));
    let waiting = client.run(List::<Waiting>::new().equal("correlation_id", "r-1")).await.unwrap();
    assert_eq!((waiting.len(), &*waiting[0].activity, Some(waiting[0].instance)), (1, "Approval", state.instance_id));
    let resumed = client.run(Resume::new(waiting[0].bookmark_id).input(json!({"by": "Ada"}))).await.unwrap();
    assert_eq!((&*resumed.sub_status, resumed.is_new), ("Finished", Some(false)));
    assert_eq!(resumed.output_as::<Value>().unwrap(), json!({"Answer": {"by": "Ada"}}));
    let gone = client.run(Resume::new(waiting[0].bookmark_id).missing_ok()).await.unwrap();
    assert_eq!((gone.instance_id, &*gone.sub_status), (None, ""));
    let lines = client.run(Explain::new(state.instance_id.unwrap())).await.unwrap();
    assert!(lines[0].starts_with("request, version 1") && lines[0].ends_with(": Finished"), "{lines:?}");
    let listed = client.run(List::<Instance>::new().equal("name", "Ada's request")).await.unwrap();
    assert_eq!((listed.len(), &*listed[0].sub_status, listed[0].version), (1, "Finished", 1));
}

#[tokio::test]
async fn an_id_of_the_caller_starts_once() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "wait").await;
    let id = Uuid::now_v7();
    assert_eq!(client.run(Run::new("wait").instance_id(id)).await.unwrap().is_new, Some(true));
    assert_eq!(client.run(Run::new("wait").instance_id(id)).await.unwrap().is_new, Some(false));
    assert_eq!(client.run(Start::new("wait").instance_id(id)).await.unwrap(), id);
    assert_eq!(world.count("workflow.instance_list").await, 1);
}

#[tokio::test]
async fn instances_are_paused_cancelled_and_retried() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "wait").await;
    let instance = client.run(Start::new("wait")).await.unwrap();
    assert!(client.run(Pause::new(instance).reason("maintenance")).await.unwrap());
    assert!(!client.run(Pause::new(instance).with_children()).await.unwrap());
    assert_eq!(client.run(Unpause::new(instance)).await.unwrap().sub_status, "Suspended");
    assert!(client.run(Cancel::new(instance).reason("a duplicate")).await.unwrap());
    assert!(!client.run(Cancel::new(instance).force()).await.unwrap());
    define(
        &client,
        json!({"definitionId": "divide", "root": {
        "id": "Divide", "type": "Sql", "statement": "SELECT 1 / amount FROM public.orders"}}),
    )
    .await;
    world.sql("INSERT INTO orders VALUES ('zero', 0)").await;
    let faulted = client.run(Run::new("divide").on_fault(OnFault::Store)).await.unwrap();
    assert_eq!(faulted.sub_status, "Faulted");
    let raised = client.run(Start::new("divide").on_fault(OnFault::Raise)).await.unwrap_err();
    assert_eq!(raised.sqlstate(), Some("22012"));
    let incidents = client.run(List::<OpenIncident>::new().equal("sqlstate", "22012")).await.unwrap();
    assert_eq!((incidents.len(), incidents[0].activity_id.as_deref()), (1, Some("Divide")));
    world.sql("UPDATE orders SET amount = 1").await;
    let retried = client.run(Retry::new(incidents[0].instance_id).activities(["Divide"])).await.unwrap();
    assert_eq!(retried.sub_status, "Finished");
}

#[tokio::test]
async fn notices_reach_their_handler() {
    let world = World::new().await;
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    let options = world.options_at(&world.server).on_notice(move |notice| drop(sender.send(notice.clone())));
    let client = Client::connect(options).await.unwrap();
    define(
        &client,
        json!({"definitionId": "divide", "root": {"id": "Divide", "type": "Sql", "statement": "SELECT 1 / 0"}}),
    )
    .await;
    let faulted = client.run(Run::new("divide").on_fault(OnFault::Store)).await.unwrap();
    assert_eq!(faulted.sub_status, "Faulted");
    let notice = soon("the warning", received.recv()).await.expect("a message");
    assert_eq!((&*notice.severity, notice.message.ends_with("is faulted")), ("WARNING", true), "{notice}");
    assert!(notice.detail.as_deref().is_some_and(|detail| detail.contains("division by zero")), "{notice:?}");
}

#[tokio::test]
async fn definitions_are_validated_and_published() {
    let world = World::new().await;
    let client = world.client().await;
    let document = |text: &str| json!({"definitionId": "greet", "root": [{"type": "WriteLine", "text": text}]});
    let first = client.run(Define::new(document("hello"))).await.unwrap();
    assert_eq!((&*first.definition_id, first.version), ("greet", 1));
    let second = client.run(Define::new(document("good day")).without_publishing()).await.unwrap();
    assert_eq!(second.version, 2);
    assert_eq!(client.run(Publish::new("greet").version(2)).await.unwrap(), 2);
    assert!(client.run(Retract::new("greet")).await.unwrap());
    assert_eq!(client.run(Publish::new("greet")).await.unwrap(), 2);
    let wrong = json!({"definitionId": "x", "root": [{"type": "WriteLin"}]});
    let problems = client.run(Validate::new(wrong.clone()).with_warnings()).await.unwrap();
    assert_eq!((&*problems[0].path, &*problems[0].severity), ("/root/0", "error"));
    let error = client.run(Define::new(&wrong)).await.unwrap_err();
    let database = error.database().expect("PostgreSQL rejects it");
    assert!(database.detail.as_deref().is_some_and(|detail| detail.contains("\"WriteLine\"")), "{error}");
    assert!(database.hint.as_deref().is_some_and(|hint| hint.contains("wf_validate")), "{error}");
    assert_eq!(client.run(Define::new(wrong).allow_unknown()).await.unwrap().version, 1);
}

#[tokio::test]
async fn events_reach_instances_or_are_stored() {
    let world = World::new().await;
    let client = world.client().await;
    let waits =
        |name: &str| json!({"definitionId": name, "root": {"id": "Paid", "type": "Event", "eventName": "Paid"}});
    define(&client, waits("order")).await;
    let instance = client.run(Start::new("order").correlation_id("o-1")).await.unwrap();
    let event = || PublishEvent::new("Paid").payload(json!({"amount": 250}));
    assert!(client.run(event().correlation_id("o-2")).await.unwrap().is_lost());
    assert!(client.run(event().correlation_id(None)).await.unwrap().is_lost());
    assert_eq!(client.run(event().correlation_id("o-1")).await.unwrap().resumed, [instance]);
    let early = client.run(event().correlation_id("o-1").keep_for(Duration::from_secs(3600))).await.unwrap();
    assert!(early.queued_id.is_some() && !early.is_lost());
    let instance = client.run(Run::new("order").correlation_id("o-1")).await.unwrap();
    assert_eq!(instance.sub_status, "Finished", "the early event");
    let waiting = client.run(Start::new("order").correlation_id("o-3")).await.unwrap();
    let approval = EnqueueBookmark::new().activity_id("Paid").instance_id(waiting).correlation_id("o-3").input(true);
    assert_eq!(client.run(approval).await.unwrap().resumed, [waiting]);
    let stored = client.run(EnqueueBookmark::new().activity_id("Paid").correlation_id("o-4")).await.unwrap();
    assert!(stored.queued_id.is_some());
    let by_stimulus = client.run(Start::new("order").correlation_id("o-5")).await.unwrap();
    let stimulus = SendStimulus::new("Event").stimulus(json!({"EventName": "Paid"})).input(7).instance_id(by_stimulus);
    assert_eq!(client.run(stimulus).await.unwrap().resumed, [by_stimulus]);
}

#[tokio::test]
async fn a_message_takes_effect_once() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "wait").await;
    let start = || CallOnce::start("o-1", "m-1", "wait", json!({"number": 1}));
    let (first, second) = (client.run(start()).await.unwrap(), client.run(start()).await.unwrap());
    assert_eq!(first, second);
    assert_eq!(world.count("workflow.instance_list").await, 1);
    let tasks = client.run(List::<OpenTask>::new().equal("correlation_id", "o-1").limit(10)).await.unwrap();
    assert_eq!((tasks.len(), tasks[0].payload.clone()), (1, Some(json!({"number": 1}))));
    let answer = || CallOnce::task("o-1", "m-2", tasks[0].task_id, "done");
    assert_eq!(client.run(answer()).await.unwrap().sub_status, "Finished");
    assert_eq!(client.run(answer()).await.unwrap().sub_status, "Finished");
    let event = || CallOnce::event("o-1", "m-3", "Paid", json!({"amount": 1}));
    assert_eq!(client.run(event()).await.unwrap().queued_id, client.run(event()).await.unwrap().queued_id);
    let other = client.run(CallOnce::event("o-1", "m-3", "Paid", json!({"amount": 2}))).await.unwrap_err();
    assert_eq!(other.sqlstate(), Some("22023"));
}

#[tokio::test]
async fn tasks_are_claimed_extended_failed_released_and_completed() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "charge").await;
    for number in 1..=3 {
        client.run(Start::new("charge").input(json!({"number": number}))).await.unwrap();
    }
    let claim = || ClaimTasks::new(["charge"]).worker("worker-1").lease(Duration::from_secs(3600));
    let task = client.run(claim()).await.unwrap().remove(0);
    assert_eq!((task.attempt, task.max_attempts, task.owner.as_deref()), (1, Some(1000), Some(&*world.role)));
    assert_eq!(task.payload_as::<Value>().unwrap(), json!({"number": 1}));
    let extend =
        ExtendTask::new(task.task_id, task.token).lease(Duration::from_secs(7200)).progress(json!({"step": 1}));
    assert!(client.run(extend).await.unwrap() > Some(task.lease_until));
    let fail = FailTask::new(task.task_id, task.token, "no answer").detail("a detail").code("bank_down");
    assert_eq!(client.run(fail.retry_in(Duration::ZERO)).await.unwrap(), AfterFailure::Open);
    assert_eq!(client.run(ExtendTask::new(task.task_id, task.token)).await.unwrap(), None);
    let again = client.run(ClaimTask::new(task.task_id).worker("desk")).await.unwrap();
    assert_eq!((again.attempt, again.progress.clone()), (2, Some(json!({"step": 1}))));
    assert!(client.run(ReleaseTask::new(again.task_id, again.token)).await.unwrap());
    assert!(!client.run(ReleaseTask::new(again.task_id, again.token)).await.unwrap());
    let all = client.run(claim().max(10)).await.unwrap();
    let [one, two, three] = &all[..] else { panic!("{all:?}") };
    let answer = || CompleteTask::new(one.task_id).token(one.token).result(json!({"receipt": 1}));
    assert_eq!(client.run(answer().on_fault(OnFault::Store)).await.unwrap().sub_status, "Finished");
    assert_eq!(client.run(answer()).await.unwrap().sub_status, "Finished", "the same answer again");
    let answers = CompleteTasks::new()
        .complete(two.task_id, two.token, "done")
        .complete(one.task_id, Uuid::nil(), "late")
        .fail(three.task_id, three.token, json!({"message": "declined", "retry": false}));
    let outcomes = client.run(answers).await.unwrap();
    let outcomes: Vec<_> = outcomes.iter().map(|answer| (&*answer.outcome, answer.message.is_some())).collect();
    assert_eq!(outcomes, [("Completed", false), ("Refused", true), ("Failed", false)]);
    assert!(client.run(ClaimTasks::any()).await.unwrap().is_empty());
}

#[tokio::test]
async fn endpoints_of_workflows_serve_requests() {
    let world = World::new().await;
    let client = world.client().await;
    world
        .sql(&format!("GRANT EXECUTE ON FUNCTION wf_http_request(text, text, jsonb, jsonb, bytea) TO {}", world.role))
        .await;
    let echo = json!({"definitionId": "echo", "root": [
        {"id": "in", "type": "HttpEndpoint", "path": "echo", "supportedMethods": ["POST"], "canStartWorkflow": true},
        {"type": "WriteHttpResponse", "content": {"js": "`${getOutputFrom('in', 'ParsedContent').total} ${getOutputFrom('in', 'QueryStringData').unit}`"},
            "responseHeaders": {"X-Kind": "echo"}}]});
    define(&client, echo).await;
    let request = || {
        let request = HttpRequest::new("POST", "/echo").header("Content-Type", "application/json");
        request.query("unit", "EUR").body(br#"{"total": 250}"#)
    };
    let response = client.run(request()).await.unwrap();
    assert_eq!((response.status, &*response.body), (200, &b"250 EUR"[..]), "{response:?}");
    assert_eq!(response.headers["X-Kind"], "echo");
    let missing = client.run(HttpRequest::new("GET", "/nowhere")).await.unwrap();
    assert_eq!(missing.status, 404);
    let first = client.run(CallOnce::http("order-42", "web-9", request())).await.unwrap();
    assert_eq!((first.status, &*first.body), (200, &b"250 EUR"[..]));
    assert_eq!(client.run(CallOnce::http("order-42", "web-9", request())).await.unwrap(), first);
    assert_eq!(world.count("workflow.instance_list").await, 2);
}

#[tokio::test]
async fn tasks_are_limited() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "charge").await;
    for number in [1, 1, 2] {
        client.run(Start::new("charge").input(json!({"number": number}))).await.unwrap();
    }
    let limit = LimitTasks::new("charge").concurrency(1).rate(5, Duration::from_secs(60)).key("number");
    client.run(limit).await.unwrap();
    let limits = "workflow.task_limits WHERE key = 'number' AND concurrency = 1 AND rate = 5 AND per = '1 min'";
    assert_eq!(world.count(limits).await, 1);
    assert_eq!(client.run(ClaimTasks::new(["charge"]).max(10)).await.unwrap().len(), 2);
    client.run(LimitTasks::new("charge").key("number")).await.unwrap();
    assert_eq!(world.count("workflow.task_limits").await, 0);
}

#[tokio::test]
async fn a_wait_that_was_rejected_can_be_repeated() {
    let world = World::new().await;
    let mut waiter = world.client().await.task_waiter(["wait"]).await.unwrap();
    let rejected = waiter.wait(Duration::from_secs(31 * 86_400)).await.unwrap_err();
    assert_eq!(rejected.sqlstate(), Some("22023"));
    assert!(!waiter.wait(Duration::ZERO).await.unwrap());
    world.end_connections().await;
    assert!(matches!(waiter.wait(Duration::ZERO).await, Err(error) if error.is_transient()));
    assert!(matches!(waiter.wait(Duration::ZERO).await, Err(Error::Connection(_))));
}

#[tokio::test]
async fn people_are_assigned_and_recorded() {
    let world = World::new().await;
    let client = world.client().await;
    define(
        &client,
        json!({"definitionId": "leave", "root": {
        "id": "approve", "type": "RunTask", "taskName": "Approve leave", "candidates": ["ada", "ben"]}}),
    )
    .await;
    let instance = client.run(Start::new("leave")).await.unwrap();
    let inbox = || List::<OpenTask>::new().equal("instance_id", instance).order_by("created_at");
    let task = client.run(inbox()).await.unwrap().remove(0);
    assert_eq!(task.candidates, Some(vec!["ada".to_owned(), "ben".to_owned()]));
    assert!(client.run(AssignTask::new(task.task_id, "ada")).await.unwrap());
    assert_eq!(client.run(inbox()).await.unwrap()[0].assignee.as_deref(), Some("ada"));
    assert!(client.run(UnassignTask::new(task.task_id)).await.unwrap());
    let ada = client.acting_for("ada");
    ada.run(CompleteTask::new(task.task_id).result(true)).await.unwrap();
    let by = world.value("SELECT string_agg(DISTINCT actor, ',') FROM workflow.audit WHERE actor IS NOT NULL").await;
    assert_eq!(by.as_deref(), Some("ada"));
    let named = ada.transaction(async |tx| {
        let rows = tx.query("SELECT current_setting('workflow.actor')", &[]).await?;
        tx.set_actor("ben").await?;
        Ok(rows[0].get::<_, String>(0))
    });
    assert_eq!(named.await.unwrap(), "ada");
}

#[tokio::test]
async fn the_schema_of_the_extension_is_found() {
    let world = World::without_extension("template0").await;
    let missing = Client::connect(world.options_at(&world.server)).await.expect_err("no extension");
    assert!(matches!(missing, Error::Unfit(_)), "{missing:?}");
    world.sql("CREATE SCHEMA \"Odd schema\"; CREATE EXTENSION workflow SCHEMA \"Odd schema\"").await;
    world.sql(&format!("SELECT \"Odd schema\".wf_grant_usage('{}')", world.role)).await;
    let client = world.client().await;
    define_task(&client, "wait").await;
    client.run(Start::new("wait")).await.unwrap();
    let waiter = client.task_waiter(["wait"]).await.unwrap().wait(Duration::from_secs(600)).await;
    assert!(waiter.unwrap());
    // An administrator creates the extension again, in another schema.
    world.sql("DROP EXTENSION workflow CASCADE; DROP SCHEMA \"Odd schema\"; CREATE SCHEMA other").await;
    world.sql("CREATE EXTENSION workflow SCHEMA other").await;
    world.sql(&format!("SELECT other.wf_grant_usage('{}')", world.role)).await;
    let moved = client.run(ClaimTasks::any()).await.unwrap_err();
    assert!(matches!(moved.sqlstate(), Some("42883" | "3F000")), "{moved:?}");
    assert!(client.run(ClaimTasks::any()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_connection_of_the_application_can_be_used() {
    let world = World::new().await;
    define_task(&world.client().await, "wait").await;
    let options = format!("{} dbname={} user={} password=secret", world.server, world.database, world.role);
    let (mut client, connection) = tokio_postgres::connect(&options, NoTls).await.unwrap();
    tokio::spawn(connection);
    let transaction = client.transaction().await.unwrap();
    run_on(&transaction, Start::new("wait")).await.unwrap();
    transaction.rollback().await.unwrap();
    assert_eq!(world.count("workflow.instance_list").await, 0);
    run_on(&client, Start::new("wait")).await.unwrap();
    assert_eq!(world.count("workflow.instance_list").await, 1);
}

#[tokio::test]
async fn the_default_isolation_level_of_the_database_does_not_matter() {
    let world = World::new().await;
    let serializable = "SET default_transaction_isolation = 'serializable'";
    connect(&world.server, "postgres")
        .await
        .batch_execute(&format!("ALTER DATABASE {} {serializable}", world.database))
        .await
        .unwrap();
    let client = world.client().await;
    define_task(&client, "wait").await;
    client.run(Start::new("wait")).await.unwrap();
    assert_eq!(client.run(ClaimTasks::any()).await.unwrap().len(), 1);
}

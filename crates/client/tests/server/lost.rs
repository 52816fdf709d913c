//! Connections that are lost at each moment of a call: what is repeated takes effect once, and the rest is reported as
//! unknown.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use workflow_client::{
    CallOnce, Cancel, ClaimTasks, Client, CompleteTask, Define, Error, FailTask, PublishEvent, Run, Start,
};

use crate::proxy::{Loss, Proxy};
use crate::{World, define_task};

const INSERT: &str = "INSERT INTO orders VALUES ('o-1', 1)";

/// A client that reaches its server through the proxy.
async fn through(world: &World) -> (Proxy, Client) {
    let proxy = Proxy::new(&world.server);
    let client = Client::connect(world.options_at(&proxy.server())).await.unwrap();
    (proxy, client)
}

#[tokio::test]
async fn a_start_is_repeated_by_its_id() {
    let world = World::new().await;
    let (proxy, client) = through(&world).await;
    define_task(&client, "order").await;
    // With an activation strategy, a second instance would be an error.
    let single = json!({"definitionId": "single", "options": {"activationStrategyType": "Singleton"},
        "root": {"type": "Event", "eventName": "End"}});
    client.run(Define::new(single)).await.unwrap();
    for loss in [Loss::AnswerToCommit, Loss::Commit] {
        proxy.lose(loss);
        let state = client.run(Run::new("order")).await.unwrap();
        assert_eq!((&*state.sub_status, state.is_new, proxy.is_armed()), ("Suspended", Some(true), false));
    }
    proxy.lose(Loss::AnswerToCommit);
    client.run(Start::new("single")).await.unwrap();
    assert_eq!(world.count("workflow.instance_list WHERE definition_id = 'order'").await, 2);
    assert_eq!(world.count("workflow.instance_list WHERE definition_id = 'single'").await, 1);
}

#[tokio::test]
async fn a_message_is_repeated() {
    let world = World::new().await;
    let (proxy, client) = through(&world).await;
    define_task(&client, "order").await;
    proxy.lose(Loss::AnswerToCommit);
    client.run(CallOnce::start("o-1", "m-1", "order", json!({}))).await.unwrap();
    proxy.lose(Loss::AnswerToCommit);
    let delivery = client.run(CallOnce::event("o-1", "m-2", "Paid", 1)).await.unwrap();
    assert!(delivery.queued_id.is_some() && !proxy.is_armed());
    assert_eq!(world.count("workflow.instance_list").await, 1);
    assert_eq!(world.count("workflow.bookmark_queue").await, 1);
}

#[tokio::test]
async fn an_answer_is_repeated_by_its_token() {
    let world = World::new().await;
    let (proxy, client) = through(&world).await;
    define_task(&client, "order").await;
    client.run(Start::new("order")).await.unwrap();
    let task = client.run(ClaimTasks::any()).await.unwrap().remove(0);
    proxy.lose(Loss::AnswerToCommit);
    let answer = CompleteTask::new(task.task_id).token(task.token).result("done");
    assert_eq!(client.run(answer).await.unwrap().sub_status, "Finished");
    assert!(!proxy.is_armed());
    assert_eq!(world.count("workflow.journal WHERE event = 'Workflow finished'").await, 1);
}

#[tokio::test]
async fn a_failure_that_was_reported_stays_unknown() {
    let world = World::new().await;
    let (proxy, client) = through(&world).await;
    define_task(&client, "order").await;
    client.run(Start::new("order")).await.unwrap();
    let task = client.run(ClaimTasks::any()).await.unwrap().remove(0);
    proxy.lose(Loss::AnswerToCommit);
    let fail = FailTask::new(task.task_id, task.token, "no answer").retry_in(Duration::from_secs(3600));
    let error = client.run(fail).await.unwrap_err();
    assert!(matches!(error, Error::OutcomeUnknown(_)) && error.sqlstate() == Some("55000"), "{error:?}");
    assert_eq!(world.count("workflow._open_tasks WHERE attempt = 1 AND last_error = 'no answer'").await, 1);
}

#[tokio::test]
async fn calls_without_an_id_are_not_repeated_after_commit() {
    let world = World::new().await;
    let (proxy, client) = through(&world).await;
    let document = json!({"definitionId": "order", "root": [
        {"id": "Paid", "type": "Event", "eventName": "Paid", "canStartWorkflow": true},
        {"id": "wait", "type": "Event", "eventName": "End"}]});
    client.run(Define::new(document)).await.unwrap();
    for loss in [Loss::AnswerToCommit, Loss::Commit] {
        proxy.lose(loss);
        let error = client.run(PublishEvent::new("Paid")).await.unwrap_err();
        assert!(matches!(error, Error::OutcomeUnknown(_)) && !proxy.is_armed(), "{error:?}");
    }
    assert_eq!(world.count("workflow.instance_list").await, 1, "only the first COMMIT arrived");
}

#[tokio::test]
async fn what_is_lost_before_commit_is_repeated() {
    let world = World::new().await;
    let (proxy, client) = through(&world).await;
    define_task(&client, "order").await;
    proxy.lose(Loss::Message("wf_publish_event"));
    client.run(PublishEvent::new("Paid").keep_for(Duration::from_secs(3600))).await.unwrap();
    assert_eq!((world.count("workflow.bookmark_queue").await, proxy.is_armed()), (1, false));
    let instance = client.run(Start::new("order")).await.unwrap();
    proxy.lose(Loss::Message("wf_cancel"));
    assert!(client.run(Cancel::new(instance)).await.unwrap());
    let runs = AtomicU32::new(0);
    proxy.lose(Loss::Message("INSERT INTO orders"));
    let work = client.transaction(async |tx| {
        runs.fetch_add(1, Ordering::Relaxed);
        tx.run(Start::new("order")).await?;
        tx.execute(INSERT, &[]).await
    });
    assert_eq!(work.await.unwrap(), 1);
    assert_eq!((runs.load(Ordering::Relaxed), world.count("orders").await), (2, 1));
    assert_eq!(world.count("workflow.instance_list WHERE sub_status = 'Suspended'").await, 1);
}

#[tokio::test]
async fn a_transaction_is_repeated_after_commit_only_if_it_says_so() {
    let world = World::new().await;
    let (proxy, client) = through(&world).await;
    define_task(&client, "order").await;
    let runs = AtomicU32::new(0);
    proxy.lose(Loss::AnswerToCommit);
    let once = client.transaction(async |tx| {
        runs.fetch_add(1, Ordering::Relaxed);
        tx.execute(INSERT, &[]).await
    });
    assert!(matches!(once.await, Err(Error::OutcomeUnknown(_))));
    assert_eq!((runs.load(Ordering::Relaxed), world.count("orders").await), (1, 1));
    proxy.lose(Loss::AnswerToCommit);
    let repeatable = client.repeatable_transaction(async |tx| {
        runs.fetch_add(1, Ordering::Relaxed);
        tx.execute("INSERT INTO orders VALUES ('o-2', 1) ON CONFLICT DO NOTHING", &[]).await?;
        tx.run(CallOnce::start("o-2", "m-1", "order", json!({}))).await
    });
    repeatable.await.unwrap();
    assert_eq!((runs.load(Ordering::Relaxed), world.count("orders").await), (3, 2));
    assert_eq!(world.count("workflow.instance_list").await, 1);
}

#[tokio::test]
async fn an_error_of_another_connection_closes_none() {
    let world = World::new().await;
    let client = Client::connect(world.options_at(&world.server).repeat_for(Duration::ZERO)).await.unwrap();
    let sessions = "SELECT string_agg(pid::text, ',' ORDER BY pid) FROM pg_stat_activity WHERE usename";
    let sessions = format!("{sessions} = '{}' AND datname = current_database()", world.role);
    // Two connections, of which one is idle.
    let idle = client.transaction(async |_| client.transaction(async |_| Ok(world.value(&sessions).await)).await);
    let before = idle.await.unwrap();
    assert!(before.as_ref().is_some_and(|pids| pids.contains(',')), "{before:?}");
    let passed_on = client.transaction(async |_| Err::<(), _>(Error::Connection("that of another database".into())));
    assert!(matches!(passed_on.await, Err(Error::Connection(_))));
    assert_eq!(world.value(&sessions).await, before);
}

#[tokio::test]
async fn idle_connections_that_were_ended_are_replaced() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "order").await;
    for _ in 0..3 {
        world.end_connections().await;
        client.run(Start::new("order")).await.unwrap();
        world.end_connections().await;
        client.transaction(async |tx| tx.run(Start::new("order")).await).await.unwrap();
    }
    assert_eq!(world.count("workflow.instance_list").await, 6);
}

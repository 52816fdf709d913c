//! Transactions of the application: together or not at all, and repeated where a conflict stopped them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use tokio::sync::{Barrier, oneshot};
use workflow_client::{Error, Start};

use crate::{World, define_task, soon};

const INSERT: &str = "INSERT INTO orders VALUES ($1, 1)";

#[tokio::test]
async fn rows_and_calls_are_committed_together() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "order").await;
    let committed = client.transaction(async |tx| {
        assert_eq!(tx.execute(INSERT, &[&"o-1"]).await?, 1);
        tx.run(Start::new("order").input(json!({"number": 1})).correlation_id("o-1")).await
    });
    let instance = committed.await.unwrap();
    let found = world.value("SELECT instance_id::text FROM workflow.instance_list WHERE correlation_id = 'o-1'").await;
    assert_eq!(found, Some(instance.to_string()));
    assert_eq!(world.count("orders").await, 1);
}

#[tokio::test]
async fn an_error_rolls_back_everything() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "order").await;
    let of_application = client.transaction::<(), _>(async |tx| {
        tx.execute(INSERT, &[&"o-1"]).await?;
        tx.run(Start::new("order")).await?;
        Err(Error::application("out of stock"))
    });
    assert_eq!(of_application.await.unwrap_err().to_string(), "out of stock");
    let of_call = client.transaction(async |tx| {
        tx.execute(INSERT, &[&"o-1"]).await?;
        tx.run(Start::new("no such workflow")).await
    });
    assert_eq!(of_call.await.unwrap_err().sqlstate(), Some("42704"));
    assert_eq!((world.count("orders").await, world.count("workflow.instance_list").await), (0, 0));
}

/// COMMIT alone would roll back, and report success.
#[tokio::test]
async fn an_error_that_the_work_ignores_is_no_commit() {
    let world = World::new().await;
    let client = world.client().await;
    let ignored = client.transaction(async |tx| {
        tx.execute(INSERT, &[&"o-1"]).await?;
        let _ = tx.run(Start::new("no such workflow")).await;
        Ok(())
    });
    assert_eq!(ignored.await.unwrap_err().sqlstate(), Some("25P02"));
    assert_eq!(world.count("orders").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn deadlocks_are_repeated() {
    let world = World::new().await;
    let client = world.client().await;
    world.sql("INSERT INTO orders VALUES ('a', 0), ('b', 0)").await;
    let (both, runs) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU32::new(0)));
    let in_order = |first: &'static str, second: &'static str| {
        let (client, both, runs) = (client.clone(), Arc::clone(&both), Arc::clone(&runs));
        tokio::spawn(async move {
            let update = "UPDATE orders SET amount = amount + 1 WHERE id = $1";
            let is_first_run = AtomicU32::new(1);
            let work = async |tx: workflow_client::Transaction| {
                runs.fetch_add(1, Ordering::Relaxed);
                tx.execute(update, &[&first]).await?;
                if is_first_run.swap(0, Ordering::Relaxed) == 1 {
                    both.wait().await;
                }
                tx.execute(update, &[&second]).await
            };
            client.transaction(work).await
        })
    };
    let (one, other) = (in_order("a", "b"), in_order("b", "a"));
    soon("both are done", async {
        one.await.unwrap().unwrap();
        other.await.unwrap().unwrap();
    })
    .await;
    assert_eq!(world.count("orders WHERE amount = 2").await, 2);
    assert!(runs.load(Ordering::Relaxed) > 2, "one was repeated");
}

#[tokio::test]
async fn a_dropped_transaction_is_rolled_back() {
    let world = World::new().await;
    let client = world.client().await;
    let (sender, begun) = oneshot::channel();
    let mut sender = Some(sender);
    let work = client.transaction(|tx| {
        let sender = sender.take();
        async move {
            tx.execute(INSERT, &[&"o-1"]).await?;
            sender.map(|sender| sender.send(()));
            std::future::pending::<Result<(), Error>>().await
        }
    });
    tokio::select! {
        _ = work => panic!("it waits for ever"),
        begun = begun => begun.unwrap(),
    }
    let open = "pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()";
    world.wait_until(&format!("SELECT count(*) = 0 FROM {open}")).await;
    assert_eq!(world.count("orders").await, 0);
    client.transaction(async |tx| tx.execute(INSERT, &[&"o-1"]).await).await.unwrap();
    assert_eq!(world.count("orders").await, 1);
}

#[tokio::test]
async fn a_transaction_that_is_kept_is_not_committed() {
    let world = World::new().await;
    let client = world.client().await;
    let mut kept = Vec::new();
    let keeping = client.transaction(|tx| {
        kept.push(tx);
        async { Ok(()) }
    });
    assert!(keeping.await.unwrap_err().to_string().contains("still in use"));
    kept.clear();
    assert_eq!(world.count("orders").await, 0);
}

//! A task worker for examples/payment.sql: charges cards at a provider, which charges once for each task.
//!
//!     PGUSER=pay_worker PGDATABASE=workflow cargo run -p workflow-client --example worker
//!
//! Stop it by SIGTERM or kill it, whatever it does, and run as many as you like.

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;
use workflow_client::{Client, ConnectOptions, Task, TaskError, Worker};

/// The payload of a task.
#[derive(Deserialize)]
struct Charge {
    amount: serde_json::Number,
    card: String,
}

/// Stands for a request to the provider. After its errors another attempt may follow: the retry policy decides.
async fn send_to_provider(charge: &Charge, idempotency_key: Uuid) -> Result<Option<String>, std::io::Error> {
    println!("charge {} to {} under the key {idempotency_key}", charge.amount, charge.card);
    Ok((charge.card != "stolen").then(|| format!("R-{idempotency_key}")))
}

/// One attempt at a task. A crash leads to another one, with the same id.
async fn charge(task: Task) -> Result<Value, TaskError> {
    let charge: Charge = task.payload_as()?;
    match send_to_provider(&charge, task.task_id).await? {
        Some(receipt) => Ok(json!({"receipt": receipt, "attempt": task.attempt})),
        None => Err(TaskError::new("the card was declined").code("card_declined").without_retry()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), workflow_client::Error> {
    let client = Client::lazy(ConnectOptions::from_environment()?)?;
    // Connections of the pool are for claims, heartbeats and answers, whatever the number of tasks.
    let worker = Worker::new(client).handle("Charge card", charge).concurrency(20);
    worker.run().await
}

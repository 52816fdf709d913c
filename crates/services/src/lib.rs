//! The task worker for activities that reach outside the database: `SendHttpRequest`, `FlowSendHttpRequest`,
//! `DownloadHttpFile` and `SendEmail`.
//!
//! [`work`] claims their tasks with the [worker](workflow_client::Worker) of the client library, which keeps leases and
//! answers; the modules here do one task each:
//!
//! - [`mail`] sends a message.
//! - [`task`] is what such a module gets, and how it fails.
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod mail;
mod options;
mod services;
pub mod task;

use std::future::Future;
use std::sync::Arc;

use workflow_client::{Client, ConnectOptions, Error, Worker};

pub use options::WorkOptions;
use services::Services;

/// Does tasks until the process gets SIGTERM or SIGINT; then running tasks may finish within the grace time.
///
/// Fails if the options are invalid, or if the first claim shows that the role can never claim anything. It waits for a
/// database that is down.
///
/// ```no_run
/// use clap::Parser;
/// use workflow_services::WorkOptions;
///
/// #[derive(Parser)]
/// struct Options {
///     #[command(flatten)]
///     work: WorkOptions,
/// }
///
/// # async fn example() -> Result<(), workflow_client::Error> {
/// let database = workflow_client::ConnectOptions::from_environment()?;
/// workflow_services::work(Options::parse().work, database).await?;
/// # Ok(())
/// # }
/// ```
pub async fn work(options: WorkOptions, database: ConnectOptions) -> Result<(), Error> {
    worker(&options, database)?.run().await
}

/// Does tasks until a future is ready, and ends as [`work`] does.
pub async fn work_until(
    options: WorkOptions,
    database: ConnectOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    worker(&options, database)?.run_until(stop).await
}

/// The worker with a handler for each name.
fn worker(options: &WorkOptions, database: ConnectOptions) -> Result<Worker, Error> {
    let services = Arc::new(Services::new(options).map_err(Error::Options)?);
    let client = Client::lazy(database.connections(options.connections.into()))?;
    let worker = Worker::new(client)
        .name(options.worker_name())
        .concurrency(options.concurrency.into())
        .lease(options.lease())
        .grace(options.grace());
    Ok(services.names().into_iter().fold(worker, |worker, name| {
        let services = Arc::clone(&services);
        worker.handle(name, move |task| {
            let services = Arc::clone(&services);
            async move { services.perform(task).await }
        })
    }))
}

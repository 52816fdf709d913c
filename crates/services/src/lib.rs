//! The task worker for activities that reach outside the database: `SendHttpRequest`, `FlowSendHttpRequest`,
//! `DownloadHttpFile` and `SendEmail`.
//!
//! [`work`] claims their tasks with the [worker](workflow_client::Worker) of the client library, which keeps leases and
//! answers; the modules here do one task each:
//!
//! - [`http`] sends a request, [`mail`] a message.
//! - [`task`] is what such a module gets, and how it fails.
//! - [`addresses`], [`hosts`] and [`secrets`] decide what may be sent where, and when.
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod addresses;
pub mod hosts;
pub mod http;
pub mod mail;
mod options;
pub mod secrets;
mod services;
pub mod task;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use workflow_client::{Client, ConnectOptions, Error, Worker};

pub use options::WorkOptions;
use secrets::{Secrets, SecretsError};
use services::Services;

/// How long the worker waits before it runs the commands of secrets again, if one failed at the start.
const SECRETS_PAUSE: Duration = Duration::from_secs(10);

/// Does tasks until the process gets SIGTERM or SIGINT; then running tasks may finish within the grace time.
///
/// Fails if the options are invalid, or if the first claim shows that the role can never claim anything. It waits for a
/// database that is down, and for commands that print secrets.
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
    let services = services(&options).await?;
    let working = worker(&options, database, &services)?.run();
    run(working, &services).await
}

/// Does tasks until a future is ready, and ends as [`work`] does.
pub async fn work_until(
    options: WorkOptions,
    database: ConnectOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let services = services(&options).await?;
    let working = worker(&options, database, &services)?.run_until(stop);
    run(working, &services).await
}

/// Validates the options, and reads the files that they name.
///
/// # Errors
/// Describes what is wrong.
pub async fn check(options: &WorkOptions) -> Result<(), String> {
    let secrets = Secrets::load(options.secrets.as_deref()).await.map_err(|error| error.to_string())?;
    Services::new(options, secrets).map(drop)
}

async fn services(options: &WorkOptions) -> Result<Arc<Services>, Error> {
    let secrets = loop {
        match Secrets::load(options.secrets.as_deref()).await {
            Ok(secrets) => break secrets,
            Err(SecretsError::Wrong(problem)) => return Err(Error::Options(problem)),
            Err(SecretsError::Unavailable(problem)) => {
                tracing::warn!(problem, "the secrets cannot be read; trying again");
                tokio::time::sleep(SECRETS_PAUSE).await;
            }
        }
    };
    let services = Services::new(options, secrets).map_err(Error::Options)?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        worker = options.worker_name(),
        tasks = services.names().join(","),
        concurrency = options.concurrency,
        secrets = services.secrets(),
        "starting"
    );
    Ok(Arc::new(services))
}

async fn run(working: impl Future<Output = Result<(), Error>>, services: &Services) -> Result<(), Error> {
    tokio::select! {
        result = working => result,
        never = services.refresh_secrets() => match never {},
    }
}

/// Answers in one transaction, if so many are ready. A commit for each would take longer than many requests.
const ANSWERS_AT_ONCE: usize = 100;

/// The worker with a handler for each name.
fn worker(options: &WorkOptions, database: ConnectOptions, services: &Arc<Services>) -> Result<Worker, Error> {
    let client = Client::lazy(database.connections(options.connections.into()))?;
    let worker = Worker::new(client)
        .name(options.worker_name())
        .concurrency(options.concurrency.into())
        .answers_at_once(ANSWERS_AT_ONCE)
        .lease(options.lease())
        .grace(options.grace());
    Ok(services.names().into_iter().fold(worker, |worker, name| {
        let services = Arc::clone(services);
        worker.handle(name, move |task| {
            let services = Arc::clone(&services);
            async move { services.perform(task).await }
        })
    }))
}

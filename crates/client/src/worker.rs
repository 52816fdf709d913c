//! A task worker: claims tasks, runs a handler for each, and answers.

mod answer;
mod batches;
mod queue;
mod running;
mod serving;
mod task;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

pub use answer::{Answer, TaskError};
pub use task::Task;

use crate::client::Client;
use crate::error::Error;
use queue::DatabaseQueue;
use running::Handler;
use serving::{Serving, Settings};

/// A program, or a part of one, that does tasks.
///
/// - It claims only as many tasks as it may run at once, and sleeps in `wf_wait_tasks` while there are none.
/// - Each claim is committed before the handler begins. While the handler runs, heartbeats extend the lease.
/// - If the lease is lost, the handler is dropped at its next `await`, and its result does not count.
/// - The answer is sent until the database has confirmed or rejected it. Heartbeats extend the lease meanwhile, and the
///   token makes the answer count once.
/// - A handler can run again after a crash of the worker, so it uses the id of the task as an idempotency key.
/// - A handler must not block its thread, because heartbeats may need it: long computations belong in
///   `tokio::task::spawn_blocking`.
/// - It reconnects by itself, and ends in order: see [`run`](Self::run).
///
/// Three connections are its own: one waits, and two claim tasks and extend leases. Answers and releases use the
/// client's pool, as handlers may. The heartbeats of many tasks are few statements, so a worker can have thousands of
/// tasks in flight.
///
/// ```no_run
/// use serde_json::{Value, json};
/// use workflow_client::{Client, ConnectOptions, Task, TaskError, Worker};
///
/// async fn charge(task: Task) -> Result<Value, TaskError> {
///     let amount = task.payload.as_ref().and_then(|payload| payload["amount"].as_u64());
///     match amount {
///         Some(amount) if amount <= 5000 => Ok(json!({"receipt": format!("R-{}", task.task_id)})),
///         _ => Err(TaskError::new("the card was declined").code("card_declined").without_retry()),
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), workflow_client::Error> {
///     let client = Client::lazy(ConnectOptions::from_environment()?)?;
///     Worker::new(client).handle("Charge card", charge).concurrency(20).run().await
/// }
/// ```
pub struct Worker {
    client: Client,
    name: String,
    handlers: HashMap<String, Handler>,
    /// A name that has two handlers.
    repeated: Option<String>,
    settings: Settings,
    answers_at_once: usize,
}

impl Worker {
    /// A worker without handlers: ten tasks at once, leases of a minute, and a grace time of 20 seconds.
    ///
    /// ```no_run
    /// # fn example(client: workflow_client::Client) {
    /// let worker = workflow_client::Worker::new(client);
    /// # }
    /// ```
    pub fn new(client: Client) -> Self {
        let program = std::env::args_os().next().map(std::path::PathBuf::from);
        let program =
            program.as_ref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
        let name = format!("{}:{}", program.unwrap_or_else(|| "worker".into()), std::process::id());
        let settings = Settings { concurrency: 10, lease: Duration::from_secs(60), grace: Duration::from_secs(20) };
        Self { client, name, handlers: HashMap::new(), repeated: None, settings, answers_at_once: 1 }
    }

    /// Does the tasks of a name by a function. The worker claims tasks of the names that have a function.
    ///
    /// ```no_run
    /// # fn example(client: workflow_client::Client) {
    /// use serde_json::json;
    /// use workflow_client::{Task, Worker};
    ///
    /// let worker = Worker::new(client)
    ///     .handle("Charge card", |task: Task| async move { Ok(json!({"receipt": task.task_id})) })
    ///     .handle("Refund card", |_task: Task| async move { Ok(()) });
    /// # }
    /// ```
    pub fn handle<F, Done, A>(mut self, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(Task) -> Done + Send + Sync + 'static,
        Done: Future<Output = Result<A, TaskError>> + Send + 'static,
        A: Into<Answer>,
    {
        let handler: Handler = Arc::new(move |task| {
            let done = handler(task);
            Box::pin(async move { done.await.map(Into::into) })
        });
        let name = name.into();
        if self.handlers.insert(name.clone(), handler).is_some() {
            self.repeated = Some(name);
        }
        self
    }

    /// The name that `workflow.open_tasks` shows; by default that of the program, with its process id.
    ///
    /// ```no_run
    /// # fn example(worker: workflow_client::Worker) {
    /// let worker = worker.name("cashier@host-7");
    /// # }
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How many tasks run at once. The worker claims no task that cannot begin at once. As many more may have run, and wait
    /// until the database has stored their answers.
    ///
    /// ```no_run
    /// # fn example(worker: workflow_client::Worker) {
    /// let worker = worker.concurrency(100);
    /// # }
    /// ```
    pub fn concurrency(mut self, tasks: usize) -> Self {
        self.settings.concurrency = tasks.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// Sends up to this number of answers in one transaction, if they are ready at the same time or while others are on
    /// their way. By default each answer has a transaction of its own.
    ///
    /// This pays for many short tasks. The answers of a transaction wait for each other: until the last of them has run
    /// what follows it in its workflow, all their instances stay locked. An answer with
    /// [statements of its own](Answer::and_write) is always sent alone, and so is one that was rejected together with
    /// others.
    ///
    /// ```no_run
    /// # fn example(worker: workflow_client::Worker) {
    /// let worker = worker.concurrency(1000).answers_at_once(50);
    /// # }
    /// ```
    pub fn answers_at_once(mut self, answers: usize) -> Self {
        self.answers_at_once = answers.max(1);
        self
    }

    /// How long a task stays with a worker that has died. A sixth to a third of it passes between two heartbeats. At
    /// least a second.
    ///
    /// ```no_run
    /// # fn example(worker: workflow_client::Worker) {
    /// let worker = worker.lease(std::time::Duration::from_secs(300));
    /// # }
    /// ```
    pub fn lease(mut self, time: Duration) -> Self {
        self.settings.lease = time.max(Duration::from_secs(1));
        self
    }

    /// How long handlers may run on when the worker stops.
    ///
    /// ```no_run
    /// # fn example(worker: workflow_client::Worker) {
    /// let worker = worker.grace(std::time::Duration::from_secs(60));
    /// # }
    /// ```
    pub fn grace(mut self, time: Duration) -> Self {
        self.settings.grace = time;
        self
    }

    /// Works until the process gets SIGTERM or SIGINT. Then it claims nothing more, lets handlers finish within the grace
    /// time, and gives back the tasks of the others, whose attempts do not count.
    ///
    /// Fails if the first claim shows that the worker can never claim anything, for example because the database lacks
    /// the extension. It waits for a database that is down.
    ///
    /// ```no_run
    /// # async fn example(worker: workflow_client::Worker) -> Result<(), workflow_client::Error> {
    /// worker.run().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run(self) -> Result<(), Error> {
        let stop = termination()?;
        self.run_until(stop).await
    }

    /// Works until a future is ready, and ends as [`run`](Self::run) does.
    ///
    /// ```no_run
    /// # async fn example(worker: workflow_client::Worker) -> Result<(), workflow_client::Error> {
    /// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    /// worker.run_until(async move { drop(stopped.await) }).await?;
    /// # drop(stop);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        if self.handlers.is_empty() {
            return Err(Error::Options("the worker has no handler".into()));
        }
        let mut names: Vec<String> = self.handlers.keys().cloned().collect();
        names.sort();
        if let Some(name) = self.repeated {
            return Err(Error::Options(format!("the worker has two handlers for {name:?}")));
        }
        let queue = DatabaseQueue::new(self.client, names, self.name, self.settings.lease, self.answers_at_once)?;
        Serving::new(queue, self.handlers, self.settings).until(stop).await
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.handlers.keys().collect();
        f.debug_struct("Worker")
            .field("name", &self.name)
            .field("tasks", &names)
            .field("settings", &self.settings)
            .finish()
    }
}

/// Ready when the process is asked to end. The handlers of the signals are installed at once.
#[cfg(unix)]
fn termination() -> Result<impl Future<Output = ()>, Error> {
    use tokio::signal::unix::{SignalKind, signal};

    let failed = |error: std::io::Error| Error::Options(format!("cannot handle signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(async move {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
    })
}

#[cfg(not(unix))]
fn termination() -> Result<impl Future<Output = ()>, Error> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

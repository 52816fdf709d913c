//! Waiting for tasks without polling, on a connection of its own.

use std::time::Duration;

use crate::error::Error;
use crate::pool::Alone;
use crate::statement::{Statement, only_value};

const WAIT: &str = "CALL @wf.wf_wait_tasks($1, $2::pg_catalog.interval, NULL)";
/// How much longer than its timeout a call may take before the connection counts as lost.
const GRACE: Duration = Duration::from_secs(15);

/// A connection that waits until its role can claim a task of the given names. [`Worker`](crate::Worker) uses one;
/// a program with a loop of its own can use it directly.
///
/// The connection must lead to the server itself, not to a pooler. `workflow.max_waiters` limits how many sessions wait.
/// Dropping it, or a wait that has not returned, closes the connection.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use std::time::Duration;
/// use workflow_client::ClaimTasks;
///
/// let mut waiter = client.task_waiter(["Charge card"]).await?;
/// loop {
///     for task in client.run(ClaimTasks::new(["Charge card"]).max(10)).await? {
///         println!("{}: {:?}", task.task_id, task.payload);
///     }
///     waiter.wait(Duration::from_secs(30)).await?;
/// }
/// # }
/// ```
pub struct TaskWaiter {
    /// `None` after the connection was lost, and while a wait runs: so a wait that is dropped closes the connection.
    connection: Option<Alone>,
    names: Vec<String>,
}

impl TaskWaiter {
    pub(crate) fn new(connection: Alone, names: Vec<String>) -> Self {
        Self { connection: Some(connection), names }
    }

    /// Sleeps until a claim would return a task (`true`), or until the time is over (`false`).
    ///
    /// After [`Error::Connection`] the waiter is used up: make another one. After other errors, such as 53400 because
    /// `workflow.max_waiters` sessions wait, it can wait again.
    ///
    /// ```no_run
    /// # async fn example(mut waiter: workflow_client::TaskWaiter) -> Result<(), workflow_client::Error> {
    /// # use std::time::Duration;
    /// while !waiter.wait(Duration::from_secs(30)).await? {
    ///     println!("nothing to do");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn wait(&mut self, timeout: Duration) -> Result<bool, Error> {
        let Some(alone) = self.connection.take() else {
            return Err(Error::Connection("an earlier wait has failed or was dropped".into()));
        };
        let statement = Statement::new(WAIT).bind(self.names.clone()).bind(timeout);
        let text = statement.text(&alone.schema);
        let parameters = statement.parameters();
        let waited =
            tokio::time::timeout(timeout.saturating_add(GRACE), alone.connection.query_typed(&text, &parameters)).await;
        let Ok(waited) = waited else { return Err(Error::Connection("the server does not answer".into())) };
        let waited = waited.map_err(|error| Error::of_driver(error, alone.connection.is_closed()));
        let is_ready = waited.and_then(|rows| only_value(&rows));
        if !is_ready.as_ref().is_err_and(Error::ends_connection) {
            self.connection = Some(alone);
        }
        is_ready
    }

    /// Whether it can wait again.
    pub(crate) fn is_usable(&self) -> bool {
        self.connection.is_some()
    }
}

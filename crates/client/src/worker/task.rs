//! A task as its handler sees it.

use std::ops::Deref;

use serde::Serialize;
use tokio::sync::watch;

use super::running::Stage;
use crate::error::Error;
use crate::results::ClaimedTask;
use crate::statement::Json;

/// A claimed task, which the worker keeps while its handler runs. It has the fields of [`ClaimedTask`].
///
/// ```
/// use workflow_client::{Task, TaskError};
///
/// async fn charge(task: Task) -> Result<serde_json::Value, TaskError> {
///     println!("attempt {} at task {}", task.attempt, task.task_id);
///     let amount: u64 = task.payload_as()?;
///     Ok(amount.into())
/// }
/// ```
#[derive(Debug)]
pub struct Task {
    claimed: ClaimedTask,
    progress: watch::Sender<Json>,
    stage: watch::Receiver<Stage>,
}

impl Task {
    pub(crate) fn new(claimed: ClaimedTask, progress: watch::Sender<Json>, stage: watch::Receiver<Stage>) -> Self {
        Self { claimed, progress, stage }
    }

    /// Records progress with the task, which a later attempt finds in `progress`. The next heartbeat carries it, and is
    /// sent at once. If several values are recorded before it, the last one counts.
    ///
    /// ```
    /// # fn example(task: &workflow_client::Task) -> Result<(), workflow_client::Error> {
    /// use serde_json::json;
    ///
    /// task.record_progress(json!({"step": "authorised"}))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_progress(&self, progress: impl Serialize) -> Result<(), Error> {
        let progress = Json::of(progress);
        progress.get()?;
        self.progress.send_replace(progress);
        Ok(())
    }

    /// Returns when the worker has been asked to stop. A handler that waits for long then ends, or
    /// [gives the task back](crate::TaskError::release); otherwise it may run until the grace time is over.
    ///
    /// ```
    /// # async fn example(task: workflow_client::Task) -> Result<(), workflow_client::TaskError> {
    /// tokio::select! {
    ///     () = task.stopping() => Err(workflow_client::TaskError::release()),
    ///     () = tokio::time::sleep(std::time::Duration::from_secs(3600)) => Ok(()),
    /// }
    /// # }
    /// ```
    pub async fn stopping(&self) {
        // The sender is gone if the worker was dropped, which also stops it.
        let _ = self.stage.clone().wait_for(|stage| *stage != Stage::Working).await;
    }
}

impl Deref for Task {
    type Target = ClaimedTask;

    fn deref(&self) -> &ClaimedTask {
        &self.claimed
    }
}

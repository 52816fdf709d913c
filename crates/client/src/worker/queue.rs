//! What a worker needs of the database, so that its behaviour can be tested without one.

use std::future::Future;
use std::sync::Mutex;
use std::time::Duration;

use uuid::Uuid;

use super::answer::{Answer, TaskError};
use crate::calls::{ClaimTasks, CompleteTask, ExtendTask, FailTask, OnFault, ReleaseTask};
use crate::client::Client;
use crate::error::Error;
use crate::results::ClaimedTask;
use crate::statement::Json;
use crate::transaction::Transaction;
use crate::waiter::TaskWaiter;

/// A task with the proof of its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Claim {
    pub task_id: Uuid,
    pub token: Uuid,
}

/// The calls of a worker.
pub(crate) trait TaskQueue: Send + Sync + 'static {
    fn claim(&self, max: usize, lease: Duration) -> impl Future<Output = Result<Vec<ClaimedTask>, Error>> + Send;

    /// Returns when a claim may find a task, or after `time`.
    fn wait(&self, time: Duration) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Whether the worker still holds the task.
    fn extend(&self, claim: Claim, lease: Duration, progress: Json)
    -> impl Future<Output = Result<bool, Error>> + Send;

    fn complete(&self, claim: Claim, answer: &mut Answer) -> impl Future<Output = Result<(), Error>> + Send;

    fn fail(&self, claim: Claim, error: &TaskError) -> impl Future<Output = Result<(), Error>> + Send;

    fn release(&self, claim: Claim) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Tasks of certain names in the database.
pub(crate) struct DatabaseQueue {
    client: Client,
    names: Vec<String>,
    worker: String,
    /// The connection that waits. It is taken out while it waits, so that a dropped wait closes it.
    waiter: Mutex<Option<TaskWaiter>>,
}

impl DatabaseQueue {
    pub fn new(client: Client, names: Vec<String>, worker: String) -> Self {
        Self { client, names, worker, waiter: Mutex::new(None) }
    }

    fn take_waiter(&self) -> Option<TaskWaiter> {
        self.waiter.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }

    fn put_waiter(&self, waiter: TaskWaiter) {
        *self.waiter.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(waiter);
    }
}

impl TaskQueue for DatabaseQueue {
    async fn claim(&self, max: usize, lease: Duration) -> Result<Vec<ClaimedTask>, Error> {
        let max = i32::try_from(max.min(1000)).unwrap_or(1000);
        let claim = ClaimTasks::new(self.names.clone()).worker(self.worker.clone()).max(max).lease(lease);
        // The worker claims again by itself, and must be able to stop meanwhile.
        self.client.without_repetition().run(claim).await
    }

    async fn wait(&self, time: Duration) -> Result<bool, Error> {
        let mut waiter = match self.take_waiter() {
            Some(waiter) => waiter,
            None => self.client.task_waiter(self.names.clone()).await?,
        };
        let is_ready = waiter.wait(time).await?;
        self.put_waiter(waiter);
        Ok(is_ready)
    }

    async fn extend(&self, claim: Claim, lease: Duration, progress: Json) -> Result<bool, Error> {
        let extend = ExtendTask::new(claim.task_id, claim.token).lease(lease).progress_json(progress);
        Ok(self.client.run(extend).await?.is_some())
    }

    async fn complete(&self, claim: Claim, answer: &mut Answer) -> Result<(), Error> {
        let complete = CompleteTask::new(claim.task_id)
            .token(claim.token)
            .result_json(answer.result.clone())
            // A fault in a later step would otherwise roll back the answer.
            .on_fault(OnFault::Store);
        match &mut answer.writes {
            None => self.client.run(complete).await.map(drop),
            Some(writes) => {
                let work = |tx: Transaction| {
                    let (complete, written) = (complete.clone(), writes(tx.share()));
                    async move {
                        tx.run(complete).await?;
                        written.await
                    }
                };
                self.client.repeatable_transaction(work).await
            }
        }
    }

    async fn fail(&self, claim: Claim, error: &TaskError) -> Result<(), Error> {
        let mut fail = FailTask::new(claim.task_id, claim.token, storable(&error.message)).on_fault(OnFault::Store);
        if let Some(detail) = &error.detail {
            fail = fail.detail(storable(detail));
        }
        if let Some(code) = &error.code {
            fail = fail.code(code.clone());
        }
        if let Some(delay) = error.retry_in {
            fail = fail.retry_in(delay);
        }
        if !error.retry {
            fail = fail.without_retry();
        }
        self.client.run(fail).await.map(drop)
    }

    async fn release(&self, claim: Claim) -> Result<(), Error> {
        self.client.run(ReleaseTask::new(claim.task_id, claim.token)).await.map(drop)
    }
}

/// PostgreSQL's text cannot hold the character zero. The failure would be rejected because of it.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

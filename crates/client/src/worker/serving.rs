//! The loop of a worker: claim what there is room for, wait if there is nothing, stop in order.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::queue::TaskQueue;
use super::running::{Handler, Lease, Stage, process};
use crate::error::Error;
use crate::repeat::Backoff;
use crate::results::ClaimedTask;

/// How long a session waits for tasks before it claims again.
const WAIT: Duration = Duration::from_secs(30);
/// Time limit for releasing the tasks of handlers that did not finish.
const RELEASE_TIME: Duration = Duration::from_secs(10);

/// How a worker works.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub concurrency: usize,
    pub lease: Duration,
    pub grace: Duration,
}

/// A worker that runs.
pub(crate) struct Serving<Q> {
    queue: Arc<Q>,
    handlers: HashMap<String, Handler>,
    settings: Settings,
    /// One permit for each task that may run: nothing is claimed without one.
    slots: Arc<Semaphore>,
    stage: watch::Sender<Stage>,
    running: JoinSet<()>,
    /// Whether a claim has succeeded.
    has_claimed: bool,
    /// Whether a task was reported since the last claim that returned one.
    was_woken: bool,
}

impl<Q: TaskQueue> Serving<Q> {
    pub fn new(queue: Q, handlers: HashMap<String, Handler>, settings: Settings) -> Self {
        let slots = Arc::new(Semaphore::new(settings.concurrency));
        let (stage, _) = watch::channel(Stage::Working);
        let (queue, running) = (Arc::new(queue), JoinSet::new());
        Self { queue, handlers, settings, slots, stage, running, has_claimed: false, was_woken: false }
    }

    /// Works until `stop` is ready. Fails only if the first claim shows that this worker can never claim anything.
    pub async fn until(mut self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let mut stop = pin!(stop);
        let mut backoff = Backoff::default();
        let result = loop {
            // A claim is never dropped in the middle: no worker would do its tasks until their leases end.
            let step = tokio::select! {
                biased;
                () = &mut stop => break Ok(()),
                permit = Arc::clone(&self.slots).acquire_owned() => self.claim(permit.ok()).await,
            };
            while self.running.try_join_next().is_some() {}
            let pause = match step {
                Ok(0) => Pause::UntilThereIsWork,
                Ok(_) => {
                    backoff.reset();
                    self.was_woken = false;
                    continue;
                }
                Err(error) if !self.has_claimed && is_final(&error) => break Err(error),
                Err(error) => {
                    tracing::warn!(%error, "no tasks can be claimed");
                    Pause::For(backoff.next())
                }
            };
            tokio::select! {
                biased;
                () = &mut stop => break Ok(()),
                () = self.pause(pause, &mut backoff) => {}
            }
        };
        self.end().await;
        result
    }

    /// Claims as many tasks as may run, and starts them. Returns how many there were.
    async fn claim(&mut self, permit: Option<OwnedSemaphorePermit>) -> Result<usize, Error> {
        let mut permits: Vec<_> = permit.into_iter().collect();
        while let Ok(another) = Arc::clone(&self.slots).try_acquire_owned() {
            permits.push(another);
        }
        let lease = Lease { time: self.settings.lease, since: Instant::now() };
        // A claim that takes longer than its lease is of no use.
        let claimed = tokio::time::timeout(lease.time, self.queue.claim(permits.len(), lease.time)).await;
        let claimed = claimed.unwrap_or_else(|_| Err(Error::Connection("the database does not answer".into())))?;
        self.has_claimed = true;
        let number = claimed.len();
        for (task, permit) in claimed.into_iter().zip(permits) {
            self.start(task, lease, permit);
        }
        Ok(number)
    }

    fn start(&mut self, task: ClaimedTask, lease: Lease, permit: OwnedSemaphorePermit) {
        let Some(handler) = self.handlers.get(&task.name) else {
            // The claim named the tasks that have handlers, so this cannot happen. The lease will expire.
            tracing::error!(name = task.name, "a task without a handler was claimed");
            return;
        };
        let work = process(Arc::clone(&self.queue), Arc::clone(handler), task, lease, self.stage.subscribe());
        self.running.spawn(async move {
            work.await;
            drop(permit);
        });
    }

    async fn pause(&mut self, pause: Pause, backoff: &mut Backoff) {
        match pause {
            Pause::For(time) => tokio::time::sleep(time).await,
            Pause::UntilThereIsWork => match self.queue.wait(WAIT).await {
                // Another worker was faster, and may be each time.
                Ok(true) if self.was_woken => tokio::time::sleep(backoff.next()).await,
                Ok(true) => self.was_woken = true,
                Ok(false) => backoff.reset(),
                Err(error) => {
                    tracing::warn!(%error, "cannot wait for tasks");
                    tokio::time::sleep(backoff.next()).await;
                }
            },
        }
    }

    /// Lets handlers finish within the grace time, and releases the other tasks.
    async fn end(mut self) {
        self.stage.send_replace(Stage::Stopping);
        let running = self.running.len();
        tracing::info!(running, "stopping");
        let all = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(self.settings.grace, all).await.is_ok() {
            return;
        }
        tracing::warn!(running = self.running.len(), "the grace time is over, and tasks are released");
        self.stage.send_replace(Stage::Over);
        let all = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(RELEASE_TIME, all).await.is_err() {
            tracing::warn!(running = self.running.len(), "tasks could not be released");
        }
    }
}

enum Pause {
    For(Duration),
    UntilThereIsWork,
}

/// Whether waiting cannot help: the options, the database or the rights are wrong.
fn is_final(error: &Error) -> bool {
    match error {
        Error::Unfit(_) | Error::Options(_) => true,
        // Not the SQLSTATEs of a server that starts, stops or has no free connection.
        _ => error
            .sqlstate()
            .is_some_and(|state| ["28", "3D", "42"].iter().any(|class| state.starts_with(class)) || state == "22023"),
    }
}

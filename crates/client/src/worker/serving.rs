//! The loop of a worker: claim what there is room for, wait if there is nothing, stop in order.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use super::queue::{Claim, TaskQueue};
use super::running::{Handler, Lease, Slot, Stage, process};
use crate::error::Error;
use crate::repeat::Backoff;
use crate::results::ClaimedTask;

/// How long a session waits for tasks before it claims again.
const WAIT: Duration = Duration::from_secs(30);
/// How often the worker claims while no session can wait.
const POLL: Duration = Duration::from_secs(1);
/// How many tasks a call can claim.
const MOST_CLAIMED: usize = 1000;
/// Time limit for a claim that is on its way when the worker stops.
const LAST_CLAIM_TIME: Duration = Duration::from_secs(10);
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
    /// One permit for each task that has run and may be answered meanwhile.
    answers: Arc<Semaphore>,
    stage: watch::Sender<Stage>,
    running: JoinSet<()>,
    /// Whether a claim has succeeded.
    has_claimed: bool,
    /// Whether a task was reported since the last claim that returned one.
    was_woken: bool,
    /// Whether the last claim failed.
    is_failing: bool,
    /// The delays after waits that failed, and when the worker waits again.
    failed_waits: Backoff,
    waits_again: Instant,
    /// When the worker began.
    epoch: Instant,
}

impl<Q: TaskQueue> Serving<Q> {
    pub fn new(queue: Q, handlers: HashMap<String, Handler>, settings: Settings) -> Self {
        let [slots, answers] = [(); 2].map(|()| Arc::new(Semaphore::new(settings.concurrency)));
        let (stage, _) = watch::channel(Stage::Working);
        let (queue, running, epoch) = (Arc::new(queue), JoinSet::new(), Instant::now());
        let (has_claimed, was_woken, is_failing) = (false, false, false);
        let (failed_waits, waits_again) = (Backoff::up_to(WAIT), epoch);
        Self {
            queue,
            handlers,
            settings,
            slots,
            answers,
            stage,
            running,
            has_claimed,
            was_woken,
            is_failing,
            failed_waits,
            waits_again,
            epoch,
        }
    }

    /// Works until `stop` is ready. Fails only if the first claim shows that this worker can never claim anything.
    pub async fn until(mut self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let mut stop = pin!(stop);
        let mut backoff = Backoff::default();
        let result = loop {
            let permits = tokio::select! {
                biased;
                () = &mut stop => break Ok(()),
                permits = free_slots(&self.slots) => permits,
            };
            let lease = Lease { time: self.settings.lease, since: Instant::now(), epoch: self.epoch };
            // A claim is never dropped in the middle: no worker would do its tasks until their leases end.
            let mut claim = pin!(claim(Arc::clone(&self.queue), permits.len(), lease.time));
            let claimed = tokio::select! {
                biased;
                claimed = &mut claim => claimed,
                () = &mut stop => {
                    self.stage.send_replace(Stage::Stopping);
                    self.release_late(claim).await;
                    break Ok(());
                }
            };
            while let Some(ended) = self.running.try_join_next() {
                log_panic(ended);
            }
            let pause = match claimed {
                Err(error) if !self.has_claimed && is_final(&error) => break Err(error),
                Err(error) => {
                    self.log_failure(&error);
                    Pause::For(backoff.next())
                }
                Ok(tasks) => {
                    self.log_recovery();
                    self.has_claimed = true;
                    if !tasks.is_empty() {
                        backoff.reset();
                        self.was_woken = false;
                        tasks.into_iter().zip(permits).for_each(|(task, permit)| self.start(task, lease, permit));
                        continue;
                    }
                    drop(permits);
                    Pause::UntilThereIsWork
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

    /// Gives back the tasks of a claim during which the worker was asked to stop.
    async fn release_late(&mut self, claim: impl Future<Output = Result<Vec<ClaimedTask>, Error>>) {
        for task in tokio::time::timeout(LAST_CLAIM_TIME, claim).await.ok().and_then(Result::ok).unwrap_or_default() {
            let (queue, claim) = (Arc::clone(&self.queue), Claim::of(&task));
            self.running.spawn(async move {
                if let Err(error) = queue.release(claim, None).await {
                    tracing::warn!(task = %claim.task_id, %error, "a task could not be released");
                }
            });
        }
    }

    /// Logs the first of several failures as a warning.
    fn log_failure(&mut self, error: &Error) {
        if std::mem::replace(&mut self.is_failing, true) {
            tracing::debug!(%error, "no tasks can be claimed");
        } else {
            tracing::warn!(%error, "no tasks can be claimed; trying again");
        }
    }

    fn log_recovery(&mut self) {
        if std::mem::take(&mut self.is_failing) {
            tracing::info!("tasks can be claimed again");
        }
    }

    fn start(&mut self, task: ClaimedTask, lease: Lease, permit: OwnedSemaphorePermit) {
        let Some(handler) = self.handlers.get(&task.name) else {
            // The claim named the tasks that have handlers, so this cannot happen. The lease will expire.
            tracing::error!(name = task.name, "a task without a handler was claimed");
            return;
        };
        let slot = Slot { permit, answers: Arc::clone(&self.answers) };
        let work = process(Arc::clone(&self.queue), Arc::clone(handler), task, lease, self.stage.subscribe(), slot);
        self.running.spawn(work);
    }

    async fn pause(&mut self, pause: Pause, backoff: &mut Backoff) {
        match pause {
            Pause::For(time) => tokio::time::sleep(time).await,
            // No session can wait now, so the worker polls.
            Pause::UntilThereIsWork if Instant::now() < self.waits_again => tokio::time::sleep(POLL).await,
            Pause::UntilThereIsWork => match self.queue.wait(WAIT).await {
                // Another worker was faster, and may be each time.
                Ok(true) if self.was_woken => tokio::time::sleep(backoff.next()).await,
                Ok(is_ready) => {
                    self.was_woken = is_ready;
                    self.failed_waits = Backoff::up_to(WAIT);
                    if !is_ready {
                        backoff.reset();
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot wait for tasks; polling");
                    self.waits_again = Instant::now() + self.failed_waits.next();
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
        if tokio::time::timeout(self.settings.grace, all_ended(&mut self.running)).await.is_ok() {
            return;
        }
        tracing::warn!(running = self.running.len(), "the grace time is over, and tasks are released");
        self.stage.send_replace(Stage::Over);
        if tokio::time::timeout(RELEASE_TIME, all_ended(&mut self.running)).await.is_err() {
            tracing::warn!(running = self.running.len(), "tasks could not be released");
        }
    }
}

/// Waits for a slot in which a task may run, and returns all that are free.
async fn free_slots(slots: &Arc<Semaphore>) -> Vec<OwnedSemaphorePermit> {
    let mut permits: Vec<_> = Arc::clone(slots).acquire_owned().await.into_iter().collect();
    while permits.len() < MOST_CLAIMED
        && let Ok(another) = Arc::clone(slots).try_acquire_owned()
    {
        permits.push(another);
    }
    permits
}

async fn claim<Q: TaskQueue>(queue: Arc<Q>, max: usize, lease: Duration) -> Result<Vec<ClaimedTask>, Error> {
    // A claim that takes longer than its lease is of no use.
    let claimed = tokio::time::timeout(lease, queue.claim(max, lease)).await;
    claimed.unwrap_or_else(|_| Err(Error::Connection("the database does not answer".into())))
}

async fn all_ended(running: &mut JoinSet<()>) {
    while let Some(ended) = running.join_next().await {
        log_panic(ended);
    }
}

fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "the worker itself panicked; a task will be claimable when its lease ends");
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

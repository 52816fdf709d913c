//! One task, from its claim to its answer.
//!
//! While the handler runs, and until the database has taken the answer, heartbeats extend the lease. If the lease is lost, the handler is dropped and the task is not
//! answered: another worker may be doing it. If the grace time is over, the handler is dropped and the task is released.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;

use super::answer::{Answer, TaskError};
use super::queue::{Claim, TaskQueue};
use super::task::Task;
use crate::error::Error;
use crate::repeat::Backoff;
use crate::results::ClaimedTask;
use crate::statement::Json;

/// The function that does a task.
pub(crate) type Handler =
    Arc<dyn Fn(Task) -> Pin<Box<dyn Future<Output = Result<Answer, TaskError>> + Send>> + Send + Sync>;

/// How far the worker is with stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Working,
    /// It claims nothing more; handlers may finish.
    Stopping,
    /// The grace time is over.
    Over,
}

/// Why the handler's result does not count.
#[derive(Debug, PartialEq, Eq)]
enum Interruption {
    LeaseLost,
    GraceOver,
}

/// How long an aborted handler may take to stop. It stops at its next `await`.
const STOP_TIME: Duration = Duration::from_secs(1);
/// How often an answer is sent that the server does not take although it can be reached, or that costs the session. What
/// follows the answer in the workflow may be what takes too long, needs the memory or ends the session.
const ATTEMPTS: u32 = 5;

/// A spawned handler, which is aborted if its task ends without it. A panic ends only the handler.
struct Work(JoinHandle<Result<Answer, TaskError>>);

impl Work {
    /// Aborts the handler and waits until it has stopped, so that it does nothing after its task was released. Returns its
    /// result if it has just ended.
    async fn stop(&mut self) -> Option<Result<Answer, TaskError>> {
        self.0.abort();
        tokio::time::timeout(STOP_TIME, &mut self.0).await.ok()?.ok()
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The place of a running task among those that may run at once.
pub(crate) struct Slot {
    pub permit: OwnedSemaphorePermit,
    pub answers: Arc<Semaphore>,
}

impl Slot {
    /// Leaves the place to another task, unless too many wait for the database to take their answers. The permit is to be
    /// kept until this task has been answered.
    async fn leave(self) -> Option<OwnedSemaphorePermit> {
        let answering = self.answers.acquire_owned().await.ok();
        drop(self.permit);
        answering
    }
}

/// Runs the handler of a task and reports how it ended.
pub(crate) async fn process<Q: TaskQueue>(
    queue: Arc<Q>,
    handler: Handler,
    claimed: ClaimedTask,
    mut lease: Lease,
    stage: watch::Receiver<Stage>,
    slot: Slot,
) {
    let claim = Claim::of(&claimed);
    let (progress, recorded) = watch::channel(Json::null());
    let task = Task::new(claimed, progress, stage.clone());
    let mut work = Work(tokio::spawn(async move { handler(task).await }));
    let mut over = stage;
    let mut progress = Progress { recorded, unsent: Json::null() };
    let mut ended = tokio::select! {
        biased;
        joined = &mut work.0 => Ok(joined.unwrap_or_else(|error| Err(of_panic(error)))),
        () = lose_lease(&*queue, claim, &mut lease, &mut progress) => Err(Interruption::LeaseLost),
        () = grace_is_over(&mut over) => Err(Interruption::GraceOver),
    };
    if matches!(ended, Err(Interruption::GraceOver)) {
        ended = work.stop().await.ok_or(Interruption::GraceOver);
    }
    drop(work);
    // In a box, so that a task whose handler runs needs less memory.
    Box::pin(report(queue, claim, lease, ended, progress, slot)).await;
}

/// Reports how the handler ended. Until the database has taken that, heartbeats extend the lease: otherwise another worker
/// would do the task again, although its result is known.
async fn report<Q: TaskQueue>(
    queue: Arc<Q>,
    claim: Claim,
    mut lease: Lease,
    ended: Result<Result<Answer, TaskError>, Interruption>,
    mut progress: Progress,
    slot: Slot,
) {
    let Ok(ended) = ended.or_else(|interruption| match interruption {
        Interruption::GraceOver => Ok(Err(TaskError::release())),
        Interruption::LeaseLost => Err(()),
    }) else {
        tracing::warn!(task = %claim.task_id, "the lease was lost, and the handler stopped");
        return;
    };
    if ended.is_err() {
        // Another attempt may follow, and needs it.
        progress.flush(&*queue, claim, lease).await;
    }
    let is_over = AtomicBool::new(false);
    let retries = Retries::new(&is_over);
    let holding = async {
        lose_lease(&*queue, claim, &mut lease, &mut progress).await;
        // A late answer counts unless another worker has claimed the task.
        tokio::time::sleep(lease.time).await;
        is_over.store(true, Ordering::Relaxed);
        std::future::pending().await
    };
    let reporting = async {
        let _answering = slot.leave().await;
        match ended {
            Ok(answer) => complete(Arc::clone(&queue), claim, answer, retries).await,
            Err(error) if error.is_release => release(&*queue, claim, error.retry_in, retries).await,
            Err(error) => fail(&*queue, claim, error, retries).await,
        }
    };
    let reported = tokio::select! { biased; reported = reporting => reported, () = holding => Ok(()) };
    if let Err(error) = reported {
        tracing::warn!(task = %claim.task_id, %error, "the task could not be answered");
    }
}

/// How long the worker holds the task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    pub time: Duration,
    /// A moment before the claim, so that the lease ends no earlier than `since + time`.
    pub since: Instant,
    /// When the worker began: heartbeats are sent at multiples of a sixth of the lease from then on.
    pub epoch: Instant,
}

impl Lease {
    fn end(&self) -> Instant {
        self.since + self.time
    }

    /// Between a sixth and a third of the lease, and at the same moments for all tasks, so that many heartbeats need few
    /// statements.
    pub fn next_heartbeat(&self) -> Instant {
        let (step, passed) = (self.time / 6, self.since + self.time / 3 - self.epoch);
        let steps = passed.as_nanos() / step.as_nanos().max(1);
        self.epoch + step.saturating_mul(u32::try_from(steps).unwrap_or(u32::MAX))
    }
}

/// What the handler has recorded.
struct Progress {
    recorded: watch::Receiver<Json>,
    /// What no heartbeat has carried yet.
    unsent: Json,
}

impl Progress {
    /// Sends what no heartbeat has carried, because the handler ended too soon after it.
    async fn flush<Q: TaskQueue>(&mut self, queue: &Q, claim: Claim, lease: Lease) {
        self.take_recorded();
        if self.unsent == Json::null() {
            return;
        }
        if let Err(error) = queue.extend(claim, lease.time, self.unsent.clone()).await {
            tracing::warn!(task = %claim.task_id, %error, "progress could not be recorded");
        }
    }

    fn take_recorded(&mut self) {
        let recorded = self.recorded.borrow_and_update();
        if recorded.has_changed() {
            self.unsent = recorded.clone();
        }
    }
}

/// Extends the lease until it is lost: another worker has the task, the task is closed, or no heartbeat has succeeded
/// before the lease expired.
async fn lose_lease<Q: TaskQueue>(queue: &Q, claim: Claim, lease: &mut Lease, progress: &mut Progress) {
    let mut backoff = Backoff::default();
    let mut next = lease.next_heartbeat();
    loop {
        if progress_or(&mut progress.recorded, next).await {
            progress.unsent = progress.recorded.borrow_and_update().clone();
        }
        let begun = Instant::now();
        match tokio::time::timeout_at(lease.end(), queue.extend(claim, lease.time, progress.unsent.clone())).await {
            Ok(Ok(true)) => {
                lease.since = begun;
                progress.unsent = Json::null();
                next = lease.next_heartbeat();
                backoff.reset();
            }
            Ok(Ok(false)) | Err(_) => return,
            Ok(Err(error)) => {
                tracing::debug!(task = %claim.task_id, %error, "a heartbeat failed");
                if is_about_the_answer(&error) {
                    // Progress that jsonb cannot hold must not cost the lease.
                    progress.unsent = Json::null();
                }
                next = (Instant::now() + backoff.next()).min(lease.end());
            }
        }
        if Instant::now() >= lease.end() {
            return;
        }
    }
}

/// Waits for the next heartbeat. Returns early, and true, if there is progress to send.
async fn progress_or(progress: &mut watch::Receiver<Json>, next: Instant) -> bool {
    match tokio::time::timeout_at(next, progress.changed()).await {
        Ok(Ok(())) => true,
        // The handler has dropped its task and still runs.
        Ok(Err(_)) => {
            tokio::time::sleep_until(next).await;
            false
        }
        Err(_) => false,
    }
}

async fn grace_is_over(stage: &mut watch::Receiver<Stage>) {
    // A worker that was dropped stops at once.
    let _ = stage.wait_for(|stage| *stage == Stage::Over).await;
}

async fn complete<Q: TaskQueue>(
    queue: Arc<Q>,
    claim: Claim,
    mut answer: Answer,
    mut retries: Retries<'_>,
) -> Result<(), Error> {
    loop {
        let sent;
        (sent, answer) = match send_answer(Arc::clone(&queue), claim, answer).await {
            Ok(sent) => sent,
            Err(panic) => return fail(&*queue, claim, of_panic(panic), retries).await,
        };
        let Err(error) = sent else { return Ok(()) };
        if is_about_the_answer(&error) {
            tracing::warn!(task = %claim.task_id, %error, "the answer was rejected");
            let error = TaskError { code: Some("invalid_result".into()), ..TaskError::from(error) };
            return fail(&*queue, claim, error, retries).await;
        }
        if is_rejection(&error) {
            tracing::warn!(task = %claim.task_id, %error, "the answer, or what it writes, was rejected");
            return fail(&*queue, claim, TaskError::from(error), retries).await;
        }
        if let Err(error) = retries.after(error).await {
            if !retries.are_used_up() {
                return Err(error);
            }
            tracing::warn!(task = %claim.task_id, %error, "the answer is given up, and the attempt has failed");
            return fail(&*queue, claim, TaskError::from(error), Retries::new(retries.is_over)).await;
        }
    }
}

/// Sends an answer once. Its statements are code of the handler, which can panic, so they run in a task.
async fn send_answer<Q: TaskQueue>(
    queue: Arc<Q>,
    claim: Claim,
    mut answer: Answer,
) -> Result<(Result<(), Error>, Answer), JoinError> {
    if answer.writes.is_none() {
        return Ok((queue.complete(claim, &mut answer).await, answer));
    }
    tokio::spawn(async move { (queue.complete(claim, &mut answer).await, answer) }).await
}

/// Reports a failure. If its code or its delay is rejected, the failure is reported without them, because otherwise the
/// task would run again after each lease.
async fn fail<Q: TaskQueue>(
    queue: &Q,
    claim: Claim,
    mut error: TaskError,
    mut retries: Retries<'_>,
) -> Result<(), Error> {
    loop {
        let Err(rejection) = queue.fail(claim, &error).await else { return Ok(()) };
        if is_about_the_answer(&rejection) && (error.code.is_some() || error.retry_in.is_some()) {
            tracing::warn!(task = %claim.task_id, %rejection, "the failure is reported without its code and its delay");
            let detail = error.detail.map(|detail| format!("{detail}; "));
            let detail = format!("{}{rejection}", detail.unwrap_or_default());
            error = TaskError { detail: Some(detail), code: None, retry_in: None, ..error };
            continue;
        }
        retries.after(rejection).await?;
    }
}

/// Gives the task back.
async fn release<Q: TaskQueue>(
    queue: &Q,
    claim: Claim,
    retry_in: Option<Duration>,
    mut retries: Retries<'_>,
) -> Result<(), Error> {
    while let Err(error) = queue.release(claim, retry_in).await {
        retries.after(error).await?;
    }
    Ok(())
}

/// Sends an answer again: as long as the lease is held while the database is away or another transaction is in the way, and
/// a few times after other errors of the server.
struct Retries<'a> {
    is_over: &'a AtomicBool,
    /// Attempts that may have failed because of the answer.
    failed: u32,
    backoff: Backoff,
}

impl<'a> Retries<'a> {
    fn new(is_over: &'a AtomicBool) -> Self {
        Self { is_over, failed: 0, backoff: Backoff::default() }
    }

    async fn after(&mut self, error: Error) -> Result<(), Error> {
        // A server that is overloaded, read-only after a failover, or slow may take the answer a moment later.
        let can_change = error.is_transient() || error.is_of_server() || matches!(error, Error::OutcomeUnknown(_));
        if !can_change || self.is_over.load(Ordering::Relaxed) {
            return Err(error);
        }
        self.failed += u32::from(!error.will_pass());
        if self.are_used_up() {
            return Err(error);
        }
        tracing::debug!(%error, "an answer is sent again");
        tokio::time::sleep(self.backoff.next()).await;
        Ok(())
    }

    fn are_used_up(&self) -> bool {
        self.failed >= ATTEMPTS
    }
}

/// The answer itself is the problem: it is no JSON, jsonb cannot hold it, it is too large, or it does not match the schema
/// of the task.
fn is_about_the_answer(error: &Error) -> bool {
    let is_about = |state: &str| state.starts_with("22") || state.starts_with("54");
    matches!(error, Error::Value(_)) || error.sqlstate().is_some_and(is_about)
}

/// The database would reject the same answer again after the lease. 55000 says that the task is closed.
fn is_rejection(error: &Error) -> bool {
    match error {
        Error::Application(_) => true,
        Error::Database(_) => !error.is_transient() && !error.is_of_server() && error.sqlstate() != Some("55000"),
        _ => false,
    }
}

fn of_panic(error: JoinError) -> TaskError {
    let panic = error.try_into_panic().ok();
    let text = panic.as_ref().and_then(|panic| {
        panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned())
    });
    TaskError {
        detail: text,
        code: Some("handler_panicked".into()),
        ..TaskError::new("the handler of the task panicked")
    }
}

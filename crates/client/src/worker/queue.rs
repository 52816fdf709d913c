//! What a worker needs of the database, so that its behaviour can be tested without one.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, TaskError};
use super::batches::Batches;
use crate::calls::{ClaimTasks, CompleteTask, CompleteTasks, ExtendTask, ExtendTasks, FailTask, OnFault, ReleaseTask};
use crate::client::Client;
use crate::error::Error;
use crate::results::ClaimedTask;
use crate::statement::Json;
use crate::transaction::Transaction;
use crate::waiter::TaskWaiter;

/// Connections for claims and heartbeats, which must not wait for those of handlers and answers.
const OWN_CONNECTIONS: usize = 2;
/// Heartbeats in one statement. If one of them fails, each is sent alone.
const HEARTBEATS: usize = 100;
/// How long a group of answers, or a release, waits for locks of other sessions. Then each answer is sent alone.
const SHORT_LOCK_TIME: Duration = Duration::from_secs(1);
/// How long a single answer waits for them before it is sent again, so that it does not keep its connection for longer.
const LOCK_TIME: Duration = Duration::from_secs(10);
/// Groups of answers that are on their way at the same time, if the first of them takes long.
const ANSWERING: usize = 4;

/// A task with the proof of its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Claim {
    pub task_id: Uuid,
    pub token: Uuid,
    pub instance_id: Uuid,
}

impl Claim {
    pub fn of(task: &ClaimedTask) -> Self {
        Self { task_id: task.task_id, token: task.token, instance_id: task.instance_id }
    }
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

    /// Gives the task back, to be claimed again at once, or after `retry_in`.
    fn release(&self, claim: Claim, retry_in: Option<Duration>) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Tasks of certain names in the database.
pub(crate) struct DatabaseQueue {
    client: Client,
    /// Connections of the client, for single answers.
    alone: Client,
    /// Connections of the client, for groups of answers, and for releases.
    together: Client,
    /// For claims.
    own: Client,
    /// The connections of claims, for heartbeats.
    leases: Client,
    names: Vec<String>,
    worker: String,
    /// The connection that waits. It is taken out while it waits, so that a dropped wait closes it.
    waiter: Mutex<Option<TaskWaiter>>,
    heartbeats: Batches<Heartbeat, Result<bool, Error>>,
    /// `None`: each answer has a transaction of its own.
    answers: Option<Batches<(Claim, Arc<Reply>), Settled>>,
}

impl DatabaseQueue {
    pub fn new(
        client: Client,
        names: Vec<String>,
        worker: String,
        lease: Duration,
        answers_at_once: usize,
    ) -> Result<Self, Error> {
        let own = client.apart(OWN_CONNECTIONS)?;
        // Another session can hold the lock of a task for long. The heartbeats of other tasks do not wait for it.
        let leases = own.with_lock_timeout((lease / 100).clamp(Duration::from_millis(10), Duration::from_secs(1)));
        let (waiter, heartbeats) = (Mutex::new(None), Batches::new(HEARTBEATS, 1));
        let answers = (answers_at_once > 1).then(|| Batches::new(answers_at_once, ANSWERING));
        let (alone, together) = (client.with_lock_timeout(LOCK_TIME), client.with_lock_timeout(SHORT_LOCK_TIME));
        Ok(Self { client, alone, together, own, leases, names, worker, waiter, heartbeats, answers })
    }

    fn waiter(&self) -> MutexGuard<'_, Option<TaskWaiter>> {
        self.waiter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a reply, together with others if the worker groups them.
    async fn reply(&self, claim: Claim, reply: Reply) -> Result<(), Error> {
        let reply = Arc::new(reply);
        if let Some(answers) = &self.answers
            && let Some(weight) = reply.weight_in_group()
        {
            let send = |group| reply_together(self.together.clone(), group);
            let sent = answers.submit((claim, Arc::clone(&reply)), weight, send).await;
            if let Some(Some(outcome)) = sent {
                return outcome;
            }
            // Sending it alone shows what is wrong with it, if it is this one.
        }
        reply.send(&self.alone, claim).await
    }
}

impl TaskQueue for DatabaseQueue {
    async fn claim(&self, max: usize, lease: Duration) -> Result<Vec<ClaimedTask>, Error> {
        let max = i32::try_from(max).unwrap_or(i32::MAX);
        let claim = ClaimTasks::new(self.names.clone()).worker(self.worker.clone()).max(max).lease(lease);
        // It is not repeated: the worker claims again by itself, and must be able to stop meanwhile. A claim whose answer
        // is lost costs its tasks a lease, which is rare, and a second round trip would delay every task.
        self.own.run_at_once(claim).await
    }

    async fn wait(&self, time: Duration) -> Result<bool, Error> {
        let kept = self.waiter().take();
        let mut waiter = match kept {
            Some(waiter) => waiter,
            None => self.client.task_waiter(self.names.clone()).await?,
        };
        let is_ready = waiter.wait(time).await;
        if waiter.is_usable() {
            *self.waiter() = Some(waiter);
        }
        is_ready
    }

    async fn extend(&self, claim: Claim, lease: Duration, progress: Json) -> Result<bool, Error> {
        let progress = progress.get()?;
        let weight = progress.as_ref().and_then(weight).unwrap_or_default();
        let send = |group| extend_together(self.leases.clone(), lease, group);
        let extended = self.heartbeats.submit(Heartbeat { claim, progress }, weight, send).await;
        extended.unwrap_or_else(|| Err(Error::Connection("the heartbeat was not sent".into())))
    }

    async fn complete(&self, claim: Claim, answer: &mut Answer) -> Result<(), Error> {
        let Some(writes) = &mut answer.writes else {
            return self.reply(claim, Reply::Result(answer.result.clone())).await;
        };
        let complete = complete(claim, &answer.result);
        let mut has_begun = false;
        let work = |tx: Transaction| {
            has_begun = true;
            let (complete, written) = (complete.clone(), writes(tx.share()));
            async move {
                tx.run(complete).await?;
                written.await
            }
        };
        let written = self.client.repeatable_transaction(work).await;
        // As with a result alone, which is sent with its COMMIT.
        written.map_err(|error| if has_begun { error.after_commit_was_sent() } else { error })
    }

    async fn fail(&self, claim: Claim, error: &TaskError) -> Result<(), Error> {
        self.reply(claim, Reply::Failure(error.clone())).await
    }

    async fn release(&self, claim: Claim, retry_in: Option<Duration>) -> Result<(), Error> {
        let release = ReleaseTask::new(claim.task_id, claim.token);
        let release = retry_in.into_iter().fold(release, ReleaseTask::retry_in);
        self.together.run(release).await.map(drop)
    }
}

/// A lease to extend.
struct Heartbeat {
    claim: Claim,
    progress: Option<Value>,
}

/// Extends leases in one statement. If that fails, each is extended alone: one task that another session has locked, or
/// whose progress cannot be stored, must not cost the leases of others.
async fn extend_together(client: Client, lease: Duration, mut group: Vec<Heartbeat>) -> Vec<Result<bool, Error>> {
    if group.len() > 1 {
        let mut all = ExtendTasks::new(lease);
        let mut order: Vec<&Heartbeat> = group.iter().collect();
        // Sessions that lock several instances do so in this order.
        order.sort_by_key(|heartbeat| (heartbeat.claim.instance_id, heartbeat.claim.task_id));
        for Heartbeat { claim, progress } in order {
            all.task(claim.task_id, claim.token, progress.clone());
        }
        match client.run(all).await {
            Ok(held) => return group.iter().map(|heartbeat| Ok(held.contains(&heartbeat.claim.task_id))).collect(),
            Err(error) if error.ends_connection() => return not_sent(&error, group.len()),
            Err(error) => tracing::debug!(%error, "heartbeats are sent one by one"),
        }
    }
    let mut extended = Vec::with_capacity(group.len());
    while let Some(Heartbeat { claim, progress }) = (!group.is_empty()).then(|| group.remove(0)) {
        let extend = ExtendTask::new(claim.task_id, claim.token).lease(lease).progress_json(Json::optional(progress));
        match client.run(extend).await {
            Err(error) if error.ends_connection() => {
                extended.extend(not_sent(&error, 1 + group.len()));
                break;
            }
            other => extended.push(other.map(|until| until.is_some())),
        }
    }
    extended
}

/// The outcomes of heartbeats for which there is no connection.
fn not_sent(error: &Error, number: usize) -> Vec<Result<bool, Error>> {
    tracing::warn!(number, %error, "heartbeats failed");
    (0..number).map(|_| Err(Error::Connection(error.to_string().into()))).collect()
}

/// The answer to a task, without statements of the worker.
enum Reply {
    Result(Json),
    Failure(TaskError),
}

impl Reply {
    /// Roughly its size in bytes. `None` if it is sent alone: it would fail the whole group, or `wf_complete_tasks` would
    /// take it for no result, as it does with JSON's null.
    fn weight_in_group(&self) -> Option<usize> {
        match self {
            Self::Result(result) => result.value().filter(|value| !value.is_null()).and_then(weight),
            Self::Failure(error) => Some(error.message.len() + error.detail.as_ref().map_or(0, String::len)),
        }
    }

    async fn send(&self, client: &Client, claim: Claim) -> Result<(), Error> {
        match self {
            Self::Result(result) => client.run(complete(claim, result)).await.map(drop),
            Self::Failure(error) => client.run(fail(claim, error)).await.map(drop),
        }
    }

    /// Adds it to the answers that are sent in one statement.
    fn add_to(&self, answers: CompleteTasks, Claim { task_id, token, .. }: Claim) -> CompleteTasks {
        match self {
            Self::Result(result) => answers.complete_json(task_id, token, result.clone()),
            Self::Failure(error) => answers.fail(task_id, token, failure(error)),
        }
    }
}

fn complete(claim: Claim, result: &Json) -> CompleteTask {
    let complete = CompleteTask::new(claim.task_id).token(claim.token).result_json(result.clone());
    // A fault in a later step would otherwise roll back the answer.
    complete.on_fault(OnFault::Store)
}

fn fail(claim: Claim, error: &TaskError) -> FailTask {
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
    if error.retry { fail } else { fail.without_retry() }
}

/// What became of a reply that was sent in a group. `None`: it was not accepted, or a problem of another one prevented it.
type Settled = Option<Result<(), Error>>;

/// Sends replies in one transaction.
async fn reply_together(client: Client, group: Vec<(Claim, Arc<Reply>)>) -> Vec<Settled> {
    if let [(claim, reply)] = &group[..] {
        return vec![Some(reply.send(&client, *claim).await)];
    }
    let answers = group.iter().fold(CompleteTasks::new(), |answers, (claim, reply)| reply.add_to(answers, *claim));
    match client.run(answers).await {
        Ok(outcomes) => outcomes.iter().map(|answer| (answer.outcome != "Refused").then_some(Ok(()))).collect(),
        Err(error) => {
            tracing::debug!(%error, number = group.len(), "answers are sent one by one");
            group.iter().map(|_| None).collect()
        }
    }
}

/// A failure as `wf_complete_tasks` reads it.
fn failure(error: &TaskError) -> Value {
    let retry_in = error.retry_in.map(|delay| format!("{}.{:06} s", delay.as_secs(), delay.subsec_micros()));
    json!({
        "message": storable(&error.message),
        "detail": error.detail.as_deref().map(storable),
        "code": error.code,
        "retryIn": retry_in,
        "retry": error.retry,
    })
}

/// PostgreSQL's text cannot hold the character zero. The failure would be rejected because of it.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Roughly the size of JSON in bytes. `None` if it has the character zero, which jsonb cannot hold.
fn weight(value: &Value) -> Option<usize> {
    let of_text = |text: &String| (!text.contains('\0')).then_some(text.len());
    match value {
        Value::String(text) => of_text(text),
        Value::Array(items) => items.iter().try_fold(8, |total, item| Some(total + weight(item)?)),
        Value::Object(members) => {
            members.iter().try_fold(8, |total, (name, value)| Some(total + of_text(name)? + weight(value)?))
        }
        _ => Some(8),
    }
}

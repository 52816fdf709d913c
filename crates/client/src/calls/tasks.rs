//! Calls for tasks: claim, extend, answer, give back, assign.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::OnFault;
use crate::error::Error;
use crate::repeat::Repeat;
use crate::results::{AfterFailure, AnswerOutcome, ClaimedTask, InstanceState};
use crate::statement::sealed::Parts;
use crate::statement::{Call, Json, Statement, column, only_row, only_value};

/// The lease of a claim that names none.
const LEASE: Duration = Duration::from_secs(300);

/// `wf_claim_tasks`: acquires open tasks, those with a higher priority first, then older ones.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// # use std::time::Duration;
/// use workflow_client::ClaimTasks;
///
/// let claim = ClaimTasks::new(["Charge card"]).worker("worker-1").max(10).lease(Duration::from_secs(60));
/// for task in client.run(claim).await? {
///     println!("{} {:?}", task.name, task.payload);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ClaimTasks {
    names: Option<Vec<String>>,
    worker: Option<String>,
    max: i32,
    lease: Duration,
}

impl ClaimTasks {
    /// Claims one task of these names, for five minutes.
    ///
    /// ```
    /// # use workflow_client::ClaimTasks;
    /// let call = ClaimTasks::new(["Charge card", "Refund card"]);
    /// ```
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { names: Some(names.into_iter().map(Into::into).collect()), ..Self::any() }
    }

    /// Claims one of all tasks that the role may claim.
    ///
    /// ```
    /// # use workflow_client::ClaimTasks;
    /// let call = ClaimTasks::any().max(10);
    /// ```
    pub fn any() -> Self {
        Self { names: None, worker: None, max: 1, lease: LEASE }
    }

    /// A name for the worker, which `workflow.open_tasks` shows.
    ///
    /// ```
    /// # use workflow_client::ClaimTasks;
    /// let call = ClaimTasks::any().worker("worker-1");
    /// ```
    pub fn worker(mut self, name: impl Into<String>) -> Self {
        self.worker = Some(name.into());
        self
    }

    /// The maximum number of tasks, from 1 to 1000.
    ///
    /// ```
    /// # use workflow_client::ClaimTasks;
    /// let call = ClaimTasks::any().max(100);
    /// ```
    pub fn max(mut self, number: i32) -> Self {
        self.max = number;
        self
    }

    /// How long the worker holds them, from a millisecond to 30 days.
    ///
    /// ```
    /// # use workflow_client::ClaimTasks;
    /// let call = ClaimTasks::any().lease(std::time::Duration::from_secs(60));
    /// ```
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time;
        self
    }
}

impl Parts for ClaimTasks {
    fn statement(&self) -> Result<Statement, Error> {
        let sql = ClaimedTask::select_from("wf_claim_tasks($1, $2, $3, $4::pg_catalog.interval)");
        let statement = Statement::new(sql).bind(self.names.clone()).bind(self.worker.clone());
        Ok(statement.bind(self.max).bind(self.lease))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for ClaimTasks {
    type Output = Vec<ClaimedTask>;

    fn read(&self, rows: &[Row]) -> Result<Vec<ClaimedTask>, Error> {
        rows.iter().map(ClaimedTask::read).collect()
    }
}

/// `wf_claim_task`: acquires the task with this id, whatever its place in the order.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, task: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// let task = client.run(workflow_client::ClaimTask::new(task).worker("desk")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ClaimTask {
    task_id: Uuid,
    worker: Option<String>,
    lease: Duration,
}

impl ClaimTask {
    /// Claims this task, for five minutes.
    ///
    /// ```
    /// # use workflow_client::ClaimTask;
    /// let call = ClaimTask::new(uuid::Uuid::nil());
    /// ```
    pub fn new(task_id: Uuid) -> Self {
        Self { task_id, worker: None, lease: LEASE }
    }

    /// A name for the worker, which `workflow.open_tasks` shows.
    ///
    /// ```
    /// # use workflow_client::ClaimTask;
    /// let call = ClaimTask::new(uuid::Uuid::nil()).worker("desk");
    /// ```
    pub fn worker(mut self, name: impl Into<String>) -> Self {
        self.worker = Some(name.into());
        self
    }

    /// How long the worker holds it.
    ///
    /// ```
    /// # use workflow_client::ClaimTask;
    /// let call = ClaimTask::new(uuid::Uuid::nil()).lease(std::time::Duration::from_secs(60));
    /// ```
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time;
        self
    }
}

impl Parts for ClaimTask {
    fn statement(&self) -> Result<Statement, Error> {
        let sql = ClaimedTask::select_from("wf_claim_task($1, $2, $3::pg_catalog.interval)");
        Ok(Statement::new(sql).bind(self.task_id).bind(self.worker.clone()).bind(self.lease))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for ClaimTask {
    type Output = ClaimedTask;

    fn read(&self, rows: &[Row]) -> Result<ClaimedTask, Error> {
        ClaimedTask::read(only_row(rows)?)
    }
}

/// `wf_extend_task`: extends the lease of a task, and can record progress. Returns the end of the lease, or `None` if the
/// worker no longer holds the task: then it must stop, and not answer.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, task: workflow_client::ClaimedTask) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::ExtendTask;
///
/// let extend = ExtendTask::new(task.task_id, task.token).progress(json!({"step": "authorised"}));
/// let is_held = client.run(extend).await?.is_some();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ExtendTask {
    task_id: Uuid,
    token: Uuid,
    lease: Duration,
    progress: Json,
}

impl ExtendTask {
    /// Extends the lease to five minutes from now.
    ///
    /// ```
    /// # use workflow_client::ExtendTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = ExtendTask::new(task_id, token);
    /// ```
    pub fn new(task_id: Uuid, token: Uuid) -> Self {
        Self { task_id, token, lease: LEASE, progress: Json::null() }
    }

    /// The lease, from now.
    ///
    /// ```
    /// # use workflow_client::ExtendTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = ExtendTask::new(task_id, token).lease(std::time::Duration::from_secs(60));
    /// ```
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time;
        self
    }

    /// Stores progress with the task, for the next attempt to read.
    ///
    /// ```
    /// # use workflow_client::ExtendTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = ExtendTask::new(task_id, token).progress(3);
    /// ```
    pub fn progress(self, progress: impl Serialize) -> Self {
        self.progress_json(Json::of(progress))
    }

    pub(crate) fn progress_json(mut self, progress: Json) -> Self {
        self.progress = progress;
        self
    }
}

impl Parts for ExtendTask {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new("SELECT @wf.wf_extend_task($1, $2, $3::pg_catalog.interval, $4)");
        statement.bind(self.task_id).bind(self.token).bind(self.lease).bind_json(&self.progress)
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl Call for ExtendTask {
    type Output = Option<DateTime<Utc>>;

    fn read(&self, rows: &[Row]) -> Result<Option<DateTime<Utc>>, Error> {
        only_value(rows)
    }
}

/// `wf_complete_task`: answers a task, and resumes its instance.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, task: workflow_client::ClaimedTask) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::CompleteTask;
///
/// let answer = CompleteTask::new(task.task_id).token(task.token).result(json!({"receipt": "R-1"}));
/// println!("{}", client.run(answer).await?.sub_status);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CompleteTask {
    task_id: Uuid,
    token: Option<Uuid>,
    result: Json,
    on_fault: Option<OnFault>,
}

impl CompleteTask {
    /// Completes this task with NULL.
    ///
    /// ```
    /// # use workflow_client::CompleteTask;
    /// let call = CompleteTask::new(uuid::Uuid::nil());
    /// ```
    pub fn new(task_id: Uuid) -> Self {
        Self { task_id, token: None, result: Json::null(), on_fault: None }
    }

    /// The token of the claim. With it, the same answer can be given again, and counts once.
    ///
    /// ```
    /// # use workflow_client::CompleteTask;
    /// # let token = uuid::Uuid::nil();
    /// let call = CompleteTask::new(uuid::Uuid::nil()).token(token);
    /// ```
    pub fn token(mut self, token: Uuid) -> Self {
        self.token = Some(token);
        self
    }

    /// The result: any JSON value.
    ///
    /// ```
    /// # use workflow_client::CompleteTask;
    /// let call = CompleteTask::new(uuid::Uuid::nil()).result("approved");
    /// ```
    pub fn result(self, result: impl Serialize) -> Self {
        self.result_json(Json::of(result))
    }

    pub(crate) fn result_json(mut self, result: Json) -> Self {
        self.result = result;
        self
    }

    /// What a fault of a later step does. A worker stores it: raising would roll back the answer as well.
    ///
    /// ```
    /// # use workflow_client::{CompleteTask, OnFault};
    /// let call = CompleteTask::new(uuid::Uuid::nil()).on_fault(OnFault::Store);
    /// ```
    pub fn on_fault(mut self, fault: OnFault) -> Self {
        self.on_fault = Some(fault);
        self
    }
}

impl Parts for CompleteTask {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new(InstanceState::select_from("wf_complete_task($1, $2, $3, $4)"));
        let statement = statement.bind(self.task_id).bind_json(&self.result)?;
        Ok(statement.bind(OnFault::text(self.on_fault)).bind(self.token))
    }

    fn repeat(&self) -> Repeat {
        if self.token.is_some() { Repeat::Always } else { Repeat::IfRolledBack }
    }
}

impl Call for CompleteTask {
    type Output = InstanceState;

    fn read(&self, rows: &[Row]) -> Result<InstanceState, Error> {
        InstanceState::read(only_row(rows)?)
    }
}

/// `wf_complete_tasks`: answers several claimed tasks in one transaction. A rejected answer does not stop the others.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, tasks: Vec<workflow_client::ClaimedTask>) -> Result<(), workflow_client::Error> {
/// use workflow_client::CompleteTasks;
///
/// let mut answers = CompleteTasks::new();
/// for task in &tasks {
///     answers = answers.complete(task.task_id, task.token, "done");
/// }
/// for answer in client.run(answers).await? {
///     println!("{}: {}", answer.task_id, answer.outcome);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct CompleteTasks(Vec<(Uuid, Uuid, &'static str, Json)>);

impl CompleteTasks {
    /// Without any answer yet.
    ///
    /// ```
    /// # use workflow_client::CompleteTasks;
    /// let call = CompleteTasks::new();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Completes a task with a result.
    ///
    /// ```
    /// # use workflow_client::CompleteTasks;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = CompleteTasks::new().complete(task_id, token, "done");
    /// ```
    pub fn complete(mut self, task_id: Uuid, token: Uuid, result: impl Serialize) -> Self {
        self.0.push((task_id, token, "result", Json::of(result)));
        self
    }

    /// Reports that the attempt at a task failed. `error` has the members `message`, and optionally `detail`, `code`,
    /// `retryIn` and `retry`.
    ///
    /// ```
    /// # use workflow_client::CompleteTasks;
    /// # use serde_json::json;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = CompleteTasks::new().fail(task_id, token, json!({"message": "the card was declined", "retry": false}));
    /// ```
    pub fn fail(mut self, task_id: Uuid, token: Uuid, error: impl Serialize) -> Self {
        self.0.push((task_id, token, "error", Json::of(error)));
        self
    }
}

impl Parts for CompleteTasks {
    fn statement(&self) -> Result<Statement, Error> {
        let mut answers = Vec::with_capacity(self.0.len());
        for (task_id, token, member, value) in &self.0 {
            let value = value.get()?.unwrap_or_default();
            answers.push(json!({"taskId": task_id, "token": token, *member: value}));
        }
        let sql = "SELECT task_id, outcome, sub_status, message FROM @wf.wf_complete_tasks($1)";
        Ok(Statement::new(sql).bind(Value::Array(answers)))
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl Call for CompleteTasks {
    type Output = Vec<AnswerOutcome>;

    fn read(&self, rows: &[Row]) -> Result<Vec<AnswerOutcome>, Error> {
        let read = |row| {
            Ok(AnswerOutcome {
                task_id: column(row, "task_id")?,
                outcome: column(row, "outcome")?,
                sub_status: column(row, "sub_status")?,
                message: column(row, "message")?,
            })
        };
        rows.iter().map(read).collect()
    }
}

/// `wf_fail_task`: reports that an attempt failed. The retry policy of the activity decides what follows.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, task: workflow_client::ClaimedTask) -> Result<(), workflow_client::Error> {
/// use workflow_client::{AfterFailure, FailTask};
///
/// let fail = FailTask::new(task.task_id, task.token, "the bank does not answer").code("bank_down");
/// if client.run(fail).await? == AfterFailure::Failed {
///     println!("this was the last attempt");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FailTask {
    task_id: Uuid,
    token: Uuid,
    message: String,
    detail: Option<String>,
    code: Option<String>,
    retry_in: Option<Duration>,
    retry: bool,
    on_fault: Option<OnFault>,
}

impl FailTask {
    /// Reports a message, for people.
    ///
    /// ```
    /// # use workflow_client::FailTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = FailTask::new(task_id, token, "the bank does not answer");
    /// ```
    pub fn new(task_id: Uuid, token: Uuid, message: impl Into<String>) -> Self {
        let (detail, code, retry_in, on_fault) = (None, None, None, None);
        Self { task_id, token, message: message.into(), detail, code, retry_in, retry: true, on_fault }
    }

    /// More of it, for people.
    ///
    /// ```
    /// # use workflow_client::FailTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = FailTask::new(task_id, token, "the bank does not answer").detail("no route to host");
    /// ```
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// A word by which retry policies and catches identify the fault.
    ///
    /// ```
    /// # use workflow_client::FailTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = FailTask::new(task_id, token, "the card was declined").code("card_declined");
    /// ```
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// The delay before the next attempt, in place of the policy's.
    ///
    /// ```
    /// # use workflow_client::FailTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = FailTask::new(task_id, token, "too many requests").retry_in(std::time::Duration::from_secs(30));
    /// ```
    pub fn retry_in(mut self, delay: Duration) -> Self {
        self.retry_in = Some(delay);
        self
    }

    /// Makes this attempt the last.
    ///
    /// ```
    /// # use workflow_client::FailTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = FailTask::new(task_id, token, "the card was declined").without_retry();
    /// ```
    pub fn without_retry(mut self) -> Self {
        self.retry = false;
        self
    }

    /// What the fault of the activity does after the last attempt. A worker stores it.
    ///
    /// ```
    /// # use workflow_client::{FailTask, OnFault};
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = FailTask::new(task_id, token, "the card was declined").on_fault(OnFault::Store);
    /// ```
    pub fn on_fault(mut self, fault: OnFault) -> Self {
        self.on_fault = Some(fault);
        self
    }
}

impl Parts for FailTask {
    fn statement(&self) -> Result<Statement, Error> {
        let sql = "SELECT @wf.wf_fail_task($1, $2, $3, $4, $5, $6::pg_catalog.interval, $7, $8)";
        let statement = Statement::new(sql).bind(self.task_id).bind(self.token).bind(self.message.clone());
        let statement = statement.bind(self.detail.clone()).bind(self.code.clone()).bind(self.retry_in);
        Ok(statement.bind(self.retry).bind(OnFault::text(self.on_fault)))
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }

    /// The token is no longer that of the latest claim: because the first attempt took effect, or because another worker
    /// has claimed the task.
    fn is_ambiguous_after_lost_commit(&self, error: &Error) -> bool {
        error.sqlstate() == Some("55000")
    }
}

impl Call for FailTask {
    type Output = AfterFailure;

    fn read(&self, rows: &[Row]) -> Result<AfterFailure, Error> {
        match only_value(rows)? {
            "Open" => Ok(AfterFailure::Open),
            "Failed" => Ok(AfterFailure::Failed),
            other => Err(Error::Value(format!("wf_fail_task returned {other:?}").into())),
        }
    }
}

/// `wf_release_task`: gives a claimed task back, without counting the attempt. Returns `false` if the worker no longer
/// holds it.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, task: workflow_client::ClaimedTask) -> Result<(), workflow_client::Error> {
/// client.run(workflow_client::ReleaseTask::new(task.task_id, task.token)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ReleaseTask {
    task_id: Uuid,
    token: Uuid,
}

impl ReleaseTask {
    /// Gives this task back.
    ///
    /// ```
    /// # use workflow_client::ReleaseTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = ReleaseTask::new(task_id, token);
    /// ```
    pub fn new(task_id: Uuid, token: Uuid) -> Self {
        Self { task_id, token }
    }
}

impl Parts for ReleaseTask {
    fn statement(&self) -> Result<Statement, Error> {
        Ok(Statement::new("SELECT @wf.wf_release_task($1, $2)").bind(self.task_id).bind(self.token))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for ReleaseTask {
    type Output = bool;

    fn read(&self, rows: &[Row]) -> Result<bool, Error> {
        only_value(rows)
    }
}

/// `wf_assign_task`: assigns a task to a person. Returns whether the assignee changed.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, task: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// client.run(workflow_client::AssignTask::new(task, "role:ada")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AssignTask {
    task_id: Uuid,
    assignee: String,
}

impl AssignTask {
    /// Assigns to `role:` and the name of a role, or to a name that only the application knows.
    ///
    /// ```
    /// # use workflow_client::AssignTask;
    /// let call = AssignTask::new(uuid::Uuid::nil(), "ada@example.com");
    /// ```
    pub fn new(task_id: Uuid, assignee: impl Into<String>) -> Self {
        Self { task_id, assignee: assignee.into() }
    }
}

impl Parts for AssignTask {
    fn statement(&self) -> Result<Statement, Error> {
        Ok(Statement::new("SELECT @wf.wf_assign_task($1, $2)").bind(self.task_id).bind(self.assignee.clone()))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for AssignTask {
    type Output = bool;

    fn read(&self, rows: &[Row]) -> Result<bool, Error> {
        only_value(rows)
    }
}

/// `wf_unassign_task`: removes the assignee of a task. Returns whether it had one.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, task: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// client.run(workflow_client::UnassignTask::new(task)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct UnassignTask(Uuid);

impl UnassignTask {
    /// Removes the assignee of this task.
    ///
    /// ```
    /// # use workflow_client::UnassignTask;
    /// let call = UnassignTask::new(uuid::Uuid::nil());
    /// ```
    pub fn new(task_id: Uuid) -> Self {
        Self(task_id)
    }
}

impl Parts for UnassignTask {
    fn statement(&self) -> Result<Statement, Error> {
        Ok(Statement::new("SELECT @wf.wf_unassign_task($1)").bind(self.0))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for UnassignTask {
    type Output = bool;

    fn read(&self, rows: &[Row]) -> Result<bool, Error> {
        only_value(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::DatabaseError;

    fn rejected(sqlstate: &str) -> Error {
        Error::Database(Box::new(DatabaseError::new(sqlstate, false)))
    }

    #[test]
    fn only_a_token_makes_a_repeated_answer_harmless() {
        let answer = CompleteTask::new(Uuid::nil());
        assert_eq!(answer.repeat(), Repeat::IfRolledBack);
        assert_eq!(answer.token(Uuid::nil()).repeat(), Repeat::Always);
        assert_eq!(ReleaseTask::new(Uuid::nil(), Uuid::nil()).repeat(), Repeat::IfRolledBack);
        assert_eq!(ClaimTasks::any().repeat(), Repeat::IfRolledBack);
    }

    #[test]
    fn a_repeated_failure_whose_token_is_outdated_stays_unknown() {
        let fail = FailTask::new(Uuid::nil(), Uuid::nil(), "no answer");
        assert!(fail.is_ambiguous_after_lost_commit(&rejected("55000")));
        assert!(!fail.is_ambiguous_after_lost_commit(&rejected("42501")));
        // Its own result would have been accepted again, so the first answer was rolled back.
        let complete = CompleteTask::new(Uuid::nil()).token(Uuid::nil());
        assert!(!complete.is_ambiguous_after_lost_commit(&rejected("55000")));
    }

    #[test]
    fn answers_are_written_as_the_function_reads_them() {
        let id = Uuid::from_u128(7);
        let answers = CompleteTasks::new().complete(id, id, ()).fail(id, id, json!({"message": "declined"}));
        let statement = answers.statement().expect("JSON");
        let written = format!("{:?}", statement.parameters());
        assert!(written.contains("\"result\": Null") && written.contains("\"error\": Object"), "{written}");
    }
}

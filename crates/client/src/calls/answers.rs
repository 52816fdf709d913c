//! Calls for the answers to tasks: results and failures.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::OnFault;
use crate::error::Error;
use crate::repeat::Repeat;
use crate::results::{AfterFailure, AnswerOutcome, InstanceState};
use crate::statement::sealed::Parts;
use crate::statement::{Call, Json, Statement, column, only_row, only_value};

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
#[must_use = "a call does nothing until it is run"]
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
#[must_use = "a call does nothing until it is run"]
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
    pub fn complete(self, task_id: Uuid, token: Uuid, result: impl Serialize) -> Self {
        self.answer_json(task_id, token, "result", Json::of(result))
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
    pub fn fail(self, task_id: Uuid, token: Uuid, error: impl Serialize) -> Self {
        self.answer_json(task_id, token, "error", Json::of(error))
    }

    pub(crate) fn complete_json(self, task_id: Uuid, token: Uuid, result: Json) -> Self {
        self.answer_json(task_id, token, "result", result)
    }

    fn answer_json(mut self, task_id: Uuid, token: Uuid, member: &'static str, value: Json) -> Self {
        self.0.push((task_id, token, member, value));
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
#[must_use = "a call does nothing until it is run"]
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

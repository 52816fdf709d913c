//! Calls for tasks besides [answers](super::answers): claim, extend, give back, assign, limit.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Error;
use crate::repeat::Repeat;
use crate::results::ClaimedTask;
use crate::statement::sealed::Parts;
use crate::statement::{Call, Json, Statement, only_row, only_value};

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
#[must_use = "a call does nothing until it is run"]
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
        // The others are claimed as well, so that nobody else can do them.
        let read =
            |row: &Row| ClaimedTask::read(row).inspect_err(|error| tracing::error!(%error, "a task cannot be read"));
        Ok(rows.iter().filter_map(|row| read(row).ok()).collect())
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
#[must_use = "a call does nothing until it is run"]
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
#[must_use = "a call does nothing until it is run"]
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

/// `wf_extend_task` for several tasks in one statement. A worker with many tasks sends its heartbeats like this.
#[derive(Debug, Clone)]
pub(crate) struct ExtendTasks {
    lease: Duration,
    task_ids: Vec<Uuid>,
    tokens: Vec<Uuid>,
    progress: Vec<Option<Value>>,
}

impl ExtendTasks {
    pub fn new(lease: Duration) -> Self {
        Self { lease, task_ids: Vec::new(), tokens: Vec::new(), progress: Vec::new() }
    }

    pub fn task(&mut self, task_id: Uuid, token: Uuid, progress: Option<Value>) {
        self.task_ids.push(task_id);
        self.tokens.push(token);
        self.progress.push(progress);
    }
}

impl Parts for ExtendTasks {
    fn statement(&self) -> Result<Statement, Error> {
        let sql = "SELECT t.task_id, @wf.wf_extend_task(t.task_id, t.token, $1::pg_catalog.interval, t.progress) \
                   FROM ROWS FROM (pg_catalog.unnest($2), pg_catalog.unnest($3), pg_catalog.unnest($4)) \
                   AS t (task_id, token, progress)";
        let statement = Statement::new(sql).bind(self.lease).bind(self.task_ids.clone()).bind(self.tokens.clone());
        Ok(statement.bind(self.progress.clone()))
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl Call for ExtendTasks {
    /// The tasks that the worker still holds.
    type Output = HashSet<Uuid>;

    fn read(&self, rows: &[Row]) -> Result<HashSet<Uuid>, Error> {
        let mut held = HashSet::new();
        for row in rows {
            if row.try_get::<_, Option<DateTime<Utc>>>(1)?.is_some() {
                held.insert(row.try_get(0)?);
            }
        }
        Ok(held)
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
#[must_use = "a call does nothing until it is run"]
pub struct ReleaseTask {
    task_id: Uuid,
    token: Uuid,
    retry_in: Option<Duration>,
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
        Self { task_id, token, retry_in: None }
    }

    /// Nobody can claim it before this time has passed.
    ///
    /// ```
    /// # use workflow_client::ReleaseTask;
    /// # let (task_id, token) = (uuid::Uuid::nil(), uuid::Uuid::nil());
    /// let call = ReleaseTask::new(task_id, token).retry_in(std::time::Duration::from_secs(30));
    /// ```
    pub fn retry_in(mut self, delay: Duration) -> Self {
        self.retry_in = Some(delay);
        self
    }
}

impl Parts for ReleaseTask {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new("SELECT @wf.wf_release_task($1, $2, $3::pg_catalog.interval)");
        Ok(statement.bind(self.task_id).bind(self.token).bind(self.retry_in))
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
#[must_use = "a call does nothing until it is run"]
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
#[must_use = "a call does nothing until it is run"]
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

/// `wf_limit_tasks`: limits how many tasks of a name in the definitions of the role are held at once, or begun in a
/// period. Without either, it removes the limit.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// # use std::time::Duration;
/// use workflow_client::LimitTasks;
///
/// client.run(LimitTasks::new("Charge card").concurrency(20)).await?;
/// client.run(LimitTasks::new("Charge card").key("customer").rate(5, Duration::from_secs(60))).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct LimitTasks {
    name: String,
    concurrency: Option<i32>,
    rate: Option<i32>,
    per: Duration,
    key: Option<String>,
}

impl LimitTasks {
    /// Removes the limit of this name.
    ///
    /// ```
    /// # use workflow_client::LimitTasks;
    /// let call = LimitTasks::new("Charge card");
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), concurrency: None, rate: None, per: Duration::from_secs(1), key: None }
    }

    /// How many tasks are held at the same time, from 1 to 10,000.
    ///
    /// ```
    /// # use workflow_client::LimitTasks;
    /// let call = LimitTasks::new("Charge card").concurrency(20);
    /// ```
    pub fn concurrency(mut self, tasks: i32) -> Self {
        self.concurrency = Some(tasks);
        self
    }

    /// How many tasks are begun in any period of this length, from 1 to 10,000.
    ///
    /// ```
    /// # use workflow_client::LimitTasks;
    /// let call = LimitTasks::new("Charge card").rate(5, std::time::Duration::from_secs(1));
    /// ```
    pub fn rate(mut self, tasks: i32, per: Duration) -> Self {
        (self.rate, self.per) = (Some(tasks), per);
        self
    }

    /// Applies the limit to each value of this member of the payload separately.
    ///
    /// ```
    /// # use workflow_client::LimitTasks;
    /// let call = LimitTasks::new("Export").concurrency(1).key("customer");
    /// ```
    pub fn key(mut self, member: impl Into<String>) -> Self {
        self.key = Some(member.into());
        self
    }
}

impl Parts for LimitTasks {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new("SELECT @wf.wf_limit_tasks($1, $2, $3, $4::pg_catalog.interval, $5)");
        let statement = statement.bind(self.name.clone()).bind(self.concurrency).bind(self.rate);
        Ok(statement.bind(self.per).bind(self.key.clone()))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for LimitTasks {
    type Output = ();

    fn read(&self, _rows: &[Row]) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_token_protects_is_repeated() {
        let id = Uuid::nil();
        assert_eq!(ExtendTask::new(id, id).repeat(), Repeat::Always);
        assert_eq!(ReleaseTask::new(id, id).repeat(), Repeat::IfRolledBack);
        assert_eq!(ClaimTasks::any().repeat(), Repeat::IfRolledBack);
        assert_eq!(LimitTasks::new("Charge card").repeat(), Repeat::IfRolledBack);
    }
}

//! Tasks: work for the outside. A task's id is its bookmark's id.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::bookmark::Bookmark;
use workflow_engine::execution::{EndedTasks, NewTask, RaisedTasks};
use workflow_engine::explain::GivenAnswer;
use workflow_engine::journal::Identity;
use workflow_engine::notification::OpenTask;

use crate::pg::rows::{Columns, Writer};
use crate::pg::spi::{Arg, Change, Row, Statement, Timestamp, Type, changed, written};
use crate::store::instances::bookmarks;
use crate::store::tables::TASKS;
use crate::store::tasks::assignments::Assignment;
use crate::store::tasks::leases::Lease;
use crate::wake::{self, CountOf, HistogramOf};

pub mod accepted_owners;
pub mod assignments;
pub mod leases;
pub mod limits;
pub mod substitutes;
pub mod task_grants;

written! {
    struct New<'a> of TASKS {
        id: &'a Uuid,
        instance_id: &'a Uuid,
        created_at: Timestamp,
        activity_id: &'a str,
        name: &'a str,
        status: &'a str,
        correlation_id: Option<&'a str>,
        payload: Option<&'a Value>,
        deadline: Option<Timestamp>,
        form: Option<&'a Value>,
        approval: Option<i32>,
    }
}
changed! {
    struct Completion<'a> of TASKS {
        id: &'a Uuid,
        status: &'a str,
        completed_at: Option<Timestamp>,
        result: Option<&'a Value>,
        token: Option<&'a Uuid>,
        assignee: Change<Option<&'a str>>,
        candidates: Change<Option<&'a Value>>,
        completed_by: Change<Option<i32>>,
        completed_actor: Change<Option<&'a str>>,
        completed_for: Change<Option<&'a str>>,
    }
}
static ROW: Columns = Columns::of(&TASKS, New::COLUMNS);
static COMPLETION: Columns = Columns::of(&TASKS, Completion::COLUMNS);
// An open task whose bookmark no longer exists was cancelled.
static CLOSE_ORPHANS: Statement = Statement::new(
    "UPDATE workflow.tasks t SET status = 'Cancelled', completed_at = $2 WHERE t.instance_id = $1 AND t.completed_at IS NULL \
         AND t.id IS DISTINCT FROM $3 AND NOT EXISTS (SELECT 1 FROM workflow.bookmarks b WHERE b.id = t.id)",
    &[Type::Uuid, Type::Timestamp, Type::Uuid],
);
static CANCEL_ANSWERED: Statement = Statement::new(
    "UPDATE workflow.tasks SET status = 'Cancelled' WHERE id = ANY ($1) AND status = 'Completed' RETURNING id",
    &[Type::UuidArray],
);
// The act may have left the journal already.
static UNUSED_ACTS: Statement = Statement::new(
    "UPDATE workflow.audit_log SET detail = COALESCE(detail, '{}') || '{\"used\": false}' \
     WHERE instance_id = $1 AND bookmark_id = ANY ($2) AND kind IN ('complete task', 'override task')",
    &[Type::Uuid, Type::UuidArray],
);
static FAIL_OF: Statement = Statement::new(
    "UPDATE workflow.tasks t SET status = 'Failed', completed_at = $3, assignee = b.assignee, candidates = b.candidates FROM workflow.bookmarks b \
     WHERE b.instance_id = $1 AND b.activity_instance_id = $2 AND t.id = b.id AND t.completed_at IS NULL",
    &[Type::Uuid, Type::Uuid, Type::Timestamp],
);
static ENDED: Statement = Statement::new(
    "SELECT instance_id, completed_at, status = 'Failed', COALESCE(token = $2, false), result IS NOT DISTINCT FROM $3, \
            assignee, candidates \
     FROM workflow.tasks WHERE id = $1 AND (status IN ('Completed', 'Failed') OR status = 'Cancelled' AND completed_by IS NOT NULL)",
    &[Type::Uuid, Type::Uuid, Type::Jsonb],
);
static END: Statement = Statement::new(
    "UPDATE workflow.tasks t SET status = 'Cancelled', completed_at = $3, result = to_jsonb($2), assignee = b.assignee, candidates = b.candidates \
     FROM workflow.bookmarks b WHERE t.id = ANY ($1) AND b.id = t.id AND t.completed_at IS NULL",
    &[Type::UuidArray, Type::Text, Type::Timestamp],
);
static OUTCOME: Statement = Statement::new(
    "SELECT instance_id, completed_at, activity_id, result #>> '{}', assignee, candidates FROM workflow.tasks \
     WHERE id = $1 AND status = 'Cancelled' AND completed_by IS NULL AND jsonb_typeof(result) = 'string'",
    &[Type::Uuid],
);
static COMPLETED_AT: Statement = Statement::new("SELECT completed_at FROM workflow.tasks WHERE id = $1", &[Type::Uuid]);
static ADD_COMMENT: Statement = Statement::new(
    "UPDATE workflow.tasks SET comments = COALESCE(comments, '[]') || jsonb_build_array($2), assignee = $5, candidates = $6 \
     WHERE id = $1 AND COALESCE(jsonb_array_length(comments), 0) < $3 \
       AND COALESCE(pg_catalog.octet_length(comments::pg_catalog.text), 0) + pg_catalog.octet_length($2::pg_catalog.text) <= $4",
    &[Type::Uuid, Type::Jsonb, Type::Integer, Type::Integer, Type::Text, Type::Jsonb],
);
static REASSIGN_COMMENTED: Statement = Statement::new(
    "UPDATE workflow.tasks SET assignee = $2 WHERE id = $1 AND comments IS NOT NULL",
    &[Type::Uuid, Type::Text],
);
static COMPLETED_FOR: Statement =
    Statement::new("SELECT completed_for FROM workflow.tasks WHERE id = $1", &[Type::Uuid]);
static CORRELATE: Statement = Statement::new(
    "UPDATE workflow.tasks SET correlation_id = $2 WHERE instance_id = $1 AND completed_at IS NULL",
    &[Type::Uuid, Type::Text],
);
static CORRELATION: Statement = Statement::new(
    "SELECT i.correlation_id FROM workflow.tasks t JOIN workflow.instances i ON i.id = t.instance_id WHERE t.id = $1",
    &[Type::Uuid],
);

/// The correlation id of the instance that opened a task.
pub fn correlation_of(task: Uuid) -> Option<String> {
    CORRELATION.first(&[Arg::Uuid(&task)], |row| row.maybe()).flatten()
}

static NOTIFY: Statement = Statement::new("SELECT pg_notify('workflow_task', '')", &[]);

/// Opens a task.
pub fn insert(writer: &mut Writer, task: &NewTask, instance: &Uuid, correlation_id: Option<&str>, now: Timestamp) {
    let new = New {
        id: &task.bookmark_id,
        instance_id: instance,
        created_at: now,
        activity_id: &task.activity_id,
        name: &task.name,
        status: "Open",
        correlation_id,
        payload: task.payload.as_ref(),
        deadline: task.for_people.as_ref().and_then(|given| given.deadline).map(Into::into),
        form: task.for_people.as_ref().and_then(|given| given.form.as_ref()),
        approval: task.for_people.as_ref().and_then(|given| given.approval).map(u32::cast_signed),
    };
    writer.insert(&ROW, &new.values());
}

/// How a task ends: its status, the result, and the token with which a worker answered.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// It is done, with this result. The token is that of the worker's lease; `None`: the answer came without one.
    Completed(Option<&'a Value>, Option<&'a Uuid>),
    /// The worker whose lease has this token gave it up, or gave this answer, which counts as a failure.
    Failed(Option<&'a Value>, &'a Uuid),
}

/// Who answered a task.
#[derive(Clone, Copy, Debug)]
pub struct Answerer<'a> {
    /// Whose call it was; `None`: the engine's.
    pub by: Option<&'a Identity>,
    /// The absent person in whose place a substitute answered, as rows name people.
    pub in_place_of: Option<&'a str>,
}

/// Closes the task of a bookmark, and keeps who answered it and to whom it was assigned.
pub fn close(
    writer: &mut Writer,
    bookmark: &Bookmark,
    lease: &Lease,
    answer: Answer<'_>,
    who: Answerer<'_>,
    now: Timestamp,
) {
    let Answerer { by, in_place_of } = who;
    let (status, result, token, counted) = match answer {
        Answer::Completed(result, token) => ("Completed", result, token, CountOf::Answers),
        Answer::Failed(result, token) => ("Failed", result, Some(token), CountOf::Failures),
    };
    if let Some(name) = bookmarks::task_name(bookmark) {
        wake::count(counted, name, 1);
        if counted == CountOf::Answers {
            wake::observe_open(HistogramOf::Answers, name, &bookmark.id, now);
        }
    }
    let assignment = lease.assignment.as_deref();
    let (assignee, candidates) = (
        assignment.and_then(|given| given.assignee.as_deref()),
        assignment.and_then(|given| given.candidates.as_ref()),
    );
    let actor = by.and_then(|by| by.actor.as_deref());
    let completion = Completion {
        id: &bookmark.id,
        status,
        completed_at: Some(now),
        result,
        token,
        assignee: Change::when(assignee.is_some(), assignee),
        candidates: Change::when(candidates.is_some(), candidates),
        completed_by: Change::when(by.is_some(), by.and_then(|by| i32::try_from(by.role).ok())),
        completed_actor: Change::when(actor.is_some(), actor),
        completed_for: Change::when(in_place_of.is_some(), in_place_of),
    };
    writer.update(&COMPLETION, &completion.changes());
}

/// Closes the open task of an execution whose last lease ended. Its bookmark still exists.
pub fn fail_of(execution: &Uuid, instance: &Uuid, now: Timestamp) {
    FAIL_OF.run(&[Arg::Uuid(instance), Arg::Uuid(execution), Arg::Timestamp(now)]);
}

/// Ends open tasks because of an outcome of their activity. Their bookmarks still exist.
pub fn end(ended: &EndedTasks, now: Timestamp) {
    END.run(&[Arg::Uuids(&ended.tasks), Arg::Text(&ended.outcome), Arg::Timestamp(now)]);
}

static RAISE: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET priority = $2 WHERE id = ANY ($1) AND COALESCE(priority, 0) < $2 RETURNING payload ->> 'TaskName'",
    &[Type::UuidArray, Type::Integer],
);

/// Raises the priority of open tasks, and lets waiting workers check again.
pub fn raise(raised: &RaisedTasks) {
    let names: Vec<Option<String>> =
        RAISE.rows(&[Arg::Uuids(&raised.tasks), Arg::Integer(raised.priority)], |row| row.maybe());
    names.iter().flatten().for_each(|name| wake::report_task(name));
}

static OPEN: Statement = Statement::new(
    "SELECT t.name, CASE jsonb_typeof(t.payload -> 'subject') WHEN 'string' THEN jsonb_build_object('subject', t.payload -> 'subject') END, \
            t.deadline, b.assignee, b.candidates \
     FROM workflow.tasks t JOIN workflow.bookmarks b ON b.id = t.id WHERE t.id = $1 AND t.status = 'Open'",
    &[Type::Uuid],
);

/// An open task, as notices describe it.
pub fn open(id: Uuid) -> Option<OpenTask> {
    OPEN.first(&[Arg::Uuid(&id)], |row| {
        let (name, payload): (String, Option<Value>) = (row.get(), row.maybe());
        let deadline = row.maybe::<Timestamp>().map(Into::into);
        let given = Assignment::read(row.maybe(), row.maybe(), None).unwrap_or_default();
        OpenTask {
            name,
            payload,
            assignee: given.assignee().map(|entry| entry.title()),
            candidates: given.candidates().map(|entry| entry.title()).collect(),
            deadline,
        }
    })
}

/// A task that ended because of an outcome of its activity.
#[derive(Debug)]
pub struct NeedlessTask {
    /// The instance that opened it.
    pub instance: Uuid,
    /// When it ended.
    pub at: Timestamp,
    /// The activity that opened it.
    pub activity_id: String,
    /// The outcome.
    pub outcome: String,
    /// Who might answer it.
    pub assignment: Option<Box<Assignment>>,
}

/// The outcome because of which a task ended without an answer, if there is one.
pub fn needless(id: Uuid) -> Option<NeedlessTask> {
    OUTCOME.first(&[Arg::Uuid(&id)], |row| NeedlessTask {
        instance: row.get(),
        at: row.get(),
        activity_id: row.get(),
        outcome: row.get(),
        assignment: Assignment::read(row.maybe(), row.maybe(), None),
    })
}

/// Adds a comment to an open task whose instance is locked, unless the task would have more than `most` comments or
/// `bytes` bytes of them.
///
/// The row also gets the present assignment: a task that is cancelled loses its bookmark before its row is closed, and
/// those whom the task named may read the comments afterwards. Tasks without comments need no copy.
pub fn add_comment(id: Uuid, comment: &Value, assignment: Option<&Assignment>, most: i32, bytes: i32) -> bool {
    let (assignee, candidates) = (
        assignment.and_then(|given| given.assignee.as_deref()),
        assignment.and_then(|given| given.candidates.as_ref()),
    );
    ADD_COMMENT.run(&[
        Arg::Uuid(&id),
        Arg::Json(comment),
        Arg::Integer(most),
        Arg::Integer(bytes),
        Arg::text(assignee),
        Arg::json(candidates),
    ]) > 0
}

/// Copies a new assignee to the row of an open task that has comments.
pub fn reassign_commented(id: Uuid, assignee: Option<&str>) {
    REASSIGN_COMMENTED.run(&[Arg::Uuid(&id), Arg::text(assignee)]);
}

/// In whose place a substitute answered a task, as rows name people.
pub fn completed_for(id: Uuid) -> Option<String> {
    COMPLETED_FOR.first(&[Arg::Uuid(&id)], |row| row.maybe()).flatten()
}

/// When a task was answered.
pub fn completed_at(id: Uuid) -> Option<Timestamp> {
    COMPLETED_AT.first(&[Arg::Uuid(&id)], |row| row.maybe()).flatten()
}

/// A task that has ended.
#[derive(Debug)]
pub struct EndedTask {
    /// The instance that opened it.
    pub instance: Uuid,
    /// When it was answered, or failed.
    pub at: Timestamp,
    /// Whether a worker gave it up, or its last lease ended.
    pub has_failed: bool,
    /// Whether a worker answered with the given token.
    pub by_token: bool,
    /// Whether the given result is the stored one.
    pub same_result: bool,
    /// Who might answer it, if not all that may resume the instance.
    pub assignment: Option<Box<Assignment>>,
}

static ANSWERED: Statement = Statement::new(
    "SELECT id, completed_by, completed_actor, completed_for FROM workflow.tasks \
     WHERE instance_id = $1 AND activity_id = $2 AND completed_by IS NOT NULL",
    &[Type::Uuid, Type::Text],
);

/// Who answered a task.
#[derive(Debug)]
pub struct AnsweredTask {
    /// Id of the task.
    pub task: Uuid,
    /// The role whose rights were in force, by its id in `workflow.owners`.
    pub role: i32,
    /// The person for whom the role acted.
    pub actor: Option<String>,
    /// The absent person in whose place a substitute answered, as rows name people.
    pub in_place_of: Option<String>,
}

impl AnsweredTask {
    fn read(row: &mut Row<'_>) -> Self {
        Self { task: row.get(), role: row.get(), actor: row.maybe(), in_place_of: row.maybe() }
    }
}

static ANSWERED_OF: Statement = Statement::new(
    "SELECT id, completed_by, completed_actor, completed_for FROM workflow.tasks WHERE id = ANY ($1) AND completed_by IS NOT NULL",
    &[Type::UuidArray],
);

/// Who answered the tasks of an activity of an instance so far.
pub fn answered(instance: &Uuid, activity: &str) -> Vec<AnsweredTask> {
    ANSWERED.rows(&[Arg::Uuid(instance), Arg::Text(activity)], AnsweredTask::read)
}

/// Who answered these tasks, as far as they were answered.
pub fn answered_of(tasks: &[Uuid]) -> Vec<AnsweredTask> {
    if tasks.is_empty() {
        return Vec::new();
    }
    ANSWERED_OF.rows(&[Arg::Uuids(tasks)], AnsweredTask::read)
}

static NAME: Statement = Statement::new("SELECT name FROM workflow.tasks WHERE id = $1", &[Type::Uuid]);
static RESULT: Statement =
    Statement::new("SELECT name, result FROM workflow.tasks WHERE id = $1 AND status <> 'Open'", &[Type::Uuid]);

/// The name of a task, open or not.
pub fn name(id: Uuid) -> Option<String> {
    NAME.first(&[Arg::Uuid(&id)], |row| row.get())
}

/// The name and the result of a task that has ended.
pub fn result(id: Uuid) -> Option<(String, Option<Value>)> {
    RESULT.first(&[Arg::Uuid(&id)], |row| (row.get(), row.maybe()))
}

/// Compares how a task ended with an answer that is given again. `None`: it has not ended by an answer.
pub fn ended(id: Uuid, token: Option<&Uuid>, result: Option<&Value>) -> Option<EndedTask> {
    ENDED.first(&[Arg::Uuid(&id), Arg::uuid(token), result.map_or(Arg::Null, Arg::Json)], |row| EndedTask {
        instance: row.get(),
        at: row.get(),
        has_failed: row.get(),
        by_token: row.get(),
        same_result: row.get(),
        assignment: Assignment::read(row.maybe(), row.maybe(), None),
    })
}

/// Announces to the sessions that listen on channel `workflow_task` that there are new tasks. It does not say which:
/// any role can listen.
pub fn announce() {
    NOTIFY.run(&[]);
}

/// Closes the open tasks of an instance whose bookmarks no longer exist, except the task that the caller completes.
pub fn close_orphans(instance: Uuid, except: Option<Uuid>, now: Timestamp) {
    CLOSE_ORPHANS.run(&[Arg::Uuid(&instance), Arg::Timestamp(now), Arg::uuid(except.as_ref())]);
}

/// Marks answered tasks of an instance whose activities were cancelled before the answers took effect. The answers stay.
pub fn cancel_answered(instance: Uuid, tasks: &[Uuid]) {
    let cancelled = CANCEL_ANSWERED.rows(&[Arg::Uuids(tasks)], |row| row.get());
    if !cancelled.is_empty() {
        UNUSED_ACTS.run(&[Arg::Uuid(&instance), Arg::Uuids(&cancelled)]);
    }
}

static ANSWER: Statement = Statement::new(
    "SELECT activity_id, result, status = 'Completed' FROM workflow.tasks \
     WHERE id = $1 AND (status = 'Completed' OR status = 'Cancelled' AND completed_by IS NOT NULL)",
    &[Type::Uuid],
);

/// The answer to a task, if it was answered.
pub fn answer(id: Uuid) -> Option<GivenAnswer> {
    ANSWER.first(&[Arg::Uuid(&id)], |row| GivenAnswer {
        task: id,
        activity_id: row.get(),
        result: row.maybe(),
        is_used: row.get(),
    })
}

/// Gives the open tasks of an instance its new correlation id.
pub fn correlate(instance: Uuid, correlation_id: Option<&str>) {
    CORRELATE.run(&[Arg::Uuid(&instance), Arg::text(correlation_id)]);
}

//! What a worker sees of the tasks that it has claimed.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::traceparent::{Span, Traceparent};

use super::ClaimableTask;
use crate::pg::spi::{Arg, Statement, Timestamp, Type};

/// A task that was claimed, as its worker sees it.
#[derive(Debug)]
pub struct Claimed {
    /// Id of the task, which is that of its bookmark.
    pub task: Uuid,
    /// Name of the task, by which the worker claimed it.
    pub name: String,
    /// What the activity gave the task; `None`: nothing.
    pub payload: Option<Value>,
    /// Correlation id of the instance that opened it; `None`: it has none.
    pub correlation_id: Option<String>,
    /// The instance that opened it.
    pub instance: Uuid,
    /// The id that all versions of the instance's definition share.
    pub definition_id: String,
    /// Id within the definition of the activity that opened it.
    pub activity_id: String,
    /// Id in `workflow.owners` of the instance's owner.
    pub owner: i32,
    /// Tasks with a higher one are claimed first; 0 if the activity gave none.
    pub priority: i32,
    /// Until when people are to do it.
    pub deadline: Option<Timestamp>,
    /// What a worker noted before.
    pub progress: Option<Value>,
    /// The trace of the instance, with the wait for the task as the parent; `None`: it belongs to none.
    pub traceparent: Option<Traceparent>,
}

static CLAIMED: Statement = Statement::new(
    "SELECT t.id, t.name, t.payload, i.correlation_id, t.instance_id, i.definition_id, t.activity_id, i.owner, \
            COALESCE(b.priority, 0), t.deadline, b.progress, i.traceparent \
     FROM workflow.tasks t JOIN workflow.bookmarks b ON b.id = t.id JOIN workflow.instances i ON i.id = t.instance_id \
     WHERE t.id = ANY ($1)",
    &[Type::UuidArray],
);

/// What the workers of these tasks need to know, in no order.
pub fn claimed(tasks: &[Uuid]) -> Vec<Claimed> {
    CLAIMED.rows(&[Arg::Uuids(tasks)], |row| {
        let mut claimed = Claimed {
            task: row.get(),
            name: row.get(),
            payload: row.maybe(),
            correlation_id: row.maybe(),
            instance: row.get(),
            definition_id: row.get(),
            activity_id: row.get(),
            owner: row.get(),
            priority: row.get(),
            deadline: row.maybe(),
            progress: row.maybe(),
            traceparent: None,
        };
        let joined = row.maybe::<String>().and_then(|text| Traceparent::parse(&text));
        claimed.traceparent = joined.map(|joined| joined.under(Span::Wait(claimed.task)));
        claimed
    })
}

static CLAIMABLE_BY_ID: Statement = Statement::new(
    "SELECT b.id, b.instance_id, i.definition_version_id, b.node_id, COALESCE(b.claims, 0), b.payload ->> 'TaskName', b.lane, \
            COALESCE(b.priority, 0), b.created_at, b.assignee IS NOT NULL OR b.candidates IS NOT NULL \
     FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
     WHERE b.id = $1 AND b.name = 'Elsa.RunTask'",
    &[Type::Uuid],
);

/// An open task, whether or not it can be claimed, read without a lock.
pub fn claimable_by_id(task: Uuid) -> Option<ClaimableTask> {
    CLAIMABLE_BY_ID.first(&[Arg::Uuid(&task)], ClaimableTask::read)
}

//! The audit's own table. It contains acts whose journal rows were removed, and acts that concern no instance.

use std::collections::HashMap;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::journal::Identity;

use crate::pg::process;
use crate::pg::spi::{Arg, Statement, Timestamp, Type};

static ADD: Statement = Statement::new(
    "INSERT INTO workflow.audit_log (at, kind, owner, role, login, actor, instance_id, definition_id, correlation_id, detail) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    &[
        Type::Timestamp,
        Type::Text,
        Type::Integer,
        Type::Integer,
        Type::Integer,
        Type::Text,
        Type::Uuid,
        Type::Text,
        Type::Text,
        Type::Jsonb,
    ],
);

/// An act that is not recorded in the journal of an instance.
#[derive(Debug, Default)]
pub struct NewAct<'a> {
    /// The kind of act.
    pub kind: &'a str,
    /// Id in `workflow.owners` of the owner of the object, or of the instance unless it is a child.
    pub owner: Option<i32>,
    /// The instance, which is about to be removed.
    pub instance: Option<&'a Uuid>,
    /// The definition, or that of the instance.
    pub definition_id: Option<&'a str>,
    /// The correlation id of the instance.
    pub correlation_id: Option<&'a str>,
    /// The objects and arguments.
    pub detail: Option<&'a Value>,
}

/// Records an act with the server's current time.
pub fn add(by: &Identity, act: &NewAct<'_>) {
    let id = |id: u32| Arg::Integer(id.cast_signed());
    ADD.run(&[
        Arg::Timestamp(Timestamp(process::now())),
        Arg::Text(act.kind),
        act.owner.map_or(Arg::Null, Arg::Integer),
        id(by.role),
        by.login.map_or(Arg::Null, id),
        Arg::text(by.actor.as_deref()),
        Arg::uuid(act.instance),
        Arg::text(act.definition_id),
        Arg::text(act.correlation_id),
        act.detail.map_or(Arg::Null, Arg::Json),
    ]);
}

/// A statement that copies the acts of journal rows.
macro_rules! keep {
    ($which:literal) => {
        concat!(
            "INSERT INTO workflow.audit_log (at, kind, definition_id, instance_id, correlation_id, activity, task, bookmark_id, \
                 owner, role, login, actor, detail) \
             SELECT a.at, a.kind, a.definition_id, a.instance_id, a.correlation_id, a.activity, a.task, a.bookmark_id, \
                 a.owner, a.role, a.login, a.actor, a.detail FROM workflow._acts a WHERE ",
            $which,
            " ORDER BY a.instance_id, a.seq"
        )
    };
}

static KEEP_ROWS: Statement = Statement::new(
    keep!("a.instance_id = $1 AND a.seq >= $2 AND a.seq < $3"),
    &[Type::Uuid, Type::Integer, Type::Integer],
);
static KEEP: Statement = Statement::new(keep!("a.instance_id = ANY ($1)"), &[Type::UuidArray]);

/// Copies the acts of an instance's journal rows from `from` to before `to`, which are about to be removed.
pub fn keep_rows(instance: &Uuid, from: u32, to: u32) {
    KEEP_ROWS.run(&[Arg::Uuid(instance), Arg::Integer(from.cast_signed()), Arg::Integer(to.cast_signed())]);
}

/// Copies the acts of instances that are about to be removed. Their rows in other tables must still exist.
pub fn keep(instances: &[Uuid]) {
    KEEP.run(&[Arg::Uuids(instances)]);
}

static LOGIN_OF_START: Statement = Statement::new(
    "SELECT a.login FROM (SELECT l.events FROM workflow.execution_log l WHERE l.instance_id = $1 ORDER BY l.seq LIMIT 1) f \
     CROSS JOIN LATERAL workflow._act(f.events) a WHERE a.kind = 'start' AND a.login IS NOT NULL \
     UNION ALL SELECT g.login FROM workflow.audit_log g WHERE g.instance_id = $1 AND g.kind = 'start' AND g.login IS NOT NULL",
    &[Type::Uuid],
);
static LOGINS_OF_ANSWERS: Statement = Statement::new(
    "SELECT a.bookmark_id, a.login FROM \
         (SELECT j.bookmark_id, j.login, j.kind \
          FROM workflow.execution_log l CROSS JOIN LATERAL workflow._act(l.events) j WHERE l.instance_id = $1 \
          UNION ALL SELECT g.bookmark_id, g.login, g.kind FROM workflow.audit_log g WHERE g.instance_id = $1) a \
     WHERE a.bookmark_id = ANY ($2) AND a.login IS NOT NULL \
       AND a.kind = ANY (ARRAY['complete task', 'fail task', 'override task', 'send'])",
    &[Type::Uuid, Type::UuidArray],
);

/// The login role of the session that started an instance, if it differs from the role.
pub fn login_of_start(instance: &Uuid) -> Option<i32> {
    LOGIN_OF_START.first(&[Arg::Uuid(instance)], |row| row.get())
}

/// The login roles of the sessions that answered these tasks of an instance, where they differ from the roles.
pub fn logins_of_answers(instance: &Uuid, tasks: &[Uuid]) -> HashMap<Uuid, i32> {
    if tasks.is_empty() {
        return HashMap::new();
    }
    LOGINS_OF_ANSWERS
        .rows(&[Arg::Uuid(instance), Arg::Uuids(tasks)], |row| (row.get(), row.get()))
        .into_iter()
        .collect()
}

static REMOVE: Statement = Statement::new(
    "DELETE FROM workflow.audit_log WHERE id IN \
         (SELECT g.id FROM workflow.audit_log g WHERE g.at <= $1 ORDER BY g.at LIMIT $2 FOR UPDATE SKIP LOCKED)",
    &[Type::Timestamp, Type::BigInt],
);

/// Removes at most `limit` acts that were done at or before an instant.
pub fn remove(until: Timestamp, limit: i64) -> u64 {
    REMOVE.run(&[Arg::Timestamp(until), Arg::BigInt(limit)])
}

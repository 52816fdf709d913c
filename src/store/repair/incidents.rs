//! Incidents: the stored faults of activities.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::execution::Incident;

use crate::pg::spi::{Arg, Statement, Timestamp, Type, written};
use crate::store::tables::INCIDENTS;

written! {
    struct New<'a> of INCIDENTS {
        id: &'a Uuid,
        instance_id: &'a Uuid,
        activity_id: &'a str,
        node_id: &'a str,
        activity_type: &'a str,
        activity_instance_id: &'a Uuid,
        created_at: Timestamp,
        sqlstate: &'a str,
        message: &'a str,
        detail: Option<&'a str>,
        hint: Option<&'a str>,
        context: Option<&'a str>,
        code: Option<&'a str>,
        attempts: Option<i32>,
    }
}
static INSERT: Statement = Statement::insert(&INCIDENTS, New::COLUMNS, "", &[]);
static RESOLVE: Statement = Statement::new(
    "UPDATE workflow.incidents SET resolved_at = $3 WHERE instance_id = $1 AND resolved_at IS NULL \
         AND NOT activity_instance_id = ANY ($2)",
    &[Type::Uuid, Type::UuidArray, Type::Timestamp],
);
static OPEN: Statement = Statement::new(
    "SELECT activity_id, sqlstate, code, message, detail, hint FROM workflow.incidents \
     WHERE instance_id = $1 AND resolved_at IS NULL ORDER BY id",
    &[Type::Uuid],
);

/// Adds an incident.
pub fn insert(id: Uuid, instance: Uuid, incident: &Incident, now: Timestamp) {
    let fault = &incident.fault;
    let new = New {
        id: &id,
        instance_id: &instance,
        activity_id: &incident.activity_id,
        node_id: &incident.node_id,
        activity_type: &incident.activity_type,
        activity_instance_id: &incident.activity_instance_id,
        created_at: now,
        sqlstate: &fault.sqlstate,
        message: &fault.message,
        detail: fault.detail.as_deref(),
        hint: fault.hint.as_deref(),
        context: fault.context.as_deref(),
        code: fault.code.as_deref(),
        attempts: Some(incident.attempts)
            .filter(|attempts| *attempts > 1)
            .map(|attempts| i32::try_from(attempts).unwrap_or(i32::MAX)),
    };
    INSERT.run(&new.values());
}

/// Resolves the open incidents of an instance, except those of the executions in `still_faulted`.
pub fn resolve(instance: Uuid, still_faulted: &[Uuid], now: Timestamp) {
    RESOLVE.run(&[Arg::Uuid(&instance), Arg::Uuids(still_faulted), Arg::Timestamp(now)]);
}

static RESOLVE_OF: Statement = Statement::new(
    "UPDATE workflow.incidents SET resolved_at = $3 WHERE instance_id = $1 AND resolved_at IS NULL \
         AND activity_instance_id = ANY ($2)",
    &[Type::Uuid, Type::UuidArray, Type::Timestamp],
);

/// Resolves the open incidents of these executions.
pub fn resolve_of(instance: Uuid, executions: &[Uuid], now: Timestamp) {
    RESOLVE_OF.run(&[Arg::Uuid(&instance), Arg::Uuids(executions), Arg::Timestamp(now)]);
}

/// The open incidents of an instance, as results show them.
pub fn open(instance: Uuid) -> Vec<Value> {
    OPEN.rows(&[Arg::Uuid(&instance)], |row| {
        json!({
            "activity_id": row.get::<String>(),
            "sqlstate": row.get::<String>(),
            "code": row.maybe::<String>(),
            "message": row.get::<String>(),
            "detail": row.maybe::<String>(),
            "hint": row.maybe::<String>(),
        })
    })
}

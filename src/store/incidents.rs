//! What went wrong in activities.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::execution::Incident;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};

static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.incidents (id, instance_id, activity_id, node_id, activity_type, activity_instance_id, \
         created_at, sqlstate, message, detail, hint, context) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    &[
        Type::Uuid,
        Type::Uuid,
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Uuid,
        Type::Timestamp,
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Text,
    ],
);
static RESOLVE: Statement = Statement::new(
    "UPDATE workflow.incidents SET resolved_at = $3 WHERE instance_id = $1 AND resolved_at IS NULL \
         AND NOT activity_instance_id = ANY ($2)",
    &[Type::Uuid, Type::UuidArray, Type::Timestamp],
);
static OPEN: Statement = Statement::new(
    "SELECT activity_id, sqlstate, message, detail, hint FROM workflow.incidents \
     WHERE instance_id = $1 AND resolved_at IS NULL ORDER BY id",
    &[Type::Uuid],
);

/// Adds an incident.
pub fn insert(id: Uuid, instance: Uuid, incident: &Incident, now: Timestamp) {
    let fault = &incident.fault;
    INSERT.run(&[
        Arg::Uuid(&id),
        Arg::Uuid(&instance),
        Arg::Text(&incident.activity_id),
        Arg::Text(&incident.node_id),
        Arg::Text(&incident.activity_type),
        Arg::Uuid(&incident.activity_instance_id),
        Arg::Timestamp(now),
        Arg::Text(&fault.sqlstate),
        Arg::Text(&fault.message),
        Arg::text(fault.detail.as_deref()),
        Arg::text(fault.hint.as_deref()),
        Arg::text(fault.context.as_deref()),
    ]);
}

/// Resolves the open incidents of an instance, except those of executions that are still faulted.
pub fn resolve(instance: Uuid, still_faulted: &[Uuid], now: Timestamp) {
    RESOLVE.run(&[Arg::Uuid(&instance), Arg::Uuids(still_faulted), Arg::Timestamp(now)]);
}

/// The open incidents of an instance, as results show them.
pub fn open(instance: Uuid) -> Vec<Value> {
    OPEN.rows(&[Arg::Uuid(&instance)], |row| {
        json!({
            "activity_id": row.get::<String>(),
            "sqlstate": row.get::<String>(),
            "message": row.get::<String>(),
            "detail": row.maybe::<String>(),
            "hint": row.maybe::<String>(),
        })
    })
}

//! The ids of definitions with their owners, and the definitions that a version names.
//!
//! An id keeps its owner after all versions are deleted and removed by retention. Schedules, parents and applications
//! still refer to the id, and would pass their input to any role that could define it again.

use serde_json::Value;
use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Type};
use crate::store::rights::owners::{self, Owner};

static OWNER: Statement =
    Statement::new("SELECT owner FROM workflow.definition_ids WHERE definition_id = $1", &[Type::Text]);
static RESERVE: Statement = Statement::new(
    "INSERT INTO workflow.definition_ids (definition_id, owner) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    &[Type::Text, Type::Integer],
);
static GIVE: Statement = Statement::new(
    "UPDATE workflow.definition_ids SET owner = $2 WHERE definition_id = $1",
    &[Type::Text, Type::Integer],
);

/// The owner of a definition, deleted or not. `None`: no role ever stored a definition of this id.
pub fn owner(definition_id: &str) -> Option<Owner> {
    OWNER.first(&[Arg::Text(definition_id)], |row| owners::by_id(row.get()))
}

static OWNERS: Statement = Statement::new("SELECT DISTINCT owner FROM workflow.definition_ids", &[]);

/// The owners of all definitions.
pub fn owners() -> Vec<Owner> {
    OWNERS.rows(&[], |row| owners::by_id(row.get()))
}

/// Makes a role the owner of an id that has none. The caller holds the lock of the definition.
pub(super) fn reserve(definition_id: &str, owner: i32) {
    RESERVE.run(&[Arg::Text(definition_id), Arg::Integer(owner)]);
}

/// Assigns an id to another owner.
pub(super) fn give(definition_id: &str, owner: i32) {
    GIVE.run(&[Arg::Text(definition_id), Arg::Integer(owner)]);
}

static NAMED: Statement = Statement::new(
    "SELECT jsonb_object_agg(n.definition_id, n.owner) FROM workflow.definition_ids n \
     WHERE n.definition_id <> $2 AND n.definition_id IN \
         (SELECT t.value #>> '{}' FROM jsonb_path_query($1, 'strict $.** ? (@.type() == \"string\")') t (value))",
    &[Type::Jsonb, Type::Text],
);
static RENEW: Statement = Statement::new(
    "UPDATE workflow.definitions SET child_owners = $2 WHERE id = $1 AND child_owners IS DISTINCT FROM $2",
    &[Type::Uuid, Type::Jsonb],
);
static CHILD_OWNER: Statement = Statement::new(
    "SELECT CAST(child_owners ->> $2 AS integer) FROM workflow.definitions WHERE id = $1",
    &[Type::Uuid, Type::Text],
);

/// The definitions whose ids occur as strings in a document, each with its current owner: `{"pay": 7}`. `None`: there
/// are none. An id that an expression computes is not found.
pub fn named_in(document: &Value, definition_id: &str) -> Option<Value> {
    NAMED.first(&[Arg::Json(document), Arg::Text(definition_id)], |row| row.maybe()).flatten()
}

/// Stores what [`named_in`] found, for a version that is defined again with the same content.
pub fn renew_child_owners(version: Uuid, owners: Option<&Value>) {
    RENEW.run(&[Arg::Uuid(&version), owners.map_or(Arg::Null, Arg::Json)]);
}

/// The owner that a definition had when this version named it.
pub fn child_owner(version: Uuid, definition_id: &str) -> Option<Owner> {
    let found = CHILD_OWNER.first(&[Arg::Uuid(&version), Arg::Text(definition_id)], |row| row.maybe::<i32>());
    found.flatten().map(owners::by_id)
}

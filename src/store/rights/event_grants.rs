//! Event grants: which roles may receive the events of a publisher.

use crate::pg::spi::{Arg, Statement, Type};
use crate::store::rights::owners::{self, Owner};

static LISTENERS: Statement =
    Statement::new("SELECT g.listener FROM workflow.event_grants g WHERE g.publisher = $1", &[Type::Integer]);
static GRANT: Statement = Statement::new(
    "INSERT INTO workflow.event_grants (publisher, listener) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    &[Type::Integer, Type::Integer],
);
static REVOKE: Statement = Statement::new(
    "DELETE FROM workflow.event_grants WHERE publisher = $1 AND listener = $2",
    &[Type::Integer, Type::Integer],
);

/// The roles that may receive the events of a publisher.
pub fn listeners_of(publisher: i32) -> Vec<Owner> {
    LISTENERS.rows(&[Arg::Integer(publisher)], |row| owners::by_id(row.get()))
}

/// Lets a role receive the events of a publisher. Returns `false` if it already could.
pub fn grant(publisher: i32, listener: i32) -> bool {
    GRANT.run(&[Arg::Integer(publisher), Arg::Integer(listener)]) > 0
}

/// Revokes such a grant. Returns `false` if it did not exist.
pub fn revoke(publisher: i32, listener: i32) -> bool {
    REVOKE.run(&[Arg::Integer(publisher), Arg::Integer(listener)]) > 0
}

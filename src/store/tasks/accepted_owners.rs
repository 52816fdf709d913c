//! The owners of definitions whose tasks workers accept.

use crate::pg::spi::{Arg, Statement, Type};
use crate::store::rights::owners::{self, Owner};
use crate::wake;

static OF: Statement =
    Statement::new("SELECT a.owner FROM workflow.accepted_owners a WHERE a.worker = ANY ($1)", &[Type::IntegerArray]);
static ADD: Statement = Statement::new(
    "INSERT INTO workflow.accepted_owners (worker, owner) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    &[Type::Integer, Type::Integer],
);
static REMOVE: Statement = Statement::new(
    "DELETE FROM workflow.accepted_owners WHERE worker = $1 AND owner = $2",
    &[Type::Integer, Type::Integer],
);

/// The owners that any of these workers accepts.
pub fn of(workers: &[i32]) -> Vec<Owner> {
    OF.rows(&[Arg::Integers(workers)], |row| owners::by_id(row.get()))
}

/// Lets claims of a worker reach the tasks of an owner. Returns `false` if they already did by this.
pub fn add(worker: i32, owner: i32) -> bool {
    let is_new = ADD.run(&[Arg::Integer(worker), Arg::Integer(owner)]) > 0;
    if is_new {
        wake::note_any_task();
    }
    is_new
}

/// Takes that back. Returns `false` if there was nothing.
pub fn remove(worker: i32, owner: i32) -> bool {
    REMOVE.run(&[Arg::Integer(worker), Arg::Integer(owner)]) > 0
}

//! The owners of definitions whose tasks workers accept.

use crate::pg::spi::{Arg, Statement, Type};
use crate::store::rights::owners::{self, Owner};
use crate::wake;

static OF: Statement = Statement::new(
    "SELECT a.owner FROM workflow.accepted_owners a WHERE a.worker = $1 OR a.worker = ANY ($2) AND a.for_members",
    &[Type::Integer, Type::IntegerArray],
);
static ADD: Statement = Statement::new(
    "INSERT INTO workflow.accepted_owners AS a (worker, owner, for_members) VALUES ($1, $2, $3) \
     ON CONFLICT (worker, owner) DO UPDATE SET for_members = true WHERE EXCLUDED.for_members AND NOT a.for_members",
    &[Type::Integer, Type::Integer, Type::Boolean],
);
static REMOVE: Statement = Statement::new(
    "DELETE FROM workflow.accepted_owners WHERE worker = $1 AND owner = $2",
    &[Type::Integer, Type::Integer],
);

/// The owners that a worker accepts, and those that were accepted for the members of these groups. A role without an id
/// has accepted none.
pub fn of(worker: Option<i32>, groups: &[i32]) -> Vec<Owner> {
    OF.rows(&[worker.map_or(Arg::Null, Arg::Integer), Arg::Integers(groups)], |row| owners::by_id(row.get()))
}

/// Lets claims of a worker, and of its members if `for_members`, reach the tasks of an owner. Returns `false` if they
/// already did by this.
pub fn add(worker: i32, owner: i32, for_members: bool) -> bool {
    let is_new = ADD.run(&[Arg::Integer(worker), Arg::Integer(owner), Arg::Boolean(for_members)]) > 0;
    if is_new {
        wake::report_any_task();
    }
    is_new
}

/// Takes that back. Returns `false` if there was nothing.
pub fn remove(worker: i32, owner: i32) -> bool {
    REMOVE.run(&[Arg::Integer(worker), Arg::Integer(owner)]) > 0
}

//! How many executors an owner may have.
//!
//! A fire may take as long as its SQL, and a burst without SQL as long as its steps. Whoever has all executors keeps the
//! timers of all other owners waiting, so one is left for these.

use std::collections::BTreeSet;

use pgrx::pg_sys::Oid;

use crate::pg::guc;
use crate::pg::shared::{self, Board, Executor, ExecutorState};

/// The owners that the executors of a database fire for, one for each executor.
fn served(board: &Board, database: Oid) -> impl Iterator<Item = i32> + '_ {
    let works = |state| matches!(state, ExecutorState::Busy | ExecutorState::Starting);
    let fires = board.executors.iter().filter(move |place| place.database == database && works(place.state));
    fires.filter(|place| place.count > 0).map(|place| place.batch[0].owner)
}

/// How many executors of a database are sessions of a role, or will be.
pub fn sessions(database: Oid, role: Oid) -> usize {
    let is_its = |place: &&Executor| place.database == database && place.role == role;
    let is_there = |place: &&Executor| place.state != ExecutorState::Free;
    shared::with(|board| board.executors.iter().filter(is_its).filter(is_there).count())
}

/// How many executors of a database fire for an owner.
pub fn held(board: &Board, database: Oid, owner: i32) -> usize {
    served(board, database).filter(|served| *served == owner).count()
}

/// Whether an owner has as many executors of a database as it may: all but one, where there are several.
pub fn is_full(board: &Board, database: Oid, owner: i32) -> bool {
    held(board, database, owner) >= guc::max_executors().saturating_sub(1).max(1)
}

/// The owners that have as many executors of a database as they may.
pub fn full(database: Oid) -> BTreeSet<i32> {
    shared::with(|board| served(board, database).filter(|owner| is_full(board, database, *owner)).collect())
}

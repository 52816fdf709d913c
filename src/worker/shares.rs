//! How many executors an owner may have.
//!
//! A fire may take as long as its SQL, and a burst without SQL as long as its steps. An owner with all executors would
//! keep the timers of all other owners waiting, so one executor is left for them.

use std::collections::BTreeSet;

use pgrx::pg_sys::Oid;

use crate::pg::guc;
use crate::pg::shared::{self, Executor, ExecutorState, SharedState};

/// The owners that the executors of a database fire for, one for each executor.
fn served(state: &SharedState, database: Oid) -> impl Iterator<Item = i32> + '_ {
    let works = |state| matches!(state, ExecutorState::Busy | ExecutorState::Starting);
    let fires = state.executors.iter().filter(move |slot| slot.database == database && works(slot.state));
    fires.filter(|slot| slot.count > 0).map(|slot| slot.batch[0].owner)
}

/// How many executors of a database are sessions of a role, or will be.
pub fn sessions(database: Oid, role: Oid) -> usize {
    let is_its = |slot: &&Executor| slot.database == database && slot.role == role;
    let is_there = |slot: &&Executor| slot.state != ExecutorState::Free;
    shared::with(|state| state.executors.iter().filter(is_its).filter(is_there).count())
}

/// How many executors of a database fire for an owner.
pub fn held(state: &SharedState, database: Oid, owner: i32) -> usize {
    served(state, database).filter(|served| *served == owner).count()
}

/// Whether an owner has as many executors of a database as it may: all but one, where there are several.
pub fn is_full(state: &SharedState, database: Oid, owner: i32) -> bool {
    held(state, database, owner) >= guc::max_executors().saturating_sub(1).max(1)
}

/// The owners that have as many executors of a database as they may.
pub fn full(database: Oid) -> BTreeSet<i32> {
    shared::with(|state| served(state, database).filter(|owner| is_full(state, database, *owner)).collect())
}

//! How many executors an owner may use.
//!
//! A fire may take as long as its SQL, and a burst without SQL as long as its steps. An owner that used all executors
//! would delay the timers of all other owners, so one executor is left for them. One person may have several roles, so
//! the owners with long fires together may also use all executors except one, which is left for owners with short
//! fires. An owner counts as having short fires until its first long one.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys::Oid;

use crate::pg::guc;
use crate::pg::shared::{self, Executor, ExecutorState, SharedState};
use crate::worker::SECOND;

/// How long an owner counts as having long fires after one was last seen running.
const REMEMBERED: i64 = 600 * SECOND;

/// The owners that recently had long fires, each with the time until which it counts as such.
#[derive(Debug, Default)]
pub struct LongOwners(BTreeMap<i32, i64>);

impl LongOwners {
    /// Finds running fires that have become long, and drops owners that have had none for a while.
    pub fn update(&mut self, state: &SharedState, database: Oid, now: i64) {
        self.0.retain(|_, until| *until > now);
        let long = guc::long_fire();
        let is_long = |slot: &&Executor| slot.state == ExecutorState::Busy && now.saturating_sub(slot.since) > long;
        for slot in busy(state, database).filter(is_long) {
            self.0.insert(slot.batch[0].owner, now.saturating_add(REMEMBERED));
        }
    }

    /// Records a batch that has ended.
    pub fn record_end(&mut self, owner: i32, took: i64, now: i64) {
        if took > guc::long_fire() {
            self.0.insert(owner, now.saturating_add(REMEMBERED));
        }
    }

    /// Whether an owner uses as many executors of a database as it may: all except one, if there are several; with long
    /// fires, together with the other owners of long fires.
    pub fn is_full(&self, state: &SharedState, database: Oid, owner: i32) -> bool {
        let most = guc::max_executors().saturating_sub(1).max(1);
        let held = match self.0.contains_key(&owner) {
            true => served(state, database).filter(|served| self.0.contains_key(served)).count(),
            false => held(state, database, owner),
        };
        held >= most
    }

    /// Which of these owners use as many executors of a database as they may.
    pub fn full(&self, database: Oid, owners: impl Iterator<Item = i32>) -> BTreeSet<i32> {
        let owners: BTreeSet<i32> = owners.collect();
        shared::with(|state| owners.into_iter().filter(|owner| self.is_full(state, database, *owner)).collect())
    }
}

fn busy(state: &SharedState, database: Oid) -> impl Iterator<Item = &Executor> + '_ {
    let works = |state| matches!(state, ExecutorState::Busy | ExecutorState::Starting);
    let fires = state.executors.iter().filter(move |slot| slot.database == database && works(slot.state));
    fires.filter(|slot| slot.count > 0)
}

/// The owners for which the executors of a database fire, one for each executor.
fn served(state: &SharedState, database: Oid) -> impl Iterator<Item = i32> + '_ {
    busy(state, database).map(|slot| slot.batch[0].owner)
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

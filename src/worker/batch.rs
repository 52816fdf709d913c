//! Takes fires back from executors, including those that have started their batch or crashed during it.

use std::cmp::Ordering;

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::pg::error::log;
use crate::pg::shared::{self, Executor, ExecutorState, Fire, FireKind, SharedState};
use crate::pg::{PgError, catalog, process};
use crate::run::CallContext;
use crate::run::timers::{due_bookmark, due_work};
use crate::store::timers::due::Due;

/// Takes back the fires that an executor has not started.
pub fn cut(slot: &mut Executor, back: &mut Vec<(u32, Fire)>) {
    let (kept, count) = (slot.current as usize + 1, slot.count as usize);
    if count > kept {
        back.extend(slot.batch[kept..count].iter().map(|fire| (slot.role.to_u32(), *fire)));
        slot.count = kept as u32;
    }
}

/// Whether the batch of an executor holds stimuli.
pub fn has_items(slot: &Executor) -> bool {
    slot.count > 0 && slot.batch[0].kind == FireKind::Item
}

/// Makes an idle executor of another role exit, so that its slot becomes free.
pub fn retire_idle(state: &mut SharedState, database: Oid, role: Oid) {
    let idle = state.executors.iter_mut().find(|slot| {
        slot.database == database && slot.role != role && slot.state == ExecutorState::Idle && slot.count == 0
    });
    if let Some(slot) = idle {
        // No longer idle, so the dispatcher gives it no batch.
        (slot.state, slot.since) = (ExecutorState::Starting, i64::MIN / 2);
        slot.process.wake();
    }
}

/// Takes back the batch of a crashed executor. The fire in progress is considered the cause. Earlier fires may have
/// been rolled back with it, so they must be found again. A careful executor has counted the attempt already.
pub fn reclaim(slot: &mut Executor, done: &mut Vec<Fire>, died: &mut Vec<(Fire, bool)>, again: &mut Vec<(u32, Fire)>) {
    let current = slot.current as usize;
    for (i, fire) in slot.batch[..slot.count as usize].iter().enumerate() {
        match i.cmp(&current) {
            // The executor may have failed to connect: whether its role can is checked when the fire is found again.
            _ if !slot.has_begun => done.push(Fire { is_held: true, ..*fire }),
            Ordering::Less => done.push(Fire { is_held: true, ..*fire }),
            Ordering::Equal => died.push((*fire, !slot.careful)),
            Ordering::Greater => again.push((slot.role.to_u32(), *fire)),
        }
    }
    (slot.count, slot.state) = (0, ExecutorState::Free);
}

/// Records that an executor crashed during a fire. `false`: nothing was recorded, so the fire must be found again.
pub fn record_death(fire: &Fire, counts: bool) -> bool {
    // The claim of a command tells the next executor that the command was interrupted.
    if fire.kind == FireKind::Command {
        return false;
    }
    // A session that evicts the workers may have terminated the executor: then the fire is not the cause.
    if shared::with(|state| state.database(process::database()).is_some_and(|slot| slot.blocked_by != 0)) {
        return false;
    }
    let id = Uuid::from_bytes(fire.id);
    let recorded = process::work(|| {
        // DROP EXTENSION may have terminated the executor.
        if catalog::extension().is_none() {
            return Ok(false);
        }
        let mut context = CallContext::begin();
        let error = PgError::new("57P01", "the worker exited while firing it");
        Ok(match fire.kind {
            FireKind::Item => due_work::record_undelivered(&context, id, &error, counts),
            FireKind::Bookmark | FireKind::Command => due_bookmark::record_failure(&mut context, id, &error, counts),
        })
    });
    recorded.unwrap_or_else(|error| {
        log(&format!("workflow could not record that a worker exited while firing {id}: {}", error.message));
        false
    })
}

/// Records the failure of a due bookmark whose role no longer exists. `false`: nothing was recorded, so it must be
/// found again.
pub fn record_missing_role(due: &Due) -> bool {
    let name = due.runs_as.as_ref().map(|owner| owner.name.clone()).unwrap_or_default();
    let error = PgError::new("42704", format!("role \"{name}\", the owner of the workflow instance, does not exist"));
    due_bookmark::record_failure(&mut CallContext::begin(), due.id, &error, true)
}

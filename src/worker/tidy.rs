//! Retention in a scheduler: one step at a time, once all due fires are assigned.

use pgrx::pg_sys::Oid;

use crate::pg::shared::{self, Database};
use crate::pg::{PgError, catalog, process};
use crate::run::CallContext;
use crate::run::maintenance::retention::{self, NextStep};
use crate::store::maintenance::identity::{self, Identity};

/// The approximate maximum number of rows of each kind that one step removes.
const REMOVED: u64 = 100;

/// When the next step should run.
pub fn wanted_at(database: Oid) -> i64 {
    shared::with(|state| state.database(database).map_or(i64::MAX, |slot| slot.tidy_at))
}

/// Takes one step, in its own transaction. `false`: this database may remove nothing; the next scan finds out why.
pub fn step(database: Oid) -> Result<bool, PgError> {
    let Some(mut rounds) = of(database, |slot| slot.rounds) else { return Ok(false) };
    process::report(Some("removing what is past its retention"));
    let next = process::work(|| {
        if catalog::extension().is_none() || identity::read() == Identity::Foreign {
            return Ok(None);
        }
        Ok(Some(retention::step(&CallContext::pass(), REMOVED, &mut rounds)))
    });
    process::report(None);
    let at = match next {
        Ok(Some(NextStep::More)) => 0,
        Ok(Some(NextStep::At(at))) => at,
        Ok(None) => return Ok(false),
        Err(error) => {
            // The step took `old_ended` without using it, so the next step reads all instances again.
            of(database, |slot| (slot.old_ended, slot.tidy_at) = (Some(0), 0));
            return Err(error);
        }
    };
    of(database, |slot| (slot.rounds, slot.tidy_at) = (rounds, slot.tidy_at.min(at)));
    Ok(true)
}

/// Stops retention in this database until an administrator lets it fire again.
pub fn stop(database: Oid) {
    of(database, |slot| slot.tidy_at = i64::MAX);
}

fn of<R>(database: Oid, body: impl FnOnce(&mut Database) -> R) -> Option<R> {
    shared::with(|state| state.database(database).map(body))
}

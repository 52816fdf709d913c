//! What sessions ask of a scheduler, in shared memory.

use pgrx::pg_sys::Oid;

use crate::pg::process;
use crate::pg::shared::{self, Database, Said};
use crate::worker::SLOTS_WANTED_FOR;

/// What sessions have asked of a scheduler. It takes their requests before it acts.
pub struct Requests {
    /// Something may be due earlier than the scheduler knows.
    pub look: bool,
    /// A sweep of the whole queue is wanted.
    pub sweep: bool,
    /// A transaction that held what stimuli need has ended.
    pub recheck: bool,
    /// COPY filled tables of the extension, as a restored dump does.
    pub loaded: bool,
    /// The scheduler must leave.
    pub must_go: bool,
    /// A worker could not be started a moment ago, for lack of a slot.
    pub are_slots_wanted: bool,
    /// The stimuli and instances that transactions named.
    pub said: Vec<Said>,
    /// The next due time that shared memory knows, microseconds since 2000.
    pub next_due: i64,
}

impl Requests {
    /// Takes the requests to the scheduler of a database, which began with this count of changed settings.
    pub fn take(database: Oid, settings: u32, now: i64) -> Self {
        shared::with(|state| {
            let said = state.take_said(database);
            let are_slots_wanted = now - state.slots_wanted_at < SLOTS_WANTED_FOR;
            match state.database(database) {
                Some(slot) => Self {
                    look: std::mem::take(&mut slot.look),
                    sweep: std::mem::take(&mut slot.sweep),
                    recheck: std::mem::take(&mut slot.recheck),
                    loaded: slot.loaded,
                    must_go: must_go(slot, settings),
                    are_slots_wanted,
                    said,
                    next_due: slot.next_due,
                },
                None => Self {
                    look: false,
                    sweep: false,
                    recheck: false,
                    loaded: false,
                    must_go: true,
                    are_slots_wanted,
                    said,
                    next_due: i64::MAX,
                },
            }
        })
    }
}

/// Whether a scheduler that began with this count of changed settings must leave: the settings have changed since,
/// which the next scheduler reads, or a session evicts all workers of this database.
pub fn must_go(slot: &Database, settings: u32) -> bool {
    slot.settings != settings || slot.blocked_by != 0 && process::is_alive(slot.blocked_by)
}

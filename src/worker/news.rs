//! What the shared state says to a scheduler.

use pgrx::pg_sys::Oid;

use crate::pg::process;
use crate::pg::shared::{self, Database, Said};
use crate::worker::SLOTS_WANTED_FOR;

/// What it says before a look.
pub struct News {
    /// Something may be due earlier than the scheduler knows.
    pub look: bool,
    /// All of the queue is to be looked at.
    pub sweep: bool,
    /// A transaction has ended that held what stimuli need.
    pub recheck: bool,
    /// Tables were filled from outside.
    pub loaded: bool,
    /// The scheduler must leave.
    pub must_go: bool,
    /// Another worker found no slot a moment ago.
    pub are_slots_wanted: bool,
    /// What transactions said by name.
    pub said: Vec<Said>,
    /// What is due next.
    pub next_due: i64,
}

impl News {
    /// Takes what the shared state says to the scheduler of a database that began with these settings.
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

/// Whether a scheduler that began with these settings must leave: the next one has those of now, or a session wants all
/// workers of this database out.
pub fn must_go(slot: &Database, settings: u32) -> bool {
    slot.settings != settings || slot.blocked_by != 0 && process::is_alive(slot.blocked_by)
}

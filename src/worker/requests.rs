//! Requests of sessions to a scheduler, in shared memory.

use pgrx::pg_sys::Oid;

use crate::pg::process;
use crate::pg::shared::{self, Database, SchedulerReport};
use crate::worker::SLOTS_WANTED_FOR;

/// The requests of sessions to a scheduler, which takes them before it acts.
pub struct Requests {
    /// Something may be due earlier than the scheduler knows.
    pub check_due: bool,
    /// A scan of the whole queue is requested.
    pub full_scan: bool,
    /// A transaction that blocked stimuli has ended.
    pub recheck: bool,
    /// COPY filled tables of the extension, as a restored dump does.
    pub loaded: bool,
    /// The scheduler must exit.
    pub must_exit: bool,
    /// A worker could not be started recently, for lack of a slot.
    pub are_slots_wanted: bool,
    /// The stimuli and instances that transactions reported.
    pub reports: Vec<SchedulerReport>,
    /// The next due time in shared memory, microseconds since 2000.
    pub next_due: i64,
}

impl Requests {
    /// Takes the requests to the scheduler of a database, which started with this count of changed settings.
    pub fn take(database: Oid, settings: u32, now: i64) -> Self {
        shared::with(|state| {
            let reports = state.take_reports(database);
            let are_slots_wanted = now - state.slots_wanted_at < SLOTS_WANTED_FOR;
            match state.database(database) {
                Some(slot) => Self {
                    check_due: std::mem::take(&mut slot.check_due),
                    full_scan: std::mem::take(&mut slot.full_scan),
                    recheck: std::mem::take(&mut slot.recheck),
                    loaded: slot.loaded,
                    must_exit: must_exit(slot, settings),
                    are_slots_wanted,
                    reports,
                    next_due: slot.next_due,
                },
                None => Self {
                    check_due: false,
                    full_scan: false,
                    recheck: false,
                    loaded: false,
                    must_exit: true,
                    are_slots_wanted,
                    reports,
                    next_due: i64::MAX,
                },
            }
        })
    }
}

/// Whether a scheduler that started with this count of changed settings must exit: the settings have changed since, so
/// that its successor has to read them, or a session evicts all workers of this database.
pub fn must_exit(slot: &Database, settings: u32) -> bool {
    slot.settings != settings || slot.blocked_by != 0 && process::is_alive(slot.blocked_by)
}

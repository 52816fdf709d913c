//! What the board says to a scheduler.

use pgrx::pg_sys::Oid;

use crate::pg::process;
use crate::pg::shared::{self, Database, Said};
use crate::worker::SECOND;

/// How long a request for slots counts.
const CROWDED: i64 = 2 * SECOND;

/// What it says before a look.
pub struct News {
    /// Something may be due earlier than the scheduler knows.
    pub look: bool,
    /// All of the queue is to be looked at.
    pub sweep: bool,
    /// A transaction has ended that held what stimuli need.
    pub settle: bool,
    /// Tables were filled from outside.
    pub loaded: bool,
    /// The scheduler must leave.
    pub must_go: bool,
    /// Another worker found no slot a moment ago.
    pub is_crowded: bool,
    /// What transactions said by name.
    pub said: Vec<Said>,
    /// What is due next.
    pub next_due: i64,
}

impl News {
    /// Takes what the board says to the scheduler of a database that began with these settings.
    pub fn take(database: Oid, settings: u32, now: i64) -> Self {
        shared::with(|board| {
            let said = board.take_said(database);
            let is_crowded = now - board.crowded_at < CROWDED;
            match board.database(database) {
                Some(place) => Self {
                    look: std::mem::take(&mut place.look),
                    sweep: std::mem::take(&mut place.sweep),
                    settle: std::mem::take(&mut place.settle),
                    loaded: place.loaded,
                    must_go: must_go(place, settings),
                    is_crowded,
                    said,
                    next_due: place.next_due,
                },
                None => Self {
                    look: false,
                    sweep: false,
                    settle: false,
                    loaded: false,
                    must_go: true,
                    is_crowded,
                    said,
                    next_due: i64::MAX,
                },
            }
        })
    }
}

/// Whether a scheduler that began with these settings must leave: the next one has those of now, or a session wants all
/// workers of this database out.
pub fn must_go(place: &Database, settings: u32) -> bool {
    place.settings != settings || place.blocked_by != 0 && process::is_alive(place.blocked_by)
}

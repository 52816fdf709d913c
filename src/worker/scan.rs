//! What a scheduler sees when it looks around, and what it remembers from look to look.

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::clock;
use crate::pg::shared::{self, FireKind};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, catalog, process, schema_number};
use crate::run::Session;
use crate::run::fire;
use crate::store::due::{self, Due};
use crate::store::identity::{self, Identity};
use crate::store::schedules;
use crate::worker::dispatcher::Dispatcher;
use crate::worker::retry::Retry;
use crate::worker::turns::Turns;

/// Due bookmarks that one look reads.
const PAGE: i64 = 1000;
/// Below so many waiting fires the next page is read.
const LOW: usize = 200;
/// What there was.
pub enum Scan {
    /// The extension is not here.
    NoExtension,
    /// The due times here are another database's.
    Foreign,
    /// The library does not fit it.
    Unfit(Box<PgError>),
    /// It is here.
    Extension {
        /// When something is due that is not due yet.
        next_due: i64,
        /// Whether there is more than one look reads.
        more: bool,
        /// Whether this database is the one that fires what is due in it; until something was, none is.
        is_claimed: bool,
        /// Whether stimuli have expired.
        has_expired: bool,
    },
}

/// The memory of a scheduler.
pub struct Scanner {
    database: Oid,
    /// The last due bookmark that was read: earlier ones are fired, or with the dispatcher.
    cursor: (Timestamp, Uuid),
    /// Whether the last page was full.
    has_more: bool,
    /// When what another session held is looked at again.
    retry: Retry,
    turns: Turns,
    /// Whether this look has made due what the start of the server fires.
    has_booted: bool,
}

const BEGINNING: (Timestamp, Uuid) = (Timestamp(i64::MIN), Uuid::nil());

impl Scanner {
    /// Nothing is known yet.
    pub fn new(database: Oid) -> Self {
        let (retry, turns) = (Retry::new(), Turns::default());
        Self { database, cursor: BEGINNING, has_more: false, retry, turns, has_booted: false }
    }

    /// Forgets how far it came.
    pub fn start_over(&mut self) {
        self.cursor = BEGINNING;
    }

    /// Takes in what the shared state said.
    pub fn note(&mut self, look: bool, next_due: i64) {
        // Something may be due earlier than what was read last.
        if look || next_due <= self.cursor.0.0 {
            self.start_over();
        }
    }

    /// Some fires found that another session held what they needed.
    pub fn retry(&mut self, skipped: bool, now: i64) {
        if skipped {
            self.retry.again(now, 0);
        }
    }

    /// When a look is wanted for what was held.
    pub fn retry_at(&self) -> i64 {
        self.retry.at
    }

    /// Whether there is reason for a look: it is time to try again, or there is room for more.
    pub fn is_wanted(&self, dispatcher: &Dispatcher, now: i64) -> bool {
        self.retry.at <= now || (self.has_more && dispatcher.waiting() < LOW)
    }

    /// One look, in a transaction.
    pub fn scan(&mut self, dispatcher: &mut Dispatcher) -> Result<Scan, PgError> {
        if catalog::extension().is_none() {
            return Ok(Scan::NoExtension);
        }
        if let Err(error) = schema_number::require() {
            return Ok(Scan::Unfit(error.into()));
        }
        let identity = identity::read();
        if identity == Identity::Foreign {
            return Ok(Scan::Foreign);
        }
        let mut session = Session::pass();
        let now = Timestamp::from(clock::now());
        if self.retry.is_due(process::now()) {
            self.start_over();
        }
        self.has_booted = self.boots();
        let reboots = if self.has_booted { fire::reboot(&session) } else { 0 };
        let is_claimed = identity == Identity::Ours || reboots > 0;
        let mut more = false;
        // What is due where no session has said so is another database's: a dump is being loaded.
        if is_claimed {
            more = self.turns.fire(&mut session)?;
            self.retry(!more && schedules::is_behind(now), process::now());
            self.read_due(dispatcher, now);
        }
        let next_due = due::next(now).map_or(i64::MAX, |at| at.0);
        let has_expired = due::has_expired(now);
        Ok(Scan::Extension { next_due, more, is_claimed, has_expired })
    }

    /// Whether this is the first look since the server started.
    fn boots(&self) -> bool {
        shared::with(|state| state.database(self.database).is_some_and(|slot| !slot.has_booted))
    }

    /// The look has committed: what it made due at start is not made due again.
    pub fn committed(&mut self) {
        if std::mem::take(&mut self.has_booted) {
            shared::with(|state| {
                if let Some(slot) = state.database(self.database) {
                    slot.has_booted = true;
                }
            });
        }
    }

    fn read_due(&mut self, dispatcher: &mut Dispatcher, now: Timestamp) {
        if dispatcher.waiting() >= LOW {
            self.has_more = true;
            return;
        }
        let page = due::bookmarks(now, self.cursor, PAGE);
        self.has_more = page.len() as i64 == PAGE;
        if let Some(last) = page.last() {
            self.cursor = (last.due_at, last.id);
        }
        page.into_iter().for_each(|due| dispatcher.add(kind_of(&due), due));
    }
}

fn kind_of(due: &Due) -> FireKind {
    if due.is_command { FireKind::Command } else { FireKind::Bookmark }
}

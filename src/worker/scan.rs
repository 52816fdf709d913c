//! A scheduler's scans for due work, and the state that it keeps between them.

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::clock;
use crate::pg::shared::{self, FireKind};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, catalog, process, schema_number};
use crate::run::CallContext;
use crate::run::instances::admission;
use crate::run::timers::fire;
use crate::store::maintenance::identity::{self, Identity};
use crate::store::timers::due::{self, Due};
use crate::store::timers::schedules;
use crate::worker::dispatcher::Dispatcher;
use crate::worker::retry::RetryTimer;
use crate::worker::turns::Turns;

/// How many due bookmarks one scan reads.
const PAGE: i64 = 1000;
/// The next page is read when fewer fires than this wait.
const LOW: usize = 200;
/// The result of a scan.
pub enum ScanResult {
    /// The database does not have the extension.
    NoExtension,
    /// The due times here belong to another database, of which this is a copy.
    Foreign,
    /// The library does not match the extension's schema.
    Unfit(Box<PgError>),
    /// The database has the extension, and the scan found this.
    Extension {
        /// The next due time in the future.
        next_due: i64,
        /// Whether more triggers are due than one scan fires.
        more: bool,
        /// Whether this database is the one that fires its due times; before the first due time, none is.
        is_claimed: bool,
        /// Whether stimuli have expired.
        has_expired: bool,
    },
}

/// The state that a scheduler keeps between scans.
pub struct Scanner {
    database: Oid,
    /// The last due bookmark that was read: earlier ones have fired, or the dispatcher has them.
    cursor: (Timestamp, Uuid),
    /// Whether the last page was full.
    has_more: bool,
    /// When to scan again for work that was blocked by a lock.
    retry: RetryTimer,
    turns: Turns,
    /// Whether the next scan checks pending instances.
    calls: bool,
    /// Whether this scan has made the schedules due that fire at server start.
    has_booted: bool,
}

const BEGINNING: (Timestamp, Uuid) = (Timestamp(i64::MIN), Uuid::nil());

impl Scanner {
    /// The initial state.
    pub fn new(database: Oid) -> Self {
        let (retry, turns) = (RetryTimer::new(), Turns::default());
        Self { database, cursor: BEGINNING, has_more: false, retry, turns, calls: true, has_booted: false }
    }

    /// Makes the next scan read due bookmarks from the first one on.
    pub fn start_over(&mut self) {
        self.cursor = BEGINNING;
    }

    /// Processes what sessions have left in shared memory.
    pub fn take_request(&mut self, check_due: bool, next_due: i64) {
        self.calls |= check_due;
        // A bookmark may be due earlier than the last one that was read.
        if check_due || next_due <= self.cursor.0.0 {
            self.start_over();
        }
    }

    /// Plans or cancels a retry, depending on whether fires were blocked by a lock and must be found again.
    pub fn retry(&mut self, skipped: bool, now: i64) {
        if skipped {
            self.retry.again(now, 0);
        }
    }

    /// When a scan for blocked work should run.
    pub fn retry_at(&self) -> i64 {
        self.retry.at
    }

    /// Whether to scan: a retry is due, or the dispatcher has room for more.
    pub fn is_wanted(&self, dispatcher: &Dispatcher, now: i64) -> bool {
        self.retry.at <= now || (self.has_more && dispatcher.waiting() < LOW)
    }

    /// Performs one scan, in a transaction.
    pub fn scan(&mut self, dispatcher: &mut Dispatcher) -> Result<ScanResult, PgError> {
        if catalog::extension().is_none() {
            return Ok(ScanResult::NoExtension);
        }
        if let Err(error) = schema_number::require() {
            return Ok(ScanResult::Unfit(error.into()));
        }
        let identity = identity::read();
        if identity == Identity::Foreign {
            return Ok(ScanResult::Foreign);
        }
        let mut context = CallContext::pass();
        let now = Timestamp::from(clock::now());
        if self.retry.is_due(process::now()) {
            self.start_over();
        }
        self.has_booted = self.boots();
        let reboots = if self.has_booted { fire::reboot(&context) } else { 0 };
        let is_claimed = identity == Identity::Ours || reboots > 0;
        let mut more = false;
        // Due times that no session has claimed belong to another database: a dump is being restored.
        if is_claimed {
            more = self.turns.fire(&mut context)?;
            self.retry(!more && schedules::is_behind(now), process::now());
            if self.calls && admission::call_next(now)? > 0 {
                self.start_over();
            }
            self.calls = false;
            self.read_due(dispatcher, now);
        }
        let next_due = due::next(now).map_or(i64::MAX, |at| at.0);
        let has_expired = due::has_expired(now);
        Ok(ScanResult::Extension { next_due, more, is_claimed, has_expired })
    }

    /// Whether this is the first scan since the server started.
    fn boots(&self) -> bool {
        shared::with(|state| state.database(self.database).is_some_and(|slot| !slot.has_booted))
    }

    /// Records that the scan has committed, so that the schedules for the server's start are not made due again.
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

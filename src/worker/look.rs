//! What a scheduler sees when it looks around, and what it remembers from look to look.

use std::collections::BTreeMap;

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::clock;
use crate::pg::shared::{self, FireKind};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, cluster, process};
use crate::run::fire::{self, Scope};
use crate::run::{Session, retention};
use crate::store::due::{self, Due};
use crate::store::identity::{self, Identity};
use crate::store::{queue, schedules};
use crate::worker::SECOND;
use crate::worker::desk::Desk;

/// Due bookmarks that one look reads.
const PAGE: i64 = 1000;
/// Below so many waiting fires the next page is read.
const LOW: usize = 200;
/// Triggers that one look fires.
const TRIGGERS: u64 = 100;
/// What one look removes that is older than its retention.
const REMOVED: u64 = 100;
/// How often that is looked for where nothing else is to be done.
const RETENTION: i64 = 3600 * SECOND;
/// Expired items that one look moves.
const MAX_EXPIRED: i64 = 1000;
/// What somebody held is looked at again after this, then after twice as long, up to the second one: most is held for
/// milliseconds, some for as long as a session is forgotten.
const RETRY: i64 = SECOND / 10;
const MAX_RETRY: i64 = SECOND;

/// What there was.
pub enum Found {
    /// The extension is not here.
    Nothing,
    /// The due times here are another database's.
    Foreign,
    /// It is here.
    Extension {
        /// When something is due that is not due yet.
        next_due: i64,
        /// Whether there is more than one look reads.
        more: bool,
    },
}

/// A stimulus in the queue that a bookmark may have missed, or whose delivery failed.
#[derive(Clone, Copy)]
struct Unsettled {
    /// Once all that ran when this was the next transaction have ended, it is delivered a last time; `None`: it has not
    /// been delivered yet.
    horizon: Option<u64>,
    /// Whether that was the last time.
    was_last: bool,
    /// What the row said, when it was looked at last, of when it may be delivered. Another instant: a delivery failed.
    not_before: Timestamp,
}

const UNSEEN: Unsettled = Unsettled { horizon: None, was_last: false, not_before: due::AT_ONCE };

/// The memory of a scheduler.
pub struct Look {
    database: Oid,
    /// The last due bookmark that was read: earlier ones are fired, or on the desk.
    cursor: (Timestamp, Uuid),
    /// Whether the last page was full.
    has_more: bool,
    unsettled: BTreeMap<Uuid, Unsettled>,
    sweep: bool,
    retry_at: i64,
    retry_after: i64,
    /// When that was last.
    retried_at: i64,
    /// Whether this look has made due what the start of the server fires.
    has_booted: bool,
}

const BEGINNING: (Timestamp, Uuid) = (Timestamp(i64::MIN), Uuid::nil());

impl Look {
    /// Nothing is known yet.
    pub fn new(database: Oid) -> Self {
        Self {
            database,
            cursor: BEGINNING,
            has_more: false,
            unsettled: BTreeMap::new(),
            sweep: false,
            retry_at: i64::MAX,
            retry_after: RETRY,
            retried_at: i64::MIN / 2,
            has_booted: false,
        }
    }

    /// Forgets how far it came.
    pub fn start_over(&mut self) {
        self.cursor = BEGINNING;
    }

    /// Takes in what the board said.
    pub fn note(&mut self, look: bool, sweep: bool, items: &[uuid::Bytes], next_due: i64) {
        self.sweep |= sweep;
        for item in items {
            self.unsettled.insert(Uuid::from_bytes(*item), UNSEEN);
        }
        // Something may be due earlier than what was read last.
        if look || next_due <= self.cursor.0.0 {
            self.start_over();
        }
    }

    /// A transaction has ended that unsettled stimuli may have waited for. Where many end, one look is for all of them.
    pub fn settle_soon(&mut self, now: i64) {
        self.retry_at = self.retry_at.min(now.max(self.retried_at.saturating_add(RETRY)));
    }

    /// Some fires found that somebody else held what they needed.
    pub fn retry(&mut self, skipped: bool, now: i64) {
        if skipped {
            if now - self.retried_at > self.retry_after {
                // Not what was just looked at again, or that was free in the meantime.
                self.retry_after = RETRY;
            }
            self.retry_at = self.retry_at.min(now + self.retry_after);
            self.retry_after = (self.retry_after * 2).min(MAX_RETRY);
        }
    }

    /// When a look is wanted for what was held, or is unsettled.
    pub fn retry_at(&self) -> i64 {
        self.retry_at
    }

    /// Whether stimuli are there that a bookmark may have missed.
    pub fn is_unsettled(&self) -> bool {
        !self.unsettled.is_empty()
    }

    /// Takes in which stimuli were not delivered because somebody else held what they need: they may leave it, so a last
    /// delivery was not the last.
    pub fn note_held(&mut self, items: Vec<Uuid>) {
        self.unsettled.extend(items.into_iter().map(|id| (id, UNSEEN)));
    }

    /// Whether there is reason for a look. What is unsettled wants one when somebody says so, or it is time to retry.
    pub fn is_wanted(&self, desk: &Desk, now: i64) -> bool {
        self.retry_at <= now || (self.has_more && desk.waiting() < LOW)
    }

    /// One look, in a transaction.
    pub fn around(&mut self, desk: &mut Desk) -> Result<Found, PgError> {
        if process::extension().is_none() {
            return Ok(Found::Nothing);
        }
        if identity::read() == Identity::Foreign {
            return Ok(Found::Foreign);
        }
        let mut session = Session::pass();
        let now = Timestamp::from(clock::now());
        if self.retry_at <= process::now() {
            (self.retry_at, self.retried_at) = (i64::MAX, process::now());
            self.start_over();
        }
        self.has_booted = self.boots();
        if self.has_booted {
            fire::reboot(&session);
        }
        let triggered = fire::due_triggers(&mut session, TRIGGERS, Scope::All)?;
        let expired = queue::expired(now, MAX_EXPIRED);
        let all_expired = (expired.len() as i64) < MAX_EXPIRED;
        expired.into_iter().for_each(|id| queue::bury(id, "Expired", now));
        let is_behind = triggered < TRIGGERS && schedules::is_behind(now) || all_expired && due::has_expired(now);
        self.retry(is_behind, process::now());
        self.settle(desk, now);
        self.read_due(desk, now);
        let is_done = retention::now_and_then(&session, REMOVED, Scope::All)?;
        let mut next_due = due::next(now).map_or(i64::MAX, |at| at.0);
        if retention::is_on() {
            next_due = next_due.min(now.0 + RETENTION);
        }
        Ok(Found::Extension { next_due, more: triggered == TRIGGERS || !all_expired || !is_done })
    }

    /// Whether this is the first look since the server started.
    fn boots(&self) -> bool {
        shared::with(|board| board.database(self.database).is_some_and(|place| !place.has_booted))
    }

    /// The look has committed: what it made due at start is not made due again.
    pub fn committed(&mut self) {
        if std::mem::take(&mut self.has_booted) {
            shared::with(|board| {
                if let Some(place) = board.database(self.database) {
                    place.has_booted = true;
                }
            });
        }
    }

    fn read_due(&mut self, desk: &mut Desk, now: Timestamp) {
        if desk.waiting() >= LOW {
            self.has_more = true;
            return;
        }
        let page = due::bookmarks(now, self.cursor, PAGE);
        self.has_more = page.len() as i64 == PAGE;
        if let Some(last) = page.last() {
            self.cursor = (last.due_at, last.id);
        }
        page.into_iter().for_each(|due| desk.add(kind_of(&due), due));
    }

    /// Joins queue and bookmarks that two transactions wrote without seeing each other.
    fn settle(&mut self, desk: &mut Desk, now: Timestamp) {
        if std::mem::take(&mut self.sweep) {
            let mut after = Uuid::nil();
            loop {
                let page = due::all_items(after);
                let Some(last) = page.last() else { break };
                after = *last;
                for id in page {
                    self.unsettled.entry(id).or_insert(UNSEEN);
                }
            }
        }
        if self.unsettled.is_empty() {
            self.tell();
            return;
        }
        let ids: Vec<Uuid> = self.unsettled.keys().copied().collect();
        let known = std::mem::take(&mut self.unsettled);
        for due in due::items(&ids) {
            let item = known.get(&due.id).copied().filter(|item| item.not_before == due.due_at);
            let mut item = item.unwrap_or(Unsettled { not_before: due.due_at, ..UNSEEN });
            let id = due.id;
            if due.due_at > now {
                let wait = due.due_at.0.saturating_sub(now.0);
                self.retry_at = self.retry_at.min(process::now().saturating_add(wait));
            } else if !desk.knows(id) {
                // Whoever is on it may have begun too early to see what has ended since.
                if item.was_last {
                    continue;
                }
                item.was_last = item.horizon.is_some_and(cluster::have_ended);
                item.horizon.get_or_insert_with(cluster::next_transaction);
                desk.add(FireKind::Item, due);
            }
            self.unsettled.insert(id, item);
        }
        let is_unsettled = self.is_unsettled();
        self.retry(is_unsettled, process::now());
        self.tell();
    }

    /// While something is unsettled, every transaction that wrote bookmarks wakes us when it ends.
    fn tell(&self) {
        let place = shared::with(|board| board.place_of(self.database));
        if let Some(place) = place {
            shared::set_unsettled(place, self.is_unsettled());
        }
    }
}

fn kind_of(due: &Due) -> FireKind {
    if due.is_command { FireKind::Command } else { FireKind::Bookmark }
}

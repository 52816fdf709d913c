//! How far retention came: a round reads rows in the order of ids, a page at a time.
//!
//! What a round leaves stays for a while: it has not ended, or is kept for longer. So the next round goes on behind it,
//! with the rows that are new since. All of them are read again when something of what was left may go: when the time
//! for which it is kept is over, or when it has ended meanwhile, of which the session that ends it tells.

use uuid::Uuid;

/// For how long instances are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The setting; `None`: for ever.
    pub setting: Option<i64>,
    /// The shortest time of all, the options of definitions included; `None`: all are kept for ever.
    pub shortest: Option<i64>,
}

/// After a purge the next one is not before this, in microseconds.
pub const PAUSE: i64 = 10_000_000;
/// A round over everything takes this share of the time at the most, and comes once an hour at the latest if it is wanted.
const SHARE: i64 = 100;
const HOUR: i64 = 3_600_000_000;

/// One round. A zeroed one has never begun.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The last row that was read. `None`: the round is over.
    at: Option<Uuid>,
    /// Where it began; one that did not begin at the beginning ends there.
    from: Uuid,
    is_full: bool,
    has_wrapped: bool,
    /// Everything before this was read by a round.
    known: Uuid,
}

impl Round {
    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.at.is_none()
    }

    /// Everything before this was read.
    pub fn known(&self) -> Uuid {
        self.known
    }

    /// Begins a round over everything, anywhere.
    pub fn begin_at(&mut self, from: Uuid) {
        *self = Self { at: Some(from), from, is_full: true, has_wrapped: false, known: Uuid::nil() };
    }

    /// Ends it: nothing of the kind is removed.
    pub fn give_up(&mut self) {
        *self = Self::default();
    }

    /// Begins a round over what no round has read yet.
    pub fn go_on(&mut self) {
        (self.at, self.is_full) = (Some(self.known), false);
    }

    /// Reads one page of the rows before `end`, after one row and before another one, and at the end the one at the
    /// beginning. The page says which row it read last, and whether none comes after it.
    pub fn step(&mut self, end: Uuid, mut page: impl FnMut(Uuid, Uuid) -> (Option<Uuid>, bool)) {
        let had_wrapped = self.has_wrapped;
        self.read(end, &mut page);
        if self.has_wrapped && !had_wrapped {
            self.read(end, &mut page);
        }
    }

    fn read(&mut self, end: Uuid, page: &mut impl FnMut(Uuid, Uuid) -> (Option<Uuid>, bool)) {
        let Some(at) = self.at else { return };
        let stop = if self.has_wrapped { end.min(Uuid::from_u128(self.from.as_u128().saturating_add(1))) } else { end };
        let (last, is_end) = page(at, stop);
        if !is_end {
            self.at = Some(last.unwrap_or(at));
        } else if self.is_full && !self.has_wrapped && !self.from.is_nil() {
            (self.at, self.has_wrapped) = (Some(Uuid::nil()), true);
        } else {
            (self.at, self.known) = (None, self.known.max(end));
        }
    }
}

/// All that retention remembers from call to call. Plain data, so that one scheduler can leave it to the next one; zeroed,
/// nothing was read yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// The settings that the rounds were made under.
    kept_for: Option<Keep>,
    /// The one over instances.
    pub instances: Round,
    /// The one over the journal, for refused starts.
    pub refusals: Round,
    /// Whether what has no rounds may have something left.
    pub rest: bool,
    /// When everything is to be read again, microseconds since 2000; `None`: at once.
    again_at: Option<i64>,
    /// How long the round over everything read what it left so far, and when the next one may begin.
    spent: i64,
    not_again_before: i64,
    /// When the last purge ended, and when the next one may begin.
    looked_at: i64,
    not_before: i64,
}

impl Rounds {
    /// Whether nothing is left to be read now.
    pub fn are_over(&self) -> bool {
        self.instances.is_over() && self.refusals.is_over() && !self.rest
    }

    /// Whether it is too early for the next purge under these settings. A clock that was set back must not keep anything for
    /// ever.
    pub fn are_resting(&self, now: i64, keep: Keep) -> bool {
        let is_early = (self.looked_at..self.not_before).contains(&now);
        self.are_over() && is_early && self.kept_for == Some(keep)
    }

    /// Whether the next purge has to read everything.
    pub fn want_all(&self, now: i64, keep: Keep) -> bool {
        let is_early = (self.looked_at..self.not_again_before).contains(&now);
        self.kept_for != Some(keep) || self.again_at.is_none_or(|at| at <= now && !is_early)
    }

    /// Begins a purge over everything, anywhere.
    pub fn begin_at(&mut self, from: Uuid, keep: Keep) {
        (self.kept_for, self.again_at, self.spent) = (Some(keep), Some(i64::MAX), 0);
        self.instances.begin_at(from);
        self.refusals.begin_at(from);
        self.rest = true;
    }

    /// Begins a purge over what is new.
    pub fn go_on(&mut self) {
        self.instances.go_on();
        self.refusals.go_on();
        self.rest = true;
    }

    /// Something that is left may go then.
    pub fn want_again(&mut self, at: i64) {
        self.again_at = self.again_at.map(|known| known.min(at));
    }

    /// Takes in how long the reading of a page took that something was left of.
    pub fn read_for(&mut self, time: i64) {
        self.spent += time;
    }

    /// Takes in that a call is over.
    pub fn looked(&mut self, now: i64) {
        self.looked_at = now;
        if self.are_over() {
            self.not_before = now.saturating_add(PAUSE);
            if self.instances.is_full {
                self.not_again_before = now.saturating_add((self.spent * SHARE).clamp(PAUSE, HOUR));
            }
        }
    }

    /// When the next purge is wanted. `i64::MAX`: when something ends, or in an hour.
    pub fn next_at(&self) -> i64 {
        self.again_at.map_or(self.not_before, |at| at.max(self.not_again_before).max(self.not_before))
    }
}

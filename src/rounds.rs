//! How far retention came: a round reads rows in the order of ids, a page at a time.
//!
//! What a round leaves stays for a while: it has not ended, or is kept for longer. So the next round goes on behind it,
//! with the rows that are new since. What was left is read again from the first row on that may go: when the time for
//! which that is kept is over, or when it has ended meanwhile, of which the session that ends it tells.
//!
//! Ids are in the order of time if a clock made them. A caller may give others, and a clock may be set back: ids that lie
//! ahead of the clock are read by every round but those over new rows.

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
/// Reading again takes this share of the time at the most, and comes once an hour at the latest if it is wanted.
const SHARE: i64 = 100;
const HOUR: i64 = 3_600_000_000;

/// One round. A zeroed one has never begun.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The last row that was read. `None`: the round is over.
    at: Option<Uuid>,
    /// Where it began, if rows before that are still to be read at its end.
    from: Uuid,
    /// Whether it reads what other rounds have left.
    is_again: bool,
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
        *self = Self { at: Some(from), from, is_again: true, has_wrapped: false, known: Uuid::nil() };
    }

    /// Begins a round over everything from one row on, and over what no round has read yet.
    fn begin_from(&mut self, row: Uuid) {
        let at = Uuid::from_u128(row.as_u128().saturating_sub(1)).min(self.known);
        *self = Self { at: Some(at), from: Uuid::nil(), is_again: true, has_wrapped: false, known: self.known };
    }

    /// Ends it: nothing of the kind is removed.
    pub fn give_up(&mut self) {
        *self = Self::default();
    }

    /// Begins a round over what no round has read yet.
    pub fn go_on(&mut self) {
        (self.at, self.is_again) = (Some(self.known), false);
    }

    /// Reads one page of the rows before `end` and from `ahead` on, after one row and before another one; where a part of
    /// them ends, the first page of the next part as well. The page says which row it read last, and whether none comes
    /// after it.
    pub fn step(&mut self, end: Uuid, ahead: Uuid, mut page: impl FnMut(Uuid, Uuid) -> (Option<Uuid>, bool)) {
        while self.read(end, ahead, &mut page) {}
    }

    /// Reads a page. Whether it was the last of a part, and another part follows.
    fn read(&mut self, end: Uuid, ahead: Uuid, page: &mut impl FnMut(Uuid, Uuid) -> (Option<Uuid>, bool)) -> bool {
        let Some(at) = self.at else { return false };
        let is_behind = at < end;
        let stop = match (self.has_wrapped, is_behind || !self.is_again) {
            (true, _) => end.min(Uuid::from_u128(self.from.as_u128().saturating_add(1))),
            (false, true) => end,
            (false, false) => Uuid::max(),
        };
        let (last, is_end) = page(at, stop);
        if !is_end {
            self.at = Some(last.unwrap_or(at));
            return false;
        }
        if is_behind {
            self.known = self.known.max(end);
        }
        if !self.is_again || self.has_wrapped {
            self.at = None;
        } else if is_behind {
            self.at = Some(ahead.max(end));
        } else {
            self.has_wrapped = !self.from.is_nil();
            self.at = self.has_wrapped.then_some(Uuid::nil());
        }
        self.at.is_some()
    }
}

/// Rows that are to be read again at about the same time.
#[derive(Clone, Copy, Debug)]
struct Again {
    /// When the first of them may go, microseconds since 2000.
    at: i64,
    /// The lowest of their ids.
    from: Uuid,
}

impl Again {
    const NONE: Self = Self { at: i64::MAX, from: Uuid::max() };
}

/// The zeroed one: everything, at once.
impl Default for Again {
    fn default() -> Self {
        Self { at: 0, from: Uuid::nil() }
    }
}

/// Rows that may go within [`PAUSE`], within eight times that, and so on: what stays for a year does not make a round over
/// what stays for a minute a long one.
const SPANS: usize = 10;

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
    /// What is to be read again.
    again: [Again; SPANS],
    /// How long the round that reads again read what it left so far, and when the next one may begin.
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

    /// Whether they began under these settings.
    pub fn were_made_for(&self, keep: Keep) -> bool {
        self.kept_for == Some(keep)
    }

    /// Whether it is too early for the next purge under these settings. A clock that was set back must not keep anything for
    /// ever.
    pub fn are_resting(&self, now: i64, keep: Keep) -> bool {
        let is_early = (self.looked_at..self.not_before).contains(&now);
        self.are_over() && is_early && self.were_made_for(keep)
    }

    /// Begins a purge over what may have something to remove.
    pub fn begin(&mut self, now: i64, keep: Keep) {
        let is_early = (self.looked_at..self.not_again_before).contains(&now);
        let due = self.again.iter().filter(|again| again.at <= now && !is_early);
        match due.map(|again| again.from).min() {
            _ if !self.were_made_for(keep) => self.begin_at(Uuid::nil(), keep),
            Some(from) => {
                for again in self.again.iter_mut().filter(|again| again.at <= now || again.from >= from) {
                    *again = Again::NONE;
                }
                self.spent = 0;
                self.instances.begin_from(from);
                self.refusals.go_on();
            }
            None => {
                self.instances.go_on();
                self.refusals.go_on();
            }
        }
        self.rest = true;
    }

    /// Begins a purge over everything, anywhere.
    pub fn begin_at(&mut self, from: Uuid, keep: Keep) {
        (self.kept_for, self.again, self.spent) = (Some(keep), [Again::NONE; SPANS], 0);
        self.instances.begin_at(from);
        self.refusals.begin_at(from);
        self.rest = true;
    }

    /// This row, which is left, may go then.
    pub fn want_again(&mut self, now: i64, at: i64, row: Uuid) {
        let spans = (at.saturating_sub(now) / PAUSE).max(0);
        let place = (0..SPANS - 1).find(|place| spans >> (3 * place) == 0).unwrap_or(SPANS - 1);
        let again = &mut self.again[place];
        *again = Again { at: again.at.min(at), from: again.from.min(row) };
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
            if self.instances.is_again {
                self.not_again_before = now.saturating_add((self.spent * SHARE).clamp(PAUSE, HOUR));
            }
        }
    }

    /// When the next purge is wanted. `i64::MAX`: when something ends, or in an hour.
    pub fn next_at(&self) -> i64 {
        let at = self.again.iter().map(|again| again.at).min().unwrap_or(i64::MAX);
        at.max(self.not_again_before).max(self.not_before)
    }
}

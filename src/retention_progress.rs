//! The progress of retention: a round reads rows in order of their ids, a page at a time.
//!
//! A row that a round leaves stays for a while: its instance has not ended, or is kept for longer. So the next round
//! continues behind it, with the rows added since. A later round reads such rows again, from the first one that may be
//! removed: when its retention ends, or when its instance has ended, which the session that ends it reports.
//!
//! Ids are in order of time if a clock made them. Callers may choose other ids, and the clock may be set back, so every
//! round except those over new rows also reads ids that lie in the future.

use uuid::Uuid;

/// How long instances are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The setting; `None`: for ever.
    pub setting: Option<i64>,
    /// The shortest retention, including the options of definitions; `None`: all are kept for ever.
    pub shortest: Option<i64>,
}

/// The minimum time from the end of a purge to the next one, in microseconds.
pub const PAUSE: i64 = 10_000_000;
/// Re-reads use at most 1/`SHARE` of the time. The wait for one is at most an hour.
const SHARE: i64 = 100;
const HOUR: i64 = 3_600_000_000;

/// One round. Zeroed: it has never started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The last row read. `None`: the round is over.
    at: Option<Uuid>,
    /// Where it began, if earlier rows are to be read at its end.
    from: Uuid,
    /// Whether it re-reads rows that earlier rounds have left.
    is_again: bool,
    has_wrapped: bool,
    /// All rows before this one have been read.
    known: Uuid,
}

impl Round {
    /// Whether the round is over.
    pub fn is_over(&self) -> bool {
        self.at.is_none()
    }

    /// All rows before this one have been read.
    pub fn known(&self) -> Uuid {
        self.known
    }

    /// Starts a round over all rows after this id.
    pub fn begin_at(&mut self, from: Uuid) {
        *self = Self { at: Some(from), from, is_again: true, has_wrapped: false, known: Uuid::nil() };
    }

    /// Starts a round over all rows from this one on, including those that no round has read yet.
    fn begin_from(&mut self, row: Uuid) {
        let at = Uuid::from_u128(row.as_u128().saturating_sub(1)).min(self.known);
        *self = Self { at: Some(at), from: Uuid::nil(), is_again: true, has_wrapped: false, known: self.known };
    }

    /// Ends the round: retention removes no rows of its kind.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    /// Starts a round over the rows that no round has read yet.
    pub fn begin_new_rows(&mut self) {
        (self.at, self.is_again) = (Some(self.known), false);
    }

    /// Reads one page of the rows before `end` and from `ahead` on. At the end of one part, reads the first page of the
    /// next part as well. `page` takes the row to read after and the row to read before; it returns the last row that
    /// it read, and whether no row follows.
    pub fn step(&mut self, end: Uuid, ahead: Uuid, mut page: impl FnMut(Uuid, Uuid) -> (Option<Uuid>, bool)) {
        while self.read(end, ahead, &mut page) {}
    }

    /// Reads a page. Returns whether it was the last one of a part, and another part follows.
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

/// Rows to be re-read at about the same time.
#[derive(Clone, Copy, Debug)]
struct Reread {
    /// When the first of them may be removed, microseconds since 2000.
    at: i64,
    /// The lowest of their ids.
    from: Uuid,
}

impl Reread {
    const NONE: Self = Self { at: i64::MAX, from: Uuid::max() };
}

/// Zeroed: all rows, immediately.
impl Default for Reread {
    fn default() -> Self {
        Self { at: 0, from: Uuid::nil() }
    }
}

/// Rows to be re-read are grouped by when they may be removed: within [`PAUSE`], within eight times that, and so on. So
/// rows that stay for a year do not lengthen a round over rows that stay for a minute.
const SPANS: usize = 10;

/// The state of retention between calls. It is plain data, so that one scheduler can leave it to the next. Zeroed: no
/// row was read yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// The settings of these rounds.
    kept_for: Option<Keep>,
    /// The round over instances.
    pub instances: Round,
    /// The round over the journal, for rejected starts.
    pub refusals: Round,
    /// Whether rows that are found without rounds may remain.
    pub has_more: bool,
    /// The rows to be re-read.
    again: [Reread; SPANS],
    /// How long this round took to read pages of which rows remain, and when the next round may re-read rows.
    spent: i64,
    not_again_before: i64,
    /// When the last purge ended, and when the next one may begin.
    ended_at: i64,
    not_before: i64,
}

impl Rounds {
    /// Whether no rows need to be read now.
    pub fn are_over(&self) -> bool {
        self.instances.is_over() && self.refusals.is_over() && !self.has_more
    }

    /// Whether they were started under these settings.
    pub fn were_made_for(&self, keep: Keep) -> bool {
        self.kept_for == Some(keep)
    }

    /// Whether it is too early for the next purge under these settings. A time before the last purge is not too early:
    /// after setting the clock back, rows must not stay for ever.
    pub fn are_resting(&self, now: i64, keep: Keep) -> bool {
        let is_early = (self.ended_at..self.not_before).contains(&now);
        self.are_over() && is_early && self.were_made_for(keep)
    }

    /// Starts a purge over the rows that it may have to remove.
    pub fn begin(&mut self, now: i64, keep: Keep) {
        let is_early = (self.ended_at..self.not_again_before).contains(&now);
        let due = self.again.iter().filter(|again| again.at <= now && !is_early);
        match due.map(|again| again.from).min() {
            _ if !self.were_made_for(keep) => self.begin_at(Uuid::nil(), keep),
            Some(from) => {
                for again in self.again.iter_mut().filter(|again| again.at <= now || again.from >= from) {
                    *again = Reread::NONE;
                }
                self.spent = 0;
                self.instances.begin_from(from);
                self.refusals.begin_new_rows();
            }
            None => {
                self.instances.begin_new_rows();
                self.refusals.begin_new_rows();
            }
        }
        self.has_more = true;
    }

    /// Starts a purge over all rows after this id.
    pub fn begin_at(&mut self, from: Uuid, keep: Keep) {
        (self.kept_for, self.again, self.spent) = (Some(keep), [Reread::NONE; SPANS], 0);
        self.instances.begin_at(from);
        self.refusals.begin_at(from);
        self.has_more = true;
    }

    /// Records when a remaining row may be removed.
    pub fn schedule_reread(&mut self, now: i64, at: i64, row: Uuid) {
        let spans = (at.saturating_sub(now) / PAUSE).max(0);
        let index = (0..SPANS - 1).find(|index| spans >> (3 * index) == 0).unwrap_or(SPANS - 1);
        let again = &mut self.again[index];
        *again = Reread { at: again.at.min(at), from: again.from.min(row) };
    }

    /// Adds the time for reading a page of which rows remain.
    pub fn add_read_time(&mut self, time: i64) {
        self.spent += time;
    }

    /// Records the end of a call of retention.
    pub fn end_purge(&mut self, now: i64) {
        self.ended_at = now;
        if self.are_over() {
            self.not_before = now.saturating_add(PAUSE);
            if self.instances.is_again {
                self.not_again_before = now.saturating_add((self.spent * SHARE).clamp(PAUSE, HOUR));
            }
        }
    }

    /// When the next purge should run. `i64::MAX`: when an instance ends, or in an hour.
    pub fn next_at(&self) -> i64 {
        let at = self.again.iter().map(|again| again.at).min().unwrap_or(i64::MAX);
        at.max(self.not_again_before).max(self.not_before)
    }
}

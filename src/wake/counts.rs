//! What a transaction counts, by name: `wf_metrics` returns the totals.
//!
//! A count waits here until its transaction commits, so it takes no lock and writes nothing. That of a prepared
//! transaction waits in shared memory for COMMIT PREPARED. What is rolled back, also to a savepoint, is not counted.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{BACKEND, TRANSACTION};
use crate::pg::hooks::TransactionEnd;
use crate::pg::shared::counters::{self, Count, Counted, Found, Kind, PER_HISTOGRAM, TOTALS};
use crate::pg::shared::histogram::{self, BUCKETS, Bounds, HOUR, Histogram, MILLISECOND, MINUTE, SECOND};
use crate::pg::spi::Timestamp;
use crate::pg::{process, subtransaction};

/// What is counted. The metrics of these names are in [`CountOf::metric`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountOf {
    /// The first burst of an instance.
    Started,
    /// A later burst, which resumed an instance at a bookmark.
    Resumed,
    /// An instance that has finished.
    Finished,
    /// An instance that has become faulted.
    Faulted,
    /// An instance that was cancelled.
    Cancelled,
    /// An incident.
    Incidents,
    /// A claim of a task.
    Claims,
    /// A task that was completed.
    Answers,
    /// An attempt at a task that was reported as failed.
    Failures,
}

impl CountOf {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Started,
        Self::Resumed,
        Self::Finished,
        Self::Faulted,
        Self::Cancelled,
        Self::Incidents,
        Self::Claims,
        Self::Answers,
        Self::Failures,
    ];

    /// The kind of its names, and which of the counters of such a name it is.
    fn counter(self) -> (Kind, u8) {
        match self {
            Self::Started => (Kind::Definition, 0),
            Self::Resumed => (Kind::Definition, 1),
            Self::Finished => (Kind::Definition, 2),
            Self::Faulted => (Kind::Definition, 3),
            Self::Cancelled => (Kind::Definition, 4),
            Self::Incidents => (Kind::Definition, 5),
            Self::Claims => (Kind::Task, 0),
            Self::Answers => (Kind::Task, 1),
            Self::Failures => (Kind::Task, 2),
        }
    }

    /// The name of its metric, and of the label that contains the definition or the task.
    pub fn metric(self) -> (&'static str, &'static str) {
        match self {
            Self::Started => ("workflow_definition_started_total", "definition"),
            Self::Resumed => ("workflow_definition_resumed_total", "definition"),
            Self::Finished => ("workflow_definition_finished_total", "definition"),
            Self::Faulted => ("workflow_definition_faulted_total", "definition"),
            Self::Cancelled => ("workflow_definition_cancelled_total", "definition"),
            Self::Incidents => ("workflow_definition_incidents_total", "definition"),
            Self::Claims => ("workflow_task_claims_total", "task"),
            Self::Answers => ("workflow_task_answers_total", "task"),
            Self::Failures => ("workflow_task_failures_total", "task"),
        }
    }

    /// Its value among the counters of a name; `None`: it does not count such names.
    pub fn value(self, counted: &Counted) -> Option<u64> {
        let (kind, counter) = self.counter();
        (counted.kind == kind).then(|| counted.values[usize::from(counter)])
    }
}

/// Most bursts take milliseconds, and slow SQL of users seconds.
const BURST_BOUNDS: Bounds =
    [MILLISECOND, 5 * MILLISECOND, 25 * MILLISECOND, 100 * MILLISECOND, SECOND, 10 * SECOND, MINUTE];
/// Task workers that keep up claim a task within milliseconds.
const CLAIM_BOUNDS: Bounds = [10 * MILLISECOND, 100 * MILLISECOND, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR];
/// Task workers answer within seconds, people within days.
const ANSWER_BOUNDS: Bounds = [SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 24 * HOUR, 7 * 24 * HOUR];

/// What has a histogram of durations. The metrics of these names are in [`HistogramOf::metric`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramOf {
    /// The bursts of a definition: how long each took.
    Bursts,
    /// The first claims of tasks: how long each task had been open.
    Claims,
    /// The answers that completed tasks: how long each task had been open.
    Answers,
}

impl HistogramOf {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bursts, Self::Claims, Self::Answers];

    /// The kind of its names, and the first of its counters: those of the buckets, then the sum.
    fn counters(self) -> (Kind, usize) {
        match self {
            Self::Bursts => (Kind::Definition, TOTALS),
            Self::Claims => (Kind::Task, TOTALS),
            Self::Answers => (Kind::Task, TOTALS + PER_HISTOGRAM),
        }
    }

    /// The name of its metric, and of the label that contains the definition or the task.
    pub fn metric(self) -> (&'static str, &'static str) {
        match self {
            Self::Bursts => ("workflow_definition_burst_seconds", "definition"),
            Self::Claims => ("workflow_task_claim_seconds", "task"),
            Self::Answers => ("workflow_task_answer_seconds", "task"),
        }
    }

    /// The bounds of its buckets.
    pub fn bounds(self) -> &'static Bounds {
        match self {
            Self::Bursts => &BURST_BOUNDS,
            Self::Claims => &CLAIM_BOUNDS,
            Self::Answers => &ANSWER_BOUNDS,
        }
    }

    /// Its values among the counters of a name; `None`: such names do not have it.
    pub fn values(self, counted: &Counted) -> Option<Histogram> {
        let (kind, first) = self.counters();
        (counted.kind == kind).then(|| Histogram {
            buckets: std::array::from_fn(|bucket| counted.values[first + bucket]),
            sum: counted.values[first + BUCKETS],
        })
    }
}

/// What this session knows of the slots of names. No other session can free them: the database of a session cannot be
/// dropped.
#[derive(Default)]
pub(super) struct KnownSlots {
    of_kinds: [Known; 2],
    /// Whether it has looked for slots of dropped databases in vain: then it does not look again.
    is_full: bool,
}

/// The slots of names of one kind.
#[derive(Default)]
struct Known {
    slots: HashMap<Box<str>, Option<u16>>,
    /// The slot of all other names, once the database has as many as it may: then all of them are in `slots`.
    others: Option<Option<u16>>,
}

impl Known {
    /// The slot of a name, which may be none; `None`: it is to be looked for.
    fn slot(&self, name: &str) -> Option<Option<u16>> {
        self.slots.get(name).copied().or(self.others)
    }
}

/// How many slots of a kind a session remembers. It finds a forgotten one again.
const MAX_KNOWN: usize = 2000;
/// How far back a count looks for one to which it can be added.
const LOOK_BACK: usize = 100;
/// How many counts there are at least when all of them are merged: about as many as names and counters there can be.
const MERGE_AT: usize = 5000;

/// What a transaction has counted in each open subtransaction, the innermost last, so these numbers never decrease.
pub(super) struct Counts {
    counts: Vec<(u32, Count)>,
    /// The number of counts at which they are merged again.
    merge_at: usize,
}

impl Counts {
    pub(super) const NONE: Self = Self { counts: Vec::new(), merge_at: MERGE_AT };

    fn add(&mut self, subtransaction: u32, count: Count) {
        match same(&mut self.counts, subtransaction, &count) {
            Some(known) => known.number += count.number,
            None => {
                if self.counts.len() >= self.merge_at {
                    self.merge();
                    self.merge_at = MERGE_AT.max(2 * self.counts.len());
                }
                self.counts.push((subtransaction, count));
            }
        }
    }

    /// Adds up those of a counter that were too far apart to be found. Allocates nothing.
    fn merge(&mut self) {
        self.counts.sort_unstable_by_key(|(of, count)| (*of, count.slot, count.counter));
        self.counts.dedup_by(|(of, count), (kept_of, kept)| {
            let is_same = *of == *kept_of && count.slot == kept.slot && count.counter == kept.counter;
            if is_same {
                kept.number += count.number;
            }
            is_same
        });
    }

    /// Moves what was counted in a subtransaction, and in those inside it, to its parent, or drops it. Allocates nothing:
    /// there may be no memory when a subtransaction is rolled back.
    fn end(&mut self, subtransaction: u32, parent: Option<u32>) {
        let first = self.counts.partition_point(|(of, _)| *of < subtransaction);
        let mut length = first;
        if let Some(parent) = parent {
            for i in first..self.counts.len() {
                let count = self.counts[i].1;
                match same(&mut self.counts[..length], parent, &count) {
                    Some(known) => known.number += count.number,
                    None => {
                        self.counts[length] = (parent, count);
                        length += 1;
                    }
                }
            }
        }
        self.counts.truncate(length);
    }

    /// Reports the end of the transaction, which has this name if it is prepared. Must not fail.
    pub(super) fn report(mut self, end: TransactionEnd, gid: Option<Vec<u8>>) {
        match (end, gid) {
            (TransactionEnd::Committed, _) => self.counts.iter().for_each(|(_, count)| counters::add(count)),
            (TransactionEnd::Prepared, Some(gid)) => {
                self.merge();
                let mut counts: Vec<Count> = self.counts.into_iter().map(|(_, count)| count).collect();
                // Totals first: if there are too many counts, the last ones lose their names.
                counts.sort_unstable_by_key(|count| (usize::from(count.counter) >= TOTALS, count.slot, count.counter));
                counters::keep(&gid, &counts);
            }
            (TransactionEnd::Prepared | TransactionEnd::Aborted, _) => {}
        }
    }
}

/// The count among the last ones to which another can be added.
fn same<'a>(counts: &'a mut [(u32, Count)], subtransaction: u32, count: &Count) -> Option<&'a mut Count> {
    let mut last = counts.iter_mut().rev().take(LOOK_BACK);
    let found =
        last.find(|(of, known)| *of == subtransaction && known.slot == count.slot && known.counter == count.counter);
    found.map(|(_, known)| known)
}

/// Counts something under a name, when this transaction commits.
pub fn count(what: CountOf, name: &str, number: usize) {
    if number == 0 {
        return;
    }
    let (kind, counter) = what.counter();
    if let Some(slot) = slot_of(kind, name) {
        let subtransaction = subtransaction::current();
        let count = Count { number: number as u64, slot, counter };
        TRANSACTION.borrow_mut().counts.add(subtransaction, count);
    }
}

/// Adds a duration in microseconds to a histogram of a name, when this transaction commits.
pub fn observe(what: HistogramOf, name: &str, duration: i64) {
    let (kind, first) = what.counters();
    let Some(slot) = slot_of(kind, name) else { return };
    let subtransaction = subtransaction::current();
    let count = |offset: usize, number: u64| Count { number, slot, counter: (first + offset) as u8 };
    let bucket = histogram::bucket(what.bounds(), duration);
    let mut transaction = TRANSACTION.borrow_mut();
    transaction.counts.add(subtransaction, count(bucket, 1));
    transaction.counts.add(subtransaction, count(BUCKETS, duration.max(0).unsigned_abs()));
}

/// Adds the time for which a task has been open. Its id, a UUID of version 7, contains the time of its opening in
/// milliseconds.
pub fn observe_open(what: HistogramOf, name: &str, task: &Uuid, now: Timestamp) {
    let opened = i64::try_from(task.as_u128() >> 80).unwrap_or(i64::MAX);
    let now: DateTime<Utc> = now.into();
    observe(what, name, now.timestamp_micros().saturating_sub(opened.saturating_mul(1000)));
}

fn slot_of(kind: Kind, name: &str) -> Option<u16> {
    let of_kind = kind as usize;
    if let Some(slot) = BACKEND.counters.borrow().as_ref().and_then(|known| known.of_kinds[of_kind].slot(name)) {
        return slot;
    }
    let found = find_slot(kind, name);
    let slot = found.and_then(|found| found.slot);
    let is_complete = found.is_some_and(|found| found.is_complete);
    let all = if is_complete { counters::names_of(process::database(), kind) } else { Vec::new() };
    let mut known = BACKEND.counters.borrow_mut();
    let known = &mut known.get_or_insert_default().of_kinds[of_kind];
    if is_complete {
        known.slots = all.into_iter().map(|(name, slot)| (name.into_boxed_str(), Some(slot))).collect();
        known.others = Some(slot);
        return slot;
    }
    if known.slots.len() >= MAX_KNOWN {
        known.slots.clear();
    }
    known.slots.insert(name.into(), slot);
    slot
}

/// Finds the slot of a name in shared memory. Frees those of databases that were dropped, if it needs them.
fn find_slot(kind: Kind, name: &str) -> Option<Found> {
    let database = process::database();
    let found = counters::slot_of(database, kind, name)?;
    if !found.is_full || BACKEND.counters.borrow().as_ref().is_some_and(|known| known.is_full) {
        return Some(found);
    }
    // The list comes first: a database that is created meanwhile is not in it.
    let mut dropped = counters::databases();
    dropped.retain(|oid| !process::has_database(*oid));
    if dropped.is_empty() {
        BACKEND.counters.borrow_mut().get_or_insert_default().is_full = true;
        return Some(found);
    }
    counters::forget(&dropped);
    counters::slot_of(database, kind, name)
}

/// Reports that a subtransaction has become part of its parent, or was rolled back. Must not fail.
pub(super) fn subtransaction_ended(subtransaction: u32, parent: Option<u32>) {
    TRANSACTION.borrow_mut().counts.end(subtransaction, parent);
}

/// Records that the prepared transaction of this name is about to end. Another can have the name as soon as it has ended,
/// so its counts are looked up now.
pub fn report_ending(gid: &[u8]) {
    TRANSACTION.borrow_mut().ending = counters::place_of(gid);
}

/// Reports that the prepared transaction that was recorded has ended.
pub fn prepared_ended(committed: bool) {
    let place = TRANSACTION.borrow_mut().ending.take();
    if let Some(place) = place {
        counters::settle(place, committed);
    }
}

/// The counters of this database.
pub fn counted() -> Vec<Counted> {
    counters::read(process::database())
}

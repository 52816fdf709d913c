//! Numbers of journal rows: those that a burst writes, and those that it removes.
//!
//! If the definition says how much of the journal is kept while an instance runs, every twentieth row removes older
//! ones. So most bursts pay nothing, and none pays for all, because a bounded number of rows goes each time. The first
//! row stays: it says how the run began. The state knows where the rest begins, so nothing has to be looked for.

use std::ops::Range;

use chrono::{DateTime, Utc};
use workflow_core::Program;
use workflow_core::instance::Instance;
use workflow_core::program::Keep;

/// The maximum number of events in a row.
pub const EVENTS_PER_ROW: usize = 1000;
/// Rows from one trim to the next.
const STEP: u32 = 20;
/// The most rows that one trim removes, unless the burst itself writes more.
const MOST: u32 = 100;

/// The number of rows for these events. An act without events has a row, too.
pub fn journal_rows(has_act: bool, events: usize) -> u32 {
    events.div_ceil(EVENTS_PER_ROW).max(usize::from(has_act)) as u32
}

/// Journal rows that need not be kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trim {
    /// The number of the first one.
    pub from: u32,
    /// The number after the last one.
    pub to: u32,
    /// If given, the first row that was written at or after this time stays, and all later ones.
    pub until: Option<DateTime<Utc>>,
}

/// What a call removes that adds `rows`, which are not written yet.
pub fn trim(program: &Program, instance: &Instance, rows: Range<u32>, now: DateTime<Utc>) -> Option<Trim> {
    let keep = program.options.journal.keep.as_ref()?;
    let Range { start: first, end: next } = rows;
    if next / STEP == first / STEP {
        return None;
    }
    let from = instance.state.first_journal.max(1);
    let most = from.saturating_add(MOST.max((next - first).saturating_mul(2))).min(first);
    let (to, until) = match keep {
        Keep::Rows(rows) => (next.saturating_sub(*rows).min(most), None),
        Keep::For(span) => (most, Some(now.checked_sub_signed(*span)?)),
    };
    (to > from).then_some(Trim { from, to, until })
}

//! What clocks on the wall show, and when they show it.
//!
//! A [`Zone`] only says which offset holds at an instant. The instants at which it changes are found by
//! looking every twelve hours and then halving: no zone has ever changed its clocks twice within that time.
//! Instants are whole seconds since 1970 here; one that chrono cannot hold ends the search with `None`.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use super::Zone;

/// Seconds of a day. No change of the clocks has been larger, and no offset is.
pub(super) const DAY: i64 = 86_400;

/// How far apart two changes of the clocks are at least.
const STEP: i64 = DAY / 2;

/// A stretch of time with one offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Its first second.
    pub start: i64,
    /// The first second after it.
    pub end: i64,
    /// Seconds east of UTC.
    pub offset: i64,
}

/// The offset in force at a second.
pub(super) fn offset_at(zone: &dyn Zone, second: i64) -> Option<i64> {
    DateTime::from_timestamp(second, 0).map(|at| i64::from(zone.offset_at(at)).clamp(-DAY, DAY))
}

/// The first second after `from` and not after `to` at which another offset begins.
pub(super) fn next_change(zone: &dyn Zone, from: i64, to: i64) -> Option<i64> {
    let before = offset_at(zone, from)?;
    let mut known = from;
    while known < to {
        let probe = known.saturating_add(STEP).min(to);
        if offset_at(zone, probe)? != before {
            return halve(zone, before, known, probe);
        }
        known = probe;
    }
    None
}

/// The first second that has another offset, between one that has `before` and one that has not.
fn halve(zone: &dyn Zone, before: i64, mut same: i64, mut other: i64) -> Option<i64> {
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        if offset_at(zone, middle)? == before {
            same = middle;
        } else {
            other = middle;
        }
    }
    Some(other)
}

/// The stretches of one offset between two seconds; the last one is left open.
pub(super) fn segments(zone: &dyn Zone, from: i64, to: i64) -> Option<Vec<Segment>> {
    let mut found = Vec::with_capacity(2);
    let mut start = from;
    loop {
        let offset = offset_at(zone, start)?;
        match next_change(zone, start, to) {
            Some(end) => {
                found.push(Segment { start, end, offset });
                start = end;
            }
            None => {
                found.push(Segment { start, end: i64::MAX, offset });
                return Some(found);
            }
        }
    }
}

/// What the clock on the wall shows at an instant.
pub(super) fn local_of(at: DateTime<Utc>, zone: &dyn Zone) -> Option<NaiveDateTime> {
    let offset = offset_at(zone, at.timestamp())?;
    at.naive_utc().checked_add_signed(TimeDelta::seconds(offset))
}

/// The instant at which the clock on the wall shows a time, as PostgreSQL decides it: one that is skipped is
/// read with the offset before the change, one that comes twice with the offset after it.
pub(crate) fn instant_of(local: NaiveDateTime, zone: &dyn Zone) -> Option<DateTime<Utc>> {
    let wall = local.and_utc().timestamp();
    let segments = segments(zone, wall.saturating_sub(DAY), wall.saturating_add(DAY))?;
    let offset = deciding_offset(wall, &segments)?;
    local.checked_sub_signed(TimeDelta::seconds(offset)).map(|utc| utc.and_utc())
}

fn deciding_offset(wall: i64, segments: &[Segment]) -> Option<i64> {
    for pair in segments.windows(2) {
        let [before, after] = pair else { break };
        let change = after.start;
        let early = wall - before.offset < change;
        let late = wall - after.offset >= change;
        match (early, late) {
            (true, false) => return Some(before.offset),
            (true, true) => return Some(after.offset),
            (false, false) => return Some(before.offset),
            (false, true) => {}
        }
    }
    segments.last().map(|segment| segment.offset)
}

/// The first instant at which the clock on the wall shows a time or a later one: in a gap the moment of
/// the change, in an overlap the first time round.
pub(super) fn first_reached(wall: i64, zone: &dyn Zone) -> Option<i64> {
    let segments = segments(zone, wall.saturating_sub(DAY), wall.saturating_add(DAY))?;
    segments.iter().find_map(|segment| {
        let at = (wall - segment.offset).max(segment.start);
        (at < segment.end).then_some(at)
    })
}

/// The first time that the clock on the wall has not shown yet, once `second` has passed. Behind an
/// overlap that is later than what it shows now.
pub(super) fn first_unseen(second: i64, zone: &dyn Zone) -> Option<i64> {
    let segments = segments(zone, second.saturating_sub(DAY), second)?;
    let last = segments.last()?;
    let seen = segments.iter().map(|segment| segment.end.min(second.saturating_add(1)).saturating_add(segment.offset));
    Some(seen.fold(second.saturating_add(1).saturating_add(last.offset), i64::max))
}

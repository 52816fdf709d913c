//! Times of the wall clock, and the instants at which it shows them.
//!
//! A [`Zone`] only returns the offset at an instant. This module finds the instants at which the offset changes by
//! probing every twelve hours and bisecting: no zone has ever changed twice within that time. Instants are whole
//! seconds since 1970 here; one that chrono cannot represent ends a search with `None`.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use super::Zone;

/// Seconds of a day. No offset is larger, and no change of one has been.
pub(super) const DAY: i64 = 86_400;

/// Two changes of the offset are at least this many seconds apart.
const STEP: i64 = DAY / 2;

/// A period with one offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetPeriod {
    /// The first second in it, counted in UTC since 1970.
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

/// The first second with another offset than `before`. `same` still has that offset, `other` no longer has it.
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

/// The periods of one offset between two seconds; the last one has no end.
pub(super) fn periods(zone: &dyn Zone, from: i64, to: i64) -> Option<Vec<OffsetPeriod>> {
    let mut found = Vec::with_capacity(2);
    let mut start = from;
    loop {
        let offset = offset_at(zone, start)?;
        match next_change(zone, start, to) {
            Some(end) => {
                found.push(OffsetPeriod { start, end, offset });
                start = end;
            }
            None => {
                found.push(OffsetPeriod { start, end: i64::MAX, offset });
                return Some(found);
            }
        }
    }
}

/// The time that the wall clock shows at an instant.
pub(super) fn local_of(at: DateTime<Utc>, zone: &dyn Zone) -> Option<NaiveDateTime> {
    let offset = offset_at(zone, at.timestamp())?;
    at.naive_utc().checked_add_signed(TimeDelta::seconds(offset))
}

/// The instant at which the wall clock shows a time, by PostgreSQL's rule: a skipped time is read with the offset
/// before the change, a time that occurs twice with the offset after it.
pub fn instant_of(local: NaiveDateTime, zone: &dyn Zone) -> Option<DateTime<Utc>> {
    let wall = local.and_utc().timestamp();
    let periods = periods(zone, wall.saturating_sub(DAY), wall.saturating_add(DAY))?;
    let offset = deciding_offset(wall, &periods)?;
    local.checked_sub_signed(TimeDelta::seconds(offset)).map(|utc| utc.and_utc())
}

fn deciding_offset(wall: i64, periods: &[OffsetPeriod]) -> Option<i64> {
    for pair in periods.windows(2) {
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
    periods.last().map(|period| period.offset)
}

/// The first instant at which the wall clock shows a time or a later one: for a time in a gap the instant of
/// the change, for a time in an overlap the first of the two.
pub(super) fn first_reached(wall: i64, zone: &dyn Zone) -> Option<i64> {
    let periods = periods(zone, wall.saturating_sub(DAY), wall.saturating_add(DAY))?;
    periods.iter().find_map(|period| {
        let at = (wall - period.offset).max(period.start);
        (at < period.end).then_some(at)
    })
}

/// The first time that the wall clock has not shown yet, once `second` has passed. After the clock was set
/// back, this is later than the time that it shows.
pub(super) fn first_unseen(second: i64, zone: &dyn Zone) -> Option<i64> {
    let periods = periods(zone, second.saturating_sub(DAY), second)?;
    let last = periods.last()?;
    let seen = periods.iter().map(|period| period.end.min(second.saturating_add(1)).saturating_add(period.offset));
    Some(seen.fold(second.saturating_add(1).saturating_add(last.offset), i64::max))
}

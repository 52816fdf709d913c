//! The occurrences of a schedule: the next one, their number in a period, and the last ones of a period.
//!
//! A period may be a year of downtime of a job that runs each second, so nothing here steps through
//! more than a fixed number of occurrences.

use chrono::{DateTime, TimeDelta, Utc};

use super::wall_clock::local_of;
use super::{Cron, Interval, When, Zone};

/// Maximum number of occurrences of a cron expression that are counted one by one. Beyond that, times of the wall clock
/// are counted. The two numbers differ by the occurrences that changes of the offset add or omit.
const COUNTED: u64 = 1000;

/// Maximum shift of an occurrence by a change of the offset, in microseconds: from the easternmost to the westernmost
/// one.
const SLACK: i128 = 48 * 3_600_000_000;

/// The occurrences of a schedule.
pub(super) enum Occurrences<'a> {
    /// None, for a rule that time alone never fires.
    None,
    /// One, at this instant.
    Once(DateTime<Utc>),
    /// At regular intervals.
    Every(Every<'a>),
    /// The times of a cron expression.
    Cron(Cron, &'a dyn Zone),
}

impl<'a> Occurrences<'a> {
    /// The occurrences of a rule. An invalid cron expression has none.
    pub fn of(when: &When, zone: &'a dyn Zone) -> Self {
        match when {
            When::At(at) => Self::Once(*at),
            When::Every { interval, .. } if !interval.is_positive() => Self::None,
            When::Every { interval, start } => Self::Every(Every { interval: *interval, start: *start, zone }),
            When::Cron(text) => Cron::parse(text).map_or(Self::None, |cron| Self::Cron(cron, zone)),
            When::Reboot => Self::None,
        }
    }

    /// The first occurrence after an instant.
    pub fn after(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::None => None,
            Self::Once(once) => Some(*once).filter(|once| *once > at),
            Self::Every(every) => every.nth(every.index_after(at)).filter(|found| *found > at),
            Self::Cron(cron, zone) => cron.next_after(at, *zone),
        }
    }

    /// How many occurrences are after `from` and not after `to`.
    pub fn count(&self, from: DateTime<Utc>, to: DateTime<Utc>) -> u64 {
        match self {
            Self::Every(every) => every.index_after(to).abs_diff(every.index_after(from)),
            Self::Cron(cron, zone) => count_cron(cron, *zone, from, to),
            Self::None | Self::Once(_) => u64::from(self.after(from).is_some_and(|found| found <= to)),
        }
    }

    /// The last occurrences after `from` and not after `to`, oldest first, at most `most` of them.
    pub fn last(&self, from: DateTime<Utc>, to: DateTime<Utc>, most: u32) -> Vec<DateTime<Utc>> {
        match self {
            Self::Every(every) => {
                let end = every.index_after(to);
                let begin = every.index_after(from).max(end.saturating_sub(i64::from(most)));
                (begin..end).filter_map(|n| every.nth(n)).collect()
            }
            Self::Cron(cron, zone) => last_of_cron(cron, *zone, from, to, most),
            Self::None | Self::Once(_) => self.after(from).filter(|found| *found <= to).into_iter().collect(),
        }
    }
}

/// Regular intervals, each measured from the anchor, so that neither the length of a run nor a short month
/// shifts the occurrences that follow.
pub(super) struct Every<'a> {
    interval: Interval,
    start: DateTime<Utc>,
    zone: &'a dyn Zone,
}

impl Every<'_> {
    /// The occurrence with this number; the first has number 1.
    fn nth(&self, n: i64) -> Option<DateTime<Utc>> {
        self.interval.times(n)?.after(self.start, self.zone)
    }

    /// The number of the first occurrence after an instant.
    fn index_after(&self, at: DateTime<Utc>) -> i64 {
        let distance = i128::from(at.timestamp_micros()) - i128::from(self.start.timestamp_micros());
        let slack = if self.interval.is_elapsed() { 0 } else { SLACK };
        let number = |number: i128| i64::try_from(number.max(1)).unwrap_or(i64::MAX);
        let mut low = number((distance - slack).div_euclid(self.interval.longest()) + 1);
        let mut high = number((distance + slack).div_euclid(self.interval.shortest()) + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.nth(middle).is_none_or(|found| found > at) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

fn count_cron(cron: &Cron, zone: &dyn Zone, from: DateTime<Utc>, to: DateTime<Utc>) -> u64 {
    let mut at = from;
    for count in 0..COUNTED {
        match cron.next_after(at, zone).filter(|found| *found <= to) {
            Some(found) => at = found,
            None => return count,
        }
    }
    let begin = at.checked_add_signed(TimeDelta::seconds(1)).and_then(|begin| local_of(begin, zone));
    match (begin, local_of(to, zone)) {
        (Some(begin), Some(end)) => COUNTED + cron.count(begin, end),
        _ => COUNTED,
    }
}

fn last_of_cron(cron: &Cron, zone: &dyn Zone, from: DateTime<Utc>, to: DateTime<Utc>, most: u32) -> Vec<DateTime<Utc>> {
    let mut found = Vec::new();
    let mut end = to.timestamp().saturating_add(1);
    for _ in 0..most {
        match previous(cron, zone, from.timestamp(), end) {
            Some(second) => {
                found.extend(DateTime::from_timestamp(second, 0));
                end = second;
            }
            None => break,
        }
    }
    found.reverse();
    found
}

/// The last second after `from` and before `before` at which an expression fires. The next fire is a monotone
/// function of time, so an exponential search backward and a bisection find it.
fn previous(cron: &Cron, zone: &dyn Zone, from: i64, before: i64) -> Option<i64> {
    let next = |second: i64| {
        let found = cron.next_after(DateTime::from_timestamp(second, 0)?, zone)?.timestamp();
        (found < before).then_some(found)
    };
    let mut width = 1i64;
    let (mut found, mut none_after) = loop {
        let begin = before.saturating_sub(width).max(from);
        match next(begin) {
            Some(found) => break (found, before),
            None if begin == from => return None,
            None => width = width.saturating_mul(2),
        }
    };
    while found < none_after {
        let middle = found + (none_after - found) / 2;
        match next(middle) {
            Some(later) => found = later,
            None => none_after = middle,
        }
    }
    Some(found)
}

//! When a schedule is due: the next time, how often in a stretch of time, and the last times of it.
//!
//! A stretch may be a year of downtime of a job that runs each second, so nothing here goes through
//! occurrences one by one beyond a fixed number.

use chrono::{DateTime, TimeDelta, Utc};

use super::wall_clock::local_of;
use super::{Cron, Interval, When, Zone};

/// Up to how many occurrences of a cron expression are counted one by one. Beyond, the times of the wall clock are
/// counted, which differs by what the changes of the clocks add or leave out.
const COUNTED: u64 = 1000;

/// How far clocks that change can shift an occurrence, in microseconds: from the easternmost to the westernmost offset.
const SLACK: i128 = 48 * 3_600_000_000;

/// The occurrences of a schedule.
pub(super) enum Occurrences<'a> {
    /// None that time brings.
    None,
    /// One.
    Once(DateTime<Utc>),
    /// At regular intervals.
    Every(Every<'a>),
    /// As a cron expression says.
    Cron(Cron, &'a dyn Zone),
}

impl<'a> Occurrences<'a> {
    /// The occurrences of a rule. An expression that cannot be read has none.
    pub fn of(when: &When, zone: &'a dyn Zone) -> Self {
        match when {
            When::At(at) => Self::Once(*at),
            When::Every { interval, .. } if !interval.is_positive() => Self::None,
            When::Every { interval, start } => Self::Every(Every { interval: *interval, start: *start, zone }),
            When::Cron(text) => Cron::parse(text).map_or(Self::None, |cron| Self::Cron(cron, zone)),
            When::Reboot => Self::None,
        }
    }

    /// The first one after an instant.
    pub fn after(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::None => None,
            Self::Once(once) => Some(*once).filter(|once| *once > at),
            Self::Every(every) => every.nth(every.index_after(at)).filter(|found| *found > at),
            Self::Cron(cron, zone) => cron.next_after(at, *zone),
        }
    }

    /// How many there are after one instant and not after another.
    pub fn count(&self, from: DateTime<Utc>, to: DateTime<Utc>) -> u64 {
        match self {
            Self::Every(every) => every.index_after(to).abs_diff(every.index_after(from)),
            Self::Cron(cron, zone) => count_cron(cron, *zone, from, to),
            Self::None | Self::Once(_) => u64::from(self.after(from).is_some_and(|found| found <= to)),
        }
    }

    /// The last ones after one instant and not after another, oldest first, at most so many.
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

/// Regular intervals from an anchor, each measured from it, so that neither the length of a run nor the short
/// months shift those that follow.
pub(super) struct Every<'a> {
    interval: Interval,
    start: DateTime<Utc>,
    zone: &'a dyn Zone,
}

impl Every<'_> {
    /// The occurrence of a number from 1.
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

/// The last second at which an expression fires after one second and before another. The search forward
/// is monotone, so a gallop backward and then halving find it.
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

//! Cron expressions: the times of the wall clock that they match, and the next one after an instant.
//!
//! The rules are Vixie cron's. Day of month and day of week are alternatives where both are restricted,
//! that is, where neither is written with a leading `*`. When clocks change, a job whose minute and hour are
//! fixed runs once for a time in an overlap, at the first of the two instants, and right after a gap for all
//! times that the gap skipped. A job with `*` in the minute or the hour runs whenever the wall clock shows one
//! of its times: not at all for times in a gap, and twice for times in an overlap.
//!
//! The search steps through months, days and times of day with sets of bits, never minute by minute.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};

use super::Zone;
use super::cron_days::{Days, bits_between};
use super::wall_clock::{DAY, first_reached, first_unseen, next_change, offset_at};

/// Number of years that the search covers. The calendar, including days of the week, repeats after 400 years: an
/// expression that matches no day within them never matches.
const HORIZON: i32 = 400;

/// Steps from change to change of the offset in one search; no real zone needs as many.
const MAX_STEPS: usize = 4096;

/// A cron expression, as sets of the seconds, minutes, hours, days and months that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    pub(super) seconds: u64,
    pub(super) minutes: u64,
    pub(super) hours: u32,
    pub(super) months: u16,
    pub(super) days: Days,
    /// Whether the minute or the hour is written with a leading `*`.
    pub(super) wildcard: bool,
}

impl Cron {
    /// The first instant after `after` at which the expression fires. `None`: it never fires again.
    ///
    /// ```
    /// use chrono::{TimeZone, Utc};
    /// use workflow_value::calendar::{Cron, Utc0};
    ///
    /// let cron = Cron::parse("30 9 * * MON-FRI").unwrap();
    /// let friday = Utc.with_ymd_and_hms(2026, 11, 20, 10, 0, 0).unwrap();
    /// let monday = Utc.with_ymd_and_hms(2026, 11, 23, 9, 30, 0).unwrap();
    /// assert_eq!(cron.next_after(friday, &Utc0), Some(monday));
    /// ```
    pub fn next_after(&self, after: DateTime<Utc>, zone: &dyn Zone) -> Option<DateTime<Utc>> {
        let second = after.timestamp();
        let found = if self.wildcard { self.next_wildcard(second, zone) } else { self.next_fixed(second, zone) };
        found.and_then(|second| DateTime::from_timestamp(second, 0))
    }

    /// Whether no day ever matches, for example 30 February.
    pub fn is_never(&self) -> bool {
        self.next_local(NaiveDateTime::default()).is_none()
    }

    /// Fires at the first instant at which the wall clock has reached one of its times. The latest time that the clock
    /// has reached never decreases, so a time that it has not shown yet is still in the future.
    fn next_fixed(&self, after: i64, zone: &dyn Zone) -> Option<i64> {
        let wall = self.next_wall(first_unseen(after, zone)?)?;
        first_reached(wall, zone)
    }

    /// Fires whenever the wall clock shows one of its times.
    fn next_wildcard(&self, after: i64, zone: &dyn Zone) -> Option<i64> {
        let mut from = after.checked_add(1)?;
        for _ in 0..MAX_STEPS {
            let offset = offset_at(zone, from)?;
            let candidate = self.next_wall(from.checked_add(offset)?)? - offset;
            // A change of the offset before the candidate may skip it, or make an earlier time match. After two days
            // the clock cannot show the current time again, so nothing matches until shortly before the candidate.
            let near = from.saturating_add(2 * DAY);
            match next_change(zone, from, candidate.min(near)) {
                Some(change) => from = change,
                None if candidate <= near => return Some(candidate),
                None => from = near.max(candidate.saturating_sub(2 * DAY)),
            }
        }
        None
    }

    /// The first matching time at or after `wall`; both in seconds of the wall clock.
    fn next_wall(&self, wall: i64) -> Option<i64> {
        let local = DateTime::from_timestamp(wall, 0)?.naive_utc();
        self.next_local(local).map(|found| found.and_utc().timestamp())
    }

    fn next_local(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let date = from.date();
        if self.matches_day(date)
            && let Some(time) = self.next_time(from.time())
        {
            return Some(date.and_time(time));
        }
        let date = self.next_day(date.succ_opt()?)?;
        self.next_time(NaiveTime::MIN).map(|time| date.and_time(time))
    }

    /// The first matching time of day at or after `from`.
    fn next_time(&self, from: NaiveTime) -> Option<NaiveTime> {
        let (hour, minute, second) = (from.hour(), from.minute(), from.second());
        let in_hour = |minute: u32, second: u32| {
            if has(self.minutes, minute)
                && let Some(second) = first_from(self.seconds, second)
            {
                return Some((minute, second));
            }
            Some((first_from(self.minutes, minute + 1)?, first_from(self.seconds, 0)?))
        };
        let (hour, (minute, second)) = match in_hour(minute, second) {
            Some(found) if has(self.hours.into(), hour) => (hour, found),
            _ => (first_from(self.hours.into(), hour + 1)?, in_hour(0, 0)?),
        };
        NaiveTime::from_hms_opt(hour, minute, second)
    }

    fn matches_day(&self, date: NaiveDate) -> bool {
        has(self.months.into(), date.month()) && has(self.days.of(date.year(), date.month()).into(), date.day())
    }

    /// The first matching day at or after `from`.
    fn next_day(&self, from: NaiveDate) -> Option<NaiveDate> {
        let (mut year, mut month, mut day) = (from.year(), from.month(), from.day());
        let last_year = year.saturating_add(HORIZON);
        loop {
            match first_from(self.months.into(), month) {
                Some(found) => {
                    if found != month {
                        day = 1;
                    }
                    month = found;
                }
                None => {
                    year = year.checked_add(1).filter(|year| *year <= last_year)?;
                    (month, day) = (1, 1);
                    continue;
                }
            }
            if let Some(day) = first_from(self.days.of(year, month).into(), day) {
                return NaiveDate::from_ymd_opt(year, month, day);
            }
            (month, day) = (month + 1, 1);
        }
    }

    /// How many times of the wall clock match from `from` to `to`, both included.
    pub(super) fn count(&self, from: NaiveDateTime, to: NaiveDateTime) -> u64 {
        let before = |at: NaiveDateTime| if self.matches_day(at.date()) { self.times_before(at.time()) } else { 0 };
        let whole = self.count_days(from.date(), to.date()).saturating_mul(self.times_of_day());
        let last = u64::from(self.matches_day(to.date()) && self.matches_time(to.time()));
        (whole + before(to) + last).saturating_sub(before(from))
    }

    /// How many days from `from` to before `to` match. However far apart they are, the search covers at most two
    /// periods of the calendar.
    fn count_days(&self, from: NaiveDate, to: NaiveDate) -> u64 {
        let rounds = ((to.year() - from.year() - 1) / HORIZON).max(0);
        let later = |rounds: i32| from.with_year(from.year() + rounds * HORIZON).unwrap_or(from);
        let of_one = if rounds > 0 { self.count_days_by_month(from, later(1)) } else { 0 };
        u64::from(rounds.unsigned_abs()) * of_one + self.count_days_by_month(later(rounds), to)
    }

    fn count_days_by_month(&self, from: NaiveDate, to: NaiveDate) -> u64 {
        let (mut year, mut month, mut day) = (from.year(), from.month(), from.day());
        let mut count = 0;
        while (year, month) <= (to.year(), to.month()) {
            if has(self.months.into(), month) {
                let end = if (year, month) == (to.year(), to.month()) { to.day() } else { 32 };
                let within = self.days.of(year, month) & bits_between(day, end.saturating_sub(1));
                count += u64::from(within.count_ones());
            }
            (year, month, day) = if month == 12 { (year + 1, 1, 1) } else { (year, month + 1, 1) };
        }
        count
    }

    fn times_of_day(&self) -> u64 {
        u64::from(self.hours.count_ones()) * u64::from(self.minutes.count_ones()) * u64::from(self.seconds.count_ones())
    }

    fn matches_time(&self, time: NaiveTime) -> bool {
        has(self.hours.into(), time.hour()) && has(self.minutes, time.minute()) && has(self.seconds, time.second())
    }

    /// How many matching times of day are before `time`.
    fn times_before(&self, time: NaiveTime) -> u64 {
        let below = |set: u64, value: u32| u64::from((set & ((1 << value) - 1)).count_ones());
        let (minutes, seconds) = (u64::from(self.minutes.count_ones()), u64::from(self.seconds.count_ones()));
        let mut count = below(self.hours.into(), time.hour()) * minutes * seconds;
        if has(self.hours.into(), time.hour()) {
            count += below(self.minutes, time.minute()) * seconds;
            if has(self.minutes, time.minute()) {
                count += below(self.seconds, time.second());
            }
        }
        count
    }
}

fn has(set: u64, value: u32) -> bool {
    set & (1 << value) != 0
}

/// The smallest member that is at least `value`.
fn first_from(set: u64, value: u32) -> Option<u32> {
    let rest = set & u64::MAX.checked_shl(value)?;
    (rest != 0).then(|| rest.trailing_zeros())
}

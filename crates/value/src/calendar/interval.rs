//! Intervals as in PostgreSQL: months, days and microseconds in separate fields.

use std::fmt;

use chrono::{DateTime, Days, Months, NaiveDateTime, TimeDelta, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Zone;
use super::wall_clock::{instant_of, local_of};

pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(super) const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
pub(super) const MICROS_PER_HOUR: i64 = 60 * MICROS_PER_MINUTE;
pub(super) const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;

/// An interval as in PostgreSQL. The three parts are not converted to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Months, on the calendar.
    pub months: i32,
    /// Days of the wall clock: a day may have 23 or 25 hours.
    pub days: i32,
    /// Elapsed microseconds.
    pub micros: i64,
}

impl Interval {
    /// The instant that lies this far after another, as PostgreSQL adds to a `timestamptz`: months and days
    /// on the wall clock, then the microseconds. `None` if there is no such instant.
    ///
    /// ```
    /// use chrono::{TimeZone, Utc};
    /// use workflow_value::calendar::{Interval, Utc0};
    ///
    /// let at = |month, day, hour| Utc.with_ymd_and_hms(2026, month, day, hour, 0, 0).unwrap();
    /// assert_eq!(Interval::parse("1 month 2 hours").unwrap().after(at(1, 31, 8), &Utc0), Some(at(2, 28, 10)));
    /// assert_eq!(Interval::parse("1.12:00:00").unwrap(), Interval::parse("PT36H").unwrap());
    /// ```
    pub fn after(&self, at: DateTime<Utc>, zone: &dyn Zone) -> Option<DateTime<Utc>> {
        let mut at = at;
        if self.months != 0 {
            at = instant_of(plus_months(local_of(at, zone)?, self.months)?, zone)?;
        }
        if self.days != 0 {
            at = instant_of(plus_days(local_of(at, zone)?, self.days)?, zone)?;
        }
        at.checked_add_signed(TimeDelta::microseconds(self.micros))
    }

    /// This interval times `n`. `None` if that is too long.
    pub fn times(&self, n: i64) -> Option<Self> {
        let small = |field: i32| i32::try_from(i64::from(field).checked_mul(n)?).ok();
        Some(Self { months: small(self.months)?, days: small(self.days)?, micros: self.micros.checked_mul(n)? })
    }

    /// Its microseconds, with days of 24 hours. `None` if it has months or is too long.
    pub fn elapsed(&self) -> Option<i64> {
        let days = i64::from(self.days).checked_mul(MICROS_PER_DAY)?;
        days.checked_add(self.micros).filter(|_| self.months == 0)
    }

    /// Whether each further repetition ends later, whatever months it crosses.
    pub fn is_positive(&self) -> bool {
        self.shortest() > 0
    }

    /// Whether it has neither months nor days, so that its length is fixed.
    pub(super) fn is_elapsed(&self) -> bool {
        self.months == 0 && self.days == 0
    }

    /// Its microseconds if months are the shortest possible. Changes of the offset are ignored: they do not add up.
    pub(super) fn shortest(&self) -> i128 {
        self.with_months_of(if self.months < 0 { 31 } else { 28 })
    }

    /// Its microseconds if months are the longest possible.
    pub fn longest(&self) -> i128 {
        self.with_months_of(if self.months < 0 { 28 } else { 31 })
    }

    fn with_months_of(&self, days: i128) -> i128 {
        let days = i128::from(self.months) * days + i128::from(self.days);
        days * i128::from(MICROS_PER_DAY) + i128::from(self.micros)
    }

    /// Its text as .NET writes a `TimeSpan`, which has neither months nor days of the calendar; an
    /// interval with these is written as in PostgreSQL.
    pub fn to_time_span(&self) -> String {
        if !self.is_elapsed() {
            return self.to_string();
        }
        let sign = if self.micros < 0 { "-" } else { "" };
        let micros = self.micros.unsigned_abs();
        let per = |unit: i64| unit.unsigned_abs();
        let days = match micros / per(MICROS_PER_DAY) {
            0 => String::new(),
            days => format!("{days}."),
        };
        let (hours, minutes) = (micros / per(MICROS_PER_HOUR) % 24, micros / per(MICROS_PER_MINUTE) % 60);
        let seconds = micros / per(MICROS_PER_SECOND) % 60;
        let fraction = match micros % per(MICROS_PER_SECOND) {
            0 => String::new(),
            fraction => format!(".{fraction:06}0"),
        };
        format!("{sign}{days}{hours:02}:{minutes:02}:{seconds:02}{fraction}")
    }
}

fn plus_months(at: NaiveDateTime, months: i32) -> Option<NaiveDateTime> {
    let count = Months::new(months.unsigned_abs());
    if months < 0 { at.checked_sub_months(count) } else { at.checked_add_months(count) }
}

fn plus_days(at: NaiveDateTime, days: i32) -> Option<NaiveDateTime> {
    let count = Days::new(u64::from(days.unsigned_abs()));
    if days < 0 { at.checked_sub_days(count) } else { at.checked_add_days(count) }
}

/// PostgreSQL's output; [`Interval::parse`] reads it back.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.months / 12, "year"), (self.months % 12, "mon"), (self.days, "day")];
        // After a negative part a positive one needs its sign.
        let (mut any, mut negative) = (false, false);
        for (value, unit) in parts.into_iter().filter(|(value, _)| *value != 0) {
            let blank = if any { " " } else { "" };
            let plus = if negative && value > 0 { "+" } else { "" };
            let plural = if value == 1 { "" } else { "s" };
            write!(f, "{blank}{plus}{value} {unit}{plural}")?;
            (any, negative) = (true, value < 0);
        }
        if any && self.micros == 0 {
            return Ok(());
        }
        let blank = if any { " " } else { "" };
        let sign = if self.micros < 0 {
            "-"
        } else if negative {
            "+"
        } else {
            ""
        };
        let micros = self.micros.unsigned_abs();
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        write!(f, "{blank}{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
        if fraction != 0 {
            write!(f, ".{}", format!("{fraction:06}").trim_end_matches('0'))?;
        }
        Ok(())
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|fault| de::Error::custom(fault.message))
    }
}

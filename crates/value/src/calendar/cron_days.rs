//! The days of a month that a cron expression matches.
//!
//! Sets of days are bits: bit 1 is the first of the month. Sets of weekdays start with Sunday at bit 0.

use chrono::{Datelike, NaiveDate};

/// The days of a month that match. Bits count from 0 for `last…` and Sunday, and are days of the month elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Days {
    /// Days as they are numbered in the month.
    pub of_month: u32,
    /// Days counted from the last one (`L`, `L-3`).
    pub from_last: u32,
    /// Weekdays nearest to a day (`15W`).
    pub near: u32,
    /// Weekdays nearest to a day counted from the last one (`LW`).
    pub near_from_last: u32,
    /// Weekdays, at any position in the month.
    pub of_week: u8,
    /// Last ones of the month (`5L`).
    pub last_of_week: u8,
    /// First to fifth of the month (`MON#2`).
    pub nth_of_week: [u8; 5],
    /// Whether either field is written with a leading `*`: then a day must match both.
    pub both: bool,
}

impl Days {
    /// The days of a month that match.
    pub fn of(&self, year: i32, month: u32) -> u32 {
        let Some(first) = NaiveDate::from_ymd_opt(year, month, 1) else {
            return 0;
        };
        let month =
            Month { length: u32::from(first.num_days_in_month()), first: first.weekday().num_days_from_sunday() };
        let (by_date, by_weekday) = (self.by_date(month), self.by_weekday(month));
        month.all() & if self.both { by_date & by_weekday } else { by_date | by_weekday }
    }

    fn by_date(&self, month: Month) -> u32 {
        let mut days = self.of_month;
        for back in bits(self.from_last) {
            days |= month.length.checked_sub(back).map_or(0, bit);
        }
        for day in bits(self.near) {
            days |= month.nearest_weekday(day);
        }
        for back in bits(self.near_from_last) {
            days |= month.length.checked_sub(back).map_or(0, |day| month.nearest_weekday(day));
        }
        days
    }

    fn by_weekday(&self, month: Month) -> u32 {
        let mut days = 0;
        for weekday in 0..7 {
            let first = month.first_of(weekday);
            let set = u8::try_from(bit(weekday)).unwrap_or(0);
            if self.of_week & set != 0 {
                days |= (first..=month.length).step_by(7).map(bit).fold(0, |days, day| days | day);
            }
            if self.last_of_week & set != 0 {
                days |= bit(first + (month.length - first) / 7 * 7);
            }
            for (week, weekdays) in (0u32..).zip(self.nth_of_week) {
                if weekdays & set != 0 {
                    days |= bit(first + week * 7);
                }
            }
        }
        days
    }
}

/// The length of a month and the weekday of its first day.
#[derive(Clone, Copy)]
struct Month {
    length: u32,
    /// Weekday of the first, Sunday is 0.
    first: u32,
}

impl Month {
    fn all(self) -> u32 {
        bits_between(1, self.length)
    }

    fn weekday(self, day: u32) -> u32 {
        (self.first + day + 6) % 7
    }

    /// The first day with this weekday.
    fn first_of(self, weekday: u32) -> u32 {
        (weekday + 7 - self.first) % 7 + 1
    }

    /// The weekday nearest to a day, in the same month.
    fn nearest_weekday(self, day: u32) -> u32 {
        if day == 0 || day > self.length {
            return 0;
        }
        bit(match self.weekday(day) {
            6 if day == 1 => 3,
            6 => day - 1,
            0 if day == self.length => day - 2,
            0 => day + 1,
            _ => day,
        })
    }
}

/// The set of one day. A day that no month has gives the empty set.
fn bit(day: u32) -> u32 {
    1u32.checked_shl(day).unwrap_or(0)
}

/// The set of the days from one to another.
pub(super) fn bits_between(first: u32, last: u32) -> u32 {
    let from = u32::MAX.checked_shl(first).unwrap_or(0);
    let beyond = u32::MAX.checked_shl(last + 1).unwrap_or(0);
    from & !beyond
}

fn bits(set: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |value| set & bit(*value) != 0)
}

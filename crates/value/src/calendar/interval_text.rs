//! Reading intervals in three notations.
//!
//! A number without a unit is refused: .NET takes `5` for days, PostgreSQL for seconds.

use super::Interval;
use super::interval::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND};
use crate::fault::{Fault, shorten};

/// Maximum length of a text in bytes, the same as in PostgreSQL.
const MAX_LENGTH: usize = 255;

/// Digits before the point of a number; more overflow every unit.
const MAX_DIGITS: usize = 18;

/// Numbers are stored as integers that count this many parts of a unit.
const SCALE: i128 = 1_000_000_000;

/// Why a text is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntervalError {
    Syntax,
    Range,
}

impl Interval {
    /// Reads .NET's `[-][d.]hh:mm[:ss[.fffffff]]`, ISO 8601 (`P1DT2H`) or PostgreSQL's own notation (`1 day 2 hours`).
    ///
    /// The days of .NET are 24 hours each; those of the others are days of the calendar.
    ///
    /// # Errors
    /// 22007 if it is none of them, 22008 if it is too long.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        read(text.trim()).map_err(|wrong| {
            let shown = shorten(text, 60);
            match wrong {
                IntervalError::Range => Fault::new("22008", format!("interval field value out of range: \"{shown}\"")),
                IntervalError::Syntax => {
                    Fault::new("22007", format!("invalid input syntax for type interval: \"{shown}\""))
                        .hint("Write an interval as 00:05:00, 1 day 2 hours, or P1DT2H.")
                }
            }
        })
    }
}

fn read(text: &str) -> Result<Interval, IntervalError> {
    if text.len() > MAX_LENGTH {
        return Err(IntervalError::Syntax);
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut sum = Sum::default();
    if let Some(rest) = unsigned.strip_prefix(['P', 'p']) {
        read_iso(rest, &mut sum)?;
        return sum.interval(negative);
    }
    if let Some(micros) = read_span(unsigned)? {
        sum.micros = micros;
        return sum.interval(negative);
    }
    let ago = read_words(text, &mut sum)?;
    sum.interval(ago)
}

/// The sum of the units read so far, in integers that cannot overflow.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    months: i128,
    days: i128,
    micros: i128,
    /// Units read so far, as bits.
    seen: u16,
}

impl Sum {
    fn interval(self, negative: bool) -> Result<Interval, IntervalError> {
        let sign = if negative { -1 } else { 1 };
        Ok(Interval {
            months: i32::try_from(self.months * sign).map_err(|_| IntervalError::Range)?,
            days: i32::try_from(self.days * sign).map_err(|_| IntervalError::Range)?,
            micros: i64::try_from(self.micros * sign).map_err(|_| IntervalError::Range)?,
        })
    }

    /// Adds a number of units. A fraction is added to the next smaller field, as in PostgreSQL: for that, a month
    /// has 30 days, and a day 24 hours.
    fn add(&mut self, number: i128, unit: IntervalUnit) {
        match unit {
            IntervalUnit::Months(months) if months > 1 => self.months += rounded(number * i128::from(months), SCALE),
            IntervalUnit::Months(_) => {
                self.months += number / SCALE;
                self.add_days(number % SCALE * 30);
            }
            IntervalUnit::Days(days) => self.add_days(number * i128::from(days)),
            IntervalUnit::Micros(micros) => self.micros += rounded(number * i128::from(micros), SCALE),
        }
    }

    fn add_days(&mut self, number: i128) {
        self.days += number / SCALE;
        self.micros += rounded(number % SCALE * i128::from(MICROS_PER_DAY), SCALE);
    }

    /// Records a unit, which may occur only once.
    fn once(&mut self, unit: usize) -> Result<(), IntervalError> {
        let bit = u32::try_from(unit).ok().and_then(|unit| 1u16.checked_shl(unit)).ok_or(IntervalError::Syntax)?;
        if self.seen & bit != 0 {
            return Err(IntervalError::Syntax);
        }
        self.seen |= bit;
        Ok(())
    }
}

fn rounded(number: i128, scale: i128) -> i128 {
    let half = if number < 0 { -scale / 2 } else { scale / 2 };
    (number + half) / scale
}

/// Which part of an interval a unit adds to, and how much.
#[derive(Clone, Copy)]
enum IntervalUnit {
    Months(i64),
    Days(i64),
    Micros(i64),
}

/// Units by PostgreSQL's names, without the plural's `s`.
const UNITS: [(&[&str], IntervalUnit); 12] = [
    (&["microsecond", "usec", "us"], IntervalUnit::Micros(1)),
    (&["millisecond", "msec", "ms"], IntervalUnit::Micros(1000)),
    (&["second", "sec", "s"], IntervalUnit::Micros(MICROS_PER_SECOND)),
    (&["minute", "min", "m"], IntervalUnit::Micros(MICROS_PER_MINUTE)),
    (&["hour", "hr", "h"], IntervalUnit::Micros(MICROS_PER_HOUR)),
    (&["day", "d"], IntervalUnit::Days(1)),
    (&["week", "w"], IntervalUnit::Days(7)),
    (&["month", "mon"], IntervalUnit::Months(1)),
    (&["year", "yr", "y"], IntervalUnit::Months(12)),
    (&["decade", "dec"], IntervalUnit::Months(120)),
    (&["century", "cent", "centurie", "c"], IntervalUnit::Months(1200)),
    (&["millennium", "mil", "millennia"], IntervalUnit::Months(12_000)),
];

/// Bit of the time of day in [`Sum::seen`].
const TIME: usize = UNITS.len();

fn unit_of(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    let singular = name.strip_suffix('s').filter(|rest| rest.len() > 1);
    UNITS.iter().position(|(names, _)| names.contains(&name.as_str()) || singular.is_some_and(|s| names.contains(&s)))
}

/// A number, times [`SCALE`]. Further digits are dropped.
fn number(text: &str) -> Result<i128, IntervalError> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
        return Err(IntervalError::Syntax);
    }
    let whole = whole.trim_start_matches('0');
    if whole.len() > MAX_DIGITS {
        return Err(IntervalError::Range);
    }
    let shown: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| IntervalError::Syntax)? };
    let parts = whole * SCALE + shown.parse::<i128>().map_err(|_| IntervalError::Syntax)?;
    Ok(if negative { -parts } else { parts })
}

/// Reads what follows the `P` of ISO 8601: units in order, each once, fractions anywhere.
fn read_iso(text: &str, sum: &mut Sum) -> Result<(), IntervalError> {
    const DATE: [(char, IntervalUnit); 4] = [
        ('Y', IntervalUnit::Months(12)),
        ('M', IntervalUnit::Months(1)),
        ('W', IntervalUnit::Days(7)),
        ('D', IntervalUnit::Days(1)),
    ];
    const CLOCK: [(char, IntervalUnit); 3] = [
        ('H', IntervalUnit::Micros(MICROS_PER_HOUR)),
        ('M', IntervalUnit::Micros(MICROS_PER_MINUTE)),
        ('S', IntervalUnit::Micros(MICROS_PER_SECOND)),
    ];
    let (date, clock) = match text.split_once(['T', 't']) {
        Some((_, "")) => return Err(IntervalError::Syntax),
        Some((date, clock)) => (date, clock),
        None if text.is_empty() => return Err(IntervalError::Syntax),
        None => (text, ""),
    };
    read_iso_units(date, &DATE, sum)?;
    read_iso_units(clock, &CLOCK, sum)
}

fn read_iso_units(text: &str, units: &[(char, IntervalUnit)], sum: &mut Sum) -> Result<(), IntervalError> {
    let (mut rest, mut units) = (text, units);
    while !rest.is_empty() {
        let length = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or(IntervalError::Syntax)?;
        let letter = rest[length..].chars().next().map(|letter| letter.to_ascii_uppercase());
        let at = units.iter().position(|(name, _)| Some(*name) == letter).ok_or(IntervalError::Syntax)?;
        sum.add(number(&rest[..length].replace(',', "."))?, units[at].1);
        units = &units[at + 1..];
        rest = &rest[length + 1..];
    }
    Ok(())
}

/// Reads .NET's `[d.]hh:mm[:ss[.fffffff]]` or `d:hh:mm:ss`, without the sign; `None` for other notations.
/// Hours without days may be more than 24, as in PostgreSQL.
fn read_span(text: &str) -> Result<Option<i128>, IntervalError> {
    if !text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.')) {
        return Ok(None);
    }
    let parts: Vec<&str> = text.split(':').collect();
    let (days, hours, minutes, seconds) = match parts.as_slice() {
        [hours, minutes] => ("0", *hours, *minutes, "0"),
        [hours, minutes, seconds] => ("0", *hours, *minutes, *seconds),
        [days, hours, minutes, seconds] => (*days, *hours, *minutes, *seconds),
        _ => return Ok(None),
    };
    let (days, hours, counted) = match hours.split_once('.') {
        Some(_) if parts.len() == 4 => return Err(IntervalError::Syntax),
        Some((days, hours)) => (days, hours, true),
        None => (days, hours, parts.len() == 4),
    };
    let most = if counted { 23 } else { i128::MAX / SCALE };
    let total = whole(days, i128::MAX / SCALE)? * i128::from(MICROS_PER_DAY)
        + whole(hours, most)? * i128::from(MICROS_PER_HOUR)
        + clock(minutes, seconds)?;
    Ok(Some(total))
}

/// Minutes and seconds of a time of day.
fn clock(minutes: &str, seconds: &str) -> Result<i128, IntervalError> {
    let (minutes, parts) = (whole(minutes, 59)?, number(seconds)?);
    if seconds.starts_with('.') || seconds.split('.').next().is_some_and(|whole| whole.len() > 2) {
        return Err(IntervalError::Syntax);
    }
    if parts >= 60 * SCALE {
        return Err(IntervalError::Range);
    }
    Ok(minutes * i128::from(MICROS_PER_MINUTE) + rounded(parts * i128::from(MICROS_PER_SECOND), SCALE))
}

/// A number without sign and fraction.
fn whole(text: &str, most: i128) -> Result<i128, IntervalError> {
    if text.starts_with(['+', '-']) || text.contains('.') {
        return Err(IntervalError::Syntax);
    }
    let number = number(text)? / SCALE;
    if number > most { Err(IntervalError::Range) } else { Ok(number) }
}

/// Reads PostgreSQL's notation; returns whether it ends with `ago`.
fn read_words(text: &str, sum: &mut Sum) -> Result<bool, IntervalError> {
    let mut rest = text.strip_prefix('@').unwrap_or(text).trim_start();
    let mut any = false;
    while !rest.is_empty() {
        if any && rest.eq_ignore_ascii_case("ago") {
            return Ok(true);
        }
        let length = rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | ':')).unwrap_or(rest.len());
        let (value, after) = rest.split_at(length);
        if value.contains(':') {
            sum.once(TIME)?;
            sum.micros += time_of_day(value)?;
            rest = after.trim_start();
        } else {
            let after = after.trim_start();
            let length = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
            let (name, after) = after.split_at(length);
            let unit = unit_of(name).ok_or(IntervalError::Syntax)?;
            sum.once(unit)?;
            sum.add(number(value)?, UNITS[unit].1);
            rest = after.trim_start();
        }
        any = true;
    }
    if any { Ok(false) } else { Err(IntervalError::Syntax) }
}

/// A time of day with a sign, which applies to all of it.
fn time_of_day(text: &str) -> Result<i128, IntervalError> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = unsigned.split(':');
    let (hours, minutes) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let seconds = parts.next().unwrap_or("0");
    if parts.next().is_some() {
        return Err(IntervalError::Syntax);
    }
    let micros = whole(hours, i128::MAX / SCALE)? * i128::from(MICROS_PER_HOUR) + clock(minutes, seconds)?;
    Ok(if negative { -micros } else { micros })
}

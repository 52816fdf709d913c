//! Reading cron expressions.
//!
//! The parser reads what Vixie cron, pg_cron, Quartz and Cronos read: five fields or six with seconds first; numbers,
//! names, ranges (that may wrap: `FRI-MON`), steps, lists; Sunday as 0 or 7; `?` for `*`; `L`, `L-3`, `LW`, `15W`
//! and `$` as days of the month; `5L` and `MON#2` as days of the week; names such as `@hourly`.
//!
//! Numbers, names, ranges and steps are read by the crate `cron`, one element of a list at a time. What it refuses,
//! such as ranges that wrap, is read here, and so are the positions of mistakes.

use std::fmt;
use std::str::FromStr;

use cron::{Schedule, TimeUnitSpec};

use super::Cron;
use super::cron_days::Days;
use crate::fault::{Fault, shorten};

/// A mistake in a cron expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronError {
    /// Field that is wrong; `None`: the expression as a whole.
    pub field: Option<&'static str>,
    /// The wrong piece of the text.
    pub text: String,
    /// The reason, without the piece and the field.
    pub message: String,
    /// Start of the piece, in characters from 1.
    pub position: usize,
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let piece = shorten(&self.text, 40);
        match self.field {
            Some(field) => write!(f, "\"{piece}\" in field \"{field}\" (position {}) {}", self.position, self.message),
            None => write!(f, "\"{piece}\" {}", self.message),
        }
    }
}

impl CronError {
    /// The error as a user sees it.
    pub fn fault(&self, expression: &str) -> Fault {
        Fault::new("22023", format!("invalid cron expression \"{}\": {self}", shorten(expression, 100)))
            .hint("Write minute, hour, day of month, month and day of week, with seconds before them if needed.")
    }
}

/// Maximum length of an expression in bytes: the parser's time grows with the text, and it does not check whether to
/// stop.
const MAX_LENGTH: usize = 1_000;

/// Names for whole expressions.
const MACROS: [(&str, &str); 9] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@every_minute", "* * * * *"),
    ("@every_second", "* * * * * *"),
];

/// How one field is read.
struct CronField {
    name: &'static str,
    first: u32,
    last: u32,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const SECOND: CronField = CronField { name: "second", first: 0, last: 59, names: &[] };
const MINUTE: CronField = CronField { name: "minute", first: 0, last: 59, names: &[] };
const HOUR: CronField = CronField { name: "hour", first: 0, last: 23, names: &[] };
const DAY_OF_MONTH: CronField = CronField { name: "day of month", first: 1, last: 31, names: &[] };
const MONTH: CronField = CronField { name: "month", first: 1, last: 12, names: &MONTHS };
const DAY_OF_WEEK: CronField = CronField { name: "day of week", first: 0, last: 6, names: &WEEKDAYS };

/// The fields of an expression, in the same order as in the crate `cron`.
const FIELDS: [&CronField; 6] = [&SECOND, &MINUTE, &HOUR, &DAY_OF_MONTH, &MONTH, &DAY_OF_WEEK];

impl Cron {
    /// Reads five fields, six with seconds first, or a name such as `@hourly`.
    ///
    /// # Errors
    /// The wrong piece, its position, and the reason.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        if text.len() > MAX_LENGTH {
            let message = format!("is longer than {MAX_LENGTH} bytes");
            return Err(whole(&shorten(text, 40), &message));
        }
        let trimmed = text.trim();
        if trimmed.starts_with('@') {
            let known = MACROS.iter().find(|(name, _)| name.eq_ignore_ascii_case(trimmed));
            return match known {
                Some((_, expression)) => Self::parse(expression),
                None => Err(whole(trimmed, "is not a known name")),
            };
        }
        let pieces = split(text);
        let (seconds, rest) = match pieces.as_slice() {
            [second, rest @ ..] if pieces.len() == 6 => (plain(&SECOND, *second)?, rest),
            rest if pieces.len() == 5 => (1, rest),
            [] => return Err(whole(trimmed, "has no fields")),
            other => return Err(whole(trimmed, &format!("has {} fields instead of five or six", other.len()))),
        };
        let [minute, hour, day, month, weekday] = rest else {
            return Err(whole(trimmed, "has the wrong number of fields"));
        };
        let mut days = Days { both: is_star(*day) || is_star(*weekday), ..Days::default() };
        let minutes = plain(&MINUTE, *minute)?;
        let hours = plain(&HOUR, *hour)?;
        each(*day, |part| day_of_month(part, &mut days))?;
        let months = plain(&MONTH, *month)?;
        each(*weekday, |part| day_of_week(part, &mut days))?;
        Ok(Self {
            seconds,
            minutes,
            hours: u32::try_from(hours).unwrap_or(u32::MAX),
            months: u16::try_from(months).unwrap_or(u16::MAX),
            days,
            wildcard: is_star(*minute) || is_star(*hour),
        })
    }
}

impl Cron {
    /// Refuses a step that is longer than its field, such as `*/90` for minutes: only the first value would match.
    ///
    /// # Errors
    /// The step.
    pub fn refuse_long_steps(text: &str) -> Result<(), CronError> {
        let pieces = split(text);
        for (field, piece) in FIELDS.iter().skip(6_usize.saturating_sub(pieces.len())).zip(&pieces) {
            each(*piece, |part| match part.split('/') {
                Some((_, step)) => {
                    let size = field.last - field.first + 1;
                    number(field, step, 1, size).map(drop).map_err(|_| {
                        step.error(field, format!("is a step longer than the field, which has {size} values"))
                    })
                }
                None => Ok(()),
            })?;
        }
        Ok(())
    }
}

/// A piece of the text and where it begins, in characters from 0.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Piece<'a> {
    /// The piece without its first bytes.
    fn after(self, bytes: usize) -> Self {
        let (before, text) = self.text.split_at(bytes);
        Self { text, at: self.at + before.chars().count() }
    }

    fn before(self, bytes: usize) -> Self {
        Self { text: &self.text[..bytes], at: self.at }
    }

    /// The pieces before and after a mark.
    fn split(self, mark: char) -> Option<(Self, Self)> {
        let at = self.text.find(mark)?;
        Some((self.before(at), self.after(at + mark.len_utf8())))
    }

    /// The piece without a mark at its end, in either case.
    fn without_suffix(self, mark: char) -> Option<Self> {
        let last = self.text.chars().next_back()?;
        last.eq_ignore_ascii_case(&mark).then(|| self.before(self.text.len() - last.len_utf8()))
    }

    fn error(self, field: &CronField, message: impl Into<String>) -> CronError {
        let (text, message) = (self.text.to_owned(), message.into());
        CronError { field: Some(field.name), text, message, position: self.at + 1 }
    }
}

fn whole(text: &str, message: &str) -> CronError {
    CronError { field: None, text: text.to_owned(), message: message.to_owned(), position: 1 }
}

fn split(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::with_capacity(6);
    let mut rest = Piece { text, at: 0 };
    loop {
        let blank = rest.text.len() - rest.text.trim_start().len();
        rest = rest.after(blank);
        if rest.text.is_empty() {
            return pieces;
        }
        let end = rest.text.find(char::is_whitespace).unwrap_or(rest.text.len());
        pieces.push(rest.before(end));
        rest = rest.after(end);
    }
}

/// Whether a field counts as unrestricted, as in Vixie cron: `*/2` does, too.
fn is_star(field: Piece<'_>) -> bool {
    field.text.starts_with(['*', '?'])
}

/// Reads the elements of a list.
fn each<'a>(field: Piece<'a>, mut read: impl FnMut(Piece<'a>) -> Result<(), CronError>) -> Result<(), CronError> {
    let mut rest = field;
    while let Some((part, after)) = rest.split(',') {
        read(part)?;
        rest = after;
    }
    read(rest)
}

/// Reads a field that holds only numbers, names, ranges and steps.
fn plain(field: &CronField, text: Piece<'_>) -> Result<u64, CronError> {
    let mut set = 0;
    each(text, |part| {
        set |= range(field, part)?;
        Ok(())
    })?;
    Ok(set)
}

fn day_of_month(part: Piece<'_>, days: &mut Days) -> Result<(), CronError> {
    let field = &DAY_OF_MONTH;
    if part.text == "$" {
        days.from_last |= 1;
        return Ok(());
    }
    let (base, weekday) = match part.without_suffix('W') {
        Some(base) => (base, true),
        None => (part, false),
    };
    if base.text.starts_with(['L', 'l']) {
        let back = match base.after(1) {
            rest if rest.text.is_empty() => 0,
            rest if rest.text.starts_with('-') => number(field, rest.after(1), 0, 30)?,
            _ => return Err(part.error(field, "is not a day of the month")),
        };
        let set = if weekday { &mut days.near_from_last } else { &mut days.from_last };
        *set |= 1 << back;
    } else if weekday {
        days.near |= 1 << number(field, base, field.first, field.last)?;
    } else {
        days.of_month |= u32::try_from(range(field, part)?).unwrap_or(u32::MAX);
    }
    Ok(())
}

fn day_of_week(part: Piece<'_>, days: &mut Days) -> Result<(), CronError> {
    let field = &DAY_OF_WEEK;
    if let Some((weekday, week)) = part.split('#') {
        let weekday = value(field, weekday)? % 7;
        let week = number(field, week, 1, 5)?;
        if let Some(set) = days.nth_of_week.get_mut(week as usize - 1) {
            *set |= 1 << weekday;
        }
    } else if let Some(weekday) = part.without_suffix('L') {
        if weekday.text.is_empty() {
            return Err(part.error(field, "must say which day of the week is the last one, as in 5L"));
        }
        days.last_of_week |= 1 << (value(field, weekday)? % 7);
    } else {
        days.of_week |= u8::try_from(range(field, part)?).unwrap_or(u8::MAX);
    }
    Ok(())
}

/// Reads `*`, `n`, `n-m`, each with or without `/step`. `n/step` extends to the end of the field, and a range
/// whose end lies before its beginning wraps around the end of the field.
fn range(field: &CronField, part: Piece<'_>) -> Result<u64, CronError> {
    by_crate(field, part.text).map_or_else(|| own_range(field, part), Ok)
}

/// The members of an element, if the crate `cron` can read it in an expression whose other fields are `*`. The crate
/// counts the days of the week from 1, and accepts more names than are allowed here.
fn by_crate(field: &CronField, element: &str) -> Option<u64> {
    let shift = u32::from(field.name == DAY_OF_WEEK.name);
    let word = |word: &str| match word {
        "*" | "?" => Some("*".to_owned()),
        _ if field.names.iter().any(|name| name.eq_ignore_ascii_case(word)) => Some(word.to_owned()),
        _ => Some(word.parse::<u8>().ok().filter(|_| !word.starts_with('+'))?.checked_add(shift as u8)?.to_string()),
    };
    let (base, step) = element.split_once('/').map_or((element, None), |(base, step)| (base, Some(step)));
    let mut spelled = base.split('-').map(word).collect::<Option<Vec<_>>>()?.join("-");
    if let Some(step) = step {
        spelled = format!("{spelled}/{}", step.parse::<u8>().ok().filter(|_| !step.starts_with('+'))?);
    }
    let place = FIELDS.iter().position(|other| other.name == field.name)?;
    let expression = [["* "; 5].concat().split_at(2 * place).0, &spelled, &" *".repeat(5 - place)].concat();
    let read = Schedule::from_str(&expression).ok()?;
    let members = match place {
        0 => read.seconds().iter(),
        1 => read.minutes().iter(),
        2 => read.hours().iter(),
        3 => read.days_of_month().iter(),
        4 => read.months().iter(),
        _ => read.days_of_week().iter(),
    };
    Some(members.fold(0, |set, member| set | 1 << (member - shift)))
}

/// The same, without the crate.
fn own_range(field: &CronField, part: Piece<'_>) -> Result<u64, CronError> {
    if part.text.is_empty() {
        return Err(part.error(field, "is missing between commas"));
    }
    let (base, step) = match part.split('/') {
        Some((base, step)) => (base, Some(number(field, step, 1, 9999)?)),
        None => (part, None),
    };
    let (first, last) = if matches!(base.text, "*" | "?") {
        (field.first, field.last)
    } else if let Some((first, last)) = base.split('-') {
        bounds(field, value(field, first)?, value(field, last)?)
    } else {
        let first = value(field, base)?;
        if step.is_some() { (first % (field.last + 1), field.last) } else { bounds(field, first, first) }
    };
    Ok(members(field, first, last, step.unwrap_or(1)))
}

/// The ends of a range; Sunday may be 7 there, and is 0 at its beginning.
fn bounds(field: &CronField, first: u32, last: u32) -> (u32, u32) {
    let first = if first > field.last && last <= field.last { field.first } else { first };
    (first, last)
}

/// The members of a range, Sunday always as 0.
fn members(field: &CronField, first: u32, last: u32, step: u32) -> u64 {
    let size = field.last - field.first + 1;
    let last = if last < first { last + size } else { last };
    let mut set = 0;
    let mut at = first;
    while at <= last {
        set |= 1 << (field.first + (at - field.first) % size);
        at += step;
    }
    set
}

/// Reads a number or a name of a field. The day of the week may be 7.
fn value(field: &CronField, piece: Piece<'_>) -> Result<u32, CronError> {
    let named = field.names.iter().position(|name| name.eq_ignore_ascii_case(piece.text));
    if let Some(position) = named {
        return Ok(field.first + u32::try_from(position).unwrap_or(0));
    }
    let last = if field.name == DAY_OF_WEEK.name { 7 } else { field.last };
    number(field, piece, field.first, last)
}

fn number(field: &CronField, piece: Piece<'_>, first: u32, last: u32) -> Result<u32, CronError> {
    if piece.text.is_empty() || !piece.text.bytes().all(|byte| byte.is_ascii_digit()) {
        let wanted = if piece.text.is_empty() { "lacks a number" } else { "is not a number" };
        return Err(piece.error(field, wanted));
    }
    let number = piece.text.parse::<u32>().ok().filter(|number| (first..=last).contains(number));
    number.ok_or_else(|| piece.error(field, format!("is not between {first} and {last}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every element of up to two values and a step, of each field.
    #[test]
    fn reads_what_the_crate_reads_as_the_crate_does() {
        let mut by_both = 0;
        for field in FIELDS {
            let values: Vec<String> = (field.first..=field.last + 1)
                .map(|value| value.to_string())
                .chain(field.names.iter().map(|name| (*name).to_owned()))
                .collect();
            let pairs = values.iter().flat_map(|first| values.iter().map(move |last| format!("{first}-{last}")));
            for base in values.iter().cloned().chain(pairs).chain(["*".to_owned(), "?".to_owned()]) {
                for step in ["", "/0", "/1", "/2", "/5", "/7", "/31", "/60", "/90"] {
                    let text = format!("{base}{step}");
                    let own = own_range(field, Piece { text: &text, at: 0 });
                    if let Some(read) = by_crate(field, &text) {
                        assert_eq!(own, Ok(read), "{text} in {}", field.name);
                        by_both += 1;
                    }
                }
            }
        }
        assert!(by_both > 10_000, "{by_both}");
    }
}

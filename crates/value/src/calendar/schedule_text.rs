//! Reading the text of a schedule: the notations of pg_cron, and intervals.

use chrono::{DateTime, Utc};

use super::{Cron, Interval, Schedule, When};
use crate::fault::{Fault, shorten};

impl Schedule {
    /// Reads a rule as a person writes it: a cron expression of five or six fields, a name such as `@daily` or
    /// `@reboot`, or an interval, optionally after `every`, which starts now.
    ///
    /// # Errors
    /// 22023 if it is none of them or can never fire, 22008 if the interval is too long.
    pub fn parse_text(text: &str, now: DateTime<Utc>) -> Result<When, Fault> {
        let trimmed = text.trim();
        if trimmed.eq_ignore_ascii_case("@reboot") {
            return Ok(When::Reboot);
        }
        let (every, rest) = match strip_word(trimmed, "every") {
            Some(rest) => (true, rest),
            None => (false, trimmed),
        };
        let interval = Interval::parse(rest);
        match interval {
            Ok(interval) if interval.is_positive() => Ok(When::Every { interval, start: now }),
            Ok(_) => Err(not_positive(trimmed)),
            Err(fault) if fault.sqlstate == "22008" => Err(fault),
            Err(_) if !every && looks_like_cron(trimmed) => cron(trimmed),
            Err(_) => Err(Fault::new("22023", format!("invalid schedule: \"{}\"", shorten(trimmed, 100))).hint(
                "Write a cron expression such as \"0 3 * * *\", a name such as @hourly, or an interval such as \
                 30 seconds.",
            )),
        }
    }
}

/// The rest of a text after a word and a blank.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = text.split_once(char::is_whitespace)?;
    first.eq_ignore_ascii_case(word).then_some(rest)
}

/// The fault for an interval that is not positive.
pub fn not_positive(text: &str) -> Fault {
    Fault::new("22023", format!("interval must be positive: \"{}\"", shorten(text, 60)))
}

/// Whether the text is intended as a cron expression, valid or not.
fn looks_like_cron(text: &str) -> bool {
    text.starts_with(['@', '*', '?']) || matches!(text.split_whitespace().take(8).count(), 4..=7)
}

fn cron(text: &str) -> Result<When, Fault> {
    let cron = given_cron(text)?;
    if cron.is_never() { Err(never(text)) } else { Ok(When::Cron(text.to_owned())) }
}

/// The fault for an expression that matches no day.
pub fn never(text: &str) -> Fault {
    Fault::new("22023", format!("cron expression \"{}\" never matches", shorten(text, 100)))
        .detail("No month has such a day.")
}

/// Reads a cron expression that a user gives.
///
/// # Errors
/// 22023 if it cannot be read, or contains a time zone or a step that is longer than its field, which would mean
/// something else than its author intends. Stored expressions may have such steps.
pub fn given_cron(text: &str) -> Result<Cron, Fault> {
    let names_zone = text.split('=').next().is_some_and(|word| matches!(word.trim(), "CRON_TZ" | "TZ"));
    if text.contains('=') && names_zone {
        return Err(Fault::new(
            "22023",
            format!("invalid cron expression \"{}\": it names a time zone", shorten(text, 100)),
        )
        .hint(
            "Give the zone apart: as argument \"timezone\" of a schedule, or as input \"timeZone\" of an activity.",
        ));
    }
    let cron = Cron::parse(text).map_err(|error| error.fault(text))?;
    Cron::refuse_long_steps(text).map_err(|error| error.fault(text))?;
    Ok(cron)
}

/// Whether a time zone is given as an offset from UTC instead of a name of the time zone database.
pub fn is_offset(zone: &str) -> bool {
    const NAMES: [&str; 7] = ["EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT", "GMT0", "GMT+0", "GMT-0"];
    let zone = zone.trim();
    let is_name = zone.contains('/') || NAMES.iter().any(|name| name.eq_ignore_ascii_case(zone));
    !is_name && zone.contains(|c: char| c.is_ascii_digit())
}

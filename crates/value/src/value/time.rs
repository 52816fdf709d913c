//! Texts of instants and spans as .NET, ISO 8601 and PostgreSQL write them.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};

use crate::calendar::Interval;

/// A date and time, read from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateAndTime {
    /// An instant: the text has an offset.
    Instant(DateTime<Utc>),
    /// A time of the wall clock, in a zone that the text does not name.
    Local(NaiveDateTime),
}

/// An instant as text, in UTC.
pub fn instant_text(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Reads an ISO 8601 date, or date and time with or without offset, to the microsecond.
pub fn date_time(text: &str) -> Option<DateAndTime> {
    const LOCAL: [&str; 4] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    const OFFSET: [&str; 4] =
        ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z", "%Y-%m-%d %H:%M%#z"];
    // chrono has no format for a single Z besides %#z.
    let zulu;
    let text = match text.strip_suffix(['Z', 'z']) {
        Some(local) => {
            zulu = format!("{local}+00:00");
            &zulu
        }
        None => text,
    };
    let instant = DateTime::parse_from_rfc3339(text)
        .ok()
        .or_else(|| OFFSET.iter().find_map(|format| DateTime::parse_from_str(text, format).ok()));
    if let Some(instant) = instant {
        return Some(DateAndTime::Instant(DateTime::from_timestamp_micros(instant.timestamp_micros())?));
    }
    let local = LOCAL
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .or_else(|| Some(NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_time(NaiveTime::MIN)))?;
    Some(DateAndTime::Local(DateTime::from_timestamp_micros(local.and_utc().timestamp_micros())?.naive_utc()))
}

/// Whether a text is an ISO 8601 date, or date and time with or without offset.
pub fn is_date_time(text: &str) -> bool {
    date_time(text).is_some()
}

/// Whether a text is a span: whatever [`Interval`] reads, or .NET's bare number of days.
pub fn is_time_span(text: &str) -> bool {
    let days = text.strip_prefix('-').unwrap_or(text);
    let is_days = matches!(days.len(), 1..=8) && days.bytes().all(|byte| byte.is_ascii_digit());
    is_days || Interval::parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants() {
        for text in [
            "2026-11-21",
            "2026-11-21T01:23:45Z",
            "2026-11-21T01:23:45.678+02:00",
            "2026-11-21 01:23:45",
            "2026-11-21 01:23:45.5+00",
            "2026-11-21T01:23Z",
        ] {
            assert!(is_date_time(text), "{text}");
        }
        for text in ["", "tomorrow", "2026-13-01", "2026-11-21T25:00:00Z", "Z", "ä"] {
            assert!(!is_date_time(text), "{text}");
        }
    }

    #[test]
    fn spans() {
        for text in [
            "00:01:00",
            "1.02:03:04.5",
            "-00:00:05",
            "7",
            "1:02",
            "PT5M",
            "P1DT2H",
            "P2W",
            "PT0.5S",
            "1:0:0:0",
            "25:00:00",
            "5 minutes",
            "1 mon 2 days",
        ] {
            assert!(is_time_span(text), "{text}");
        }
        for text in ["", "-", "00:61:00", "1.25:00:00", "five minutes", "P", "PT", "P1S", "PTS", "1:2:3:4:5", "Pä"] {
            assert!(!is_time_span(text), "{text}");
        }
    }
}

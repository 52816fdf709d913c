//! Texts of instants and spans as .NET and ISO 8601 write them. Only checked here: they stay text.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

/// Whether a text is an ISO 8601 date, or date and time with or without offset.
pub(crate) fn is_date_time(text: &str) -> bool {
    const LOCAL: [&str; 4] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    const OFFSET: [&str; 4] =
        ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z", "%Y-%m-%d %H:%M%#z"];
    // chrono has no format for a bare Z beside %#z.
    let zulu;
    let text = match text.strip_suffix(['Z', 'z']) {
        Some(local) => {
            zulu = format!("{local}+00:00");
            &zulu
        }
        None => text,
    };
    DateTime::parse_from_rfc3339(text).is_ok()
        || LOCAL.iter().any(|format| NaiveDateTime::parse_from_str(text, format).is_ok())
        || OFFSET.iter().any(|format| DateTime::parse_from_str(text, format).is_ok())
        || NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// Whether a text is a span: .NET's `[-][d.]hh:mm[:ss[.fffffff]]` or a number of days, or ISO 8601 (`PT5M`).
pub(crate) fn is_time_span(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    is_dotnet_span(text) || is_iso_span(text)
}

fn is_dotnet_span(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let within = |text: &str, max: u32| {
        matches!(text.len(), 1 | 2) && is_digits(text) && text.parse::<u32>().is_ok_and(|number| number <= max)
    };
    let days = |text: &str| is_digits(text) && text.len() <= 8;
    let hours = |text: &str| match text.split_once('.') {
        Some((before, hours)) => days(before) && within(hours, 23),
        None => within(text, 23),
    };
    let seconds = |text: &str| match text.split_once('.') {
        Some((seconds, fraction)) => within(seconds, 59) && is_digits(fraction) && fraction.len() <= 7,
        None => within(text, 59),
    };
    match parts.as_slice() {
        [whole] => days(whole),
        [first, minutes] => hours(first) && within(minutes, 59),
        [first, minutes, last] => hours(first) && within(minutes, 59) && seconds(last),
        [first, second, minutes, last] => days(first) && within(second, 23) && within(minutes, 59) && seconds(last),
        _ => false,
    }
}

fn is_iso_span(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['P', 'p']) else {
        return false;
    };
    let (date, time) = match rest.split_once(['T', 't']) {
        Some((date, time)) if !time.is_empty() => (date, time),
        Some(_) => return false,
        None => (rest, ""),
    };
    !(date.is_empty() && time.is_empty()) && has_units(date, "YMWD") && has_units(time, "HMS")
}

/// Whether a text is a sequence of numbers each followed by a unit, units in this order and none twice.
fn has_units(mut text: &str, units: &str) -> bool {
    let mut allowed = units;
    while !text.is_empty() {
        let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let number = &text[..length];
        let Some(unit) = text[length..].chars().next() else {
            return false;
        };
        let Some(at) = allowed.find(unit.to_ascii_uppercase()) else {
            return false;
        };
        if number.parse::<f64>().is_err() {
            return false;
        }
        allowed = &allowed[at + 1..];
        text = &text[length + unit.len_utf8()..];
    }
    true
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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
        for text in ["00:01:00", "1.02:03:04.5", "-00:00:05", "7", "1:02", "PT5M", "P1DT2H", "P2W", "PT0.5S", "1:0:0:0"]
        {
            assert!(is_time_span(text), "{text}");
        }
        for text in ["", "-", "00:61:00", "25:00:00", "five minutes", "P", "PT", "P1S", "PTS", "1:2:3:4:5", "Pä"] {
            assert!(!is_time_span(text), "{text}");
        }
    }
}

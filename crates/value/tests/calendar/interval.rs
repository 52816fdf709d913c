//! Intervals: three notations, PostgreSQL's arithmetic, and texts that the parser refuses.

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use workflow_value::calendar::{Interval, Utc0};

use crate::{at, zone};

fn interval(months: i32, days: i32, micros: i64) -> Interval {
    Interval { months, days, micros }
}

fn parsed(text: &str) -> Interval {
    Interval::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3600 * SECOND;
const DAY: i64 = 24 * HOUR;

#[test]
fn dotnet_writes_exact_time() {
    for (text, micros) in [
        ("00:01:00", 60 * SECOND),
        ("1.02:03:04.5", DAY + 2 * HOUR + 184 * SECOND + 500_000),
        ("-00:00:05", -5 * SECOND),
        ("-1.00:00:00", -DAY),
        ("1:02", HOUR + 120 * SECOND),
        ("1:2:3:4", DAY + 2 * HOUR + 184 * SECOND),
        ("00:00:00.1234567", 123_457),
        (" 00:00:00 ", 0),
        ("25:00:00", 25 * HOUR),
        ("10675199.02:48:05.4775807", 10_675_199 * DAY + 2 * HOUR + 48 * 60 * SECOND + 5_477_581),
    ] {
        assert_eq!(parsed(text), interval(0, 0, micros), "{text}");
    }
}

#[test]
fn iso_8601() {
    for (text, months, days, micros) in [
        ("P1DT2H", 0, 1, 2 * HOUR),
        ("P1W", 0, 7, 0),
        ("P1Y2M3DT4H5M6.789S", 14, 3, 4 * HOUR + 306 * SECOND + 789_000),
        ("PT0.5S", 0, 0, 500_000),
        ("PT0,5S", 0, 0, 500_000),
        ("P0.5D", 0, 0, 12 * HOUR),
        ("P1.5W", 0, 10, 12 * HOUR),
        ("P1.5M", 1, 15, 0),
        ("P0.5Y", 6, 0, 0),
        ("-PT5M", 0, 0, -300 * SECOND),
        ("P-1DT-2H", 0, -1, -2 * HOUR),
        ("pt36h", 0, 0, 36 * HOUR),
    ] {
        assert_eq!(parsed(text), interval(months, days, micros), "{text}");
    }
}

#[test]
fn postgresql() {
    for (text, months, days, micros) in [
        ("1 day 2 hours", 0, 1, 2 * HOUR),
        ("1 mon", 1, 0, 0),
        ("5 min", 0, 0, 300 * SECOND),
        ("5min", 0, 0, 300 * SECOND),
        ("1h30m", 0, 0, HOUR + 1800 * SECOND),
        ("1 day 02:00:00", 0, 1, 2 * HOUR),
        ("10 seconds", 0, 0, 10 * SECOND),
        ("2 weeks", 0, 14, 0),
        ("1 year 2 mons", 14, 0, 0),
        ("1.5 hours", 0, 0, HOUR + 1800 * SECOND),
        ("1.5 days", 0, 1, 12 * HOUR),
        ("1.5 months", 1, 15, 0),
        ("0.1 year", 1, 0, 0),
        (".5 s", 0, 0, 500_000),
        ("100 ms", 0, 0, 100_000),
        ("1 us", 0, 0, 1),
        ("3 centuries 1 decade", 3720, 0, 0),
        ("@ 1 hour ago", 0, 0, -HOUR),
        ("-1 day +02:03:04", 0, -1, 2 * HOUR + 184 * SECOND),
        ("1 day -00:00:01.5", 0, 1, -1_500_000),
        ("1 Day 2 HOURS", 0, 1, 2 * HOUR),
        ("+00:05:00", 0, 0, 300 * SECOND),
    ] {
        assert_eq!(parsed(text), interval(months, days, micros), "{text}");
    }
}

#[test]
fn what_is_no_interval_is_refused() {
    for text in [
        "",
        " ",
        "-",
        "5",
        "-5",
        "5.5",
        "five minutes",
        "P",
        "PT",
        "P1",
        "P1S",
        "PTS",
        "P1D2Y",
        "PT1H1H",
        "1:2:3:4:5",
        "00:61",
        "1 day 2 days",
        "1 day 00:01 00:02",
        "day",
        "1 fortnight",
        "ago",
        "1 day ago 2 hours",
        "1e3 seconds",
        "infinity",
        "0x10 seconds",
        "1..5 days",
        "1.2.3:4:5",
        "00:00:",
        "::",
        "Pä",
        "ä",
        "1 ä",
        "--5 s",
        "5 s s",
        "00:+1:00",
        "P+",
        "@",
    ] {
        let fault = Interval::parse(text).expect_err(text);
        assert!(["22007", "22008"].contains(&fault.sqlstate.as_str()), "{text}: {fault}");
        assert_eq!(fault.sqlstate == "22008", text == "00:61", "{text}: {fault}");
    }
    for text in [
        "3000000000 months",
        "99999999999999999999 days",
        "200000000 years",
        "300000000 hours 9223372036854 seconds",
        "9999999999999 s",
        "P9999999999Y",
        "9999999999999.00:00:00",
        "1.25:00:00",
        "00:00:60",
    ] {
        let fault = Interval::parse(text).expect_err(text);
        assert_eq!(fault.sqlstate, "22008", "{text}: {fault}");
    }
    // security.md#what-an-input-can-do: an interval has at most 255 bytes
    Interval::parse(&format!("1{}second", " ".repeat(248))).expect("255 bytes");
    Interval::parse(&format!("1{}second", " ".repeat(249))).expect_err("256 bytes");
    let long = format!("{} seconds", "1".repeat(1_000_000));
    assert!(Interval::parse(&long).expect_err("too long").message.len() < 200);
}

#[test]
fn months_and_days_follow_the_clock_and_the_rest_passes() {
    for (from, text, place, to) in [
        ("2026-01-31T10:00:00Z", "1 mon", "", "2026-02-28T10:00:00Z"),
        ("2028-01-31T10:00:00Z", "1 mon", "", "2028-02-29T10:00:00Z"),
        ("2028-02-29T10:00:00Z", "1 year", "", "2029-02-28T10:00:00Z"),
        ("2026-03-31T10:00:00Z", "-1 mon", "", "2026-02-28T10:00:00Z"),
        ("2026-03-28T12:00:00+01:00", "1 day", "Europe/Berlin", "2026-03-29T12:00:00+02:00"),
        ("2026-03-28T12:00:00+01:00", "24:00:00", "Europe/Berlin", "2026-03-29T13:00:00+02:00"),
        ("2026-03-28T12:00:00+01:00", "1.00:00:00", "Europe/Berlin", "2026-03-29T13:00:00+02:00"),
        // SELECT '2026-03-28 02:30+01'::timestamptz + '1 day' in Europe/Berlin: in the gap, the offset before it.
        ("2026-03-28T02:30:00+01:00", "1 day", "Europe/Berlin", "2026-03-29T03:30:00+02:00"),
        // In the overlap, the offset after it.
        ("2026-10-24T02:30:00+02:00", "1 day", "Europe/Berlin", "2026-10-25T02:30:00+01:00"),
        ("2026-09-25T02:30:00+02:00", "1 mon", "Europe/Berlin", "2026-10-25T02:30:00+01:00"),
        ("2026-03-29T00:30:00+01:00", "02:00:00", "Europe/Berlin", "2026-03-29T03:30:00+02:00"),
        ("2018-11-03T00:30:00-03:00", "1 day", "America/Sao_Paulo", "2018-11-04T01:30:00-02:00"),
        ("2011-12-29T10:00:00-10:00", "1 day", "Pacific/Apia", "2011-12-31T10:00:00+14:00"),
    ] {
        let found = parsed(text).after(at(from), zone(place).as_ref());
        assert_eq!(found, Some(at(to)), "{from} + {text} in {place}");
    }
}

#[test]
fn what_leads_out_of_time_is_none() {
    let (first, last) = (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC);
    let berlin = zone("Europe/Berlin");
    for text in ["1 us", "1 day", "1 mon", "178956970 years", "106751991 days"] {
        assert_eq!(parsed(text).after(last, &Utc0), None, "{text}");
        assert_eq!(parsed(text).times(-1).expect("an interval").after(first, &Utc0), None, "{text}");
        let _ = parsed(text).after(last, berlin.as_ref());
        let _ = parsed(text).after(first, berlin.as_ref());
    }
    assert_eq!(parsed("1 day").times(i64::MAX), None);
    assert_eq!(parsed("1 us").times(i64::MIN), Some(interval(0, 0, i64::MIN)));
}

#[test]
fn positive_leads_forward() {
    for (text, positive) in [
        ("1 us", true),
        ("00:00:00", false),
        ("-1 day", false),
        ("1 day -1 hour", true),
        ("1 mon -27 days", true),
        ("1 mon -28 days", false),
        ("-1 mon +31 days", false),
        ("-1 mon +32 days", true),
    ] {
        assert_eq!(parsed(text).is_positive(), positive, "{text}");
    }
}

#[test]
fn texts() {
    for (text, postgres, dotnet) in [
        ("P1Y2M3DT4H5M6.789S", "1 year 2 mons 3 days 04:05:06.789", "1 year 2 mons 3 days 04:05:06.789"),
        ("-1 year 2 mons", "-10 mons", "-10 mons"),
        ("-1 day 02:00:00", "-1 days +02:00:00", "-1 days +02:00:00"),
        ("1 mon -2 days 3 h", "1 mon -2 days +03:00:00", "1 mon -2 days +03:00:00"),
        ("0 s", "00:00:00", "00:00:00"),
        ("90 min", "01:30:00", "01:30:00"),
        ("-36 h", "-36:00:00", "-1.12:00:00"),
        ("1.5 s", "00:00:01.5", "00:00:01.5000000"),
        ("7 days", "7 days", "7 days"),
    ] {
        assert_eq!(parsed(text).to_string(), postgres, "{text}");
        assert_eq!(parsed(text).to_time_span(), dotnet, "{text}");
    }
}

proptest! {
    #[test]
    fn text_reads_back(months in any::<i32>(), days in any::<i32>(), micros in any::<i64>()) {
        for found in [interval(months, days, micros), interval(0, 0, micros), interval(months, 0, 0), interval(0, days, 0)] {
            prop_assert_eq!(parsed(&found.to_string()), found);
            prop_assert_eq!(parsed(&found.to_time_span()), found);
            let json = serde_json::to_value(found).expect("JSON");
            prop_assert_eq!(serde_json::from_value::<Interval>(json).expect("an interval"), found);
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC*", like in "[-+:.,@PTYMWDHSdhms0-9 ]{0,30}") {
        let _ = Interval::parse(&text);
        if let Ok(interval) = Interval::parse(&like) {
            for from in [DateTime::<Utc>::MIN_UTC, at("2026-11-21T00:00:00Z"), DateTime::<Utc>::MAX_UTC] {
                let _ = interval.after(from, &Utc0);
            }
        }
    }

    #[test]
    fn no_arithmetic_panics(months in any::<i32>(), days in any::<i32>(), micros in any::<i64>(), from in any::<i64>(), n in any::<i64>()) {
        let interval = interval(months, days, micros);
        let berlin = zone("Europe/Berlin");
        if let Some(from) = DateTime::from_timestamp_micros(from) {
            let _ = interval.after(from, berlin.as_ref());
        }
        let _ = (interval.times(n), interval.is_positive());
    }
}

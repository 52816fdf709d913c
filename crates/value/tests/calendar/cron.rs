//! Cron expressions in UTC: what they match, and what is refused.

use std::time::Duration;

use chrono::{DateTime, Utc};
use cpu_time::ThreadTime;
use workflow_value::calendar::{Cron, Utc0};

use crate::{assert_fires, at, cron, fires};

/// Days on which an expression fires at midnight, from a date on, as `MM-DD`.
fn days(text: &str, after: &str, most: usize) -> Vec<String> {
    let after = format!("{after}T00:00:00Z");
    fires(text, "", &after, most).iter().map(|at| at.format("%m-%d").to_string()).collect()
}

#[test]
fn five_fields_begin_with_minutes_and_six_with_seconds() {
    assert_fires("5 4 * * *", "", "2026-11-21T04:05:00Z", &["2026-11-22T04:05:00Z", "2026-11-23T04:05:00Z"]);
    assert_fires("5 4 3 * * *", "", "2026-11-21T03:04:04.999999Z", &["2026-11-21T03:04:05Z"]);
    // Elsa's own tests: every hour, every second, midnight, the first of the month.
    assert_fires("0 0 * * * *", "", "2026-11-21T10:15:30Z", &["2026-11-21T11:00:00Z", "2026-11-21T12:00:00Z"]);
    assert_fires("* * * * * *", "", "2026-11-21T10:15:30.5Z", &["2026-11-21T10:15:31Z", "2026-11-21T10:15:32Z"]);
    assert_fires("0 0 0 * * *", "", "2026-12-31T12:00:00Z", &["2027-01-01T00:00:00Z"]);
    assert_fires("0 0 0 1 * *", "", "2026-11-21T12:00:00Z", &["2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"]);
}

#[test]
fn steps_lists_and_ranges() {
    let minutes = |text: &str| -> Vec<String> {
        let fires = fires(&format!("{text} * * * *"), "", "2026-11-20T23:59:59Z", 60);
        let hour = at("2026-11-21T01:00:00Z");
        fires.iter().take_while(|at| **at < hour).map(|at| at.format("%M").to_string()).collect()
    };
    assert_eq!(minutes("*/15"), ["00", "15", "30", "45"]);
    assert_eq!(minutes("5/20"), ["05", "25", "45"]);
    assert_eq!(minutes("10-20/5"), ["10", "15", "20"]);
    assert_eq!(minutes("7,3,3,59"), ["03", "07", "59"]);
    assert_eq!(minutes("58-1"), ["00", "01", "58", "59"]);
    assert_eq!(minutes("*/90"), ["00"]);
    assert_eq!(minutes("1-4,*/30"), ["00", "01", "02", "03", "04", "30"]);
    assert_eq!(minutes("07"), ["07"]);
    assert_fires(
        "0 22-1/2 * * *",
        "",
        "2026-11-21T12:00:00Z",
        &["2026-11-21T22:00:00Z", "2026-11-22T00:00:00Z", "2026-11-22T22:00:00Z"],
    );
}

#[test]
fn sunday_is_0_and_7_and_names_know_no_case() {
    // 2026-11-22 is a Sunday.
    for text in ["0 0 * * 0", "0 0 * * 7", "0 0 * * SUN", "0 0 * * sun", "@weekly", "@Weekly"] {
        assert_eq!(days(text, "2026-11-21", 3), ["11-22", "11-29", "12-06"], "{text}");
    }
    assert_eq!(days("0 0 * * 5-7", "2026-11-18", 4), ["11-20", "11-21", "11-22", "11-27"]);
    assert_eq!(days("0 0 * * FRI-MON", "2026-11-18", 5), ["11-20", "11-21", "11-22", "11-23", "11-27"]);
    assert_eq!(days("0 0 * * 7-2", "2026-11-18", 4), ["11-22", "11-23", "11-24", "11-29"]);
    assert_eq!(days("0 0 * * Mon,wed", "2026-11-18", 3), ["11-23", "11-25", "11-30"]);
    assert_eq!(days("0 0 * * 1-7/3", "2026-11-18", 4), ["11-19", "11-22", "11-23", "11-26"]);
    assert_eq!(days("0 0 1 jan,DEC *", "2026-11-18", 3), ["12-01", "01-01", "12-01"]);
    assert_eq!(days("0 0 1 NOV-FEB/3 *", "2026-11-18", 2), ["02-01", "11-01"]);
}

#[test]
fn day_of_month_or_day_of_week_where_both_are_restricted() {
    // The example of crontab(5): the 1st and 15th, and every Friday.
    assert_eq!(days("0 0 1,15 * 5", "2026-11-12", 6), ["11-13", "11-15", "11-20", "11-27", "12-01", "12-04"]);
    assert_eq!(days("0 0 13 * *", "2026-11-12", 2), ["11-13", "12-13"]);
    assert_eq!(days("0 0 ? * FRI", "2026-11-12", 2), ["11-13", "11-20"]);
    // A leading star counts as unrestricted, whatever follows it: both must match.
    assert_eq!(days("0 0 */2 * 1", "2026-11-12", 3), ["11-23", "12-07", "12-21"]);
    assert_eq!(days("0 0 1-7 * */7", "2026-11-12", 2), ["12-06", "01-03"]);
    // Without a star, even a range of all days of the month counts as a restriction.
    assert_eq!(days("0 0 1-31 * 1", "2026-11-12", 3), ["11-13", "11-14", "11-15"]);
}

#[test]
fn month_ends_and_leap_days() {
    assert_eq!(days("0 0 31 * *", "2026-11-12", 3), ["12-31", "01-31", "03-31"]);
    assert_eq!(days("0 0 30 * *", "2027-01-31", 1), ["03-30"]);
    let years = |text: &str, after: &str, most| -> Vec<String> {
        fires(text, "", after, most).iter().map(|at| at.format("%Y-%m-%d").to_string()).collect()
    };
    assert_eq!(years("0 0 29 2 *", "2026-11-12T00:00:00Z", 2), ["2028-02-29", "2032-02-29"]);
    assert_eq!(years("0 0 29 2 *", "2096-02-29T00:00:00Z", 1), ["2104-02-29"]);
    assert_eq!(years("0 0 29 2 *", "1996-02-29T00:00:00Z", 1), ["2000-02-29"]);
    // 29 February on a Monday; both must match for the leading star: none between 2072 and 2112.
    assert_eq!(years("0 0 29-29 2 *", "2071-01-01T00:00:00Z", 1), ["2072-02-29"]);
    assert_eq!(years("0 0 */28 2 MON", "2072-02-29T00:00:00Z", 1), ["2077-02-01"]);
    assert_eq!(years("0 0 L 2 *", "2099-06-01T00:00:00Z", 2), ["2100-02-28", "2101-02-28"]);
}

#[test]
fn last_days_nearest_weekdays_and_numbered_weekdays() {
    for text in ["0 0 L * *", "0 0 $ * *", "0 0 l * ?", "0 0 0 L * *"] {
        assert_eq!(days(text, "2027-01-15", 3), ["01-31", "02-28", "03-31"], "{text}");
    }
    assert_eq!(days("0 0 L-3 * *", "2027-01-15", 2), ["01-28", "02-25"]);
    assert_eq!(days("0 0 L-30 * *", "2027-01-15", 2), ["03-01", "05-01"]);
    assert_eq!(days("0 0 1,$ * *", "2027-01-15", 3), ["01-31", "02-01", "02-28"]);
    // January 2027 ends on a Sunday, February too, March on a Wednesday.
    assert_eq!(days("0 0 LW * *", "2027-01-15", 3), ["01-29", "02-26", "03-31"]);
    assert_eq!(days("0 0 L-1W * *", "2027-01-15", 2), ["01-29", "02-26"]);
    // 15 August 2026 is a Saturday, 15 November a Sunday; 1 August a Saturday, 1 November a Sunday.
    assert_eq!(days("0 0 15W * *", "2026-08-01", 4), ["08-14", "09-15", "10-15", "11-16"]);
    assert_eq!(days("0 0 1W * *", "2026-07-31", 4), ["08-03", "09-01", "10-01", "11-02"]);
    // 31 January 2027 is a Sunday; months without a 31st are left out.
    assert_eq!(days("0 0 31W * *", "2027-01-15", 2), ["01-29", "03-31"]);
    for text in ["0 0 * * 5L", "0 0 * * FRIL", "0 0 ? * fril"] {
        assert_eq!(days(text, "2027-01-15", 3), ["01-29", "02-26", "03-26"], "{text}");
    }
    assert_eq!(days("0 0 * * 7L", "2027-01-15", 2), ["01-31", "02-28"]);
    assert_eq!(days("0 0 * * MON#2", "2027-01-15", 2), ["02-08", "03-08"]);
    assert_eq!(days("0 0 * * 1#5", "2027-01-15", 2), ["03-29", "05-31"]);
    assert_eq!(days("0 0 * * 7#1,TUE#1", "2027-01-15", 3), ["02-02", "02-07", "03-02"]);
    // Friday the 13th needs both fields to match, which only a leading star asks for; by Vixie's rule either matches.
    assert_eq!(days("0 0 13 * FRI#2", "2026-11-01", 3), ["11-13", "12-11", "12-13"]);
}

#[test]
fn names_for_expressions() {
    for (name, text) in [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@HOURLY", "0 * * * *"),
        ("@every_minute", "* * * * *"),
        ("@every_second", "* * * * * *"),
    ] {
        assert_eq!(cron(name), cron(text), "{name}");
    }
}

#[test]
fn what_is_wrong_is_pointed_at() {
    for (text, field, piece, position) in [
        ("60 * * * *", "minute", "60", 1),
        ("* 24 * * *", "hour", "24", 3),
        ("* * 0 * *", "day of month", "0", 5),
        ("* * 32 * *", "day of month", "32", 5),
        ("* * * 13 *", "month", "13", 7),
        ("* * * * 8", "day of week", "8", 9),
        ("* * * * FUN", "day of week", "FUN", 9),
        ("* * * * MON#6", "day of week", "6", 13),
        ("* * * * MON#0", "day of week", "0", 13),
        ("* * * * #2", "day of week", "", 9),
        ("* * * * L", "day of week", "L", 9),
        ("*  1-5/0 * * *", "hour", "0", 8),
        ("*/ * * * *", "minute", "", 3),
        ("1,,2 * * * *", "minute", "", 3),
        ("1- * * * *", "minute", "", 3),
        ("-1 * * * *", "minute", "", 1),
        ("1-2-3 * * * *", "minute", "2-3", 3),
        ("* * L+1 * *", "day of month", "L+1", 5),
        ("* * L-31 * *", "day of month", "31", 7),
        ("* * 1-5W * *", "day of month", "1-5", 5),
        ("* * W * *", "day of month", "", 5),
        ("* * 15L * *", "day of month", "15L", 5),
        ("ü * * * *", "minute", "ü", 1),
        ("* ١ * * *", "hour", "١", 3),
        ("99999999999999999999 * * * *", "minute", "99999999999999999999", 1),
        ("60 * * * * *", "second", "60", 1),
        ("JAN * * * *", "minute", "JAN", 1),
        ("H * * * *", "minute", "H", 1),
    ] {
        let error = Cron::parse(text).expect_err(text);
        let found = (error.field, error.text.as_str(), error.position);
        assert_eq!(found, (Some(field), piece, position), "{text}: {error}");
        assert_eq!(error.fault(text).sqlstate, "22023");
    }
    for text in ["", "  ", "*", "* * * *", "* * * * * * *", "@", "@often", "BadCronExpression"] {
        let error = Cron::parse(text).expect_err(text);
        assert_eq!(error.field, None, "{text}");
        assert!(!error.fault(text).message.is_empty());
    }
    let message = Cron::parse("* 24 * * *").expect_err("an hour").fault("* 24 * * *").message;
    assert_eq!(
        message,
        "invalid cron expression \"* 24 * * *\": \"24\" in field \"hour\" (position 3) is not between 0 and 23"
    );
}

#[test]
fn what_never_matches_is_found_out_quickly() {
    let begin = ThreadTime::now();
    for text in ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "* * 30W 2 *", "0 0 L-30 2 *"] {
        assert_eq!(cron(text).next_after(at("2026-11-21T00:00:00Z"), &Utc0), None, "{text}");
        assert!(cron(text).is_never());
    }
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert!(!cron("0 0 29 2 *").is_never());
}

#[test]
fn the_ends_of_time_end_the_search() {
    for text in ["* * * * * *", "0 0 1 1 *", "0 */2 29 2 *"] {
        let cron = cron(text);
        assert_eq!(cron.next_after(DateTime::<Utc>::MAX_UTC, &Utc0), None, "{text}");
        let first = cron.next_after(DateTime::<Utc>::MIN_UTC, &Utc0);
        assert!(first.is_none_or(|first| first > DateTime::<Utc>::MIN_UTC), "{text}");
    }
}

//! Cron expressions where clocks change: gaps and overlaps, in zones with different rules.

use crate::{assert_fires, fires};

#[test]
fn berlin_a_fixed_time_in_the_gap_runs_right_after_it_once() {
    // 29 March 2026, 02:00 becomes 03:00.
    assert_fires(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-28T00:00:00Z",
        &["2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"],
    );
    // Times that the gap skips run as one, together with the time that is due at its end.
    assert_fires(
        "0,15,30,45 2,3 * * *",
        "Europe/Berlin",
        "2026-03-28T22:00:00Z",
        &["2026-03-29T03:00:00+02:00", "2026-03-29T03:15:00+02:00", "2026-03-29T03:30:00+02:00"],
    );
    assert_fires(
        "0 0 2 * * *",
        "Europe/Berlin",
        "2026-03-28T22:00:00Z",
        &["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"],
    );
}

#[test]
fn berlin_a_fixed_time_in_the_overlap_runs_the_first_time_only() {
    // 25 October 2026, 03:00 becomes 02:00.
    assert_fires(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"],
    );
    assert_fires("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", &["2026-10-26T02:30:00+01:00"]);
    assert_fires(
        "0 2,3 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+01:00", "2026-10-26T02:00:00+01:00"],
    );
}

#[test]
fn berlin_a_wildcard_follows_the_clock() {
    assert_fires(
        "30 * * * *",
        "Europe/Berlin",
        "2026-03-29T00:00:00Z",
        &["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z"],
    );
    assert_fires(
        "30 * * * *",
        "Europe/Berlin",
        "2026-10-24T23:40:00Z",
        &["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00"],
    );
    // Times with `*` in an hour that does not exist do not run on that day.
    assert_fires("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", &["2026-03-30T02:00:00+02:00"]);
    assert_fires(
        "*/30 2 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &[
            "2026-10-25T02:00:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-26T02:00:00+01:00",
        ],
    );
    assert_fires(
        "0 */2 * * *",
        "Europe/Berlin",
        "2026-03-28T22:30:00Z",
        &["2026-03-29T00:00:00+01:00", "2026-03-29T04:00:00+02:00"],
    );
    // 24 hours, minus one, plus one.
    let minutes = |after: &str| fires("* * * * *", "Europe/Berlin", after, 2000);
    let until =
        |fires: Vec<chrono::DateTime<chrono::Utc>>, end: &str| fires.iter().filter(|at| **at <= crate::at(end)).count();
    assert_eq!(until(minutes("2026-03-29T00:00:00+01:00"), "2026-03-30T00:00:00+02:00"), 23 * 60);
    assert_eq!(until(minutes("2026-10-25T00:00:00+02:00"), "2026-10-26T00:00:00+01:00"), 25 * 60);
}

#[test]
fn new_york_and_a_rare_day_in_the_gap() {
    // 8 March 2026 and 1 November 2026 at 02:00.
    assert_fires(
        "0 2 * * SUN",
        "America/New_York",
        "2026-03-02T00:00:00Z",
        &["2026-03-08T03:00:00-04:00", "2026-03-15T02:00:00-04:00"],
    );
    assert_fires(
        "15 1 1 * *",
        "America/New_York",
        "2026-10-15T00:00:00Z",
        &["2026-11-01T01:15:00-04:00", "2026-12-01T01:15:00-05:00"],
    );
    assert_fires(
        "30 2 8 3 *",
        "America/New_York",
        "2025-06-01T00:00:00Z",
        &["2026-03-08T03:00:00-04:00", "2027-03-08T02:30:00-05:00"],
    );
}

#[test]
fn lord_howe_moves_by_half_an_hour() {
    // 4 October 2026, 02:00 becomes 02:30; 5 April 2026, 02:00 becomes 01:30.
    assert_fires(
        "15 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-03T00:00:00Z",
        &["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"],
    );
    assert_fires(
        "45 1 * * *",
        "Australia/Lord_Howe",
        "2026-04-04T00:00:00Z",
        &["2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"],
    );
    assert_fires(
        "45 * * * *",
        "Australia/Lord_Howe",
        "2026-04-04T14:00:00Z",
        &["2026-04-05T01:45:00+11:00", "2026-04-05T01:45:00+10:30", "2026-04-05T02:45:00+10:30"],
    );
    assert_fires(
        "0,15 * * * *",
        "Australia/Lord_Howe",
        "2026-10-03T14:50:00Z",
        &["2026-10-04T03:00:00+11:00", "2026-10-04T03:15:00+11:00"],
    );
}

#[test]
fn sao_paulo_changed_at_midnight_until_2019() {
    // 4 November 2018, 00:00 became 01:00; 18 February 2018, 00:00 became 23:00 of the day before.
    assert_fires(
        "0 0 * * *",
        "America/Sao_Paulo",
        "2018-11-03T12:00:00Z",
        &["2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"],
    );
    assert_fires(
        "30 23 * * SAT",
        "America/Sao_Paulo",
        "2018-02-17T12:00:00Z",
        &["2018-02-17T23:30:00-02:00", "2018-02-24T23:30:00-03:00"],
    );
    assert_fires(
        "0 0 * * *",
        "America/Sao_Paulo",
        "2018-02-17T12:00:00Z",
        &["2018-02-18T00:00:00-03:00", "2018-02-19T00:00:00-03:00"],
    );
    assert_fires(
        "0 0 * * *",
        "America/Sao_Paulo",
        "2026-11-03T12:00:00Z",
        &["2026-11-04T00:00:00-03:00", "2026-11-05T00:00:00-03:00"],
    );
}

#[test]
fn a_day_that_an_island_left_out() {
    // Samoa had no 30 December 2011.
    assert_fires(
        "0 12 * * *",
        "Pacific/Apia",
        "2011-12-29T00:00:00Z",
        &["2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"],
    );
    assert_fires(
        "0 */12 * * *",
        "Pacific/Apia",
        "2011-12-29T20:00:00Z",
        &["2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"],
    );
}

#[test]
fn far_away_candidates_are_reached_over_many_changes() {
    assert_fires(
        "30 * 29 2 *",
        "Europe/Berlin",
        "2026-10-25T00:50:00Z",
        &["2028-02-29T00:30:00+01:00", "2028-02-29T01:30:00+01:00"],
    );
    assert_fires("* 2 29 2 *", "America/New_York", "2096-03-01T00:00:00Z", &["2104-02-29T02:00:00-05:00"]);
}

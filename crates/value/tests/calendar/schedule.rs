//! Schedules: reading them, and what a due schedule fires.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use cpu_time::ThreadTime;
use proptest::prelude::*;
use serde_json::json;
use workflow_value::calendar::{Interval, MISFIRE_CAP_MAX, Misfire, Overlap, Schedule, Utc0, When, Zone};

use crate::{at, zone};

const GRACE: TimeDelta = TimeDelta::seconds(60);

fn every(text: &str, start: &str) -> Schedule {
    Schedule::new(When::Every { interval: Interval::parse(text).expect(text), start: at(start) })
}

fn cron(text: &str) -> Schedule {
    Schedule::new(When::Cron(text.into()))
}

fn with(mut schedule: Schedule, misfire: Misfire) -> Schedule {
    schedule.misfire = misfire;
    schedule
}

/// `HH:MM` of the occurrences that fire, how many do not, and when the schedule is due next.
fn planned(schedule: &Schedule, due: &str, now: &str) -> (Vec<String>, u64, Option<String>) {
    let plan = schedule.due_fires(at(due), at(now), GRACE, &Utc0);
    let text = |at: &DateTime<Utc>| at.format("%H:%M").to_string();
    (plan.fire.iter().map(text).collect(), plan.unfired, plan.next.as_ref().map(text))
}

fn outcome(fire: &[&str], unfired: u64, next: &str) -> (Vec<String>, u64, Option<String>) {
    (fire.iter().map(|text| (*text).to_owned()).collect(), unfired, Some(next.to_owned()))
}

/// Planning once took time in proportion to the months in between.
#[test]
fn what_was_missed_in_forty_thousand_years_is_counted_by_rounds_of_the_calendar() {
    let begin = |year| chrono::NaiveDate::from_ymd_opt(year, 2, 29).expect("a leap day").and_hms_opt(0, 0, 0);
    let at = |year| begin(year).expect("midnight").and_utc();
    // 97 leap days in 400 years.
    for (rule, missed) in [("0 0 29 2 *", 97 * 100), ("0 0 * * *", 146_097 * 100), ("0 0 * * mon", 20_871 * 100)] {
        let plan = cron(rule).due_fires(at(2000), at(42_000), GRACE, &Utc0);
        assert_eq!((plan.fire.len(), plan.unfired), (1, missed), "{rule}");
    }
}

#[test]
fn each_misfire_policy() {
    use Misfire::{All, Once, Skip};
    let due = "2026-11-21T10:00:00Z";
    for schedule in
        [cron("0 * * * *"), every("01:00:00", "2026-11-21T00:00:00Z"), every("1 hour", "2025-03-01T05:00:00Z")]
    {
        let check = |misfire, now: &str, fire: &[&str], missed, next| {
            let found = planned(&with(schedule.clone(), misfire), due, now);
            assert_eq!(found, outcome(fire, missed, next), "{misfire:?} at {now} of {schedule:?}");
        };
        // In time.
        for misfire in [Once, Skip, All] {
            check(misfire, "2026-11-21T10:00:00.005Z", &["10:00"], 0, "11:00");
            check(misfire, "2026-11-21T10:01:00Z", &["10:00"], 0, "11:00");
        }
        // Late, but no other occurrence is due.
        check(Once, "2026-11-21T10:30:00Z", &["10:00"], 0, "11:00");
        check(Skip, "2026-11-21T10:30:00Z", &[], 1, "11:00");
        check(All, "2026-11-21T10:30:00Z", &["10:00"], 0, "11:00");
        // Three missed.
        check(Once, "2026-11-21T12:30:00Z", &["12:00"], 2, "13:00");
        check(Skip, "2026-11-21T12:30:00Z", &[], 3, "13:00");
        check(All, "2026-11-21T12:30:00Z", &["10:00", "11:00", "12:00"], 0, "13:00");
        // Two missed, and an occurrence in time that stands for them.
        check(Once, "2026-11-21T12:00:01Z", &["12:00"], 2, "13:00");
        check(Skip, "2026-11-21T12:00:01Z", &["12:00"], 2, "13:00");
        check(All, "2026-11-21T12:00:01Z", &["10:00", "11:00", "12:00"], 0, "13:00");
        let mut capped = with(schedule.clone(), All);
        capped.misfire_cap = 2;
        assert_eq!(planned(&capped, due, "2026-11-21T12:30:00Z"), outcome(&["11:00", "12:00"], 1, "13:00"));
    }
}

#[test]
fn what_is_due_once_fires_once() {
    let schedule = Schedule::new(When::At(at("2026-11-21T10:00:00Z")));
    assert_eq!(schedule.first_after(at("2026-11-21T09:00:00Z"), &Utc0), Some(at("2026-11-21T10:00:00Z")));
    assert_eq!(schedule.first_after(at("2026-11-21T10:00:00Z"), &Utc0), None);
    for (misfire, fires) in [(Misfire::Once, 1), (Misfire::Skip, 0), (Misfire::All, 1)] {
        let plan = with(schedule.clone(), misfire).due_fires(
            at("2026-11-21T10:00:00Z"),
            at("2027-11-21T10:00:00Z"),
            GRACE,
            &Utc0,
        );
        assert_eq!((plan.fire.len(), plan.unfired, plan.next), (fires, 1 - fires as u64, None));
    }
    let early = schedule.due_fires(at("2026-11-21T10:00:00Z"), at("2026-11-21T09:00:00Z"), GRACE, &Utc0);
    assert_eq!((early.fire.len(), early.next), (0, Some(at("2026-11-21T10:00:00Z"))));
    assert_eq!(Schedule::new(When::Reboot).first_after(at("2026-11-21T10:00:00Z"), &Utc0), None);
}

#[test]
fn a_long_downtime_costs_little() {
    let (due, now) = (at("2026-01-01T00:00:00Z"), at("2036-01-01T00:00:00Z"));
    let seconds = u64::try_from((now - due).num_seconds()).expect("positive");
    let berlin = zone("Europe/Berlin");
    let rules = [cron("* * * * * *"), every("1 second", "2026-01-01T00:00:00Z"), cron("*/10 * * * * *")];
    for (rule, zone, expected) in [
        (&rules[0], &Utc0 as &dyn Zone, seconds + 1),
        (&rules[1], &Utc0, seconds + 1),
        (&rules[1], berlin.as_ref(), seconds + 1),
        (&rules[0], berlin.as_ref(), seconds + 1),
        (&rules[2], berlin.as_ref(), seconds / 10 + 1),
    ] {
        for misfire in [Misfire::Once, Misfire::Skip, Misfire::All] {
            let begin = ThreadTime::now();
            let plan = with(rule.clone(), misfire).due_fires(due, now, GRACE, zone);
            assert!(begin.elapsed() < Duration::from_secs(20), "{misfire:?} of {rule:?}: {:?}", begin.elapsed());
            assert_eq!(plan.unfired + plan.fire.len() as u64, expected, "{misfire:?} of {rule:?}");
            assert_eq!(plan.fire.len(), if misfire == Misfire::All { 100 } else { 1 });
            assert_eq!(plan.fire.last(), Some(&now));
            assert!(plan.fire.is_sorted());
            assert!(plan.next.expect("a next one") > now);
        }
    }
    let mut greedy = with(rules[0].clone(), Misfire::All);
    greedy.misfire_cap = u32::MAX;
    assert_eq!(greedy.due_fires(due, now, GRACE, &Utc0).fire.len(), MISFIRE_CAP_MAX as usize);
    greedy.misfire_cap = 0;
    assert_eq!(greedy.due_fires(due, now, GRACE, &Utc0).fire, [now]);
}

#[test]
fn intervals_are_measured_from_their_anchor() {
    let month = every("1 mon", "2026-01-31T10:00:00Z");
    let mut last = at("2026-01-31T10:00:00Z");
    let mut days = Vec::new();
    for _ in 0..4 {
        last = month.first_after(last, &Utc0).expect("a next one");
        days.push(last.format("%m-%d").to_string());
    }
    assert_eq!(days, ["02-28", "03-31", "04-30", "05-31"]);
    // Noon stays noon.
    let berlin = zone("Europe/Berlin");
    let day = every("1 day", "2026-03-28T12:00:00+01:00");
    assert_eq!(
        day.first_after(at("2026-03-28T12:00:00+01:00"), berlin.as_ref()),
        Some(at("2026-03-29T12:00:00+02:00"))
    );
    let far = day.first_after(at("2096-07-01T12:00:00+02:00"), berlin.as_ref());
    assert_eq!(far, Some(at("2096-07-02T12:00:00+02:00")));
    // An anchor to come, and one so near the end of time that nothing follows.
    let later = every("1 hour", "2030-01-01T00:00:00Z");
    assert_eq!(later.first_after(at("2026-01-01T00:00:00Z"), &Utc0), Some(at("2030-01-01T01:00:00Z")));
    let end = Schedule::new(When::Every {
        interval: Interval::parse("1 year").expect("a year"),
        start: DateTime::<Utc>::MAX_UTC - TimeDelta::days(2),
    });
    assert_eq!(end.first_after(DateTime::<Utc>::MAX_UTC - TimeDelta::days(1), &Utc0), None);
    let none = every("-1 day", "2030-01-01T00:00:00Z");
    assert_eq!(none.first_after(at("2026-01-01T00:00:00Z"), &Utc0), None);
}

#[test]
fn a_timer_keeps_its_anchor_when_it_is_published_again() {
    let stored = every("1 hour", "2026-01-01T00:00:00Z");
    let again = with(every("60 minutes", "2026-06-01T00:10:00Z"), Misfire::Skip).anchored_as(&stored);
    assert_eq!(again, with(stored.clone(), Misfire::Skip));
    let other = every("2 hours", "2026-06-01T00:10:00Z");
    assert_eq!(other.clone().anchored_as(&stored), other);
    assert_eq!(cron("* * * * *").anchored_as(&stored), cron("* * * * *"));
}

#[test]
fn jitter_is_within_its_bound() {
    let due = at("2026-11-21T10:00:00Z");
    let mut schedule = cron("0 * * * *");
    assert_eq!(schedule.jittered(due, u64::MAX), due);
    schedule.jitter = Some(Interval::parse("30 seconds").expect("an interval"));
    assert_eq!(schedule.jittered(due, 0), due);
    assert_eq!(schedule.jittered(due, 30_000_000), due + TimeDelta::seconds(30));
    assert_eq!(schedule.jittered(due, 30_000_001), due);
    assert_eq!(schedule.jittered(DateTime::<Utc>::MAX_UTC, 5), DateTime::<Utc>::MAX_UTC);
    schedule.jitter = Some(Interval { months: i32::MAX, days: i32::MAX, micros: i64::MAX });
    let _ = schedule.jittered(due, u64::MAX);
    schedule.jitter = Some(Interval { months: -1, days: 0, micros: 0 });
    assert_eq!(schedule.jittered(due, 7), due);
}

#[test]
fn what_a_person_writes() {
    let now = at("2026-11-21T10:00:00Z");
    let parsed = |text: &str| Schedule::parse_text(text, now);
    for text in ["0 3 * * *", "*/5 * * * *", "0 0 $ * *", "@hourly", "0 0 3 * * MON-FRI", "  @daily "] {
        assert_eq!(parsed(text), Ok(When::Cron(text.trim().into())), "{text}");
    }
    assert_eq!(parsed("@reboot"), Ok(When::Reboot));
    for (text, interval) in [
        ("10 seconds", "10 s"),
        ("59 seconds", "59 s"),
        ("every 5 minutes", "00:05:00"),
        ("Every 1 day", "1 day"),
        ("PT5M", "00:05:00"),
        ("00:00:30", "00:00:30"),
        ("1 day 2 hours 3 min", "1 day 02:03:00"),
    ] {
        let interval = Interval::parse(interval).expect(interval);
        assert_eq!(parsed(text), Ok(When::Every { interval, start: now }), "{text}");
    }
    for (text, sqlstate, piece) in [
        ("", "22023", "invalid schedule"),
        ("soon", "22023", "invalid schedule"),
        ("5", "22023", "invalid schedule"),
        ("0 seconds", "22023", "must be positive"),
        ("every -1 day", "22023", "must be positive"),
        ("every soon", "22023", "invalid schedule"),
        ("9999999999999 years", "22008", "out of range"),
        ("61 * * * *", "22023", "\"61\" in field \"minute\""),
        ("* * * *", "22023", "has 4 fields"),
        ("@often", "22023", "not a known name"),
        ("0 0 30 2 *", "22023", "never matches"),
    ] {
        let fault = parsed(text).expect_err(text);
        assert_eq!(fault.sqlstate, sqlstate, "{text}: {fault}");
        assert!(fault.message.contains(piece), "{text}: {fault}");
    }
}

#[test]
fn stored_form() {
    let mut schedule = every("1 mon 2 days", "2026-11-21T10:00:00Z");
    schedule.time_zone = Some("Europe/Berlin".into());
    schedule.overlap = Overlap::Queue;
    schedule.jitter = Some(Interval::parse("5 s").expect("an interval"));
    let stored = json!({
        "when": {"every": {"interval": "1 mon 2 days", "start": "2026-11-21T10:00:00Z"}},
        "timeZone": "Europe/Berlin", "misfire": "once", "misfireCap": 100, "overlap": "queue", "jitter": "00:00:05",
    });
    assert_eq!(serde_json::to_value(&schedule).expect("JSON"), stored);
    assert_eq!(serde_json::from_value::<Schedule>(stored).expect("a schedule"), schedule);
    for when in [When::Reboot, When::Cron("@daily".into()), When::At(at("2026-11-21T10:00:00.123456Z"))] {
        let schedule = Schedule::new(when);
        let stored = serde_json::to_string(&schedule).expect("JSON");
        assert_eq!(serde_json::from_str::<Schedule>(&stored).expect("a schedule"), schedule);
    }
    let least: Schedule = serde_json::from_value(json!({"when": "reboot"})).expect("a schedule");
    assert_eq!(least, Schedule::new(When::Reboot));
}

fn rule() -> impl Strategy<Value = Schedule> {
    let crons = ["0 * * * *", "*/7 * * * *", "30 2 * * *", "0 0 1 * *", "15 1-3 * * SUN", "0 30 */2 * * *"];
    let intervals = ["00:07:00", "1 day", "1 mon", "1 mon -3 days", "1 day 03:00:00", "36 hours"];
    let start = 1_770_000_000i64..1_800_000_000;
    prop_oneof![
        prop::sample::select(crons.to_vec()).prop_map(cron),
        (prop::sample::select(intervals.to_vec()), start).prop_map(|(text, start)| Schedule::new(When::Every {
            interval: Interval::parse(text).expect(text),
            start: DateTime::from_timestamp(start, 0).expect("an instant"),
        })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Compares the plan with stepping through the occurrences one by one.
    #[test]
    fn a_plan_is_what_its_occurrences_say(
        rule in rule(),
        place in prop::sample::select(vec!["", "Europe/Berlin", "Australia/Lord_Howe", "America/New_York"]),
        from in 1_770_000_000i64..1_800_000_000,
        downtime in 0i64..4_000_000,
        cap in 1u32..20,
        misfire in prop::sample::select(vec![Misfire::Once, Misfire::Skip, Misfire::All]),
    ) {
        let zone = zone(place);
        let mut rule = with(rule, misfire);
        rule.misfire_cap = cap;
        let due = rule.first_after(DateTime::from_timestamp(from, 0).expect("an instant"), zone.as_ref()).expect("a fire");
        let now = due + TimeDelta::seconds(downtime);
        let mut all = vec![due];
        let next = loop {
            let next = rule.first_after(all[all.len() - 1], zone.as_ref()).expect("a next one");
            prop_assert!(next > all[all.len() - 1]);
            if next > now {
                break next;
            }
            all.push(next);
        };
        let plan = rule.due_fires(due, now, GRACE, zone.as_ref());
        prop_assert_eq!(plan.next, Some(next));
        let latest = all[all.len() - 1];
        let expected = match misfire {
            Misfire::Once => vec![latest],
            Misfire::Skip if now - latest <= GRACE => vec![latest],
            Misfire::Skip => vec![],
            Misfire::All => all[all.len().saturating_sub(cap as usize)..].to_vec(),
        };
        // Beyond a thousand, occurrences that do not fire are counted by the wall clock, up to its changes.
        let rest = (all.len() - expected.len()) as u64;
        if all.len() <= 1000 { prop_assert_eq!(plan.unfired, rest) } else { prop_assert!(plan.unfired.abs_diff(rest) <= 9) }
        prop_assert_eq!(plan.fire, expected);
    }

    #[test]
    fn no_schedule_text_panics(text in "\\PC*", like in "(every )?[-*/0-9a-zA-Z@$ :.]{0,30}") {
        let now = at("2026-11-21T10:00:00Z");
        for text in [text, like] {
            if let Ok(when) = Schedule::parse_text(&text, now) {
                let schedule = Schedule::new(when);
                let _ = schedule.due_fires(now, DateTime::<Utc>::MAX_UTC - TimeDelta::days(400), GRACE, &Utc0);
                let _ = schedule.first_after(DateTime::<Utc>::MAX_UTC, &Utc0);
            }
        }
    }
}

//! Properties of cron expressions, against oracles: a clock that steps second by second or minute by minute, and
//! the crate `cron` for expressions that both read alike.

use std::str::FromStr;

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, Timelike, Utc};
use proptest::prelude::*;
use workflow_value::calendar::{Cron, Utc0, Zone};

use crate::{at, zone};

/// One field: its text, the values that it matches, and whether it begins with a star.
#[derive(Clone, Debug)]
struct Field {
    text: String,
    members: Vec<u32>,
    star: bool,
}

/// Parts of fields without star, by numbers; the end of a range may lie before its beginning.
fn part(first: u32, last: u32) -> impl Strategy<Value = (String, Vec<u32>)> {
    let size = last - first + 1;
    (first..=last, first..=last, 1u32..20, 0..3).prop_map(move |(from, to, step, kind)| {
        let length = (to + size - from) % size;
        let wrapped = |n: u32| first + (from - first + n) % size;
        match kind {
            0 => (from.to_string(), vec![from]),
            1 => (format!("{from}-{to}"), (0..=length).map(wrapped).collect()),
            _ => (format!("{from}-{to}/{step}"), (0..=length).step_by(step as usize).map(wrapped).collect()),
        }
    })
}

fn field(first: u32, last: u32) -> impl Strategy<Value = Field> {
    let star = Just(Field { text: "*".into(), members: (first..=last).collect(), star: true });
    let steps = (2u32..=last).prop_map(move |step| Field {
        text: format!("*/{step}"),
        members: (first..=last).step_by(step as usize).collect(),
        star: true,
    });
    let list = prop::collection::vec(part(first, last), 1..4).prop_map(|parts| Field {
        text: parts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(","),
        members: parts.into_iter().flat_map(|(_, members)| members).collect(),
        star: false,
    });
    prop_oneof![star, steps, list]
}

/// Minute, hour, day of month, month, day of week.
fn five() -> impl Strategy<Value = [Field; 5]> {
    (field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)).prop_map(|(a, b, c, d, e)| [a, b, c, d, e])
}

fn text_of(fields: &[Field]) -> String {
    fields.iter().map(|field| field.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn matches(fields: &[Field; 5], local: NaiveDateTime) -> bool {
    let [minute, hour, day, month, weekday] = fields;
    let day_matches = day.members.contains(&local.day());
    let weekday_matches = weekday.members.contains(&local.weekday().num_days_from_sunday());
    let days = if day.star || weekday.star { day_matches && weekday_matches } else { day_matches || weekday_matches };
    days && month.members.contains(&local.month())
        && hour.members.contains(&local.hour())
        && minute.members.contains(&local.minute())
        && local.second() == 0
}

fn local(at: DateTime<Utc>, zone: &dyn Zone) -> NaiveDateTime {
    at.naive_utc() + TimeDelta::seconds(zone.offset_at(at).into())
}

/// Steps the clock minute by minute. A fixed time fires when the clock first shows it or a later one.
fn watched(fields: &[Field; 5], zone: &dyn Zone, after: DateTime<Utc>, minutes: i64) -> Option<DateTime<Utc>> {
    let minute = TimeDelta::minutes(1);
    let wildcard = fields[0].star || fields[1].star;
    let begin = at("1970-01-01T00:00:00Z") + minute * i32::try_from(after.timestamp() / 60).expect("a minute") + minute;
    let before = (1..=26 * 60).map(|back| local(begin - minute * back, zone)).max().expect("some");
    let (mut shown, mut now) = (before, begin);
    for _ in 0..minutes {
        let shows = local(now, zone);
        if wildcard {
            if matches(fields, shows) {
                return Some(now);
            }
        } else if shows > shown {
            let mut passed = shown + minute;
            while passed <= shows {
                if matches(fields, passed) {
                    return Some(now);
                }
                passed += minute;
            }
            shown = shows;
        }
        now += minute;
    }
    None
}

/// Places and times near changes of the clocks, and others.
const PLACES: [(&str, &str); 9] = [
    ("Europe/Berlin", "2026-03-28T20:00:00Z"),
    ("Europe/Berlin", "2026-10-24T20:00:00Z"),
    ("America/New_York", "2026-03-08T02:00:00Z"),
    ("America/New_York", "2026-11-01T01:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T10:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T10:00:00Z"),
    ("America/Sao_Paulo", "2018-11-03T22:00:00Z"),
    ("America/Sao_Paulo", "2018-02-17T20:00:00Z"),
    ("Pacific/Apia", "2011-12-29T20:00:00Z"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn agrees_with_a_clock_that_is_watched(
        fields in five(),
        hours in prop::sample::select(vec!["2", "1-3", "0", "23", "*", "*/2"]),
        narrow in any::<bool>(),
        place in 0..PLACES.len(),
        offset in 0i64..36_000,
    ) {
        const WATCHED: i64 = 3 * 24 * 60;
        let mut fields = fields;
        if narrow {
            // Clocks change at night, so hours at night are near the change.
            let members: Vec<u32> = match hours { "2" => vec![2], "1-3" => vec![1, 2, 3], "0" => vec![0], "23" => vec![23],
                "*" => (0..24).collect(), _ => (0..24).step_by(2).collect() };
            fields[1] = Field { text: hours.into(), members, star: hours.starts_with('*') };
            for (at, range) in [(2, 1..=31), (3, 1..=12), (4, 0..=6)] {
                fields[at] = Field { text: "*".into(), members: range.collect(), star: true };
            }
        }
        let text = text_of(&fields);
        let cron = Cron::parse(&text).expect(&text);
        let (name, around) = PLACES[place];
        let zone = zone(name);
        let mut after = at(around) + TimeDelta::seconds(offset);
        for _ in 0..4 {
            let expected = watched(&fields, zone.as_ref(), after, WATCHED);
            let found = cron.next_after(after, zone.as_ref());
            match expected {
                Some(expected) => prop_assert_eq!(found, Some(expected), "{} in {} after {}", text, name, after),
                None => {
                    let end = after + TimeDelta::minutes(WATCHED);
                    prop_assert!(found.is_none_or(|found| found >= end - TimeDelta::minutes(1)), "{}", text);
                    break;
                }
            }
            after = expected.expect("found");
        }
    }

    #[test]
    fn agrees_with_a_clock_that_is_watched_by_the_second(
        second in field(0, 59), minute in field(0, 59), from in 1_790_000_000i64..1_800_000_000,
    ) {
        let text = format!("{} {} * * * *", second.text, minute.text);
        let cron = Cron::parse(&text).expect(&text);
        let found = cron.next_after(DateTime::from_timestamp(from, 999_999_999).expect("an instant"), &Utc0);
        let expected = (from + 1..).map(|second| DateTime::from_timestamp(second, 0).expect("an instant"))
            .find(|at| second.members.contains(&at.second()) && minute.members.contains(&at.minute()));
        prop_assert_eq!(found, expected, "{}", text);
    }

    /// The crate counts Sunday as 1, requires both day of month and day of week to match, and has no wrapping ranges.
    #[test]
    fn agrees_with_the_crate_cron_where_both_mean_the_same(
        fields in five(), second in 0u32..60, weekdays in any::<bool>(), from in 0i64..4_000_000_000,
    ) {
        let plain = |members: &[u32], shift: u32| {
            members.iter().map(|member| (member + shift).to_string()).collect::<Vec<_>>().join(",")
        };
        let [minute, hour, day, month, weekday] = &fields;
        let (minute, hour, month) = (plain(&minute.members, 0), plain(&hour.members, 0), plain(&month.members, 0));
        let (ours, theirs) = if weekdays {
            (format!("* {month} {}", plain(&weekday.members, 0)), format!("* {month} {}", plain(&weekday.members, 1)))
        } else {
            let day = plain(&day.members, 0);
            (format!("{day} {month} *"), format!("{day} {month} *"))
        };
        let ours = format!("{second} {minute} {hour} {ours}");
        let oracle = cron::Schedule::from_str(&format!("{second} {minute} {hour} {theirs}")).expect("a schedule");
        let after = DateTime::from_timestamp(from, 0).expect("an instant");
        let mut expected = oracle.after(&after);
        let mut last = after;
        let cron = Cron::parse(&ours).expect(&ours);
        for _ in 0..5 {
            // The crate ends in the year 2100.
            let (Some(found), Some(theirs)) = (cron.next_after(last, &Utc0), expected.next()) else { break };
            prop_assert_eq!(found, theirs, "{}", ours);
            last = found;
        }
    }

    #[test]
    fn increases_strictly_in_every_zone(fields in five(), zone_name in prop::sample::select(chrono_tz::TZ_VARIANTS.to_vec()), from in -2_000_000_000i64..6_000_000_000) {
        let text = text_of(&fields);
        let cron = Cron::parse(&text).expect(&text);
        let zone = zone(zone_name.name());
        let mut last = DateTime::from_timestamp(from, 0).expect("an instant");
        for _ in 0..50 {
            let Some(next) = cron.next_after(last, zone.as_ref()) else { break };
            prop_assert!(next > last, "{} in {}: {} after {}", text, zone_name, next, last);
            last = next;
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC*", like in "[-*/,#?LW$@0-9A-Za-z ]{0,30}", pieces in prop::collection::vec("[-*/,#?LW$0-9]{1,6}", 5..7)) {
        for text in [text, like, pieces.join(" ")] {
            if let Ok(cron) = Cron::parse(&text) {
                let _ = cron.next_after(at("2026-11-21T00:00:00Z"), &Utc0);
            }
        }
    }
}

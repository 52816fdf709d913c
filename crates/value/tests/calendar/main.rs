//! The calendar: intervals, cron expressions and schedules, in zones of the IANA database.

mod cron;
mod cron_clocks;
mod cron_properties;
mod interval;
mod schedule;

use chrono::{DateTime, Offset, TimeZone, Utc};
use workflow_value::calendar::{Cron, Utc0, Zone};

/// A zone of the IANA database.
struct Named(chrono_tz::Tz);

impl Zone for Named {
    fn offset_at(&self, utc: DateTime<Utc>) -> i32 {
        self.0.offset_from_utc_datetime(&utc.naive_utc()).fix().local_minus_utc()
    }
}

/// An instant, with any offset.
fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_utc()
}

/// A zone by name; an empty name is UTC.
fn zone(name: &str) -> Box<dyn Zone> {
    if name.is_empty() { Box::new(Utc0) } else { Box::new(Named(name.parse().expect("a zone"))) }
}

fn cron(text: &str) -> Cron {
    Cron::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The next fires after an instant; checks that they increase.
fn fires(text: &str, zone_name: &str, after: &str, most: usize) -> Vec<DateTime<Utc>> {
    let (cron, zone) = (cron(text), zone(zone_name));
    let mut last = at(after);
    let mut found = Vec::new();
    while found.len() < most {
        let Some(next) = cron.next_after(last, zone.as_ref()) else {
            break;
        };
        assert!(next > last, "{text} in {zone_name}: {next} is not after {last}");
        found.push(next);
        last = next;
    }
    found
}

fn assert_fires(text: &str, zone_name: &str, after: &str, expected: &[&str]) {
    let expected: Vec<_> = expected.iter().map(|text| at(text)).collect();
    assert_eq!(fires(text, zone_name, after, expected.len()), expected, "{text} in {zone_name} after {after}");
}

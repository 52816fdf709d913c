//! Intervals and schedules: the text of an interval is read back as the same interval, and planning is fast however
//! many occurrences were missed.
//!
//! An input is a text, a zone and up to three instants (when it was made, when it was due, now), one to a line.
#![no_main]

use chrono::TimeDelta;
use libfuzzer_sys::fuzz_target;
use workflow_engine::calendar::{Interval, Misfire, Overlap, Schedule};
use workflow_fuzz::time::{instant, zone};

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let text = lines.next().unwrap_or_default();
    let zone = zone(lines.next().unwrap_or_default());
    let mut instant = || instant(lines.next().unwrap_or_default());
    let (made, due, now) = (instant(), instant(), instant());
    if let Ok(interval) = Interval::parse(text) {
        assert_eq!(Interval::parse(&interval.to_string()).ok(), Some(interval), "{interval}");
        interval.to_time_span();
        interval.after(due, zone.as_ref());
    }
    let _ = (Misfire::parse(text), Overlap::parse(text));
    let Ok(when) = Schedule::parse_text(text, made) else { return };
    let mut schedule = Schedule::new(when);
    if let Some(first) = schedule.first_after(now, zone.as_ref()) {
        assert!(first > now);
        schedule.jittered(first, 7);
    }
    for misfire in [Misfire::Once, Misfire::Skip, Misfire::All] {
        schedule.misfire = misfire;
        let plan = schedule.due_fires(due, now, TimeDelta::minutes(1), zone.as_ref());
        assert!(plan.fire.is_sorted() && plan.fire.len() <= schedule.misfire_cap as usize);
        assert!(plan.next.is_none_or(|next| next > now));
    }
});

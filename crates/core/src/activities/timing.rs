//! Common inputs of the timing activities, and functions that read them.

use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::activity::handle::inputs;
use crate::activity::{InputDescriptor, NonEmpty};
use crate::bookmark::NewBookmark;
use crate::execution::Execution;
use crate::journal::EventKind;
use workflow_value::calendar::{self, Cron, Interval, Misfire, Overlap, Schedule, When, Zone, instant_of};
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::{DateAndTime, date_time, to_text};

/// The time zone of all these activities.
pub(super) const TIME_ZONE: InputDescriptor = InputDescriptor::new(
    "timeZone",
    "String",
    "Time zone for days, months and times without an offset, such as Europe/Berlin; by default the session's.",
)
.checked(check_zone);

// The inputs of an activity that a timer may fire as a trigger.
inputs! {
    pub(super) fn inputs(own: InputDescriptor);
    pub(super) OWN: NonEmpty = own,
    pub(super) ZONE_NAME: Value = TIME_ZONE,
    MISFIRE: Value = InputDescriptor::new(
        "misfire",
        "String",
        "As a trigger, the policy for missed fires: once (all of them together), skip or all.",
    )
    .default("\"once\"")
    .checked(check_misfire)
    .choices(&["once", "skip", "all"]),
    MISFIRE_CAP: Value =
        InputDescriptor::new("misfireCap", "Integer", "How many missed fires \"all\" makes up for; these are the last ones.")
            .default("100")
            .checked(check_cap),
    OVERLAP: Value = InputDescriptor::new(
        "overlap",
        "String",
        "As a trigger, the policy for a fire while an earlier run has not ended: allow, skip or queue.",
    )
    .default("\"allow\"")
    .checked(check_overlap)
    .choices(&["allow", "skip", "queue"]),
    JITTER: Value =
        InputDescriptor::new("jitter", "TimeSpan", "As a trigger, each fire is delayed by a random time up to this.")
            .checked(check_jitter),
}

/// The name in the input [`TIME_ZONE`].
fn zone_name(cx: &Execution<'_>) -> Option<String> {
    Some(to_text(cx.peek(ZONE_NAME)).trim().to_owned()).filter(|name| !name.is_empty())
}

/// The first occurrence of a schedule from now on, in the zone of the activity.
pub(super) fn first_after_now(cx: &Execution<'_>, schedule: &Schedule) -> Result<Option<DateTime<Utc>>, Fault> {
    let zone = cx.zone(schedule.time_zone.as_deref())?;
    Ok(schedule.first_after(cx.instant(), zone.as_ref()))
}

/// The time zone of the activity; without a name, the session's zone.
pub(super) fn zone(cx: &Execution<'_>) -> Result<Rc<dyn Zone>, Fault> {
    cx.zone(zone_name(cx).as_deref())
}

/// A schedule with the policies of the inputs. A time zone that does not exist faults here, before anything is stored.
pub(super) fn schedule(cx: &Execution<'_>, when: When) -> Result<Schedule, Fault> {
    let time_zone = zone_name(cx);
    cx.zone(time_zone.as_deref())?;
    let jitter = match cx.peek(JITTER) {
        Value::Null => None,
        value => Some(jitter(value)?),
    };
    Ok(Schedule {
        when,
        time_zone,
        misfire: misfire(cx.peek(MISFIRE))?,
        misfire_cap: cap(cx.peek(MISFIRE_CAP))?,
        overlap: overlap(cx.peek(OVERLAP))?,
        jitter,
    })
}

/// Waits until an instant, and writes that instant into the journal.
pub(super) fn wait(cx: &mut Execution<'_>, at: DateTime<Utc>, payload: Value) -> Result<(), Fault> {
    cx.journal(EventKind::Note, Some(payload.clone()));
    cx.create_bookmark(NewBookmark { payload: Some(payload), due_at: Some(at), ..NewBookmark::default() })?;
    Ok(())
}

/// Waits for a number of seconds. 0 ends the burst, and a timer immediately starts the next one.
pub(super) fn wait_seconds(cx: &mut Execution<'_>, seconds: i64) -> Result<(), Fault> {
    let due_at = Some(cx.instant() + chrono::TimeDelta::seconds(seconds));
    cx.create_bookmark(NewBookmark { due_at, auto_complete: false, ..NewBookmark::default() }).map(drop)
}

/// Reads a text as an instant, in this zone if it has no offset. `None`: it is no date.
pub(super) fn read_instant(text: &str, zone: &dyn Zone) -> Result<Option<DateTime<Utc>>, Fault> {
    match date_time(text.trim()) {
        Some(DateAndTime::Instant(at)) => Ok(Some(at)),
        Some(DateAndTime::Local(local)) => instant_of(local, zone).map(Some).ok_or_else(out_of_range),
        None => Ok(None),
    }
}

/// Reads a value as an interval.
pub(super) fn interval(value: &Value) -> Result<Interval, Fault> {
    let text = to_text(value);
    // A number alone means days, as in .NET.
    let days = text.strip_prefix('-').unwrap_or(&text);
    match !days.is_empty() && days.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Interval::parse(&format!("{text}.00:00:00")),
        false => Interval::parse(&text),
    }
}

/// Reads a value as an interval, which must be positive.
pub(super) fn positive_interval(value: &Value) -> Result<Interval, Fault> {
    let interval = interval(value)?;
    if interval.is_positive() { Ok(interval) } else { Err(calendar::not_positive(&to_text(value))) }
}

/// The fault for an instant out of range.
pub(super) fn out_of_range() -> Fault {
    Fault::new("22008", "timestamp out of range")
}

fn misfire(value: &Value) -> Result<Misfire, Fault> {
    if value.is_null() { Ok(Misfire::default()) } else { Misfire::parse(&to_text(value)) }
}

fn overlap(value: &Value) -> Result<Overlap, Fault> {
    if value.is_null() { Ok(Overlap::default()) } else { Overlap::parse(&to_text(value)) }
}

fn cap(value: &Value) -> Result<u32, Fault> {
    if value.is_null() {
        return Ok(calendar::MISFIRE_CAP);
    }
    let cap = value
        .as_i64()
        .and_then(|cap| u32::try_from(cap).ok())
        .filter(|cap| (1..=calendar::MISFIRE_CAP_MAX).contains(cap));
    cap.ok_or_else(|| {
        Fault::new("22023", format!("\"misfireCap\" must be between 1 and {}", calendar::MISFIRE_CAP_MAX))
    })
}

fn jitter(value: &Value) -> Result<Interval, Fault> {
    let interval = interval(value)?;
    if interval == Interval::default() || interval.is_positive() {
        return Ok(interval);
    }
    Err(Fault::new("22023", "\"jitter\" must not be negative"))
}

/// Checks a constant interval.
pub(super) fn check_interval(value: &Value) -> Result<(), Fault> {
    interval(value).map(drop)
}

/// Checks a constant interval that must be positive.
pub(super) fn check_positive(value: &Value) -> Result<(), Fault> {
    positive_interval(value).map(drop)
}

/// Reads a cron expression, which must match some day.
pub(super) fn cron(text: &str) -> Result<Cron, Fault> {
    let cron = Cron::parse(text).map_err(|error| error.fault(text))?;
    if cron.is_never() { Err(calendar::never(text)) } else { Ok(cron) }
}

/// Checks a constant zone: PostgreSQL interprets an offset as POSIX does, with the sign inverted.
fn check_zone(value: &Value) -> Result<(), Fault> {
    let name = to_text(value);
    if !calendar::is_offset(&name) {
        return Ok(());
    }
    Err(Fault::new(
        "22023",
        format!("time zone \"{}\" is an offset, not a name such as Asia/Kolkata", shorten(&name, 60)),
    ))
}

/// Checks a constant cron expression.
pub(super) fn check_cron(value: &Value) -> Result<(), Fault> {
    let text = to_text(value);
    calendar::given_cron(&text)?;
    cron(&text).map(drop)
}

fn check_misfire(value: &Value) -> Result<(), Fault> {
    misfire(value).map(drop)
}

fn check_overlap(value: &Value) -> Result<(), Fault> {
    overlap(value).map(drop)
}

fn check_cap(value: &Value) -> Result<(), Fault> {
    cap(value).map(drop)
}

fn check_jitter(value: &Value) -> Result<(), Fault> {
    jitter(value).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_stand_where_they_are_read() {
        let all = inputs(InputDescriptor::new("own", "String", ""));
        assert_eq!(all[OWN.index].name, "own");
        let names = ["timeZone", "misfire", "misfireCap", "overlap", "jitter"];
        let read = [ZONE_NAME, MISFIRE, MISFIRE_CAP, OVERLAP, JITTER];
        assert_eq!(read.map(|input| all[input.index].name), names);
    }
}

//! Reminders of tasks for people: the input `reminders`.
//!
//! Each reminder is a bookmark that is due at its time, so it comes once, after every crash, and a pause moves it. Of
//! several that are overdue only the last one reminds.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::activities::for_people::{TASK, task_of};
use crate::activities::timing::{interval, positive_interval};
use crate::activity::{Input, InputDescriptor};
use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::Execution;
use crate::notification::Reason;
use workflow_http::stimulus;
use workflow_value::calendar::Interval;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::{is_date_time, parse_json, to_text};

/// Maximum number of reminders.
const MAX_REMINDERS: usize = 20;

pub(super) const REMINDERS: InputDescriptor = InputDescriptor::new(
    "reminders",
    "Object",
    "When those who have not answered are notified again: intervals from the opening, {\"before\": …} and {\"after\": …} the deadline. Requires \"notify\".",
)
.hint("json-editor")
.constant()
.checked(|value| read(value).map(drop));

/// When to remind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reminder {
    /// This long after the opening.
    Opened(Interval),
    /// This long before the deadline.
    Before(Interval),
    /// This long after the deadline.
    After(Interval),
}

/// Reads a list of reminders, or a single one; null is none. Designers write JSON as text.
///
/// # Errors
/// 22023 and 22007 if the value is no such list.
pub fn read(value: &Value) -> Result<Vec<Reminder>, Fault> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => match parse_json(text) {
            Ok(parsed @ (Value::Array(_) | Value::Object(_))) => read(&parsed),
            _ => Err(Fault::new("22023", "\"reminders\" is no valid JSON")),
        },
        Value::Array(list) if list.len() > MAX_REMINDERS => {
            let message = format!("a task has at most {MAX_REMINDERS} reminders, not {}", list.len());
            Err(Fault::new("22023", message))
        }
        Value::Array(list) => list.iter().map(entry).collect(),
        single => Ok(vec![entry(single)?]),
    }
}

fn entry(value: &Value) -> Result<Reminder, Fault> {
    let unknown = || {
        let text = shorten(&to_text(value), 60);
        let message = format!(
            "an entry of \"reminders\" must be an interval, {{\"before\": <interval>}} or {{\"after\": <interval>}}, not {text}"
        );
        Fault::new("22023", message)
    };
    match value {
        Value::String(_) => positive_interval(value).map(Reminder::Opened),
        Value::Object(members) if members.len() == 1 => match members.iter().next() {
            Some((key, value)) if key == "before" => positive_interval(value).map(Reminder::Before),
            Some((key, value)) if key == "after" => positive_interval(value).map(Reminder::After),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

/// The interval of a constant deadline; `None`: it is an instant, or invalid.
pub fn span_of(deadline: &Value) -> Option<Interval> {
    if is_instant(deadline) { None } else { interval(deadline).ok() }
}

/// Whether a constant deadline is an instant.
pub fn is_instant(deadline: &Value) -> bool {
    is_date_time(to_text(deadline).trim())
}

/// The member of the metadata of a reminder with the microseconds to the next one, as a text.
const NEXT: &str = "Next";

/// Arms the reminders of a task, or of all open tasks of the execution, one for each time. A time that has passed is left
/// out: those who are asked learn of the opening itself.
pub(super) fn arm(
    cx: &mut Execution<'_>,
    input: Input<Value>,
    deadline: Option<DateTime<Utc>>,
    task: Option<Uuid>,
) -> Result<(), Fault> {
    let reminders = read(cx.peek(input))?;
    if reminders.is_empty() {
        return Ok(());
    }
    let (now, zone) = (cx.instant(), cx.zone(None)?);
    let time = |reminder: Reminder| match reminder {
        Reminder::Opened(span) => span.after(now, zone.as_ref()),
        Reminder::Before(span) => deadline.and_then(|deadline| span.times(-1)?.after(deadline, zone.as_ref())),
        Reminder::After(span) => deadline.and_then(|deadline| span.after(deadline, zone.as_ref())),
    };
    let times: BTreeSet<DateTime<Utc>> = reminders.into_iter().filter_map(time).filter(|at| *at > now).collect();
    let next = times.iter().skip(1).copied().map(Some).chain([None]);
    for (at, next) in times.iter().copied().zip(next) {
        let mut metadata = Map::new();
        metadata.extend(task.map(|task| (TASK.to_owned(), Value::from(task.to_string()))));
        let span = next.and_then(|next| (next - at).num_microseconds());
        metadata.extend(span.map(|span| (NEXT.to_owned(), Value::from(span.to_string()))));
        cx.create_bookmark(NewBookmark {
            name: Some(stimulus::REMINDER.to_owned()),
            due_at: Some(at),
            metadata: Some(metadata).filter(|metadata| !metadata.is_empty()).map(Value::Object),
            auto_complete: false,
            ..NewBookmark::default()
        })?;
    }
    Ok(())
}

/// Whether the next reminder is due as well, as after an outage or a pause: one of them is enough.
pub(super) fn is_overtaken(cx: &Execution<'_>, bookmark: &Resumed) -> bool {
    let next = || {
        let span: i64 = bookmark.metadata.as_ref()?[NEXT].as_str()?.parse().ok()?;
        bookmark.due_at?.checked_add_signed(TimeDelta::microseconds(span))
    };
    next().is_some_and(|next| next <= cx.instant())
}

/// Reminds those who are asked by the task of a reminder.
pub(super) fn remind(cx: &mut Execution<'_>, bookmark: &Resumed) {
    if let Some(task) = task_of(bookmark).filter(|_| !is_overtaken(cx, bookmark)) {
        cx.notify(task, Reason::Reminded);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reminders_are_intervals_from_the_opening_or_the_deadline() {
        let days = |days: i32| Interval { days, ..Interval::default() };
        assert_eq!(read(&json!(null)), Ok(vec![]));
        assert_eq!(read(&json!("1 day")), Ok(vec![Reminder::Opened(days(1))]));
        let list = vec![Reminder::Before(days(1)), Reminder::After(days(2)), Reminder::Opened(days(3))];
        let written = json!([{"before": "1 day"}, {"after": "2 days"}, "3 days"]);
        assert_eq!(read(&written), Ok(list.clone()));
        assert_eq!(read(&Value::String(written.to_string())), Ok(list));
        for wrong in [json!(["-1 day"]), json!([{"before": "0"}]), json!([{"at": "1 day"}]), json!([1]), json!("[1")] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
        assert_eq!(read(&json!(vec!["1 day"; 21])).expect_err("too many").sqlstate, "22023");
    }
}

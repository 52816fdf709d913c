//! Journal settings: `options.journal`, and Elsa's `logPersistenceMode` of the workflow and of single activities.

use chrono::TimeDelta;
use serde_json::{Map, Value};

use super::forms::class_name;
use super::json::{Path, entry, kind_of};
use super::members;
use super::problem::Problems;
use super::property::property;
use workflow_core::journal::Level;
use workflow_core::program::{Journaling, Keep};
use workflow_value::calendar::Interval;
use workflow_value::fault::shorten;

/// The member of `options`, and of activities, with the journal settings.
pub(super) const JOURNAL: &str = "journal";

/// Maximum number of rows to keep.
pub(super) const MAX_ROWS: u64 = 1_000_000;

/// Reads the option. In content stored earlier, invalid values are ignored.
pub(super) fn of_definition(options: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> Journaling {
    let Some((key, value)) = entry(options, JOURNAL).filter(|(_, value)| !value.is_null()) else {
        return Journaling::default();
    };
    let mut old = Problems::default();
    let problems = if problems.is_new() { problems } else { &mut old };
    let place = place.key(key);
    let Value::Object(given) = value else {
        return Journaling { level: level(key, value, &place, problems), ..Journaling::default() };
    };
    members::check(given, ["level", "keep", "values"].into_iter(), std::iter::empty(), "the journal", &place, problems);
    let member = |name| entry(given, name).filter(|(_, value)| !value.is_null());
    let level = member("level").map(|(key, value)| level(key, value, &place.key(key), problems)).unwrap_or_default();
    let keep = member("keep").and_then(|(key, value)| keep(key, value, &place.key(key), problems));
    let values = member("values").is_some_and(|(key, value)| flag(key, value, &place.key(key), problems));
    Journaling { level, keep, values }
}

fn flag(key: &str, value: &Value, place: &Path<'_>, problems: &mut Problems) -> bool {
    if !value.is_boolean() {
        problems.invalid(place, format!("\"{key}\" must be true or false, not {}", kind_of(value)));
    }
    value == true
}

fn level(key: &str, value: &Value, place: &Path<'_>, problems: &mut Problems) -> Level {
    match value.as_str() {
        Some("full") => return Level::Full,
        Some("milestones") => return Level::Milestones,
        Some("none") => return Level::None,
        Some(word) => {
            let word = shorten(word, 60);
            problems.invalid(place, format!("\"{key}\" must be \"full\", \"milestones\" or \"none\", not \"{word}\""));
        }
        None => {
            let kind = kind_of(value);
            problems.invalid(place, format!("\"{key}\" must be \"full\", \"milestones\" or \"none\", not {kind}"));
        }
    }
    Level::default()
}

fn keep(key: &str, value: &Value, place: &Path<'_>, problems: &mut Problems) -> Option<Keep> {
    let wrong = |problems: &mut Problems| {
        let message = format!(
            "\"{key}\" must be a whole number of rows from 1 to {MAX_ROWS}, or an interval such as \"30 days\""
        );
        problems.invalid(place, message);
        None
    };
    let Value::String(text) = value else {
        let rows =
            value.as_u64().filter(|rows| (1..=MAX_ROWS).contains(rows)).and_then(|rows| u32::try_from(rows).ok());
        return rows.map(Keep::Rows).or_else(|| wrong(problems));
    };
    match Interval::parse(text) {
        Ok(interval) if interval.is_positive() => {
            let micros = i64::try_from(interval.longest()).unwrap_or(i64::MAX);
            Some(Keep::For(TimeDelta::microseconds(micros)))
        }
        Ok(_) => wrong(problems),
        Err(fault) => {
            problems.invalid(place, fault.message);
            None
        }
    }
}

/// Names of Elsa's property of an activity. If both are present, the newer one applies.
const MODE: &str = "logPersistenceMode";
const CONFIG: &str = "logPersistenceConfig";

/// The setting in Elsa's property of an activity or workflow for its events. `None`: inherited. Elsa's settings for
/// single inputs and outputs are ignored: `values` of the option applies to all.
pub(super) fn of_activity(members: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> Option<Level> {
    [CONFIG, MODE].into_iter().find_map(|name| {
        let found = property(members, name)?;
        let place = place.key(found.home?);
        let place = place.key(found.key);
        match mode(found.value) {
            Ok(mode) => mode,
            Err(reason) => {
                if problems.is_new() {
                    problems.invalid(&place, format!("\"{}\" {reason}", found.key));
                }
                None
            }
        }
    })
}

/// A mode by itself, as the `default` of an object, or as the strategy there.
fn mode(value: &Value) -> Result<Option<Level>, String> {
    let word = match value {
        Value::Null => return Ok(None),
        Value::String(word) => word.as_str(),
        Value::Object(members) => match entry(members, "default").or_else(|| entry(members, "strategyType")) {
            Some((_, inner)) => return mode(inner),
            _ if entry(members, "expression").is_some_and(|(_, expression)| !expression.is_null()) => {
                return Err("must be a constant: no expression is evaluated for it".to_owned());
            }
            _ => return Ok(None),
        },
        other => return Err(format!("must be \"Inherit\", \"Include\" or \"Exclude\", not {}", kind_of(other))),
    };
    match class_name(word) {
        "Inherit" | "" => Ok(None),
        "Include" => Ok(Some(Level::Full)),
        "Exclude" => Ok(Some(Level::None)),
        _ => Err(format!("must be \"Inherit\", \"Include\" or \"Exclude\", not \"{}\"", shorten(word, 60))),
    }
}

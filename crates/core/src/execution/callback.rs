//! Users' SQL functions: the context that they receive, and how their result is applied.
//!
//! Context and result are public formats. Unknown keys in a result are errors, so that a misspelt key is never silently
//! ignored.

use chrono::{DateTime, Datelike, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::{Execution, Outcomes};
use crate::host::Function;
use workflow_expression::Scope;
use workflow_value::fault::Fault;
use workflow_value::value::{Bounds, copy_or_null, to_text};

/// Resumes an activity of any type at a bookmark with a callback.
pub(crate) fn call_back(
    cx: &mut Execution<'_>,
    callback: &str,
    bookmark: &Resumed,
    input: Option<&Value>,
) -> Result<(), Fault> {
    let mut context = context(cx)?;
    context.insert("input".into(), input.map(copy_or_null).unwrap_or_default());
    context.insert(
        "bookmark".into(),
        Value::from_iter([
            ("id", Value::from(bookmark.id.to_string())),
            ("name", bookmark.name.as_str().into()),
            ("payload", bookmark.payload.as_ref().map(copy_or_null).unwrap_or_default()),
            ("metadata", bookmark.metadata.as_ref().map(copy_or_null).unwrap_or_default()),
        ]),
    );
    let result = cx.call(Function::Callback(callback), &Value::Object(context))?;
    apply(cx, result)
}

pub(crate) fn context(cx: &mut Execution<'_>) -> Result<Map<String, Value>, Fault> {
    let node = cx.node();
    let mut inputs = Map::new();
    for (name, expression) in &node.custom_inputs {
        let value = cx.evaluate(expression).map_err(|mut fault| {
            fault.context.get_or_insert_with(|| format!("input \"{name}\""));
            fault
        })?;
        inputs.insert(name.clone(), value);
    }
    let mut variables = Map::new();
    for name in cx.variable_names() {
        Bounds::check_interrupts()?;
        if let Some(value) = cx.variable(&name) {
            variables.insert(name, value);
        }
    }
    let activity = json!({
        "id": node.id,
        "type": node.type_name,
        "instanceId": cx.activity_instance_id(),
    });
    let entries = [
        ("instance", cx.instance()),
        ("activity", activity),
        ("inputs", Value::Object(inputs)),
        ("variables", Value::Object(variables)),
        ("isTrigger", Value::Bool(cx.is_trigger())),
    ];
    Ok(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Applies the result of a function to the execution.
pub(crate) fn apply(cx: &mut Execution<'_>, result: Value) -> Result<(), Fault> {
    let members = match result {
        Value::Null => return cx.complete(),
        Value::Object(members) => members,
        _ => return Err(invalid("the result must be an object or null")),
    };
    let (mut outcomes, mut complete, mut waits) = (Outcomes::Done, None, false);
    for (key, value) in members {
        match (key.as_str(), value) {
            (_, Value::Null) if KEYS.contains(&key.as_str()) => {}
            ("outputs", Value::Object(outputs)) => {
                for (name, value) in outputs {
                    cx.set_custom_output(&name, value)?;
                }
            }
            ("variables", Value::Object(variables)) => {
                for (name, value) in variables {
                    cx.assign(&name, value)?;
                }
            }
            ("outcomes", Value::String(outcome)) => outcomes = Outcomes::Named(vec![outcome]),
            ("outcomes", Value::Array(names)) => {
                outcomes = Outcomes::Named(names.iter().map(to_text).collect());
            }
            ("complete", Value::Bool(wanted)) => complete = Some(wanted),
            ("bookmarks", Value::Array(bookmarks)) => {
                for bookmark in bookmarks {
                    let bookmark = read_bookmark(bookmark)?;
                    if let Some(chosen) = bookmark.id {
                        cx.require_unused(chosen)?;
                    }
                    cx.create_bookmark(bookmark)?;
                    waits = true;
                }
            }
            (known, _) if KEYS.contains(&known) => {
                return Err(invalid(&format!("\"{known}\" of the result has the wrong type")));
            }
            (unknown, _) => {
                return Err(invalid(&format!("the result has the unknown key \"{unknown}\""))
                    .hint(format!("Known keys are {}.", KEYS.join(", "))));
            }
        }
    }
    if complete.unwrap_or(!waits) {
        return cx.complete_with(outcomes);
    }
    if waits || cx.has_bookmarks() {
        return Ok(());
    }
    Err(invalid("the result neither completes the activity nor leaves it a bookmark"))
}

const KEYS: [&str; 5] = ["outputs", "outcomes", "variables", "bookmarks", "complete"];

const BOOKMARK_KEYS: [&str; 9] =
    ["id", "name", "payload", "metadata", "callback", "autoBurn", "autoComplete", "includeActivityInstanceId", "dueAt"];

fn read_bookmark(value: Value) -> Result<NewBookmark, Fault> {
    let Value::Object(members) = value else {
        return Err(invalid("each of \"bookmarks\" must be an object"));
    };
    let mut bookmark = NewBookmark::default();
    for (key, value) in members {
        let wrong = || invalid(&format!("\"{key}\" of a bookmark has the wrong type"));
        match (key.as_str(), value) {
            (_, Value::Null) if BOOKMARK_KEYS.contains(&key.as_str()) => {}
            ("id", Value::String(text)) => {
                let id = Uuid::parse_str(&text);
                bookmark.id = Some(id.map_err(|_| invalid("\"id\" of a bookmark is no uuid"))?);
            }
            ("name", Value::String(name)) if name.starts_with("Workflow.") => {
                return Err(invalid(&format!("bookmark name \"{name}\" is reserved")));
            }
            ("name", Value::String(name)) if !name.is_empty() => bookmark.name = Some(name),
            ("payload", payload) => bookmark.payload = Some(payload),
            ("metadata", metadata) => bookmark.metadata = Some(metadata),
            ("callback", Value::String(callback)) => bookmark.callback = Some(callback),
            ("autoBurn", Value::Bool(wanted)) => bookmark.auto_burn = wanted,
            ("autoComplete", Value::Bool(wanted)) => bookmark.auto_complete = wanted,
            ("includeActivityInstanceId", Value::Bool(wanted)) => {
                bookmark.include_activity_instance = Some(wanted);
            }
            ("dueAt", Value::String(text)) => bookmark.due_at = Some(read_instant(&text)?),
            (known, _) if BOOKMARK_KEYS.contains(&known) => return Err(wrong()),
            (unknown, _) => {
                return Err(invalid(&format!("a bookmark has the unknown key \"{unknown}\""))
                    .hint(format!("Known keys are {}.", BOOKMARK_KEYS.join(", "))));
            }
        }
    }
    Ok(bookmark)
}

/// Parses an instant as jsonb writes a timestamptz (`2026-01-31T08:00:00+00:00`), or with a space instead of the `T`.
fn read_instant(text: &str) -> Result<DateTime<Utc>, Fault> {
    let instant =
        DateTime::parse_from_rfc3339(text).or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%#z"));
    let instant = instant.ok().map(|instant| instant.to_utc());
    instant.filter(|instant| YEARS.contains(&instant.year())).ok_or_else(|| {
        invalid("\"dueAt\" of a bookmark is no timestamp with a time zone").hint("Give a value of type timestamptz.")
    })
}

/// The years that PostgreSQL can store, with a margin of a year.
const YEARS: std::ops::Range<i32> = -4711..294_276;

pub(crate) fn invalid(message: &str) -> Fault {
    Fault::new("22023", message)
}

//! Stimuli: the name and payload for which bookmarks and triggers wait, and their hash.
//!
//! Elsa's built-in payloads have known fields. They are read in any letter case, stored under Elsa's names and hashed
//! to Elsa's bytes. Other payloads are hashed in canonical form, so that payloads that are equal as jsonb have the same
//! hash. This module is independent of bookmarks, matching and storage.
//!
//! ```
//! use serde_json::json;
//! use workflow_http::stimulus::{hash, normalise};
//!
//! let sent = normalise("Elsa.HttpEndpoint", &json!({"path": "Orders", "method": "GET"})).unwrap();
//! assert_eq!(sent, json!({"Path": "orders", "Method": "get"}));
//!
//! let waits = json!({"Path": "orders", "Method": "get", "Authorize": true});
//! assert_eq!(hash("Elsa.HttpEndpoint", Some(&sent), None), hash("Elsa.HttpEndpoint", Some(&waits), None));
//! ```

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use workflow_value::fault::{Fault, shorten};
use workflow_value::value::{canonical, copy, to_text};

mod built_in;
mod fields;
mod json;

pub use built_in::*;
use fields::{PayloadField, PayloadShape};

/// Resolves a stimulus name like a type name in a definition: `Event` is `Elsa.Event`, unless a custom activity has
/// exactly that name. Other names stay unchanged.
pub fn resolve_name(name: &str, is_custom: &dyn Fn(&str) -> bool) -> String {
    let full = format!("Elsa.{name}");
    if built_in(&full).is_some() && !is_custom(name) { full } else { name.to_owned() }
}

/// Puts a payload into the form in which it is stored: for built-ins Elsa's field names and values
/// (paths and methods lower-cased, instants in UTC), for others the payload itself.
///
/// Fields that are not part of the hash are kept.
///
/// # Errors
/// 22023 if a built-in payload is no object, lacks a field or has a field that is no scalar.
pub fn normalise(name: &str, payload: &Value) -> Result<Value, Fault> {
    if payload.is_null() {
        return Ok(Value::Null);
    }
    let Some(shapes) = built_in(name).map(|known| known.shapes) else {
        return copy(payload);
    };
    let Value::Object(given) = payload else {
        return Err(invalid(name, "is not an object").hint(example(name, &shapes[0])));
    };
    let shape = shape_for(shapes, given);
    let mut rest: Vec<(&String, &Value)> = given.iter().collect();
    let mut stored = Map::new();
    for field in shape.fields {
        let value = take(&mut rest, field.name);
        if field.required && value.is_none_or(Value::is_null) {
            let fault = invalid(name, &format!("lacks \"{}\"", field.name));
            return Err(fault.hint(example(name, shape)));
        }
        if let Some(value) = value {
            stored.insert(field.name.to_owned(), normal_value(name, field, value)?);
        }
    }
    for (key, value) in rest {
        stored.insert(key.clone(), copy(value)?);
    }
    Ok(Value::Object(stored))
}

/// The SHA-256 by which a stimulus matches bookmarks and triggers: Elsa's own bytes for built-ins.
///
/// The payload is in the form that [`normalise`] gives; null is no payload.
pub fn hash(name: &str, payload: Option<&Value>, activity_instance_id: Option<&str>) -> [u8; 32] {
    let payload = payload.filter(|payload| !payload.is_null()).map(|payload| hashed_text(name, payload));
    let parts = [Some(name), payload.as_deref(), activity_instance_id];
    let mut digest = Sha256::new();
    let mut first = true;
    for part in parts.into_iter().flatten().filter(|part| !part.trim().is_empty()) {
        if !first {
            digest.update(b"|");
        }
        digest.update(part.as_bytes());
        first = false;
    }
    digest.finalize().into()
}

/// The payload of a task's bookmark.
pub fn task_payload(id: Uuid, name: &str) -> Value {
    json!({ "TaskId": id.to_string(), "TaskName": name })
}

/// The task that a stimulus in normal form completes.
pub fn task_of(name: &str, payload: Option<&Value>) -> Option<Uuid> {
    let id = payload.filter(|_| name == RUN_TASK.name)?.get("TaskId")?;
    Uuid::try_parse(id.as_str()?).ok()
}

/// The text of a payload in normal form as it is hashed.
fn hashed_text(name: &str, payload: &Value) -> String {
    let (Some(known), Value::Object(stored)) = (built_in(name), payload) else {
        return canonical(payload);
    };
    let mut text = String::from("{");
    for field in shape_for(known.shapes, stored).fields.iter().filter(|field| field.hashed) {
        if text.len() > 1 {
            text.push(',');
        }
        json::push_string(field.name, &mut text);
        text.push(':');
        // At the top level Elsa writes a null field as null.
        match stored.get(field.name) {
            Some(Value::String(value)) if field.kind.is_raw() => {
                text.push('"');
                text.push_str(value);
                text.push('"');
            }
            Some(value) => json::push(value, &mut text),
            None => text.push_str("null"),
        }
    }
    text.push('}');
    text
}

/// The shape whose first field is given; otherwise the last one.
fn shape_for(shapes: &'static [PayloadShape], given: &Map<String, Value>) -> &'static PayloadShape {
    let has = |field: &PayloadField| given.keys().any(|key| key.eq_ignore_ascii_case(field.name));
    let found = shapes.iter().find(|shape| shape.fields.first().is_some_and(has));
    found.unwrap_or(&shapes[shapes.len() - 1])
}

/// Takes a member by name: the exact one first, then any letter case. Drops other spellings of it.
fn take<'a>(rest: &mut Vec<(&'a String, &'a Value)>, name: &str) -> Option<&'a Value> {
    let exact = rest.iter().find(|(key, _)| *key == name);
    let found = exact.or_else(|| rest.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)));
    let value = found.map(|(_, value)| *value);
    rest.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
    value
}

fn normal_value(name: &str, field: &PayloadField, value: &Value) -> Result<Value, Fault> {
    if !field.hashed || value.is_null() {
        return copy(value);
    }
    if value.is_array() || value.is_object() {
        return Err(invalid(name, &format!("has a \"{}\" that is not a text", field.name))
            .detail(format!("It is {}.", shorten(&to_text(value), 60))));
    }
    field.kind.normal(&to_text(value)).map(Value::String).ok_or_else(|| {
        let what = format!("has an invalid \"{}\": \"{}\"", field.name, shorten(&to_text(value), 60));
        invalid(name, &what)
    })
}

fn invalid(name: &str, what: &str) -> Fault {
    Fault::new("22023", format!("stimulus \"{}\" {what}", shorten(name, 60)))
}

fn example(name: &str, shape: &PayloadShape) -> String {
    let fields: Vec<String> =
        shape.fields.iter().filter(|field| field.required).map(|field| format!("\"{}\": …", field.name)).collect();
    format!("The stimulus of \"{}\" is an object {{{}}}.", shorten(name, 60), fields.join(", "))
}

#[cfg(test)]
mod tests;

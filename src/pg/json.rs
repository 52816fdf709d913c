//! Copying and serializing JSON values within the memory limit of a call.

use serde_json::{Map, Value};
use workflow_engine::value;

use crate::pg::interrupt;

/// Copies a value. Fails if the call has no memory left for the copy (53200).
pub fn copy(value: &Value) -> Value {
    let copy = value::copy_or_null(value);
    // The copy is null if the value is null, or if the call must end.
    if copy.is_null() {
        interrupt::check();
    }
    copy
}

/// Copies the members of an object in the same way.
pub fn copy_members(members: &Map<String, Value>) -> Map<String, Value> {
    value::copy_members(members).unwrap_or_else(|_| {
        interrupt::check();
        Map::new()
    })
}

/// Serializes a value as JSON. Fails if the call has no memory left for the text (53200).
pub fn text(value: &Value) -> String {
    value::json_text(value).unwrap_or_else(|_| {
        interrupt::check();
        String::new()
    })
}

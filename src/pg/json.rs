//! JSON values, copied and written within what a call may hold.

use serde_json::{Map, Value};
use workflow_engine::value;

use crate::pg::interrupt;

/// Copies a value; ends a call that has no room for it (53200).
pub fn copy(value: &Value) -> Value {
    let copy = value::copy_or_null(value);
    // Null may be what it is because it is time to stop.
    if copy.is_null() {
        interrupt::check();
    }
    copy
}

/// The same for the members of an object.
pub fn copy_members(members: &Map<String, Value>) -> Map<String, Value> {
    value::copy_members(members).unwrap_or_else(|_| {
        interrupt::check();
        Map::new()
    })
}

/// Writes a value as JSON; ends a call that has no room for the text (53200).
pub fn text(value: &Value) -> String {
    value::json_text(value).unwrap_or_else(|_| {
        interrupt::check();
        String::new()
    })
}

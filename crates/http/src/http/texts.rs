//! Maps of texts, as queries and headers are: a name has one text, or a list of them.

use serde_json::{Map, Value};

use workflow_value::fault::{Fault, shorten};
use workflow_value::value::to_text;

/// Reads a map of texts as callers pass it: each value a scalar or a list of scalars.
///
/// # Errors
/// 22023 for a value that is neither.
pub fn texts(given: Map<String, Value>, argument: &str) -> Result<Map<String, Value>, Fault> {
    let mut map = Map::new();
    for (name, value) in given {
        let items = match value {
            Value::Null => continue,
            Value::Array(items) => items,
            value => vec![value],
        };
        for item in items {
            if item.is_array() || item.is_object() {
                let message = format!("\"{}\" of \"{argument}\" must be a text or a list of texts", shorten(&name, 60));
                return Err(Fault::new("22023", message));
            }
            add(&mut map, name.clone(), Value::from(to_text(&item)));
        }
    }
    Ok(map)
}

/// Adds a value; a name that already has one gets a list.
pub(super) fn add(map: &mut Map<String, Value>, name: String, value: Value) {
    match map.get_mut(&name) {
        None => {
            map.insert(name, value);
        }
        Some(Value::Array(items)) => items.push(value),
        Some(one) => {
            let before = one.take();
            *one = Value::Array(vec![before, value]);
        }
    }
}

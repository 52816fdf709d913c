//! Values as text, for people and for messages.

use serde_json::Value;

use super::{MAX_DEPTH, json_text};
use crate::fault::Fault;

/// Writes a value as `WriteLine` prints it: strings bare, null as nothing, everything else as JSON.
pub fn to_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        // Empty if it is time to stop.
        Value::Array(_) | Value::Object(_) => json_text(value).unwrap_or_default(),
    }
}

/// Whether a value is nested at most `max` levels deep; a scalar has no nesting.
pub fn depth_ok(value: &Value, max: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        let below = depth + 1;
        match value {
            Value::Array(items) => {
                if below > max {
                    return false;
                }
                open.extend(items.iter().filter(|item| is_container(item)).map(|item| (item, below)));
            }
            Value::Object(members) => {
                if below > max {
                    return false;
                }
                open.extend(members.values().filter(|item| is_container(item)).map(|item| (item, below)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// The fault for a string with a NUL character.
pub fn nul_in_string() -> Fault {
    Fault::new("22P05", "unsupported Unicode escape sequence")
        .detail("\\u0000 cannot be stored in jsonb or converted to text.")
}

/// The fault for a value beyond [`MAX_DEPTH`].
pub fn too_deep() -> Fault {
    Fault::new("54001", format!("JSON value is nested deeper than {MAX_DEPTH} levels"))
}

/// Reads `true` or `false` in any letter case; blanks around it are ignored.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::parse_json;
    use super::*;

    #[test]
    fn text_is_what_people_expect_to_read() {
        for (value, text) in [
            (json!(null), ""),
            (json!("plain \"text\""), "plain \"text\""),
            (json!(true), "true"),
            (json!({"a": [1]}), r#"{"a":[1]}"#),
        ] {
            assert_eq!(to_text(&value), text);
        }
        assert_eq!(to_text(&parse_json("1.10").unwrap()), "1.10");
        assert_eq!(to_text(&parse_json("1e400").unwrap()).to_lowercase().replace('+', ""), "1e400");
    }

    #[test]
    fn depth_is_counted_without_recursion() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(depth_ok(&parse_json(&nested(3)).unwrap(), 3));
        assert!(!depth_ok(&parse_json(&nested(4)).unwrap(), 3));
    }
}

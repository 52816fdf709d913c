//! Values as text, and text as values.

use serde_json::Value;

use super::MAX_DEPTH;
use crate::fault::Fault;

/// Writes a value as `WriteLine` prints it: strings bare, null as nothing, everything else as JSON.
pub fn to_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Cuts a text for use in a message: one line, no control characters, at most `max` characters.
pub fn shorten(text: &str, max: usize) -> String {
    let mut short: String = text
        .chars()
        .take(max)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(max).is_some() {
        short.push('…');
    }
    short
}

/// Whether a value is nested at most `max` levels deep; a scalar has none.
pub fn depth_ok(value: &Value, max: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        let below = depth + 1;
        match value {
            Value::Array(items) => {
                if below > max {
                    return false;
                }
                open.extend(
                    items
                        .iter()
                        .filter(|item| is_container(item))
                        .map(|item| (item, below)),
                );
            }
            Value::Object(members) => {
                if below > max {
                    return false;
                }
                open.extend(
                    members
                        .values()
                        .filter(|item| is_container(item))
                        .map(|item| (item, below)),
                );
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// Reads JSON text nested at most [`MAX_DEPTH`] levels deep.
///
/// # Errors
/// 22P02 for text that is no JSON, 54001 for deeper nesting, 22P05 for `\u0000`, which jsonb cannot hold.
pub fn parse_json(text: &str) -> Result<Value, Fault> {
    if text_depth(text) > MAX_DEPTH {
        return Err(too_deep());
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    // The depth is known by now; serde's own limit of 128 would be too low.
    reader.disable_recursion_limit();
    let value: Value =
        serde::Deserialize::deserialize(&mut reader).map_err(|error| invalid_json(text, &error))?;
    reader.end().map_err(|error| invalid_json(text, &error))?;
    if text.contains("\\u0000") && contains_nul(&value) {
        return Err(nul_in_string());
    }
    Ok(value)
}

/// The fault for a string with a NUL character.
pub(crate) fn nul_in_string() -> Fault {
    Fault::new("22P05", "unsupported Unicode escape sequence")
        .detail("\\u0000 cannot be stored in jsonb or converted to text.")
}

/// The fault for a value beyond [`MAX_DEPTH`].
pub(crate) fn too_deep() -> Fault {
    Fault::new(
        "54001",
        format!("JSON value is nested deeper than {MAX_DEPTH} levels"),
    )
}

fn invalid_json(text: &str, error: &serde_json::Error) -> Fault {
    Fault::new(
        "22P02",
        format!("invalid JSON text: \"{}\"", shorten(text, 60)),
    )
    .detail(sentence(&error.to_string()))
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), characters.as_str()),
        None => String::new(),
    }
}

/// Greatest nesting of brackets outside strings. Right for valid JSON, harmless for anything else.
fn text_depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0usize, 0usize, false, false);
    for byte in text.bytes() {
        match (quoted, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => quoted = !quoted,
            (false, b'[' | b'{') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Whether any string or key holds a NUL.
pub(crate) fn contains_nul(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text.contains('\0') => return true,
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                if members.keys().any(|key| key.contains('\0')) {
                    return true;
                }
                open.extend(members.values());
            }
            _ => {}
        }
    }
    false
}

/// Reads `true` or `false` in any letter case, blanks around it.
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
        assert_eq!(
            to_text(&parse_json("1e400").unwrap())
                .to_lowercase()
                .replace('+', ""),
            "1e400"
        );
    }

    #[test]
    fn depth_is_counted_without_recursion() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(depth_ok(&parse_json(&nested(3)).unwrap(), 3));
        assert!(!depth_ok(&parse_json(&nested(4)).unwrap(), 3));
        assert_eq!(parse_json(&nested(100_000)).unwrap_err().sqlstate, "54001");
        assert_eq!(
            parse_json(&"[".repeat(100_000)).unwrap_err().sqlstate,
            "54001"
        );
        assert!(parse_json("\"[[[[\\\"[[\"").is_ok());
    }

    #[test]
    fn invalid_text_is_refused() {
        assert_eq!(parse_json("{").unwrap_err().sqlstate, "22P02");
        assert_eq!(parse_json("1 2").unwrap_err().sqlstate, "22P02");
        assert_eq!(parse_json(r#""\u0000""#).unwrap_err().sqlstate, "22P05");
        assert_eq!(parse_json(r#""\\u0000""#), Ok(json!("\\u0000")));
    }

    #[test]
    fn shortening_respects_characters() {
        assert_eq!(shorten("äöü", 2), "äö…");
        assert_eq!(shorten("a\0b\n", 10), "a b ");
    }
}

//! The canonical form: one text for all values that are equal as jsonb.

use serde_json::Value;

use super::number::Decimal;

enum Open<'a> {
    Array(std::slice::Iter<'a, Value>),
    Object(std::vec::IntoIter<(&'a String, &'a Value)>),
}

/// Writes a value as JSON with sorted keys and normalised numbers, so that values that are equal as jsonb
/// have equal texts.
///
/// ```
/// use workflow_value::value::{canonical, parse_json};
///
/// let one = parse_json(r#"{"total": 10.0, "sku": 7}"#).unwrap();
/// let other = parse_json(r#"{"sku": 7, "total": 10}"#).unwrap();
/// assert_eq!(canonical(&one), canonical(&other));
/// ```
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    let mut open = Vec::new();
    begin(value, &mut text, &mut open);
    while let Some(top) = open.last_mut() {
        let next = match top {
            Open::Array(items) => items.next().map(|item| (None, item)),
            Open::Object(members) => members.next().map(|(key, item)| (Some(key), item)),
        };
        match next {
            Some((key, item)) => {
                if !text.ends_with(['[', '{']) {
                    text.push(',');
                }
                if let Some(key) = key {
                    push_string(key, &mut text);
                    text.push(':');
                }
                begin(item, &mut text, &mut open);
            }
            None => {
                text.push(if matches!(top, Open::Array(_)) { ']' } else { '}' });
                open.pop();
            }
        }
    }
    text
}

/// Writes a scalar, or the opening bracket of a container.
fn begin<'a>(value: &'a Value, text: &mut String, open: &mut Vec<Open<'a>>) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&Decimal::of(number).canonical()),
        Value::String(string) => push_string(string, text),
        Value::Array(items) => {
            text.push('[');
            open.push(Open::Array(items.iter()));
        }
        Value::Object(members) => {
            // The map may keep the order of insertion, depending on how serde_json was built.
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            open.push(Open::Object(members.into_iter()));
        }
    }
}

fn push_string(string: &str, text: &mut String) {
    text.push_str(&Value::from(string).to_string());
}

#[cfg(test)]
mod tests {
    use super::super::parse_json;
    use super::*;

    #[test]
    fn equal_as_jsonb_is_equal_as_text() {
        let one = parse_json(r#"{"b": [1.10, 100, "x[", {}], "a": {"z": null, "y": []}}"#).unwrap();
        let two = parse_json(r#"{ "a":{"y":[],"z":null},"b":[1.1,1e2,"x[",{}]}"#).unwrap();
        assert_eq!(canonical(&one), r#"{"a":{"y":[],"z":null},"b":[1.1,100,"x[",{}]}"#);
        assert_eq!(canonical(&one), canonical(&two));
        assert_eq!(parse_json(&canonical(&one)).map(|v| canonical(&v)), Ok(canonical(&one)));
    }

    #[test]
    fn strings_that_end_in_brackets_keep_their_commas() {
        let value = parse_json(r#"["[", "{", {"{": 1, "[": 2}]"#).unwrap();
        assert_eq!(canonical(&value), r#"["[","{",{"[":2,"{":1}]"#);
    }
}

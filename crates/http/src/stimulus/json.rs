//! JSON as .NET's serializer writes it by default: every character that is special in HTML is escaped.

use serde_json::Value;

/// Writes a scalar. Normalised payloads contain only texts, so containers never occur here.
pub(super) fn push(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => push_string(string, text),
        other => text.push_str(&other.to_string()),
    }
}

/// Writes a string with .NET's default escapes: upper-case hex, surrogate pairs, short forms for controls.
pub(super) fn push_string(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            '"' | '&' | '\'' | '+' | '<' | '>' | '`' => push_escape(character, text),
            ' '..='~' => text.push(character),
            _ => push_escape(character, text),
        }
    }
    text.push('"');
}

fn push_escape(character: char, text: &mut String) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        text.push_str(&format!("\\u{unit:04X}"));
    }
}

//! The content of a response: text, or JSON that the database can store.

use encoding_rs::{Encoding, UTF_8};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;

use crate::secrets::redactor::Redactor;

/// Values and names of JSON that the database takes (`workflow.max_nodes`).
const MAX_NODES: usize = 1_000_000;
/// Bytes of a body that needs no permit.
pub const SMALL: usize = 256 * 1024;
/// Digits of a number before the decimal point, and after it, that `numeric` can hold.
const DIGITS: (i64, i64) = (131_072, 16_383);

/// The content type that a response states.
pub fn content_type(headers: &HeaderMap) -> Option<String> {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// JSON as a value if the content type says so, everything else as text, nothing as NULL. Secrets are replaced.
///
/// JSON that the database cannot store stays text: with U+0000, with numbers that are too large, or with too many values.
pub fn content(headers: &HeaderMap, body: Vec<u8>, redactor: &Redactor) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    let content_type = content_type(headers).unwrap_or_default();
    let text = decode(&content_type, body);
    if is_json(&content_type)
        && has_few_nodes(&text)
        && let Ok(value) = serde_json::from_str(&text)
        && is_storable(&value)
    {
        return redactor.value(value);
    }
    Value::String(redactor.text(storable(text)))
}

/// `jsonb` and `text` have no character U+0000.
pub fn storable(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn decode(content_type: &str, body: Vec<u8>) -> String {
    let charset = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    let encoding = charset.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8);
    encoding.decode(&body).0.into_owned()
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind == "text/json" || kind.ends_with("+json")
}

/// Whether JSON has at most [`MAX_NODES`] values and names. It is counted before parsing, because each value takes memory.
fn has_few_nodes(json: &str) -> bool {
    let (mut is_in_text, mut is_escaped, mut nodes) = (false, false, 1);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_text,
            b'"' => is_in_text = !is_in_text,
            b',' | b':' | b'[' | b'{' if !is_in_text => nodes += 1,
            _ => {}
        }
    }
    nodes <= MAX_NODES
}

fn is_storable(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::String(text) => !text.contains('\0'),
        Value::Number(number) => is_numeric(&number.to_string()),
        Value::Array(items) => items.iter().all(is_storable),
        Value::Object(members) => members.iter().all(|(name, member)| !name.contains('\0') && is_storable(member)),
    }
}

/// Whether the type `numeric` can hold a number of JSON.
fn is_numeric(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    let mantissa = mantissa.trim_start_matches('-');
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let length = |digits: &str| i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let before = length(whole).saturating_add(exponent);
    let after = length(fraction).saturating_sub(exponent);
    before <= DIGITS.0 && after <= DIGITS.1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(content_type: &str, body: &[u8]) -> Value {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, content_type.parse().expect("a value"));
        content(&headers, body.to_vec(), &Redactor::default())
    }

    #[test]
    fn json_is_a_value_and_the_rest_is_text() {
        assert_eq!(read("application/json; charset=utf-8", br#"{"a": [1, "x"]}"#), json!({"a": [1, "x"]}));
        assert_eq!(read("application/problem+json", b"[]"), json!([]));
        assert_eq!(read("text/plain", b"[]"), json!("[]"));
        assert_eq!(read("application/json", b"{"), json!("{"));
        assert_eq!(read("application/json", b""), Value::Null);
        assert_eq!(read("application/json", b"1.10").to_string(), "1.10");
    }

    #[test]
    fn text_is_decoded_by_its_charset() {
        assert_eq!(read("text/plain; charset=ISO-8859-1", b"caf\xe9"), json!("café"));
        assert_eq!(read("text/plain; charset=\"utf-8\"", "café".as_bytes()), json!("café"));
        assert_eq!(read("text/plain; charset=no-such", b"caf\xe9"), json!("caf\u{fffd}"));
        assert_eq!(read("application/octet-stream", b"a\0b"), json!("a\u{fffd}b"));
    }

    #[test]
    fn json_that_cannot_be_stored_is_text() {
        for text in
            [r#"{"a": "\u0000"}"#, r#"{"\u0000": 1}"#, "[1e999999]", "1e131072", "1e-16384", "1e99999999999999999999"]
        {
            assert_eq!(read("application/json", text.as_bytes()), json!(text));
        }
        for text in ["1e131071", "1e-16383", "-12.5e3"] {
            assert!(read("application/json", text.as_bytes()).is_number(), "{text}");
        }
        let many = format!("[{}0]", "0,".repeat(MAX_NODES));
        assert_eq!(read("application/json", many.as_bytes()), json!(many));
        let text = format!(r#"["{}"]"#, r#"\",[{:"#.repeat(MAX_NODES));
        assert!(read("application/json", text.as_bytes()).is_array());
        let deep = "[".repeat(100_000);
        assert_eq!(read("application/json", deep.as_bytes()), json!(deep));
    }
}

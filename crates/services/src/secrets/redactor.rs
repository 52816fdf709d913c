//! Replaces the values of secrets in what the worker reports, also where they are encoded.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind};
use data_encoding::{BASE64, BASE64URL, HEXLOWER, HEXUPPER};
use serde_json::Value;

/// Parts of a value, such as the password in credentials, are replaced from this length on.
const SHORTEST_PART: usize = 6;

/// Replaces values by `***NAME***`.
#[derive(Debug, Default)]
pub struct Redactor {
    /// `None` without any secret.
    finder: Option<AhoCorasick>,
    /// What stands for each pattern of the finder.
    replacements: Vec<String>,
}

impl Redactor {
    /// A redactor for secrets: names and values.
    pub fn new<'a>(secrets: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut forms = BTreeMap::new();
        for (name, value) in secrets {
            for part in parts(value) {
                for form in encodings(&part) {
                    forms.entry(form).or_insert_with(|| format!("***{name}***"));
                }
            }
        }
        if forms.is_empty() {
            return Self::default();
        }
        let (patterns, replacements): (Vec<Vec<u8>>, Vec<String>) = forms.into_iter().unzip();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns);
        // It fails only with more patterns than a 32-bit number counts.
        Self { finder: finder.ok(), replacements }
    }

    /// Whether there is nothing to replace.
    pub fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// Whether a text contains a secret.
    pub fn finds_in(&self, text: &str) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(text))
    }

    /// A text without secrets.
    pub fn text(&self, text: String) -> String {
        match &self.finder {
            Some(finder) if finder.is_match(&text) => finder.replace_all(&text, &self.replacements),
            _ => text,
        }
    }

    /// Bytes without secrets.
    pub fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        match &self.finder {
            Some(finder) if finder.is_match(&bytes) => finder.replace_all_bytes(&bytes, &self.replacements),
            _ => bytes,
        }
    }

    /// A JSON value without secrets: in its texts, names of members, and numbers. So it does not matter how JSON had
    /// escaped them.
    pub fn value(&self, value: Value) -> Value {
        if self.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Number(number) => {
                let text = number.to_string();
                if self.finds_in(&text) { Value::String(self.text(text)) } else { Value::Number(number) }
            }
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                members.into_iter().map(|(name, member)| (self.text(name), self.value(member))).collect()
            }
            other => other,
        }
    }
}

/// The value, and what is secret alone: the token after `Bearer`, and user and password of basic authentication.
fn parts(value: &str) -> Vec<String> {
    let mut parts = vec![value.to_owned()];
    if let Some((scheme, token)) = value.split_once(' ') {
        parts.push(token.trim().to_owned());
        let pair = BASE64.decode(token.trim().as_bytes()).ok().and_then(|pair| String::from_utf8(pair).ok());
        if let Some(pair) = pair.filter(|_| scheme.eq_ignore_ascii_case("basic")) {
            parts.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
            parts.push(pair);
        }
    }
    parts.retain(|part| part.len() >= SHORTEST_PART);
    parts
}

/// A text as it is, and in the encodings in which services send it back.
fn encodings(text: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![text.to_owned(), json(text), html(text)];
    for is_literal in [is_unreserved as fn(u8) -> bool, is_kept_in_components, is_kept_in_forms, |_| false] {
        for upper in [true, false] {
            let encoded = percent(text, is_literal, upper);
            forms.push(encoded.replace("%20", "+"));
            forms.push(encoded);
        }
    }
    forms.extend([HEXLOWER.encode(text.as_bytes()), HEXUPPER.encode(text.as_bytes())]);
    for offset in 0..3 {
        let inside = base64_inside(text.as_bytes(), offset);
        forms.push(inside.replace('+', "-").replace('/', "_"));
        forms.push(inside);
    }
    forms.extend([BASE64.encode(text.as_bytes()), BASE64URL.encode(text.as_bytes())]);
    forms.into_iter().map(String::into_bytes).collect()
}

/// As in a JSON text. `serde_json` escapes no more than it must.
fn json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.trim_start_matches('"').strip_suffix('"').unwrap_or(&quoted).to_owned()
}

fn html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Like JavaScript's `encodeURIComponent`.
fn is_kept_in_components(byte: u8) -> bool {
    is_unreserved(byte) || b"!*'()".contains(&byte)
}

/// As in a form of a browser.
fn is_kept_in_forms(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"*-._".contains(&byte)
}

fn percent(text: &str, is_literal: fn(u8) -> bool, upper: bool) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match (is_literal(byte), upper) {
            (true, _) => encoded.push(char::from(byte)),
            (false, true) => encoded += &format!("%{byte:02X}"),
            (false, false) => encoded += &format!("%{byte:02x}"),
        }
    }
    encoded
}

/// What Base64 makes of bytes that begin `offset` bytes after a multiple of three, without the characters that also
/// depend on the bytes around them.
fn base64_inside(bytes: &[u8], offset: usize) -> String {
    let padded = [&[0; 2][..offset], bytes].concat();
    let encoded = BASE64.encode(&padded);
    let (first, end) = ((offset * 8).div_ceil(6), padded.len() * 8 / 6);
    encoded.get(first..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const VALUE: &str = "Bearer s3cr3t/of+the \"bank\"&<co>";

    fn redactor() -> Redactor {
        Redactor::new([("bank", VALUE), ("login", "Basic YWRhOmhvcHBlcjEyMw==")].into_iter())
    }

    #[test]
    fn secrets_are_replaced_in_every_encoding() {
        let redactor = redactor();
        let token = VALUE.strip_prefix("Bearer ").expect("a token");
        let shown = [
            VALUE.to_owned(),
            token.to_owned(),
            json!({"echo": VALUE}).to_string(),
            html(token),
            percent(token, is_unreserved, true),
            percent(token, is_unreserved, false),
            percent(token, is_kept_in_forms, true).replace("%20", "+"),
            percent(token, |_| false, true),
            HEXLOWER.encode(token.as_bytes()),
            BASE64.encode(token.as_bytes()),
            BASE64URL.encode(token.as_bytes()),
            BASE64.encode(format!("x{token}").as_bytes()),
            BASE64.encode(format!("xy{token} and more").as_bytes()),
            BASE64.encode(json!({"a": "b", "c": "ada:hopper123"}).to_string().as_bytes()),
            "hopper123".to_owned(),
            "ada:hopper123".to_owned(),
        ];
        for text in shown {
            let text = format!("before {text} after");
            let hidden = redactor.text(text.clone());
            assert!(hidden.contains("***bank***") || hidden.contains("***login***"), "{text} became {hidden}");
            assert!(hidden.starts_with("before ") && hidden.ends_with(" after"), "{hidden}");
            for part in ["s3cr3t", "hopper", "c2VjcmV0", "czNjcjN0", "aG9wcGVy"] {
                assert!(!hidden.contains(part), "{text} became {hidden}");
            }
            assert_eq!(redactor.bytes(text.into_bytes()), hidden.into_bytes());
        }
    }

    #[test]
    fn secrets_are_replaced_in_json_however_it_escapes() {
        let redactor = Redactor::new([("pin", "123456789"), ("key", "abcdefgh")].into_iter());
        let value: Value =
            serde_json::from_str(r#"{"abcdefgh": 1, "n": 123456789, "a": ["\u0061bcdefgh", 12, null]}"#).expect("JSON");
        let hidden = json!({"***key***": 1, "n": "***pin***", "a": ["***key***", 12, null]});
        assert_eq!(redactor.value(value), hidden);
    }

    #[test]
    fn nothing_is_replaced_without_secrets() {
        let redactor = Redactor::new(std::iter::empty());
        assert!(redactor.is_empty() && !redactor.finds_in("abc"));
        assert_eq!(redactor.text("abc".into()), "abc");
        assert_eq!(redactor.value(json!([1, "abc"])), json!([1, "abc"]));
    }
}

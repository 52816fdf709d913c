//! JSON text to a value, without recursion: serde_json takes half a kilobyte of stack per level.
//!
//! This parser reads structure, serde_json reads scalars.

use serde::de::{Deserialize, DeserializeOwned, Error};
use serde_json::{Map, Value};

use super::MAX_DEPTH;
use super::bounds::{Exceeded, Tally, check_text};
use super::text::{nul_in_string, too_deep};
use crate::fault::{Fault, shorten};

/// The member that serde_json makes of a number while it reads one. An object whose first member has this name is a
/// number to `Value::deserialize`, or an error if the text in it is none.
const NUMBER_MEMBER: &str = "$serde_json::private::Number";

/// Reads text that `to_string` made of a value nested at most `max_depth` levels deep. The limits on values were checked
/// when it was made: reading it again needs only memory.
///
/// # Errors
/// That of serde_json if it is not such text.
pub(super) fn parse_stored(text: &str, max_depth: usize) -> serde_json::Result<Value> {
    // Slower, and reads all names alike. serde_json writes this name without escapes.
    if text.contains(NUMBER_MEMBER) {
        let mut reader = JsonReader { text, at: 0, open: Vec::new(), max_depth, tally: Tally::of_stored() };
        return reader.document().map_err(|_| serde_json::Error::custom("stored text cannot be read"));
    }
    // The caller has checked the depth, so serde_json's own limit of 128 is disabled.
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Reads JSON text nested at most [`MAX_DEPTH`] levels deep. Of members with the same name the last one wins.
///
/// # Errors
/// 22P02 for text that is no JSON, 54001 for deeper nesting, 54000 if the text exceeds the [`Bounds`](super::Bounds),
/// 22P05 for `\u0000`, which jsonb cannot hold, 57014 if it is time to stop.
pub fn parse_json(text: &str) -> Result<Value, Fault> {
    check_text(text).map_err(Exceeded::fault)?;
    let mut reader = JsonReader { text, at: 0, open: Vec::new(), max_depth: MAX_DEPTH, tally: Tally::new() };
    let value = reader.document().map_err(|refusal| match refusal {
        ParseError::Invalid => Fault::new("22P02", format!("invalid JSON text: \"{}\"", shorten(text, 60)))
            .detail(format!("It is wrong at position {}.", text[..reader.at].chars().count() + 1)),
        ParseError::TooDeep => too_deep(),
        ParseError::Nul => nul_in_string(),
        ParseError::Exceeded(what) => what.fault(),
    })?;
    Ok(value)
}

enum ParseError {
    Invalid,
    TooDeep,
    Nul,
    Exceeded(Exceeded),
}

impl From<Exceeded> for ParseError {
    fn from(what: Exceeded) -> Self {
        Self::Exceeded(what)
    }
}

/// A container that is not complete.
enum Open {
    Array(Vec<Value>),
    Object(Map<String, Value>, String),
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Open>,
    max_depth: usize,
    tally: Tally,
}

impl JsonReader<'_> {
    fn document(&mut self) -> Result<Value, ParseError> {
        let value = loop {
            // Opening brackets give no value yet.
            let Some(mut value) = self.value()? else {
                continue;
            };
            let whole = loop {
                match self.attach(value)? {
                    Attached::Whole(value) => break Some(value),
                    Attached::Open => break None,
                    Attached::Closed(container) => value = container,
                }
            };
            if let Some(value) = whole {
                break value;
            }
        };
        self.blanks();
        if self.at == self.text.len() { Ok(value) } else { Err(ParseError::Invalid) }
    }

    /// Reads a scalar or an empty container; opens a container that is not empty.
    fn value(&mut self) -> Result<Option<Value>, ParseError> {
        self.blanks();
        match self.peek() {
            Some(b'[') => {
                self.enter()?;
                if self.skip(b']') {
                    return Ok(Some(Value::Array(Vec::new())));
                }
                self.open.push(Open::Array(Vec::new()));
                Ok(None)
            }
            Some(b'{') => {
                self.enter()?;
                if self.skip(b'}') {
                    return Ok(Some(Value::Object(Map::new())));
                }
                let key = self.key()?;
                self.open.push(Open::Object(Map::new(), key));
                Ok(None)
            }
            Some(b'"') => self.string().map(|string| Some(Value::String(string))),
            _ => self.word().map(Some),
        }
    }

    fn enter(&mut self) -> Result<(), ParseError> {
        self.at += 1;
        self.tally.node(0)?;
        if self.open.len() < self.max_depth { Ok(()) } else { Err(ParseError::TooDeep) }
    }

    /// Adds a value to the container that is open and reads what follows it.
    fn attach(&mut self, value: Value) -> Result<Attached, ParseError> {
        let Some(container) = self.open.pop() else {
            return Ok(Attached::Whole(value));
        };
        match container {
            Open::Array(mut items) => {
                items.push(value);
                if self.skip(b',') {
                    self.open.push(Open::Array(items));
                    return Ok(Attached::Open);
                }
                self.expect(b']').map(|()| Attached::Closed(Value::Array(items)))
            }
            Open::Object(mut members, key) => {
                members.insert(key, value);
                if self.skip(b',') {
                    let key = self.key()?;
                    self.open.push(Open::Object(members, key));
                    return Ok(Attached::Open);
                }
                self.expect(b'}').map(|()| Attached::Closed(Value::Object(members)))
            }
        }
    }

    fn key(&mut self) -> Result<String, ParseError> {
        self.blanks();
        if self.peek() != Some(b'"') {
            return Err(ParseError::Invalid);
        }
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, ParseError> {
        let mut escaped = false;
        let end = self.text.as_bytes()[self.at + 1..].iter().position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        });
        let end = end.map_or(self.text.len(), |end| self.at + end + 2);
        self.tally.node(end - self.at)?;
        let string: String = self.scalar(end)?;
        if string.contains('\0') { Err(ParseError::Nul) } else { Ok(string) }
    }

    /// Reads a number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, ParseError> {
        let rest = &self.text[self.at..];
        let length = rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
        // serde_json would read a string or a container as well.
        if rest.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '-') {
            self.tally.node(length)?;
            self.scalar(self.at + length)
        } else {
            Err(ParseError::Invalid)
        }
    }

    fn scalar<T: DeserializeOwned>(&mut self, end: usize) -> Result<T, ParseError> {
        let scalar = serde_json::from_str(&self.text[self.at..end]).map_err(|_| ParseError::Invalid)?;
        self.at = end;
        Ok(scalar)
    }

    fn blanks(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.skip(byte) { Ok(()) } else { Err(ParseError::Invalid) }
    }
}

enum Attached {
    /// The document is complete.
    Whole(Value),
    /// Another value follows in the same container.
    Open,
    /// The container is complete and is a value itself.
    Closed(Value),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::any_json::any_json;

    #[test]
    fn documents_are_read() {
        for text in [
            "1",
            " true ",
            "null",
            "-0.5e-3",
            "\"a\\\"]\\\\\"",
            "[]",
            "{}",
            "[ ]",
            "[1, [2, {\"a\": []}], {}]",
            "1.10",
            "{\"a\" : {\"b\":[null]} , \"c\":\"\\u00e4\"}",
            "1e400",
            "[[],[[]]]",
        ] {
            assert_eq!(parse_json(text).ok(), serde_json::from_str(text).ok(), "{text}");
            assert!(parse_json(text).is_ok(), "{text}");
        }
        assert_eq!(parse_json(r#"{"a": 1, "a": 2}"#), Ok(json!({"a": 2})));
    }

    #[test]
    fn no_name_of_a_member_has_a_meaning() {
        for text in ["5", "x"] {
            for value in
                [json!({NUMBER_MEMBER: text}), json!({"a": [{NUMBER_MEMBER: text, "b": {NUMBER_MEMBER: 1.10}}]})]
            {
                assert_eq!(parse_stored(&value.to_string(), MAX_DEPTH).unwrap(), value);
                assert_eq!(parse_json(&value.to_string()), Ok(value));
            }
        }
    }

    #[test]
    fn invalid_text_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "]",
            "[1",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1,}",
            "1 2",
            "\"",
            "\"\\",
            "\"\n\"",
            "tru",
            "nan",
            "01",
            "+1",
            ".5",
            "1.",
            "[1}",
            "{\"a\":1]",
            "'a'",
            "\u{feff}1",
            "\"\\ud800\"",
            "ä",
        ] {
            assert_eq!(parse_json(text).unwrap_err().sqlstate, "22P02", "{text}");
        }
        let fault = parse_json("[1, x]").unwrap_err();
        assert_eq!(fault.detail.as_deref(), Some("It is wrong at position 5."));
        assert_eq!(parse_json(r#""\u0000""#).unwrap_err().sqlstate, "22P05");
        assert_eq!(parse_json(r#"{"\u0000":1}"#).unwrap_err().sqlstate, "22P05");
        assert_eq!(parse_json(r#""\\u0000""#), Ok(json!("\\u0000")));
    }

    #[test]
    fn the_deepest_value_fits_into_what_postgresql_keeps_of_the_stack() {
        // Copying and dropping are serde_json's own; unoptimised frames are several times larger.
        let size = if cfg!(debug_assertions) { 4 << 20 } else { 512 << 10 };
        let work = || {
            let half = MAX_DEPTH / 2;
            let text = format!("{}{}", "{\"a\":[".repeat(half), "]}".repeat(half));
            let value = parse_json(&text).unwrap();
            assert!(super::super::canonical(&value) == text && super::super::to_text(&value) == text);
            assert!(super::super::same(&value, &value.clone()));
        };
        std::thread::Builder::new().stack_size(size).spawn(work).unwrap().join().unwrap();
        assert_eq!(parse_json(&"[".repeat(MAX_DEPTH + 1)).unwrap_err().sqlstate, "54001");
        assert_eq!(parse_json(&"{\"a\":".repeat(1_000_000)).unwrap_err().sqlstate, "54001");
    }

    proptest! {
        #[test]
        fn what_serde_writes_is_read(value in any_json(), text in "[\\[\\]{}\",:0-9a-z\\\\ .-]{0,30}") {
            let written = value.to_string();
            if !written.contains("\\u0000") {
                prop_assert_eq!(parse_json(&written), Ok(value));
            }
            let other: Option<Value> = serde_json::from_str(&text).ok();
            prop_assert_eq!(parse_json(&text).ok(), other);
        }
    }
}

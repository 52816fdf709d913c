//! YAML 1.2 with its core schema: `on`, `no` and dates are texts.
//!
//! What JSON cannot hold is an error: keys that are no scalars, infinite numbers, tags of programs.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};

use super::{Position, SyntaxError};

/// Maximum number of parts of all documents. Aliases could multiply them without an end.
const MAX_PARTS: usize = 1_000_000;

/// Maximum nesting: at this depth the reader of definitions has long refused the document.
const MAX_DEPTH: usize = 1_000;

/// Where a part stands, and the parts in it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    at: Position,
    inner: Vec<(String, Position, Place)>,
}

impl Place {
    pub fn position(&self, steps: impl Iterator<Item = String>) -> Position {
        let (mut place, mut shown) = (self, self.at);
        for step in steps {
            let Some((_, at, inner)) = place.inner.iter().find(|(name, ..)| *name == step) else { break };
            (place, shown) = (inner, *at);
        }
        shown
    }
}

/// Reads all documents of a text.
pub(super) fn read(text: &str) -> Result<Vec<(Value, Place)>, SyntaxError> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| failed(error.marker(), format!("invalid YAML: {}", error.info())))?;
        reader.take(event, &span.start)?;
    }
    Ok(reader.documents)
}

/// A container that is not complete.
struct Open {
    anchor: usize,
    at: Position,
    parts: Parts,
    inner: Vec<(String, Position, Place)>,
}

enum Parts {
    List(Vec<Value>),
    /// The members, and the key whose value follows.
    Object(Map<String, Value>, Option<(String, Position)>),
}

#[derive(Default)]
struct Reader {
    documents: Vec<(Value, Place)>,
    open: Vec<Open>,
    /// What anchors name, with the number of its parts.
    anchors: HashMap<usize, (Value, Place, usize)>,
    parts: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, marker: &Marker) -> Result<(), SyntaxError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_key = matches!(self.open.last(), Some(Open { parts: Parts::Object(_, None), .. }));
                let value = match is_key {
                    true => Value::String(text.into_owned()),
                    false => scalar(&text, style, tag.as_deref()).map_err(|message| failed(marker, message))?,
                };
                let place = Place { at: position(marker), inner: Vec::new() };
                self.keep(anchor, &value, &place, 1);
                self.attach(value, place, 1, marker)
            }
            Event::SequenceStart(anchor, tag) => self.enter(anchor, tag.as_deref(), Parts::List(Vec::new()), marker),
            Event::MappingStart(anchor, tag) => {
                self.enter(anchor, tag.as_deref(), Parts::Object(Map::new(), None), marker)
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(marker),
            Event::Alias(anchor) => {
                let Some((value, place, parts)) = self.anchors.get(&anchor).cloned() else {
                    return Err(failed(marker, "an alias must not stand inside of what it names".into()));
                };
                self.attach(value, Place { at: position(marker), ..place }, parts, marker)
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
            }
        }
    }

    fn enter(&mut self, anchor: usize, tag: Option<&Tag>, parts: Parts, marker: &Marker) -> Result<(), SyntaxError> {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            return Err(failed(marker, format!("the tag {}{} has no meaning in a definition", tag.handle, tag.suffix)));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(failed(marker, format!("the document is nested more than {MAX_DEPTH} levels deep")));
        }
        if let Some(Open { parts: Parts::Object(_, None), .. }) = self.open.last() {
            return Err(failed(marker, "the name of a member must be a text".into()));
        }
        self.open.push(Open { anchor, at: position(marker), parts, inner: Vec::new() });
        Ok(())
    }

    fn leave(&mut self, marker: &Marker) -> Result<(), SyntaxError> {
        let Some(Open { anchor, at, parts, inner }) = self.open.pop() else { return Ok(()) };
        let value = match parts {
            Parts::List(list) => Value::Array(list),
            Parts::Object(members, _) => Value::Object(members),
        };
        let place = Place { at, inner };
        if anchor > 0 {
            let parts = count(&value);
            self.keep(anchor, &value, &place, parts);
        }
        self.attach(value, place, 1, marker)
    }

    fn keep(&mut self, anchor: usize, value: &Value, place: &Place, parts: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), place.clone(), parts));
        }
    }

    /// Puts a value where it belongs: it may be a key, a member, an element, or a document.
    fn attach(&mut self, value: Value, place: Place, parts: usize, marker: &Marker) -> Result<(), SyntaxError> {
        self.parts += parts;
        if self.parts > MAX_PARTS {
            return Err(failed(marker, format!("the file has more than {MAX_PARTS} parts, aliases included")));
        }
        let Some(Open { parts, inner, .. }) = self.open.last_mut() else {
            self.documents.push((value, place));
            return Ok(());
        };
        match parts {
            Parts::List(list) => {
                inner.push((list.len().to_string(), place.at, place));
                list.push(value);
            }
            Parts::Object(members, key) => match key.take() {
                Some((key, at)) => {
                    inner.push((key.clone(), at, place));
                    members.insert(key, value);
                }
                None => {
                    let Value::String(name) = value else {
                        return Err(failed(marker, "the name of a member must be a text".into()));
                    };
                    if members.contains_key(&name) {
                        return Err(failed(marker, format!("the member \"{name}\" is given twice")));
                    }
                    *key = Some((name, place.at));
                }
            },
        }
        Ok(())
    }
}

/// The number of values in a value, itself included.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

fn failed(marker: &Marker, message: String) -> SyntaxError {
    SyntaxError { at: position(marker), message }
}

/// The value of a scalar by the core schema.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    if text.contains('\0') {
        return Err("a text must not contain the character 0".to_owned());
    }
    let kind = match tag {
        Some(tag) if tag.is_yaml_core_schema() => Some(tag.suffix.as_str()),
        Some(tag) if tag.handle == "!" && tag.suffix.is_empty() => Some("str"),
        Some(tag) => return Err(format!("the tag {}{} has no meaning in a definition", tag.handle, tag.suffix)),
        None if style == ScalarStyle::Plain => None,
        None => Some("str"),
    };
    if kind == Some("str") {
        return Ok(Value::String(text.to_owned()));
    }
    let value = plain(text)?;
    let is_of_kind = match kind {
        None => true,
        Some("null") => value.is_null(),
        Some("bool") => value.is_boolean(),
        Some("int" | "float") => value.is_number(),
        Some(_) => false,
    };
    if is_of_kind { Ok(value) } else { Err(format!("\"{text}\" does not fit its tag")) }
}

/// The value of a plain scalar: null, a boolean, a number, or otherwise a text.
fn plain(text: &str) -> Result<Value, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match number(text) {
            Some(written) => {
                serde_json::from_str::<Number>(&written).map(Value::Number).map_err(|_| not_a_number(text))?
            }
            None if is_no_json_number(text) => return Err(not_a_number(text)),
            None => Value::String(text.to_owned()),
        },
    })
}

fn not_a_number(text: &str) -> String {
    format!("JSON has no number {text}: write \"{text}\" for a text")
}

fn is_no_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// A number of YAML as JSON writes it, with all its digits; `None`: the text is no number.
fn number(text: &str) -> Option<String> {
    let based = |digits: &str, base| u128::from_str_radix(digits, base).ok().map(|number| number.to_string());
    let has_sign = |digits: &str| digits.starts_with('+');
    if let Some(digits) = text.strip_prefix("0x").filter(|digits| !has_sign(digits)) {
        return based(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o").filter(|digits| !has_sign(digits)) {
        return based(digits, 8);
    }
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_power = |text: &str| {
        let digits_only = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits_only.is_empty() && digits(digits_only)
    };
    let is_number = digits(whole)
        && fraction.is_none_or(digits)
        && whole.len() + fraction.map_or(0, str::len) > 0
        && exponent.is_none_or(is_power);
    if !is_number {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = fraction.filter(|fraction| !fraction.is_empty()).map(|fraction| format!(".{fraction}"));
    let exponent = exponent.map(|exponent| format!("e{exponent}"));
    Some(format!("{sign}{whole}{}{}", fraction.unwrap_or_default(), exponent.unwrap_or_default()))
}

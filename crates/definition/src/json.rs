//! Helpers for JSON values, and paths into a document.
//!
//! They know Elsa's spellings (PascalCase of older serializers, `$values` around lists), but nothing of definitions.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) use workflow_value::value::{entry, kind_of};

/// Maximum nesting depth of constants, which are processed by recursive functions.
pub(super) const MAX_CONSTANT_DEPTH: usize = 500;

/// The activities of a document, in document order.
pub(super) trait Activities {
    /// JSON pointer to an activity.
    fn pointer(&self, ix: usize) -> String;
}

/// A place in the document. Most places are never needed as text, so the text is built only on demand.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    /// The whole document; its pointer is empty.
    Root,
    /// The activity with this number; its pointer is derived from its ancestors.
    Activity(&'a (dyn Activities + 'a), usize),
    /// The member with this key, below another place.
    Key(&'a Path<'a>, &'a str),
    /// The element with this index, below another place.
    Index(&'a Path<'a>, usize),
    /// A pointer below another place, already in text form.
    Below(&'a Path<'a>, &'a str),
}

impl<'a> Path<'a> {
    /// The place of the member with this key below this one.
    pub fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    /// The place of the element with this index below this one.
    pub fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Activity(activities, ix) => f.write_str(&activities.pointer(*ix)),
            Path::Key(parent, key) => write!(f, "{parent}/{}", escaped(key)),
            Path::Index(parent, index) => write!(f, "{parent}/{index}"),
            Path::Below(parent, pointer) => write!(f, "{parent}{pointer}"),
        }
    }
}

/// Escapes a key for a JSON pointer.
pub(super) fn escaped(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) { Cow::Owned(key.replace('~', "~0").replace('/', "~1")) } else { Cow::Borrowed(key) }
}

/// The value of a member, unless it is missing or null.
pub(super) fn member<'d>(object: &'d Map<String, Value>, name: &str) -> Option<&'d Value> {
    entry(object, name).map(|(_, value)| value).filter(|value| !value.is_null())
}

/// The text of a member; `None` if it is missing or no text.
pub(super) fn text<'d>(object: &'d Map<String, Value>, name: &str) -> Option<&'d str> {
    member(object, name).and_then(Value::as_str)
}

/// The elements of a list, with the pointer from the value to them (`""` or `/$values`).
pub(super) fn elements(value: &Value) -> Option<(&'static str, &[Value])> {
    match value {
        Value::Array(list) => Some(("", list)),
        Value::Object(object) => match object.get("$values") {
            Some(Value::Array(list)) => Some(("/$values", list)),
            _ => None,
        },
        _ => None,
    }
}

/// Reads JSON text that is nested no deeper than constants may be.
pub(super) fn parse(text: &str) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // The limit of serde_json is lower than `MAX_CONSTANT_DEPTH`.
    if !nests_too_deep(text) {
        reader.disable_recursion_limit();
    }
    let value = Value::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Whether JSON text is nested deeper than constants may be; counts brackets outside strings.
pub(super) fn nests_too_deep(text: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > MAX_CONSTANT_DEPTH {
                    return true;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether a value is nested deeper than constants may be; does not recurse.
pub(super) fn too_deep(value: &Value) -> bool {
    let mut work = vec![(value, 0usize)];
    while let Some((value, depth)) = work.pop() {
        if depth > MAX_CONSTANT_DEPTH {
            return true;
        }
        match value {
            Value::Array(list) => work.extend(list.iter().filter(|v| nests(v)).map(|v| (v, depth + 1))),
            Value::Object(object) => work.extend(object.values().filter(|v| nests(v)).map(|v| (v, depth + 1))),
            _ => {}
        }
    }
    false
}

fn nests(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

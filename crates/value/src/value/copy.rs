//! Copies of whole values, made only while the call has memory for them.
//!
//! `Value::clone` takes as much memory as the value, which may be a large part of a call's limit, and does not request
//! it first: a failed allocation ends the process. This module's copy requests memory step by step.

use serde::Serialize;
use serde_json::map::Iter as Members;
use serde_json::{Map, Value};

use super::Bounds;
use crate::fault::Fault;

/// Maximum number of items of an array or object of scalars that is copied at once.
const FEW: usize = 64;

/// Maximum length of a text that is copied without requesting memory, in bytes.
const SHORT: usize = 4 << 10;

/// Values and names that are copied between two checks of whether to stop.
const NODES_PER_CHECK: usize = 512;

/// From this size in bytes, each piece requests its memory.
const LARGE: usize = 256 << 10;

/// Bytes that a map takes for each member while it is built.
const MEMBER: usize = 2 * (size_of::<String>() + size_of::<Value>());

/// Copies a value.
///
/// # Errors
/// 57014 if it is time to stop, for instance because there is no memory for the copy.
pub fn copy(value: &Value) -> Result<Value, Fault> {
    match copied(value) {
        Some(copy) => Ok(copy),
        None => Err(super::Exceeded::Interrupted.fault()),
    }
}

/// Copies a value for a caller that cannot fail: null if it is time to stop, as [`Bounds::check_interrupts`] reports then.
pub fn copy_or_null(value: &Value) -> Value {
    copied(value).unwrap_or_default()
}

/// Copies the members of an object, as [`copy`] does a value.
///
/// # Errors
/// 57014.
pub fn copy_members(members: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
    members.iter().map(|(name, value)| Ok((name.clone(), copy(value)?))).collect()
}

/// Writes a value as JSON, if there is memory for the text.
///
/// # Errors
/// 57014 if it is time to stop.
pub fn json_text(value: &impl Serialize) -> Result<String, Fault> {
    let mut text = Text(Vec::with_capacity(128));
    let written = serde_json::to_writer(&mut text, value);
    written.map_err(|_| super::Exceeded::Interrupted.fault())?;
    text.finish()
}

/// A text that requests memory before it grows.
#[derive(Debug, Default)]
pub struct Text(Vec<u8>);

impl Text {
    /// Appends a text.
    ///
    /// # Errors
    /// 57014 if there is no memory.
    pub fn push(&mut self, text: &str) -> Result<(), Fault> {
        self.grow(text.as_bytes()).ok_or_else(|| super::Exceeded::Interrupted.fault())
    }

    /// The text so far.
    ///
    /// # Errors
    /// 57014.
    pub fn finish(self) -> Result<String, Fault> {
        String::from_utf8(self.0).map_err(|_| super::Exceeded::Interrupted.fault())
    }

    fn grow(&mut self, bytes: &[u8]) -> Option<()> {
        let (length, capacity) = (self.0.len() + bytes.len(), self.0.capacity());
        if length > capacity && length > LARGE {
            // While the text moves, the old and the new buffer exist.
            let larger = length.max(capacity.saturating_mul(2));
            (Bounds::current().room)(larger).then_some(())?;
            self.0.reserve_exact(larger - self.0.len());
        }
        self.0.extend_from_slice(bytes);
        Some(())
    }
}

impl std::io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.grow(bytes).ok_or(std::io::ErrorKind::OutOfMemory)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The copy, or `None` if it is time to stop.
fn copied(value: &Value) -> Option<Value> {
    match value {
        Value::Array(_) | Value::Object(_) if is_small(value) => Some(value.clone()),
        Value::Array(_) | Value::Object(_) => Copy { bounds: Bounds::current(), nodes: 0, open: Vec::new() }.of(value),
        scalar => {
            let text = text_of(scalar);
            (text <= SHORT || (Bounds::current().room)(text)).then(|| scalar.clone())
        }
    }
}

/// Whether a value is copied without requesting memory.
fn is_small(value: &Value) -> bool {
    let is_short = |scalar: &Value| match scalar {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        scalar => text_of(scalar) <= SHORT,
    };
    match value {
        Value::Array(items) => items.len() <= FEW && items.iter().all(is_short),
        Value::Object(members) => {
            members.len() <= FEW && members.iter().all(|(name, value)| name.len() <= SHORT && is_short(value))
        }
        scalar => is_short(scalar),
    }
}

#[inline]
fn text_of(scalar: &Value) -> usize {
    match scalar {
        Value::String(text) => text.len(),
        Value::Number(number) => number.as_str().len(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => 0,
    }
}

/// An array or object that is copied in part.
enum Open<'v> {
    Array(std::slice::Iter<'v, Value>, Vec<Value>),
    Object(Members<'v>, Vec<(String, Value)>),
}

/// A copy in progress, without recursion.
struct Copy<'v> {
    bounds: Bounds,
    /// Values and names since the last check of whether to stop.
    nodes: usize,
    open: Vec<Open<'v>>,
}

impl<'v> Copy<'v> {
    fn of(mut self, value: &'v Value) -> Option<Value> {
        let mut done = self.begin(value)?;
        while let Some(top) = self.open.last_mut() {
            let next = match top {
                Open::Array(items, copies) => {
                    copies.extend(done.take());
                    items.next()
                }
                Open::Object(members, copies) => {
                    if let (Some(done), Some((_, slot))) = (done.take(), copies.last_mut()) {
                        *slot = done;
                    }
                    members.next().map(|(name, member)| {
                        copies.push((name.clone(), Value::Null));
                        member
                    })
                }
            };
            done = match next {
                Some(value) => self.begin(value)?,
                None => self.end(),
            };
        }
        done
    }

    /// Copies a small value or a scalar, or starts an array or object.
    fn begin(&mut self, value: &'v Value) -> Option<Option<Value>> {
        if is_small(value) {
            let nodes = match value {
                Value::Array(items) => items.len(),
                Value::Object(members) => members.len(),
                scalar => text_of(scalar) >> 8,
            };
            self.count(nodes + 1)?;
            return Some(Some(value.clone()));
        }
        self.count(1)?;
        match value {
            Value::Array(items) => {
                self.room(items.len().saturating_mul(size_of::<Value>()))?;
                self.open.push(Open::Array(items.iter(), Vec::with_capacity(items.len())));
            }
            Value::Object(members) => {
                self.room(members.len().saturating_mul(2 * MEMBER))?;
                self.open.push(Open::Object(members.iter(), Vec::with_capacity(members.len())));
            }
            scalar => {
                self.room(text_of(scalar))?;
                self.count(text_of(scalar) >> 8)?;
                return Some(Some(scalar.clone()));
            }
        }
        Some(None)
    }

    fn end(&mut self) -> Option<Value> {
        Some(match self.open.pop()? {
            Open::Array(_, copies) => Value::Array(copies),
            Open::Object(_, copies) => Value::Object(copies.into_iter().collect()),
        })
    }

    fn count(&mut self, nodes: usize) -> Option<()> {
        self.nodes += nodes;
        if self.nodes >= NODES_PER_CHECK {
            self.nodes = 0;
            return (!(self.bounds.interrupted)()).then_some(());
        }
        Some(())
    }

    fn room(&self, bytes: usize) -> Option<()> {
        (bytes < LARGE || (self.bounds.room)(bytes)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{MAX_DEPTH, parse_json};
    use super::*;

    /// Runs `work` with these answers to whether to stop and whether there is memory.
    fn refusing<R>(interrupted: fn() -> bool, room: fn(usize) -> bool, work: impl FnOnce() -> R) -> R {
        Bounds { interrupted, room, ..Bounds::default() }.apply();
        let result = work();
        Bounds::default().apply();
        result
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a\"\\\\\u{1}é]{0,8}".prop_map(Value::from),
            (SHORT - 1..SHORT + 2).prop_map(|length| Value::from("x".repeat(length))),
        ];
        leaf.prop_recursive(4, 300, 80, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..80).prop_map(Value::Array),
                prop::collection::btree_map("[a-c]{0,3}", inner, 0..20)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_copy_is_the_value_and_its_text_what_the_library_writes(value in any_value()) {
            prop_assert_eq!(copy(&value).unwrap(), value.clone());
            prop_assert_eq!(copy_or_null(&value), value.clone());
            prop_assert_eq!(json_text(&value).unwrap(), value.to_string());
        }
    }

    #[test]
    fn a_copy_may_be_as_deep_as_a_value() {
        let deep = parse_json(&format!("{}1{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH))).unwrap();
        assert_eq!(copy(&deep).unwrap(), deep);
    }

    #[test]
    fn what_is_large_is_not_copied_without_room() {
        let many = Value::from(vec![json!({"a": 1}); NODES_PER_CHECK]);
        let deep = json!({ "a": [[many]] });
        let members: Map<String, Value> = (0..NODES_PER_CHECK * 8).map(|n| (n.to_string(), json!(n))).collect();
        for value in
            [&many, &deep, &Value::from("x".repeat(LARGE)), &Value::from(members), &json!([["x".repeat(LARGE)]])]
        {
            assert!(copy(value).is_ok());
            let refused = refusing(|| true, |_| false, || (copy(value).unwrap_err(), copy_or_null(value)));
            assert_eq!((refused.0.sqlstate.as_str(), refused.1), ("57014", Value::Null));
        }
        let text = refusing(|| false, |_| false, || json_text(&Value::from("x".repeat(LARGE)))).unwrap_err();
        assert_eq!(text.sqlstate, "57014");
    }

    #[test]
    fn what_is_small_is_not_asked_for() {
        for value in [json!(null), json!("text"), json!([1, "two"]), json!({"a": 1, "b": [], "c": {}}), json!([[[1]]])]
        {
            let copy = refusing(|| true, |_| false, || (copy(&value).unwrap(), json_text(&value).unwrap()));
            assert_eq!(copy, (value.clone(), value.to_string()));
        }
    }
}

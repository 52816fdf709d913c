//! JSON in the form that templates read: exact numbers, members in any letter case.

use std::fmt;

use liquid_core::model::{
    ArrayView, DisplayCow, KString, KStringCow, Object, ObjectView, Scalar, ScalarCow, State, Value, ValueView,
};
use serde_json::{Map, Number, Value as Json};

use workflow_value::value::{Bounds, number};

/// Maximum nesting of values: the crate renders and compares them by recursion.
pub(super) const MAX_DEPTH: usize = 100;

/// A value of the workflow in the form that the crate reads.
#[derive(Debug)]
pub(super) enum WorkflowValue {
    /// Null, booleans, text, and numbers that fit into a number of the template.
    Plain(Value),
    /// Any other number: written with all its digits, compared as a double.
    Exact(String, f64),
    /// An array: a template writes its items one after another.
    List(Vec<WorkflowValue>),
    /// An object: a template writes it as JSON.
    Members(ObjectMembers),
}

/// The members of an object, in order.
#[derive(Debug)]
pub(super) struct ObjectMembers(Vec<(KString, WorkflowValue)>);

impl WorkflowValue {
    /// Converts a value. The caller has checked that it is nested at most [`MAX_DEPTH`] levels deep.
    pub(super) fn new(value: &Json) -> Self {
        match value {
            Json::Null => Self::Plain(Value::Nil),
            Json::Bool(truth) => Self::Plain(Value::scalar(*truth)),
            Json::String(text) => Self::Plain(Value::scalar(text.clone())),
            Json::Number(number) => Self::number(number),
            Json::Array(items) => Self::List(items.iter().map(Self::new).collect()),
            Json::Object(members) => {
                let members = members.iter().map(|(key, value)| (KString::from_ref(key), Self::new(value)));
                Self::Members(ObjectMembers(members.collect()))
            }
        }
    }

    fn number(number: &Number) -> Self {
        match number.as_i64() {
            Some(integer) => Self::Plain(Value::scalar(integer)),
            None => Self::Exact(number.to_string(), number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    fn inner(&self) -> Option<&Value> {
        match self {
            Self::Plain(value) => Some(value),
            _ => None,
        }
    }
}

impl ValueView for WorkflowValue {
    fn as_debug(&self) -> &dyn fmt::Debug {
        self
    }
    fn render(&self) -> DisplayCow<'_> {
        match self {
            Self::Plain(value) => value.render(),
            Self::Exact(digits, _) => DisplayCow::Borrowed(digits),
            Self::List(items) => DisplayCow::Owned(Box::new(Joined(items))),
            Self::Members(members) => members.render(),
        }
    }
    fn source(&self) -> DisplayCow<'_> {
        match self {
            Self::Plain(value) => value.source(),
            other => other.render(),
        }
    }
    fn type_name(&self) -> &'static str {
        match self {
            Self::Plain(value) => value.type_name(),
            Self::Exact(..) => "fractional number",
            Self::List(_) => "array",
            Self::Members(_) => "object",
        }
    }
    fn query_state(&self, state: State) -> bool {
        match self {
            Self::Plain(value) => value.query_state(state),
            Self::Exact(..) => state == State::Truthy,
            Self::List(items) => matches!(state, State::Truthy) || items.is_empty(),
            Self::Members(members) => members.query_state(state),
        }
    }
    fn to_kstr(&self) -> KStringCow<'_> {
        match self {
            Self::Plain(value) => value.to_kstr(),
            other => KStringCow::from_string(other.render().to_string()),
        }
    }
    fn to_value(&self) -> Value {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Exact(_, float) => Value::scalar(*float),
            // There is no memory for a copy. The end of the evaluation checks that again, and faults.
            _ if Bounds::check_interrupts().is_err() => Value::Nil,
            Self::List(items) => Value::Array(items.iter().map(ValueView::to_value).collect()),
            Self::Members(members) => members.to_value(),
        }
    }
    fn as_scalar(&self) -> Option<ScalarCow<'_>> {
        match self {
            Self::Plain(value) => value.as_scalar(),
            Self::Exact(_, float) => Some(Scalar::new(*float)),
            _ => None,
        }
    }
    fn as_array(&self) -> Option<&dyn ArrayView> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }
    fn as_object(&self) -> Option<&dyn ObjectView> {
        match self {
            Self::Members(members) => Some(members),
            _ => None,
        }
    }
    fn as_state(&self) -> Option<State> {
        None
    }
    fn is_nil(&self) -> bool {
        self.inner().is_some_and(ValueView::is_nil)
    }
}

/// The items one after another, as Liquid writes an array.
struct Joined<'a>(&'a [WorkflowValue]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|item| write!(f, "{}", item.render()))
    }
}

impl ValueView for ObjectMembers {
    fn as_debug(&self) -> &dyn fmt::Debug {
        self
    }
    fn render(&self) -> DisplayCow<'_> {
        DisplayCow::Owned(Box::new(json(self).to_string()))
    }
    fn source(&self) -> DisplayCow<'_> {
        self.render()
    }
    fn type_name(&self) -> &'static str {
        "object"
    }
    fn query_state(&self, state: State) -> bool {
        matches!(state, State::Truthy) || self.0.is_empty()
    }
    fn to_kstr(&self) -> KStringCow<'_> {
        KStringCow::from_string(json(self).to_string())
    }
    fn to_value(&self) -> Value {
        Value::Object(self.0.iter().map(|(key, value)| (key.clone(), value.to_value())).collect::<Object>())
    }
    fn as_object(&self) -> Option<&dyn ObjectView> {
        Some(self)
    }
}

impl ObjectView for ObjectMembers {
    fn as_value(&self) -> &dyn ValueView {
        self
    }
    fn size(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }
    fn keys<'k>(&'k self) -> Box<dyn Iterator<Item = KStringCow<'k>> + 'k> {
        Box::new(self.0.iter().map(|(key, _)| key.as_ref().into()))
    }
    fn values<'k>(&'k self) -> Box<dyn Iterator<Item = &'k dyn ValueView> + 'k> {
        Box::new(self.0.iter().map(|(_, value)| value as &dyn ValueView))
    }
    fn iter<'k>(&'k self) -> Box<dyn Iterator<Item = (KStringCow<'k>, &'k dyn ValueView)> + 'k> {
        Box::new(self.0.iter().map(|(key, value)| (key.as_ref().into(), value as &dyn ValueView)))
    }
    fn contains_key(&self, index: &str) -> bool {
        self.get(index).is_some()
    }
    fn get<'s>(&'s self, index: &str) -> Option<&'s dyn ValueView> {
        let exact = self.0.iter().find(|(key, _)| key.as_str() == index);
        exact
            .or_else(|| self.0.iter().find(|(key, _)| super::names::same(key, index)))
            .map(|(_, value)| value as &dyn ValueView)
    }
}

/// A value as JSON. The recursion is limited by [`MAX_DEPTH`]: templates cannot nest values deeper.
///
/// Null if it is time to stop; the end of the evaluation checks that again.
pub(super) fn json(value: &dyn ValueView) -> Json {
    if !value.is_scalar() && Bounds::check_interrupts().is_err() {
        return Json::Null;
    }
    if let Some(items) = value.as_array() {
        return Json::Array(items.values().map(json).collect());
    }
    if let Some(members) = value.as_object() {
        let members: Map<String, Json> =
            members.iter().map(|(key, value)| (key.as_str().to_owned(), json(value))).collect();
        return Json::Object(members);
    }
    if value.is_nil() {
        return Json::Null;
    }
    let text = value.to_kstr();
    match value.type_name() {
        "boolean" => Json::Bool(text == "true"),
        "whole number" | "fractional number" => number::from_text(&text).map_or(Json::Null, Json::Number),
        _ => Json::String(text.as_str().to_owned()),
    }
}

/// Bytes of a value in addition to its text.
const OVERHEAD: usize = 64;

/// The [`weight`] of a value of the workflow, before the template copies it.
pub(super) fn weight_of(value: &Json, enough: usize) -> usize {
    let mut total = OVERHEAD;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(members) => open.extend(members.values()),
            Json::String(text) => total += text.len(),
            Json::Number(number) => total += number.as_str().len(),
            Json::Bool(_) => total += "false".len(),
            Json::Null => {}
        }
        total += OVERHEAD;
        if total > enough {
            break;
        }
    }
    total
}

/// Approximate size of a value in bytes; counting ends beyond `enough`.
pub(super) fn weight(value: &dyn ValueView, enough: usize) -> usize {
    let mut total = OVERHEAD;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if let Some(items) = value.as_array() {
            open.extend(items.values());
        } else if let Some(members) = value.as_object() {
            open.extend(members.values());
        } else {
            total += value.to_kstr().len();
        }
        total += OVERHEAD;
        if total > enough {
            break;
        }
    }
    total
}

//! Search attributes: values of an instance by which it is found.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::instance::Instance;
use crate::program::Program;
use workflow_value::value::number;
use workflow_value::value::{DateAndTime, date_time, to_text};

/// Maximum length of a text that is stored for a search, in bytes.
const MAX_TEXT: usize = 256;

/// A search attribute that a definition declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchAttribute {
    /// The name by which users search.
    pub name: String,
    /// Where its value comes from.
    pub source: SearchSource,
    /// Type that values are converted to; `None`: numbers are numbers, and everything else is text.
    pub kind: Option<SearchKind>,
}

/// The source of a search attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchSource {
    /// A variable of the workflow scope.
    Variable(String),
    /// An input.
    Input(String),
}

/// The types of search attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchKind {
    /// Compared byte by byte.
    Text,
    /// A number, with the precision of a double.
    Number,
    /// A point in time. A text without an offset counts as UTC.
    Instant,
}

impl SearchKind {
    /// The types by their names in definitions.
    pub const NAMES: [(&str, Self); 3] = [("text", Self::Text), ("number", Self::Number), ("instant", Self::Instant)];
}

/// A value by which an instance is found.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchValue {
    /// A text of at most 256 bytes.
    Text(String),
    /// A finite number.
    Number(f64),
    /// An instant.
    Instant(DateTime<Utc>),
}

impl SearchValue {
    /// The value to store. `None`: it is null, no scalar, too long, or does not have the declared type.
    pub fn of(value: &Value, kind: Option<SearchKind>) -> Option<Self> {
        match (kind, value) {
            (_, Value::Null | Value::Array(_) | Value::Object(_)) => None,
            (None | Some(SearchKind::Number), Value::Number(number)) => number.as_f64().and_then(Self::number),
            (Some(SearchKind::Number), Value::String(text)) => number::from_text(text)?.as_f64().and_then(Self::number),
            (Some(SearchKind::Instant), Value::String(text)) => match date_time(text)? {
                DateAndTime::Instant(at) => Some(Self::Instant(at)),
                DateAndTime::Local(at) => Some(Self::Instant(at.and_utc())),
            },
            (Some(SearchKind::Number | SearchKind::Instant), _) => None,
            (None | Some(SearchKind::Text), _) => {
                Some(to_text(value)).filter(|text| text.len() <= MAX_TEXT).map(Self::Text)
            }
        }
    }

    fn number(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self::Number(number))
    }
}

impl Program {
    /// The values of an instance by which it is found, each with the name of its attribute. Without search attributes
    /// it costs nothing.
    pub fn search_values(&self, instance: &Instance) -> Vec<(&str, SearchValue)> {
        let values = self.options.search_attributes.iter().filter_map(|attribute| {
            let value = match &attribute.source {
                SearchSource::Variable(name) => instance.variables.get(name),
                SearchSource::Input(name) => self.input_of(instance, name),
            };
            Some((attribute.name.as_str(), SearchValue::of(value?, attribute.kind)?))
        });
        values.collect()
    }

    /// An input of an instance, or its default.
    fn input_of<'a>(&'a self, instance: &'a Instance, name: &str) -> Option<&'a Value> {
        let default = || self.inputs.iter().find(|input| input.name == name)?.default.as_ref();
        instance.input.get(name).filter(|value| !value.is_null()).or_else(default)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_have_the_declared_type_or_are_not_stored() {
        let text = |text: &str| Some(SearchValue::Text(text.to_owned()));
        let instant = |text: &str| text.parse::<DateTime<Utc>>().ok().map(SearchValue::Instant);
        assert_eq!(SearchValue::of(&json!("A-1"), None), text("A-1"));
        assert_eq!(SearchValue::of(&json!(true), None), text("true"));
        assert_eq!(SearchValue::of(&json!(4711), None), Some(SearchValue::Number(4711.0)));
        assert_eq!(SearchValue::of(&json!(4711), Some(SearchKind::Text)), text("4711"));
        assert_eq!(SearchValue::of(&json!("12.50"), Some(SearchKind::Number)), Some(SearchValue::Number(12.5)));
        assert_eq!(SearchValue::of(&json!("twelve"), Some(SearchKind::Number)), None);
        let at = instant("2026-12-01T10:00:00Z");
        assert!(at.is_some());
        assert_eq!(SearchValue::of(&json!("2026-12-01T12:00:00+02:00"), Some(SearchKind::Instant)), at);
        assert_eq!(SearchValue::of(&json!("2026-12-01 10:00"), Some(SearchKind::Instant)), at);
        assert_eq!(SearchValue::of(&json!(20261201), Some(SearchKind::Instant)), None);
        assert_eq!(SearchValue::of(&json!("2026-12-01T10:00:00Z"), None), text("2026-12-01T10:00:00Z"));
    }

    #[test]
    fn what_is_no_short_scalar_is_not_stored() {
        for value in [json!(null), json!([1]), json!({"a": 1}), json!("x".repeat(257))] {
            assert_eq!(SearchValue::of(&value, None), None, "{value}");
        }
        assert!(SearchValue::of(&json!("x".repeat(256)), None).is_some());
        // Far beyond the range of a double.
        let number: Value = serde_json::from_str("1e400").expect("it is a JSON number");
        assert_eq!(SearchValue::of(&number, None), None);
    }
}

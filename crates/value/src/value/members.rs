//! Members of objects by the names that .NET's serializers write.

use serde_json::{Map, Value};

/// Finds a member by its camelCase name, or by its PascalCase name, which older serializers wrote.
pub fn entry<'d>(object: &'d Map<String, Value>, name: &str) -> Option<(&'d str, &'d Value)> {
    object
        .get_key_value(name)
        .or_else(|| object.get_key_value(&pascal_case(name)))
        .map(|(key, value)| (key.as_str(), value))
}

/// `name` with its first letter in upper case.
fn pascal_case(name: &str) -> String {
    let mut text = name.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// The JSON type of a value, with its article, for messages.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

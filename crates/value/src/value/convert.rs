//! Conversion of a value to a .NET type name, as far as JSON can tell the difference.
//!
//! Follows Elsa's object converter: null stays null, a blank text becomes null for every type except text, text is
//! parsed, and numbers and booleans convert to each other. Elsa uses a default for text that it cannot parse; this
//! conversion faults instead, because a wrong value must not become zero.

use serde_json::{Number, Value};
use uuid::Uuid;

use super::number::{self, Decimal};
use super::parse::parse_json;
use super::text::{parse_bool, to_text};
use super::time;
use crate::fault::{Fault, shorten};
use crate::value::TypeName;

/// Converts a value to a type.
///
/// ```
/// use serde_json::json;
/// use workflow_value::value::{convert, parse_type_name};
///
/// assert_eq!(convert(json!("7"), parse_type_name("Int32")).unwrap(), json!(7));
/// assert_eq!(convert(json!("many"), parse_type_name("Int32")).unwrap_err().sqlstate, "22P02");
/// ```
///
/// # Errors
/// 22P02 if the value cannot be converted, 22003 if a number is out of range.
pub fn convert(value: Value, to: TypeName) -> Result<Value, Fault> {
    if value.is_null() || to == TypeName::Any {
        return Ok(value);
    }
    if to != TypeName::String && value.as_str().is_some_and(|text| text.trim().is_empty()) {
        return Ok(Value::Null);
    }
    match to {
        TypeName::Any => Ok(value),
        TypeName::Boolean => to_boolean(value),
        TypeName::Integer => to_integer(value),
        TypeName::Float => to_float(value),
        TypeName::Decimal => to_decimal(value),
        TypeName::String => Ok(to_string(value)),
        TypeName::Guid => to_guid(value),
        TypeName::DateTime => checked_text(value, "DateTime", time::is_date_time),
        TypeName::TimeSpan => checked_text(value, "TimeSpan", time::is_time_span),
        TypeName::List => to_list(value),
        TypeName::Object => to_object(value),
        TypeName::Foreign => to_foreign(value),
    }
}

/// The fault for a value that cannot be converted to the type.
pub(crate) fn invalid(value: &Value, type_name: &str) -> Fault {
    Fault::new("22P02", format!("invalid value for type {type_name}: {}", quoted(value)))
}

fn out_of_range(value: &Value, type_name: &str) -> Fault {
    Fault::new("22003", format!("value out of range for type {type_name}: {}", quoted(value)))
}

fn quoted(value: &Value) -> String {
    format!("\"{}\"", shorten(&to_text(value), 60))
}

fn to_boolean(value: Value) -> Result<Value, Fault> {
    super::as_bool(&value).map(Value::Bool)
}

fn to_integer(value: Value) -> Result<Value, Fault> {
    let decimal = match &value {
        Value::Bool(truth) => return Ok(Value::from(i64::from(*truth))),
        Value::Number(number) if number.is_i64() => return Ok(value),
        Value::Number(number) => Decimal::of(number),
        // .NET reads no fraction from text, but "5.0" is what other systems write for 5.
        Value::String(text) => Decimal::parse(text.trim())
            .filter(Decimal::is_integral)
            .or_else(|| parse_bool(text).map(|truth| if truth { one() } else { zero() }))
            .ok_or_else(|| invalid(&value, "Integer"))?,
        Value::Null | Value::Array(_) | Value::Object(_) => return Err(invalid(&value, "Integer")),
    };
    decimal.round_to_i64().map(Value::from).ok_or_else(|| out_of_range(&value, "Integer"))
}

fn one() -> Decimal {
    Decimal::of(&Number::from(1))
}

fn zero() -> Decimal {
    Decimal::of(&Number::from(0))
}

fn to_float(value: Value) -> Result<Value, Fault> {
    let number = to_number(&value, "Double")?;
    match number.as_f64() {
        Some(float) if float.is_finite() => Ok(Value::Number(number)),
        _ => Err(out_of_range(&value, "Double")),
    }
}

fn to_decimal(value: Value) -> Result<Value, Fault> {
    to_number(&value, "Decimal").map(Value::Number)
}

/// The number in a value, or in its text, with its digits as written.
fn to_number(value: &Value, type_name: &str) -> Result<Number, Fault> {
    match value {
        Value::Number(number) => Ok(number.clone()),
        Value::Bool(truth) => Ok(Number::from(u8::from(*truth))),
        Value::String(text) => number::from_text(text).ok_or_else(|| invalid(value, type_name)),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(invalid(value, type_name)),
    }
}

fn to_string(value: Value) -> Value {
    match value {
        Value::String(_) => value,
        // As .NET writes them.
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        other => Value::String(to_text(&other)),
    }
}

fn to_guid(value: Value) -> Result<Value, Fault> {
    let id = value.as_str().and_then(|text| {
        let text = text.trim();
        // One of .NET's forms is in parentheses.
        let bare = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
        Uuid::try_parse(bare).ok()
    });
    id.map(|id| Value::String(id.to_string())).ok_or_else(|| invalid(&value, "Guid"))
}

fn checked_text(value: Value, type_name: &str, check: fn(&str) -> bool) -> Result<Value, Fault> {
    match &value {
        Value::String(text) if check(text.trim()) => {
            let trimmed = text.trim();
            Ok(if trimmed.len() == text.len() { value } else { Value::from(trimmed) })
        }
        _ => Err(invalid(&value, type_name)),
    }
}

fn to_list(value: Value) -> Result<Value, Fault> {
    match &value {
        Value::Array(_) => Ok(value),
        Value::String(text) => match parse_json(text) {
            Ok(list @ Value::Array(_)) => Ok(list),
            Err(fault) if fault.sqlstate != "22P02" => Err(fault),
            Ok(_) | Err(_) => Err(invalid(&value, "List").hint("Write a list as JSON, such as [\"one\", \"two\"].")),
        },
        _ => Err(invalid(&value, "List")),
    }
}

fn to_object(value: Value) -> Result<Value, Fault> {
    match &value {
        Value::String(text) => parse_json(text).map_err(|fault| match fault.sqlstate.as_str() {
            "22P02" => Fault { message: invalid(&value, "Object").message, ..fault },
            _ => fault,
        }),
        _ => Ok(value),
    }
}

/// .NET reads JSON text into its classes, but not into its enumerations, whose values are names.
fn to_foreign(value: Value) -> Result<Value, Fault> {
    let structured = value.as_str().filter(|text| text.trim_start().starts_with(['{', '[']));
    match structured.map(parse_json) {
        // JSON that exceeds a limit is a fault, not a text that stays unchanged.
        Some(Err(fault)) if fault.sqlstate.starts_with('5') => Err(fault),
        Some(Ok(read)) => Ok(read),
        Some(Err(_)) | None => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn number(text: &str) -> Value {
        parse_json(text).unwrap()
    }

    #[test]
    fn what_elsa_converts_is_converted() {
        use TypeName as T;
        for (value, to, expected) in [
            (json!(null), T::Integer, json!(null)),
            (json!("  "), T::Integer, json!(null)),
            (json!("  "), T::String, json!("  ")),
            (json!("true"), T::Boolean, json!(true)),
            (json!(1), T::Boolean, json!(true)),
            (json!("5"), T::Integer, json!(5)),
            (json!("5.0"), T::Integer, json!(5)),
            (json!(2.5), T::Integer, json!(2)),
            (json!(true), T::Integer, json!(1)),
            (json!("1e3"), T::Integer, json!(1000)),
            (json!("1.5"), T::Float, number("1.5")),
            (json!("1.10"), T::Decimal, number("1.10")),
            (json!("1e400"), T::Decimal, number("1e400")),
            (number("1.10"), T::String, json!("1.10")),
            (json!(true), T::String, json!("True")),
            (json!(false), T::String, json!("False")),
            (json!({"a": true}), T::String, json!("{\"a\":true}")),
            (json!({"a": 1}), T::String, json!("{\"a\":1}")),
            (json!("{0192AB00-0000-7000-8000-0000000000FF}"), T::Guid, json!("0192ab00-0000-7000-8000-0000000000ff")),
            (json!("(0192ab00-0000-7000-8000-0000000000ff)"), T::Guid, json!("0192ab00-0000-7000-8000-0000000000ff")),
            (json!("0192ab000000700080000000000000ff"), T::Guid, json!("0192ab00-0000-7000-8000-0000000000ff")),
            (json!("2026-11-21T01:23:45.1234567Z"), T::DateTime, json!("2026-11-21T01:23:45.1234567Z")),
            (json!("1.02:03:04.5000000"), T::TimeSpan, json!("1.02:03:04.5000000")),
            (
                number("79228162514264337593543950335.000000001"),
                T::Decimal,
                number("79228162514264337593543950335.000000001"),
            ),
            (json!(" 2026-11-21 "), T::DateTime, json!("2026-11-21")),
            (json!("00:01:00"), T::TimeSpan, json!("00:01:00")),
            (json!("[1, 2]"), T::List, json!([1, 2])),
            (json!("{\"a\": [1]}"), T::Object, json!({"a": [1]})),
            (json!([1]), T::Object, json!([1])),
            (json!("as it is"), T::Any, json!("as it is")),
            (json!("{\"id\": 1}"), T::Any, json!("{\"id\": 1}")),
            (json!(" {\"id\": 1}"), T::Foreign, json!({"id": 1})),
            (json!("[{}]"), T::Foreign, json!([{}])),
            (json!("{name}"), T::Foreign, json!("{name}")),
            (json!("Monday"), T::Foreign, json!("Monday")),
            (json!(" "), T::Foreign, json!(null)),
            (json!({"id": 1}), T::Foreign, json!({"id": 1})),
        ] {
            assert_eq!(convert(value.clone(), to), Ok(expected), "{value} to {to:?}");
        }
    }

    #[test]
    fn what_cannot_be_converted_faults() {
        use TypeName as T;
        for (value, to, sqlstate) in [
            (json!("five"), T::Integer, "22P02"),
            (json!("5.5"), T::Integer, "22P02"),
            (json!("9223372036854775808"), T::Integer, "22003"),
            (number("1e400"), T::Integer, "22003"),
            (number("1e400"), T::Float, "22003"),
            (json!("NaN"), T::Float, "22P02"),
            (json!([1]), T::Decimal, "22P02"),
            (json!("not-a-guid"), T::Guid, "22P02"),
            (json!(5), T::TimeSpan, "22P02"),
            (json!("soon"), T::DateTime, "22P02"),
            (json!("apple"), T::List, "22P02"),
            (json!({}), T::List, "22P02"),
            (json!("{"), T::Object, "22P02"),
            (json!("[".repeat(5000)), T::Object, "54001"),
            (json!("[".repeat(5000)), T::Foreign, "54001"),
        ] {
            let fault = convert(value.clone(), to).unwrap_err();
            assert_eq!(fault.sqlstate, sqlstate, "{value} to {to:?}: {fault}");
            assert!(fault.message.chars().count() < 120, "{fault}");
        }
    }

    const TYPES: [TypeName; 12] = [
        TypeName::Any,
        TypeName::Boolean,
        TypeName::Integer,
        TypeName::Float,
        TypeName::Decimal,
        TypeName::String,
        TypeName::Guid,
        TypeName::DateTime,
        TypeName::TimeSpan,
        TypeName::List,
        TypeName::Object,
        TypeName::Foreign,
    ];

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", digits in "[-+0-9.eE:]{0,40}") {
            for to in TYPES {
                let _ = convert(json!(text), to);
                let _ = convert(json!(digits), to);
                let _ = super::super::parse_type_name(&text);
            }
        }

        #[test]
        fn conversion_is_idempotent(value in crate::any_json::any_json()) {
            for to in TYPES {
                if let Ok(once) = convert(value.clone(), to) {
                    prop_assert_eq!(convert(once.clone(), to), Ok(once));
                }
            }
        }
    }
}

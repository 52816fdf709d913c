//! Declared types, and the constants permitted as initial and default values.

use serde_json::{Map, Value};

use super::forms::{PlainPart, ShortKey, find_part, no_expression, short_form};
use super::json::{Path, entry, kind_of, member, too_deep};
use super::problem::{ProblemKind, Problems};
use workflow_value::fault::shorten;
use workflow_value::value::{TypeName, convert, copy_or_null, is_known_type, meant_type, parse_type_name};

/// Member that contains an initial value itself beside its text, if parsing the text would yield another value. Export
/// writes it; Elsa ignores it.
pub(super) const EXACT_VALUE: &str = "exactValue";

/// Reads an optional text.
pub(super) fn identifier(
    members: &Map<String, Value>,
    name: &str,
    place: &Path<'_>,
    problems: &mut Problems,
) -> Option<String> {
    match entry(members, name) {
        None | Some((_, Value::Null)) => None,
        Some((_, Value::String(text))) => (!text.is_empty()).then(|| text.clone()),
        Some((key, value)) => {
            problems.invalid(&place.key(key), format!("\"{name}\" must be a string, not {}", kind_of(value)));
            None
        }
    }
}

/// The type of a variable or an argument; `short`: in the short form, in which the type must be known.
pub(super) fn type_of(
    members: &Map<String, Value>,
    short: bool,
    place: &Path<'_>,
    problems: &mut Problems,
) -> TypeName {
    let name = identifier(members, "typeName", place, problems)
        .or_else(|| identifier(members, "type", place, problems))
        .unwrap_or_else(|| "Object".into());
    if short && problems.is_new() && !is_known_type(&name) {
        let key = if member(members, "typeName").is_some() { "typeName" } else { "type" };
        problems.unknown(&place.key(key), format!("unknown type \"{}\"", shorten(&name, 60)), meant_type(&name));
    }
    match member(members, "isArray") {
        Some(Value::Bool(true)) => TypeName::List,
        _ => parse_type_name(&name),
    }
}

/// A value as text, which is Elsa's form of initial values.
pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Reads an initial or default value, which must be a constant.
pub(super) fn constant(value: &Value, type_name: TypeName, place: &Path<'_>, problems: &mut Problems) -> Value {
    if too_deep(value) {
        problems.add(ProblemKind::TooDeep, place, "a constant is nested too deeply");
        return Value::Null;
    }
    let is_marked = short_form(value).is_some();
    let value = match short_form(value) {
        Some((ShortKey::Literal, inner)) => inner,
        Some((key, _)) => {
            let message = format!("an initial value must be a constant, not an expression \"{}\"", key.name());
            problems.unsupported(place, message);
            return Value::Null;
        }
        None => value,
    };
    if is_blank(value, type_name) {
        return Value::Null;
    }
    if !is_marked
        && problems.is_new()
        && let Some((step, PlainPart::Expression(key))) = find_part(value, PlainPart::is_expression)
    {
        problems.warn(&Path::Below(place, &step), no_expression(key));
    }
    convert(copy_or_null(value), type_name).unwrap_or_else(|fault| {
        problems.invalid(place, fault.message);
        Value::Null
    })
}

/// Whether a value is an empty text for a type that is no text, as a cleared field of the Studio leaves it.
pub(super) fn is_blank(value: &Value, type_name: TypeName) -> bool {
    let wants_text = matches!(type_name, TypeName::String | TypeName::Any);
    !wants_text && value.as_str().is_some_and(|text| text.trim().is_empty())
}

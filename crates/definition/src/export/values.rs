//! Inputs, outputs, conditions and references in Elsa's wrappers.

use serde_json::{Map, Value, json};

use crate::expression::short_binding;
use crate::forms::{ShortKey, short_form, wrapper};
use crate::json::{entry, too_deep};
use crate::scope::VisibleNames;
use workflow_core::activity::{PartCondition, PartList};

/// Writes an input in its wrapper.
pub(super) fn input(value: &Value, type_name: &str, names: VisibleNames<'_>) -> Value {
    if value.is_null() || (wrapper(value).is_some() && short_form(value).is_none()) {
        return value.clone();
    }
    wrapped(expression(value, names), type_name)
}

/// Writes a script in its wrapper. Elsa runs the value of an expression as the script, so the value must be text.
pub(super) fn script(value: &Value, names: VisibleNames<'_>) -> Value {
    match short_form(value) {
        Some((ShortKey::JavaScript, source)) => input(source, "String", names),
        _ => input(value, "String", names),
    }
}

/// Writes a plain array of expressions in a wrapper.
pub(super) fn template(value: &Value, type_name: &str) -> Value {
    wrapped(object(value), type_name)
}

fn wrapped(expression: Value, type_name: &str) -> Value {
    json!({"typeName": type_name, "expression": expression})
}

/// Writes an expression as `{"type", "value"}`.
fn expression(value: &Value, names: VisibleNames<'_>) -> Value {
    match short_form(value) {
        Some((ShortKey::JavaScript, source)) => json!({"type": "JavaScript", "value": source}),
        Some((ShortKey::Sql, source)) => json!({"type": "Sql", "value": source}),
        Some((ShortKey::Liquid, source)) => json!({"type": "Liquid", "value": source}),
        Some((ShortKey::Input, name)) => json!({"type": "Input", "value": {"name": name}}),
        Some((ShortKey::Variable, Value::String(name))) => {
            json!({"type": "Variable", "value": reference(name, names)})
        }
        Some((ShortKey::Variable, name)) => json!({"type": "Variable", "value": name}),
        Some((ShortKey::Object, inner)) => object(inner),
        Some((ShortKey::Literal, inner)) => literal(inner),
        None => literal(value),
    }
}

/// Writes a literal: Elsa's literals are scalars, and its objects are text.
fn literal(value: &Value) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => json!({"type": "Object", "value": value.to_string()}),
        scalar => json!({"type": "Literal", "value": scalar}),
    }
}

/// Writes an object: as text if it is constant, otherwise unchanged, because Elsa has no expressions inside objects.
fn object(value: &Value) -> Value {
    match constant(value, 0) {
        Some(constant) => json!({"type": "Object", "value": constant.to_string()}),
        None => json!({"type": "Object", "value": value}),
    }
}

/// The value without its `literal` and `object` marks, unless it contains an expression.
fn constant(value: &Value, depth: usize) -> Option<Value> {
    if depth == 0 && too_deep(value) {
        return None;
    }
    match short_form(value) {
        Some((ShortKey::Literal, inner)) => return Some(inner.clone()),
        Some((ShortKey::Object, inner)) => return constant(inner, depth + 1),
        Some(_) => return None,
        None => {}
    }
    match value {
        Value::Array(list) => list.iter().map(|part| constant(part, depth + 1)).collect(),
        Value::Object(object) => object
            .iter()
            .map(|(key, part)| Some((key.clone(), constant(part, depth + 1)?)))
            .collect::<Option<Map<_, _>>>()
            .map(Value::Object),
        scalar => Some(scalar.clone()),
    }
}

/// Writes Elsa's reference to a variable.
fn reference(name: &str, names: VisibleNames<'_>) -> Value {
    json!({"id": names.id_of(name).unwrap_or(name), "name": name, "typeName": "Object"})
}

/// Writes the variable of `SetVariable`.
pub(super) fn variable(value: &Value, names: VisibleNames<'_>) -> Value {
    match (value, short_binding(value)) {
        (Value::String(text), _) => match names.by_name(text) {
            Some(name) => reference(name, names),
            None => value.clone(),
        },
        (_, Some(("var", name))) => reference(name, names),
        _ => value.clone(),
    }
}

/// Writes an output in its wrapper. If Elsa's id would refer to another target, the short form stays.
pub(super) fn binding(value: &Value, type_name: &str, names: VisibleNames<'_>) -> Value {
    let id = match short_binding(value) {
        Some(("var", name)) => names.id_of(name).filter(|id| names.by_reference(Some(id), None) == Some(name)),
        Some((_, name)) => {
            let free = names.by_reference(Some(name), None).is_none();
            (free && names.has_output(name)).then_some(name)
        }
        None => None,
    };
    match id {
        Some(id) => json!({"typeName": type_name, "memoryReference": {"id": id}}),
        None => value.clone(),
    }
}

/// Writes one object of a list of parts.
pub(super) fn part(list: &PartList, value: &Value, activities: Vec<Option<Value>>, names: VisibleNames<'_>) -> Value {
    let mut out = match (value, list.texts.first()) {
        (Value::Object(members), _) => members.clone(),
        (text, Some((name, _))) => Map::from_iter([((*name).to_owned(), text.clone())]),
        (_, None) => Map::new(),
    };
    if let Some((key, value)) = entry(&out, "condition").map(|(key, value)| (key.to_owned(), value.clone()))
        && !value.is_null()
    {
        out.insert(key, condition(list.condition, &value, names));
    }
    for (name, activity) in list.ports.iter().zip(activities) {
        if let Some(activity) = activity {
            let key = entry(&out, name).map_or(*name, |(key, _)| key).to_owned();
            out.insert(key, activity);
        }
    }
    Value::Object(out)
}

/// Writes a condition, with a wrapper if it is an input.
fn condition(form: PartCondition, value: &Value, names: VisibleNames<'_>) -> Value {
    let bare = value.as_object().is_some_and(|object| entry(object, "type").is_some());
    let is_wrapped = wrapper(value).is_some() && short_form(value).is_none();
    match form {
        PartCondition::None => value.clone(),
        PartCondition::Needed | PartCondition::Optional if is_wrapped => value.clone(),
        PartCondition::Needed if bare => value.clone(),
        PartCondition::Needed => expression(value, names),
        PartCondition::Optional if bare => wrapped(value.clone(), "Boolean"),
        PartCondition::Optional => input(value, "Boolean", names),
    }
}

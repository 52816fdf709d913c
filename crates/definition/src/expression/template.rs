//! Objects: constants, and values with expressions inside.

use serde_json::Value;

use super::ExpressionReader;
use crate::forms::{ShortKey, short_form};
use crate::json::{Path, nests_too_deep, parse};
use crate::problem::ProblemKind;
use workflow_expression::{Expression, ExpressionKind, ObjectTemplate};
use workflow_value::value::{TypeName, copy_or_null};

impl ExpressionReader<'_> {
    /// Reads Elsa's `Object`, which is JSON text.
    pub(super) fn elsa_object(&mut self, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        let Value::String(text) = value else {
            return self.object(value, type_name, place);
        };
        if text.trim().is_empty() {
            return None;
        }
        if nests_too_deep(text) {
            self.problems.add(ProblemKind::TooDeep, place, "a constant is nested too deeply");
            return None;
        }
        match parse(text) {
            Ok(Value::Null) => None,
            Ok(value) => self.literal(value, type_name, place),
            Err(error) => {
                self.problems.invalid(place, format!("an expression of type \"Object\" is no valid JSON: {error}"));
                None
            }
        }
    }

    pub(super) fn object(&mut self, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        if value.is_null() || !self.is_shallow(value, place) {
            return None;
        }
        match self.template(value, place)? {
            ObjectTemplate::Constant(value) => self.literal(value, type_name, place),
            template => Some(Expression { kind: ExpressionKind::Object(template), type_name }),
        }
    }

    /// The recursion is bounded, because the caller has checked [`Self::is_shallow`].
    fn template(&mut self, value: &Value, place: &Path<'_>) -> Option<ObjectTemplate> {
        match short_form(value) {
            Some((ShortKey::Literal, inner)) => return Some(ObjectTemplate::Constant(copy_or_null(inner))),
            Some((key @ ShortKey::Object, inner)) => return self.template(inner, &place.key(key.name())),
            Some((key, inner)) => {
                let expression = self.short(key, inner, TypeName::Any, place)?;
                return Some(ObjectTemplate::Expression(Box::new(expression)));
            }
            None => {}
        }
        Some(match value {
            Value::Array(list) => {
                let parts: Vec<_> =
                    list.iter().enumerate().filter_map(|(at, part)| self.template(part, &place.index(at))).collect();
                constant_array(parts)
            }
            Value::Object(object) => {
                let parts: Vec<_> = object
                    .iter()
                    .filter_map(|(key, part)| Some((key.clone(), self.template(part, &place.key(key))?)))
                    .collect();
                constant_object(parts)
            }
            other => {
                if let Value::String(text) = other {
                    self.warn_of_template(text, place);
                }
                ObjectTemplate::Constant(copy_or_null(other))
            }
        })
    }
}

/// Makes an array whose elements are all constant a constant.
fn constant_array(parts: Vec<ObjectTemplate>) -> ObjectTemplate {
    if !parts.iter().all(|part| matches!(part, ObjectTemplate::Constant(_))) {
        return ObjectTemplate::Array(parts);
    }
    let values = parts.into_iter().filter_map(|part| match part {
        ObjectTemplate::Constant(value) => Some(value),
        _ => None,
    });
    ObjectTemplate::Constant(values.collect())
}

/// Makes an object whose members are all constant a constant.
fn constant_object(parts: Vec<(String, ObjectTemplate)>) -> ObjectTemplate {
    if !parts.iter().all(|(_, part)| matches!(part, ObjectTemplate::Constant(_))) {
        return ObjectTemplate::Object(parts);
    }
    let values = parts.into_iter().filter_map(|(key, part)| match part {
        ObjectTemplate::Constant(value) => Some((key, value)),
        _ => None,
    });
    ObjectTemplate::Constant(Value::Object(values.collect()))
}

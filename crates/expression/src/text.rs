//! Texts with embedded values, written as .NET writes them.

use serde_json::Value;

use super::{Scope, evaluate as evaluate_expression};
use crate::Expression;
use workflow_value::fault::Fault;
use workflow_value::value::{Bounds, Exceeded, to_text};

/// Evaluates the parts and joins their texts.
pub(super) fn evaluate(parts: &[Expression], scope: &mut dyn Scope) -> Result<Value, Fault> {
    let bound = Bounds::current().text();
    let mut text = String::new();
    for part in parts {
        match evaluate_expression(part, scope)? {
            Value::Bool(true) => text.push_str("True"),
            Value::Bool(false) => text.push_str("False"),
            value => text.push_str(&to_text(&value)),
        }
        if text.len() > bound {
            return Err(Exceeded::Text(bound).fault());
        }
    }
    Ok(Value::String(text))
}

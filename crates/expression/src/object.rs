//! Object templates: JSON with expressions inside, evaluated in document order.

use serde_json::{Map, Value};

use super::{Scope, evaluate as evaluate_expression};
use crate::ObjectTemplate;
use workflow_value::fault::Fault;
use workflow_value::value::{MAX_DEPTH, copy, too_deep};

/// The value of a template: its constants unchanged, its expressions evaluated in order.
pub(super) fn evaluate(template: &ObjectTemplate, scope: &mut dyn Scope) -> Result<Value, Fault> {
    evaluate_at(template, scope, 0)
}

fn evaluate_at(template: &ObjectTemplate, scope: &mut dyn Scope, depth: usize) -> Result<Value, Fault> {
    // The reader of definitions limits the depth of a template; this limit is for templates made in code.
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    match template {
        ObjectTemplate::Constant(value) => copy(value),
        ObjectTemplate::Array(items) => {
            let values: Result<Vec<Value>, Fault> =
                items.iter().map(|item| evaluate_at(item, scope, depth + 1)).collect();
            values.map(Value::Array)
        }
        ObjectTemplate::Object(members) => {
            let mut object = Map::new();
            for (key, member) in members {
                object.insert(key.clone(), evaluate_at(member, scope, depth + 1)?);
            }
            Ok(Value::Object(object))
        }
        ObjectTemplate::Expression(expression) => evaluate_expression(expression, scope),
    }
}

//! Members of an activity that uses a workflow: the inputs that it passes, and bindings of outputs.

use serde_json::{Map, Value};

use super::common::COMMON;
use super::expression::short_binding;
use super::forms::wrapper;
use super::json::member;
use workflow_core::program::{Argument, Program};
use workflow_value::spelling::nearest;

/// Members that identify the used workflow.
pub(super) const REFERENCE: [&str; 4] = [
    "workflowDefinitionId",
    "workflowDefinitionVersionId",
    "latestAvailablePublishedVersion",
    "latestAvailablePublishedVersionId",
];

/// A member of the activity as the workflow's input or output.
pub(super) struct Passed<'d, 'p> {
    /// The key in the spelling of the document, for JSON pointers.
    pub key: &'d str,
    /// The value of the key: an expression, or the target of an output.
    pub value: &'d Value,
    /// The input that the member passes.
    pub input: Option<&'p Argument>,
    /// The output that the member binds.
    pub output: Option<&'p Argument>,
}

/// The members that are neither common to activities nor part of the reference. Elsa writes declared names in
/// camelCase, so a name is found in any letter case, the exact one first.
pub(super) fn passed<'d, 'p>(members: &'d Map<String, Value>, program: &'p Program) -> Vec<Passed<'d, 'p>> {
    let mut all = Vec::new();
    for (key, value) in members {
        let own = key.starts_with(['$', '_'])
            || COMMON[..10].iter().chain(&REFERENCE).any(|known| known.eq_ignore_ascii_case(key));
        if own {
            continue;
        }
        let (input, output) = (declared(&program.inputs, key, members), declared(&program.outputs, key, members));
        let (takes, gives) = match (input, output) {
            // If the name is both an input and an output, the spelling of the value decides; the short form may mean
            // both.
            (Some(_), Some(_)) => roles(value),
            _ => (true, true),
        };
        all.push(Passed { key, value, input: input.filter(|_| takes), output: output.filter(|_| gives) });
    }
    all
}

fn declared<'p>(arguments: &'p [Argument], key: &str, members: &Map<String, Value>) -> Option<&'p Argument> {
    let exact = arguments.iter().find(|argument| argument.name == key);
    exact.or_else(|| {
        let mut alike = arguments.iter().filter(|argument| argument.name.to_lowercase() == key.to_lowercase());
        alike.find(|argument| !members.contains_key(&argument.name))
    })
}

/// Whether a value can be an input, and whether it can be an output.
fn roles(value: &Value) -> (bool, bool) {
    match (short_binding(value), wrapper(value)) {
        (Some(("output", _)), _) => (false, true),
        (Some(_), _) => (true, true),
        (None, Some(wrapper)) if wrapper.expression.is_none() => {
            let bound = value.as_object().and_then(|object| member(object, "memoryReference")).is_some();
            (!bound, bound)
        }
        (None, _) => (true, false),
    }
}

/// The message that a workflow declares no input or output with this name.
pub(super) fn undeclared(key: &str, program: &Program) -> String {
    let names = program.inputs.iter().chain(&program.outputs).map(|argument| argument.name.as_str());
    let id = &program.definition_id;
    match nearest(key, names) {
        Some(name) => {
            format!("workflow \"{id}\" declares no input or output \"{key}\" (did you mean \"{name}\"?)")
        }
        None => format!("workflow \"{id}\" declares no input or output \"{key}\""),
    }
}

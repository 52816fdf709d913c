//! Variables: a value is kept under its name, converted to the type that the new version declares.

use serde_json::Value;

use crate::instance::Instance;
use crate::migration::{Migration, Moved, Problem, WorkflowVariables};
use crate::program::{Argument, Program, Variable};
use workflow_value::value::{Json, TypeName, convert, copy_or_null};

/// What differs between the variables and inputs of two versions.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// Declared by the new version, with another type than before or newly.
    changed: Vec<Variable>,
    /// Declared by the old version only.
    dropped: Vec<String>,
    /// Inputs that only the new version requires.
    required: Vec<String>,
}

impl Variables {
    pub fn compare(old: &Program, new: &Program) -> Self {
        let is_same = |variable: &&Variable| type_of(&old.variables, &variable.name) != Some(variable.type_name);
        let is_gone = |variable: &&Variable| type_of(&new.variables, &variable.name).is_none();
        let was_required = |name: &str| old.inputs.iter().any(|input| input.required && input.name == name);
        let is_new = |input: &&Argument| input.required && input.default.is_none() && !was_required(&input.name);
        Self {
            changed: new.variables.iter().filter(is_same).cloned().collect(),
            dropped: old.variables.iter().filter(is_gone).map(|variable| variable.name.clone()).collect(),
            required: new.inputs.iter().filter(is_new).map(|input| input.name.clone()).collect(),
        }
    }

    /// Migrates the variables of the workflow.
    pub fn migrate(&self, of: &Migration, instance: &mut Instance, moved: &mut Moved, problems: &mut Vec<Problem>) {
        for variable in &self.changed {
            moved.variables_changed |= put(&mut instance.variables, variable, problems);
        }
        let version = of.version;
        for name in &self.dropped {
            let message = format!("variable \"{name}\" is not declared in version {version}; its value is kept");
            problems.push(Problem::warning(format!("/variables/{name}"), message));
        }
        for name in self.required.iter().filter(|name| !instance.input.contains_key(*name)) {
            let message = format!("input \"{name}\" is required in version {version}, and the instance has none");
            problems.push(Problem::warning(format!("/inputs/{name}"), message));
        }
    }
}

/// Converts a variable of the workflow. Returns whether anything changed.
fn put(variables: &mut WorkflowVariables, variable: &Variable, problems: &mut Vec<Problem>) -> bool {
    let Some(slot) = variables.get_mut(&variable.name) else {
        variables.insert(variable.name.clone(), copy_or_null(&variable.initial));
        return true;
    };
    match convert(copy_or_null(slot), variable.type_name) {
        Ok(value) if *slot == value => false,
        Ok(value) => {
            *slot = value;
            true
        }
        Err(fault) => {
            problems.push(misfit(format!("/variables/{}", variable.name), &variable.name, &fault.message));
            false
        }
    }
}

/// The variables of a container in the new version: first those that it declares, then those that a loop or a script
/// added. `path` is the node id of the container.
pub(super) fn of_container(
    (old, new): (&[Variable], &[Variable]),
    values: Vec<(String, Json)>,
    path: &str,
    problems: &mut Vec<Problem>,
) -> Vec<(String, Json)> {
    if old == new {
        return values;
    }
    // Of two variables with one name, only the first is visible.
    let mut values: Vec<Option<(String, Json)>> = values.into_iter().map(Some).collect();
    let mut moved = Vec::with_capacity(values.len().max(new.len()));
    for variable in new {
        let found = values.iter_mut().find(|slot| slot.as_ref().is_some_and(|(name, _)| *name == variable.name));
        let value = match found.and_then(Option::take) {
            Some((_, Json(value))) => match convert(value, variable.type_name) {
                Ok(value) => value,
                Err(fault) => {
                    problems.push(misfit(path, &variable.name, &fault.message));
                    Value::Null
                }
            },
            None => copy_or_null(&variable.initial),
        };
        moved.push((variable.name.clone(), Json(value)));
    }
    moved.extend(values.into_iter().flatten());
    moved
}

fn misfit(path: impl Into<String>, name: &str, why: &str) -> Problem {
    Problem::error(path, format!("variable \"{name}\" cannot be converted: {why}"))
}

fn type_of(variables: &[Variable], name: &str) -> Option<TypeName> {
    variables.iter().find(|variable| variable.name == name).map(|variable| variable.type_name)
}

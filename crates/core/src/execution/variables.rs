//! Variables: the nearest one with a name is read in place and assigned with conversion.

use serde_json::Value;

use crate::execution::Execution;
use crate::execution::burst::Burst;
use crate::execution::undo::Undo;
use crate::instance::Instance;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::{Json, check_extent, convert, copy_or_null, nul_in_string};

/// Maximum number of variables in a container when a script adds one. The limit exists because a look-up compares every
/// name.
const MAX_VARIABLES: usize = 1_000;

/// The location of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableLocation {
    /// In the scope of an execution, at this position.
    Context(u32, usize),
    /// In the scope of the workflow.
    Workflow,
}

/// The starting point of a variable look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScopeStart {
    /// The execution that reads the variable.
    pub sequence: u32,
    /// How many of its first variables it cannot see: a composite declares them for the activities inside it.
    pub hidden: usize,
}

impl Burst<'_> {
    /// Finds the nearest variable of a name.
    pub fn find_variable(&self, from: ScopeStart, name: &str) -> Option<VariableLocation> {
        find_variable(self.instance, from, name)
    }

    /// Sets a variable, converted to its declared type.
    pub fn assign(&mut self, location: VariableLocation, name: &str, value: Value) -> Result<(), Fault> {
        let declared = match location {
            VariableLocation::Context(sequence, index) => {
                self.context(sequence).and_then(|context| self.program.node(context.node).variables.get(index))
            }
            VariableLocation::Workflow => self.program.variables.iter().find(|v| v.name == name),
        };
        match declared {
            Some(variable) => self.put(location, name, convert(value, variable.type_name)?),
            None => self.put(location, name, value),
        }
    }

    /// Sets a variable without conversion.
    pub fn put(&mut self, location: VariableLocation, name: &str, value: Value) -> Result<(), Fault> {
        check_extent(&value)?;
        match location {
            VariableLocation::Context(sequence, index) => {
                let variables = self.instance.state.contexts.get_mut(&sequence);
                let slot = variables.and_then(|context| context.variables.get_mut(index));
                if let Some((_, slot)) = slot {
                    let before = std::mem::replace(slot, Json(value));
                    self.scratch.undo.push(Undo::ContextVariable(sequence, index, before));
                }
            }
            VariableLocation::Workflow => self.assign_workflow(name, value),
        }
        Ok(())
    }

    /// Adds a variable to the nearest container around an execution, as Elsa does for scripts. `false`: there is no
    /// container.
    pub fn create_variable(&mut self, from: u32, name: &str, value: Value) -> Result<bool, Fault> {
        check_extent(&value)?;
        if name.contains('\0') {
            return Err(nul_in_string());
        }
        let mut current = Some(from);
        while let Some((sequence, context)) =
            current.and_then(|of| Some((of, self.instance.state.contexts.get_mut(&of)?)))
        {
            if !self.program.node(context.node).activity.descriptor().container {
                current = context.parent;
                continue;
            }
            if context.variables.len() >= MAX_VARIABLES {
                let message = format!("cannot add variable \"{}\": there are too many variables", shorten(name, 60));
                return Err(
                    Fault::new("54000", message).detail(format!("A container may hold {MAX_VARIABLES} variables."))
                );
            }
            context.variables.push((name.to_owned(), Json(value)));
            self.scratch.undo.push(Undo::NewVariable(sequence));
            return Ok(true);
        }
        Ok(false)
    }

    fn assign_workflow(&mut self, name: &str, value: Value) {
        let Some(slot) = self.instance.variables.get_mut(name) else {
            return;
        };
        if *slot == value {
            return;
        }
        let before = std::mem::replace(slot, value);
        let changed = std::mem::replace(&mut self.scratch.delta.changed.variables, true);
        self.scratch.undo.push(Undo::WorkflowVariable(name.to_owned(), before, changed));
    }
}

impl Execution<'_> {
    /// Adds a variable to this execution until [`pop_variable`](Self::pop_variable).
    pub(crate) fn push_variable(&mut self, name: &str, value: Value) {
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&self.sequence) {
            context.variables.push((name.to_owned(), Json(value)));
        }
    }

    /// Removes the variable that was added last.
    pub(crate) fn pop_variable(&mut self) {
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&self.sequence) {
            context.variables.pop();
        }
    }

    /// The nearest variable with a name as the activities inside this composite see it.
    pub(crate) fn variable_inside(&self, name: &str) -> Option<Value> {
        let inside = ScopeStart { sequence: self.sequence, hidden: 0 };
        let location = self.burst.find_variable(inside, name)?;
        read_variable(self.burst.instance, location, name).map(copy_or_null)
    }
}

/// Finds the nearest variable of a name.
pub(crate) fn find_variable(instance: &Instance, from: ScopeStart, name: &str) -> Option<VariableLocation> {
    let (mut current, mut hidden) = (Some(from.sequence), from.hidden);
    while let Some((sequence, context)) = current.and_then(|current| instance.state.contexts.get_key_value(&current)) {
        let mut seen = context.variables.iter().skip(hidden);
        if let Some(index) = seen.position(|(known, _)| known == name) {
            return Some(VariableLocation::Context(*sequence, hidden + index));
        }
        (current, hidden) = (context.parent, 0);
    }
    instance.variables.contains_key(name).then_some(VariableLocation::Workflow)
}

/// Reads a variable at the location that [`find_variable`] returned.
pub(crate) fn read_variable<'i>(instance: &'i Instance, location: VariableLocation, name: &str) -> Option<&'i Value> {
    match location {
        VariableLocation::Context(sequence, index) => {
            let context = instance.state.contexts.get(&sequence)?;
            context.variables.get(index).map(|(_, value)| &value.0)
        }
        VariableLocation::Workflow => instance.variables.get(name),
    }
}

//! Outputs of activities, which survive a suspend and may be bound to a variable, and outputs of the workflow.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::activity::Output;
use crate::execution::Execution;
use crate::execution::burst::Burst;
use crate::execution::undo::Undo;
use crate::execution::variables::VariableLocation;
use crate::fault::Fault;
use crate::journal::EventKind;
use crate::node_ix::NodeIx;
use crate::program::{Argument, Binding, Node};
use crate::value::{Json, check_extent, copy, copy_or_null};

impl Execution<'_> {
    /// Sets an output of this activity by its position in the descriptor.
    pub fn set_output(&mut self, output: Output, value: Value) -> Result<(), Fault> {
        let node = self.node;
        let Some(descriptor) = node.activity.descriptor().outputs.get(output.0) else {
            return Ok(());
        };
        if let Some(Some(binding)) = node.outputs.get(output.0) {
            self.bind(binding, copy(&value)?)?;
        }
        self.record(Cow::Borrowed(descriptor.name), value)
    }

    /// Sets an output of a custom activity by its name.
    pub fn set_custom_output(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let bindings = &self.node.custom_outputs;
        let binding = bindings
            .iter()
            .find(|(bound, _)| bound == name)
            .or_else(|| bindings.iter().find(|(bound, _)| bound.eq_ignore_ascii_case(name)));
        if let Some((_, binding)) = binding {
            self.bind(binding, copy(&value)?)?;
        }
        self.record(Cow::Owned(name.to_owned()), value)
    }

    fn bind(&mut self, binding: &Binding, value: Value) -> Result<(), Fault> {
        match binding {
            Binding::Variable(name) => self.put(name, value),
            Binding::Output(name) => self.set_declared_output(name, value),
        }
    }

    /// Assigns the nearest variable of a name, converted to its type.
    pub fn assign(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let location = self.location_of(name)?;
        self.burst.assign(location, name, value).map_err(|fault| about(name, fault))
    }

    /// Puts an output into the nearest variable of a name without conversion: each reader of the variable converts it.
    fn put(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let location = self.location_of(name)?;
        self.burst.put(location, name, value).map_err(|fault| about(name, fault))
    }

    fn location_of(&self, name: &str) -> Result<VariableLocation, Fault> {
        let location = self.burst.find_variable(self.view(), name);
        location.ok_or_else(|| Fault::new("42704", format!("variable \"{name}\" does not exist")))
    }

    /// Sets an output, converted to its declared type: of the nearest composite around this execution that declares it,
    /// else of the workflow.
    pub fn set_declared_output(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let (mut from, mut name, mut value) = (self.sequence, Cow::Borrowed(name), value);
        // An output of a composite may be bound to an output of an outer composite.
        while let Some((sequence, node, output)) = self.burst.declaring(from, &name) {
            value = converted(value, output)?;
            let mut composite = Execution::new(self.burst.reborrow(), sequence, node);
            composite.record(Cow::Owned(output.name.clone()), copy(&value)?)?;
            let bound = node.custom_outputs.iter().find(|(bound, _)| *bound == output.name);
            match bound.map(|(_, binding)| binding) {
                None => return Ok(()),
                Some(Binding::Variable(variable)) => return composite.put(variable, value),
                Some(Binding::Output(outer)) => (from, name) = (sequence, Cow::Owned(outer.clone())),
            }
        }
        self.burst.set_workflow_output(&name, value)
    }

    fn record(&mut self, name: Cow<'static, str>, value: Value) -> Result<(), Fault> {
        check_extent(&value)?;
        let node = self.node_index();
        let state = &mut self.burst.instance.state;
        let outputs = state.outputs.entry(node).or_default();
        let known = outputs.iter().position(|(known, _)| *known == name);
        let at = known.unwrap_or(outputs.len());
        let before = match known {
            Some(at) => Some(std::mem::replace(&mut outputs[at].1, Json(value))),
            None => {
                outputs.push((name.clone().into_owned(), Json(value)));
                None
            }
        };
        let is_result = name.eq_ignore_ascii_case("result");
        self.burst.scratch.undo.push(Undo::ActivityOutput(node, name, before));
        if is_result {
            // No activity has four billion outputs, so the position fits.
            let before = state.last_result.replace((node, u32::try_from(at).unwrap_or(u32::MAX)));
            self.burst.scratch.undo.push(Undo::LastResult(before));
        }
        Ok(())
    }
}

fn about(name: &str, mut fault: Fault) -> Fault {
    fault.message = format!("variable \"{name}\": {}", fault.message);
    fault
}

fn converted(value: Value, output: &Argument) -> Result<Value, Fault> {
    let value = output.accept(value, "output")?;
    check_extent(&value)?;
    Ok(value)
}

impl<'a> Burst<'a> {
    /// The nearest composite around an execution that declares an output.
    fn declaring(&self, from: u32, name: &str) -> Option<(u32, &'a Node, &'a Argument)> {
        let program = self.program;
        let mut current = self.context(from)?.parent;
        while let Some((sequence, context)) = current.and_then(|sequence| Some((sequence, self.context(sequence)?))) {
            let node = program.node(context.node);
            let outputs = node.composite.as_ref().map_or(&[][..], |composite| &composite.outputs);
            if let Some(output) = outputs.iter().find(|output| output.name == name) {
                return Some((sequence, node, output));
            }
            current = context.parent;
        }
        None
    }

    /// Sets an output of the workflow. An undeclared output is set without conversion, as in Elsa.
    fn set_workflow_output(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let value = match self.program.outputs.iter().find(|output| output.name == name) {
            Some(output) => converted(value, output)?,
            None => value,
        };
        check_extent(&value)?;
        if self.instance.output.get(name) == Some(&value) {
            return Ok(());
        }
        let before = self.instance.output.insert(name.to_owned(), value);
        let changed = std::mem::replace(&mut self.scratch.delta.changed.output, true);
        self.scratch.undo.push(Undo::WorkflowOutput(name.to_owned(), before, changed));
        Ok(())
    }

    /// Writes the outputs of an activity that completes to the journal, if it keeps values.
    pub fn journal_outputs(&mut self, sequence: u32, node: &Node) {
        if !self.program.options.journal.values {
            return;
        }
        let Some(ix) = self.context(sequence).map(|context| context.node) else { return };
        let set = self.instance.state.outputs.get(&ix).into_iter().flatten();
        let set: Map<String, Value> = set.map(|(name, value)| (name.clone(), copy_or_null(&value.0))).collect();
        if !set.is_empty() {
            self.event(EventKind::OutputsSet, sequence, node, Some(Value::Object(set)));
        }
    }

    /// Restores an activity's output.
    pub fn restore_output(&mut self, node: NodeIx, name: &str, before: Option<Json>) {
        let all = &mut self.instance.state.outputs;
        let Some(outputs) = all.get_mut(&node) else {
            return;
        };
        match (before, outputs.iter().position(|(known, _)| known == name)) {
            (Some(before), Some(index)) => outputs[index].1 = before,
            (None, Some(index)) => {
                outputs.remove(index);
            }
            (_, None) => {}
        }
        if outputs.is_empty() {
            all.remove(&node);
        }
    }
}

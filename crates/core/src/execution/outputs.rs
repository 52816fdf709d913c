//! Outputs of activities, which are kept across bursts and may be bound to a variable, and outputs of the workflow.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::activity::Output;
use crate::execution::Execution;
use crate::execution::burst::Burst;
use crate::execution::undo::Undo;
use crate::execution::variables::VariableLocation;
use crate::instance::outputs::{LastResult, Outputs, later};
use crate::instance::{Context, Memory, State};
use crate::journal::EventKind;
use crate::node_ix::NodeIx;
use crate::program::{Argument, Binding, Node};
use workflow_value::fault::Fault;
use workflow_value::value::{Json, check_extent, copy, copy_or_null};

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

    /// Assigns the nearest variable with a name, converted to its type.
    pub fn assign(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let location = self.location_of(name)?;
        self.burst.assign(location, name, value).map_err(|fault| about(name, fault))
    }

    /// Stores an output in the nearest variable with a name without conversion: each reader of the variable converts
    /// it.
    fn put(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let location = self.location_of(name)?;
        self.burst.put(location, name, value).map_err(|fault| about(name, fault))
    }

    fn location_of(&self, name: &str) -> Result<VariableLocation, Fault> {
        let location = self.burst.find_variable(self.scope_start(), name);
        location.ok_or_else(|| Fault::new("42704", format!("variable \"{name}\" does not exist")))
    }

    /// Sets an output, converted to its declared type: that of the nearest enclosing composite that declares it, else
    /// that of the workflow.
    pub fn set_declared_output(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let (mut from, mut name, mut value) = (self.sequence, Cow::Borrowed(name), value);
        // An output of a composite may be bound to an output of an outer composite.
        while let Some((sequence, node, output)) = self.burst.declaring(from, &name) {
            value = converted(value, output)?;
            let mut composite = Execution::new(self.burst.reborrow(), sequence, node);
            composite.record(Cow::Owned(output.name.clone()), copy(&value)?)?;
            let result = composite.burst.context(sequence).and_then(|context| context.last_result.clone());
            composite.burst.set_last_result(self.sequence, result);
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
        let (sequence, value) = (self.sequence, Arc::new(Json(value)));
        let Some(outputs) = self.burst.own_outputs(sequence) else { return Ok(()) };
        let before = match outputs.iter().position(|(known, _)| *known == name) {
            Some(at) => Some(std::mem::replace(&mut outputs[at].1, value.clone())),
            None => {
                outputs.push((name.clone().into_owned(), value.clone()));
                None
            }
        };
        let is_result = name.eq_ignore_ascii_case("result");
        self.burst.scratch.undo.push(Undo::ActivityOutput(sequence, name, before));
        if is_result {
            let order = self.burst.number_result();
            self.burst.set_last_result(sequence, Some(LastResult { order, value }));
        }
        Ok(())
    }

    /// Records that a branch of a flowchart has reached an activity that may wait for others: it will see the latest
    /// result of all of them.
    pub(crate) fn bring_result(&mut self, to: NodeIx) {
        let sequence = self.sequence;
        let Some(result) = self.burst.scratch.cause.as_ref().and_then(|cause| cause.last_result.clone()) else {
            return;
        };
        let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) else { return };
        let arrived = &mut context.ended_inside.get_or_insert_default().arrived;
        let before = arrived.get(&to).cloned();
        if let Some(result) = later(before.as_ref(), Some(&result)).cloned() {
            arrived.insert(to, result);
            self.burst.scratch.undo.push(Undo::Arrived(sequence, to, before));
        }
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
        let of_root = || self.instance.state.outputs.get(&ix);
        let set = self.context(sequence).and_then(|context| match context.parent {
            None => of_root(),
            Some(_) => Some(&context.outputs),
        });
        let set = set.into_iter().flatten();
        let set: Map<String, Value> = set.map(|(name, value)| (name.clone(), copy_or_null(&value.0))).collect();
        if !set.is_empty() {
            self.event(EventKind::OutputsSet, sequence, node, Some(Value::Object(set)));
        }
    }

    /// The outputs that an execution has set itself; those of the root are stored with those inside it.
    fn own_outputs(&mut self, sequence: u32) -> Option<&mut Outputs> {
        let State { contexts, outputs, .. } = &mut self.instance.state;
        let context = contexts.get_mut(&sequence)?;
        Some(match context.parent {
            None => outputs.entry(context.node).or_default(),
            Some(_) => &mut context.outputs,
        })
    }

    /// The latest outputs of each activity that ended inside an execution.
    fn outputs_inside(&mut self, sequence: u32) -> Option<&mut BTreeMap<NodeIx, Outputs>> {
        let State { contexts, outputs, .. } = &mut self.instance.state;
        let context = contexts.get_mut(&sequence)?;
        Some(match context.parent {
            None => outputs,
            Some(_) => &mut context.ended_inside.get_or_insert_default().outputs,
        })
    }

    /// The number of a result produced now.
    fn number_result(&mut self) -> u32 {
        let number = self.scratch.next_result.unwrap_or_else(|| self.instance.state.next_result());
        self.scratch.next_result = Some(number.saturating_add(1));
        number
    }

    /// Sets the latest result on the path to an execution.
    pub fn set_last_result(&mut self, sequence: u32, result: Option<LastResult>) {
        if let Some(context) = self.instance.state.contexts.get_mut(&sequence) {
            let before = std::mem::replace(&mut context.last_result, result);
            self.scratch.undo.push(Undo::LastResult(sequence, before));
        }
    }

    /// Whether a child scheduled now has waited for several branches.
    pub(super) fn is_join(&self, parent: u32, child: NodeIx) -> bool {
        let inside = self.context(parent).and_then(|context| context.ended_inside.as_ref());
        inside.is_some_and(|inside| inside.arrived.contains_key(&child))
    }

    /// The result with which a child scheduled now starts: that of the branches for which it has waited, or that of the
    /// child whose end has led to it, or the parent's. Bodies of a parallel loop do not see each other's results.
    pub(super) fn result_for(&mut self, parent: u32, child: NodeIx) -> Option<LastResult> {
        let program = self.program;
        let context = self.instance.state.contexts.get_mut(&parent)?;
        if let Some(inside) = &mut context.ended_inside
            && let Some(result) = inside.arrived.remove(&child)
        {
            context.drop_if_nothing_ended();
            self.scratch.undo.push(Undo::Arrived(parent, child, Some(result.clone())));
            return Some(result);
        }
        match &self.scratch.cause {
            Some(cause) if cause.parent == parent && !program.node(context.node).runs_bodies_beside() => {
                cause.last_result.clone()
            }
            _ => context.last_result.clone(),
        }
    }

    /// Passes the outputs of an ending execution, and of all that ended in it, to its parent. Outputs set by a handler
    /// are dropped: it runs at a later time than the activities around it.
    pub(super) fn hand_over_outputs(&mut self, sequence: u32, context: &mut Context) {
        let Some(parent) = context.parent.filter(|_| !matches!(context.memory, Memory::Unwinding(_))) else { return };
        self.hand_over_result(parent, context.latest_result());
        if !context.outputs.is_empty() {
            let outputs = std::mem::take(&mut context.outputs);
            self.hand_over(sequence, parent, context.node, outputs);
        }
        let inside = context.ended_inside.as_mut().map(|inside| std::mem::take(&mut inside.outputs));
        for (node, outputs) in inside.into_iter().flatten() {
            self.hand_over(sequence, parent, node, outputs);
        }
    }

    fn hand_over(&mut self, from: u32, to: u32, node: NodeIx, outputs: Outputs) {
        let before = self.outputs_inside(to).and_then(|inside| inside.insert(node, outputs));
        if self.scratch.in_unit {
            self.scratch.undo.push(Undo::HandedOver { from, to, node, before });
        }
    }

    fn hand_over_result(&mut self, parent: u32, result: Option<LastResult>) {
        let (Some(result), program) = (result, self.program) else { return };
        let Some(context) = self.instance.state.contexts.get_mut(&parent) else { return };
        let is_hidden = program.node(context.node).runs_bodies_beside();
        let known = match is_hidden {
            true => &mut context.ended_inside.get_or_insert_default().hidden_result,
            false => &mut context.last_result,
        };
        if known.as_ref().is_some_and(|known| known.order >= result.order) {
            return;
        }
        let before = known.replace(result);
        if self.scratch.in_unit {
            self.scratch.undo.push(match is_hidden {
                true => Undo::HiddenResult(parent, before),
                false => Undo::LastResult(parent, before),
            });
        }
    }

    /// Forgets everything that ended in an execution that is restarted.
    pub(super) fn forget_inside(&mut self, sequence: u32) {
        let state = &mut self.instance.state;
        let Some(context) = state.contexts.get_mut(&sequence) else { return };
        context.ended_inside = None;
        if context.parent.is_none() {
            let root = context.node;
            state.outputs.retain(|node, _| *node == root);
        }
    }

    /// Restores an activity's output.
    pub fn restore_output(&mut self, sequence: u32, name: &str, before: Option<Arc<Json>>) {
        let Some(outputs) = self.own_outputs(sequence) else { return };
        match (before, outputs.iter().position(|(known, _)| known == name)) {
            (Some(before), Some(index)) => outputs[index].1 = before,
            (None, Some(index)) => {
                outputs.remove(index);
            }
            (_, None) => {}
        }
        if outputs.is_empty() {
            self.instance.state.outputs.retain(|_, outputs| !outputs.is_empty());
        }
    }

    /// Reverses the hand-over of an execution's outputs.
    pub(super) fn take_back(&mut self, from: u32, to: u32, node: NodeIx, before: Option<Outputs>) {
        let Some(inside) = self.outputs_inside(to) else { return };
        let outputs = match before {
            Some(before) => inside.insert(node, before),
            None => inside.remove(&node),
        };
        let State { contexts, .. } = &mut self.instance.state;
        if let Some(context) = contexts.get_mut(&to) {
            context.drop_if_nothing_ended();
        }
        if let (Some(outputs), Some(context)) = (outputs, contexts.get_mut(&from)) {
            match context.node == node {
                true => context.outputs = outputs,
                false => {
                    context.ended_inside.get_or_insert_default().outputs.insert(node, outputs);
                }
            }
        }
    }
}

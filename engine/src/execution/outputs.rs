//! Outputs: of activities, which survive a suspend and may be bound to a variable, and of the workflow.

use std::borrow::Cow;

use serde_json::Value;

use crate::execution::Execution;
use crate::execution::core::Core;
use crate::execution::undo::Undo;
use crate::execution::variables::check_depth;
use crate::fault::Fault;
use crate::instance::Json;
use crate::program::{Binding, NodeIx};

impl Execution<'_> {
    /// Sets an output of this activity by its position in the descriptor.
    pub fn set_output(&mut self, index: usize, value: Value) -> Result<(), Fault> {
        let node = self.node;
        let Some(output) = node.activity.descriptor().outputs.get(index) else {
            return Ok(());
        };
        if let Some(Some(binding)) = node.outputs.get(index) {
            self.bind(binding, value.clone())?;
        }
        self.record(Cow::Borrowed(output.name), value)
    }

    /// Sets an output of a custom activity by its name.
    pub fn set_custom_output(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let bindings = &self.node.custom_outputs;
        let binding = bindings
            .iter()
            .find(|(bound, _)| bound == name)
            .or_else(|| bindings.iter().find(|(bound, _)| bound.eq_ignore_ascii_case(name)));
        if let Some((_, binding)) = binding {
            self.bind(binding, value.clone())?;
        }
        self.record(Cow::Owned(name.to_owned()), value)
    }

    fn bind(&mut self, binding: &Binding, value: Value) -> Result<(), Fault> {
        match binding {
            Binding::Variable(name) => self.assign(name, value),
            Binding::Output(name) => self.set_workflow_output(name, value),
        }
    }

    /// Assigns the nearest variable of a name.
    pub fn assign(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        match self.core.find_variable(self.sequence, name) {
            Some(place) => self.core.assign(place, name, value).map_err(|mut fault| {
                fault.message = format!("variable \"{name}\": {}", fault.message);
                fault
            }),
            None => Err(Fault::new("42704", format!("variable \"{name}\" does not exist"))),
        }
    }

    /// Sets an output of the workflow, converted to its declared type. One that is not declared is set as it is,
    /// as Elsa does.
    pub fn set_workflow_output(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        let declared = self.core.program.outputs.iter().find(|output| output.name == name);
        let value = match declared {
            Some(output) => output.accept(value, "output")?,
            None => value,
        };
        check_depth(&value)?;
        if self.core.instance.output.get(name) == Some(&value) {
            return Ok(());
        }
        let before = self.core.instance.output.insert(name.to_owned(), value);
        let changed = std::mem::replace(&mut self.core.work.delta.changed.output, true);
        self.core.work.undo.push(Undo::WorkflowOutput(name.to_owned(), before, changed));
        Ok(())
    }

    fn record(&mut self, name: Cow<'static, str>, value: Value) -> Result<(), Fault> {
        check_depth(&value)?;
        if name.eq_ignore_ascii_case("result") {
            let last = &mut self.core.instance.state.last_result;
            let before = last.replace(Json(value.clone()));
            self.core.work.undo.push(Undo::LastResult(before));
        }
        let node = self.node_index();
        let outputs = self.core.instance.state.outputs.entry(node).or_default();
        let before = match outputs.iter_mut().find(|(known, _)| *known == name) {
            Some((_, slot)) => Some(std::mem::replace(slot, Json(value))),
            None => {
                outputs.push((name.clone().into_owned(), Json(value)));
                None
            }
        };
        self.core.work.undo.push(Undo::ActivityOutput(node, name, before));
        Ok(())
    }
}

impl Core<'_> {
    /// Puts an activity's output back.
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

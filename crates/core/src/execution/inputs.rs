//! Inputs of an execution: evaluated in the order of the descriptor, read by position.

use serde_json::{Map, Value};

use crate::activity::handle::truth;
use crate::activity::{FromInput, Input, InputDescriptor, locate};
use crate::execution::variables::VariableLocation;
use crate::execution::{Execution, Outcomes};
use crate::journal::EventKind;
use crate::node_ix::NodeIx;
use crate::program::Node;
use workflow_expression::{Expression, evaluate, javascript};
use workflow_value::fault::Fault;
use workflow_value::value::{copy_or_null, to_text};

/// The outcome of an activity that names none.
const DONE: &str = "Done";

impl Execution<'_> {
    /// Evaluates the inputs that the descriptor marks for evaluation before the activity runs.
    pub(crate) fn evaluate_inputs(&mut self) -> Result<(), Fault> {
        let node = self.node;
        let descriptors = node.activity.descriptor().inputs;
        self.inputs = std::mem::take(&mut self.burst.scratch.inputs);
        self.inputs.clear();
        for (index, descriptor) in descriptors.iter().enumerate() {
            let value = match node.inputs.get(index) {
                _ if !descriptor.auto_evaluate => Value::Null,
                Some(Some(_)) => self.evaluate_input_of(node, index)?,
                // Most of the inputs of most activities.
                _ => default_of(Some(descriptor)),
            };
            self.inputs.push(value);
        }
        Ok(())
    }

    /// Returns the buffer of inputs for the next execution.
    pub(crate) fn give_back(&mut self) {
        if self.inputs.capacity() > 0 {
            self.burst.scratch.inputs = std::mem::take(&mut self.inputs);
        }
    }

    fn evaluate_input_of(&mut self, node: &Node, index: usize) -> Result<Value, Fault> {
        match node.inputs.get(index) {
            Some(Some(expression)) => self.evaluate(expression).map_err(|fault| {
                let descriptor = node.activity.descriptor().inputs.get(index);
                locate(fault, descriptor.map_or("", |descriptor| descriptor.name))
            }),
            _ => Ok(default_of(node.activity.descriptor().inputs.get(index))),
        }
    }

    /// Writes the inputs that were evaluated to the journal, if it keeps values.
    pub(crate) fn journal_inputs(&mut self) {
        if !self.burst.program.options.journal.values {
            return;
        }
        let names = self.node.activity.descriptor().inputs.iter().map(|input| input.name);
        let given = names.zip(&self.inputs).filter(|(_, value)| !value.is_null());
        let given: Map<String, Value> = given.map(|(name, value)| (name.to_owned(), copy_or_null(value))).collect();
        self.journal_values(EventKind::InputsEvaluated, given);
    }

    /// Writes values by name to the journal, if it keeps values.
    pub(crate) fn journal_values(&mut self, kind: EventKind, values: Map<String, Value>) {
        if self.burst.program.options.journal.values && !values.is_empty() {
            self.journal(kind, Some(Value::Object(values)));
        }
    }

    /// Evaluates the inputs that the consumer of a composite passes, in the scope outside the composite, and assigns
    /// them inside.
    pub(crate) fn pass_inputs(&mut self) -> Result<(), Fault> {
        let node = self.node;
        let Some(composite) = &node.composite else { return Ok(()) };
        let mut passed = Map::new();
        for (name, expression) in &node.custom_inputs {
            let Some(at) = composite.inputs.iter().position(|input| input.name == *name) else { continue };
            let value = self.evaluate(expression).map_err(|fault| locate(fault, name))?;
            if self.burst.program.options.journal.values {
                passed.insert(name.clone(), copy_or_null(&value));
            }
            let location = VariableLocation::Context(self.sequence, composite.first_input + at);
            self.burst.assign(location, name, value).map_err(|fault| locate(fault, name))?;
        }
        self.journal_values(EventKind::InputsEvaluated, passed);
        Ok(())
    }

    /// Evaluates an expression in the scope of this execution.
    pub fn evaluate(&mut self, expression: &Expression) -> Result<Value, Fault> {
        evaluate(expression, self)
    }

    /// Runs a script that may set the outcomes of this activity; returns its value and the outcomes.
    pub fn run_script(&mut self, source: &str) -> Result<(Value, Outcomes), Fault> {
        self.outcomes = Some(vec![DONE.to_owned()]);
        let value = javascript::evaluate(source, self);
        let outcomes = match self.outcomes.take() {
            Some(names) if names != [DONE] => Outcomes::Named(names),
            _ => Outcomes::Done,
        };
        Ok((value?, outcomes))
    }

    /// Evaluates an input now.
    pub fn evaluate_input<T>(&mut self, input: Input<T>) -> Result<Value, Fault> {
        self.evaluate_input_of(self.node, input.index)
    }

    /// Whether an input was given.
    pub fn has_input<T>(&self, input: Input<T>) -> bool {
        self.node.inputs.get(input.index).is_some_and(Option::is_some)
    }

    /// Evaluates an input now, with a variable that is visible only to its expression.
    pub fn evaluate_input_with<T>(&mut self, input: Input<T>, name: &str, value: Value) -> Result<Value, Fault> {
        self.push_variable(name, value);
        let outcome = self.evaluate_input(input);
        self.pop_variable();
        outcome
    }

    /// Evaluates a condition now; null is false.
    pub fn evaluate_boolean(&mut self, input: Input<bool>) -> Result<bool, Fault> {
        truth(&self.evaluate_input(input)?)
    }

    /// The value of an evaluated input, read as the type of its handle.
    ///
    /// # Errors
    /// 22023 or 22004, with the name of the input.
    pub fn get<T: FromInput>(&self, input: Input<T>) -> Result<T::Value, Fault> {
        T::read(self.peek(input), self.input_name(input.index))
    }

    /// The value of an evaluated input without conversion; null if there is none.
    pub fn peek<T>(&self, input: Input<T>) -> &Value {
        self.inputs.get(input.index).unwrap_or(&Value::Null)
    }

    /// Moves the value of an evaluated input out.
    pub fn take(&mut self, input: Input<Value>) -> Value {
        self.inputs.get_mut(input.index).map(Value::take).unwrap_or_default()
    }

    /// An input as one of several names, in any letter case; the first is the default.
    pub fn choice<T>(&self, input: Input<T>, names: &[&str]) -> Result<usize, Fault> {
        choice(self.peek(input), names, self.input_name(input.index))
    }

    /// An input of another node, evaluated in the scope of this execution, as one of several names.
    pub fn choice_of<T>(&mut self, node: NodeIx, input: Input<T>, names: &[&str]) -> Result<usize, Fault> {
        let node = self.burst.program.node(node);
        let value = self.evaluate_input_of(node, input.index)?;
        let descriptor = node.activity.descriptor().inputs.get(input.index);
        choice(&value, names, descriptor.map_or("", |descriptor| descriptor.name))
    }

    /// Whether the condition of a part holds; a part without a condition always holds.
    pub fn holds(&mut self, list: usize, index: usize) -> Result<bool, Fault> {
        let node = self.node;
        let Some(part) = node.part_list(list).get(index) else {
            return Ok(false);
        };
        let Some(condition) = &part.condition else {
            return Ok(true);
        };
        let holds = self.evaluate(condition).and_then(|value| truth(&value));
        holds.map_err(|fault| {
            let name = node.activity.descriptor().parts.get(list).map_or("", |list| list.name);
            let part = if part.text(0).is_empty() { index.to_string() } else { part.text(0).to_owned() };
            locate(fault, &format!("{name}/{part}"))
        })
    }

    /// The positions of the cases whose conditions hold: all, or only the first.
    pub fn matching_cases(&mut self, all: bool) -> Result<Vec<usize>, Fault> {
        let mut matching = Vec::new();
        for index in 0..self.node.part_list(0).len() {
            if self.holds(0, index)? {
                matching.push(index);
                if !all {
                    break;
                }
            }
        }
        Ok(matching)
    }

    fn input_name(&self, index: usize) -> &'static str {
        self.node.activity.descriptor().inputs.get(index).map_or("", |input| input.name)
    }
}

/// The value of an input that was not given.
pub(crate) fn default_of(descriptor: Option<&InputDescriptor>) -> Value {
    let json = descriptor.and_then(|descriptor| descriptor.default);
    // The descriptors of this crate contain the defaults; a test checks that they are JSON.
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

fn choice(value: &Value, names: &[&str], input: &str) -> Result<usize, Fault> {
    let text = match value {
        Value::Null => return Ok(0),
        value => to_text(value),
    };
    names.iter().position(|name| name.eq_ignore_ascii_case(&text)).ok_or_else(|| {
        Fault::new("22023", format!("input \"{input}\" must be one of {}", names.join(", ")))
            .detail(format!("It is \"{}\".", text.chars().take(64).collect::<String>()))
    })
}

/// Checks a constant that names a `what`, such as a mode, when a definition is stored.
///
/// # Errors
/// 22023 if the value is none of the names.
pub fn one_of(value: &Value, what: &str, names: &[&str]) -> Result<(), Fault> {
    choice(value, names, "").map(|_| ()).map_err(|_| {
        let text: String = to_text(value).chars().take(64).collect();
        Fault::new("22023", format!("unknown {what} \"{text}\": it is one of {}", names.join(", ")))
    })
}

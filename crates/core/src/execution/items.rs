//! Items of a loop: read in place if the input is a literal, variable or input, kept in memory if it is computed.
//!
//! Each round reads the list in a variable again without copying it. So a loop over it takes linear time and sees
//! changes to the list.

use serde_json::Value;

use crate::activity::Input;
use crate::execution::Execution;
use crate::execution::variables::{find_variable, read_variable};
use crate::instance::Memory;
use workflow_expression::ExpressionKind;
use workflow_value::fault::Fault;
use workflow_value::value::{Json, check_extent, copy_or_null};

impl Execution<'_> {
    /// Prepares the loop over an input: computed items are evaluated once and kept in memory.
    pub fn keep_items<T>(&mut self, input: Input<T>) -> Result<(), Fault> {
        let computed = match self.node.inputs.get(input.index).and_then(Option::as_ref) {
            Some(expression) => !matches!(
                expression.kind,
                ExpressionKind::Literal(_) | ExpressionKind::Variable(_) | ExpressionKind::Input(_)
            ),
            None => true,
        };
        let memory = match computed {
            false => Memory::Count(0),
            true => {
                let items = self.evaluate_input(input)?;
                require_list(&items)?;
                check_extent(&items)?;
                Memory::Items { index: 0, items: Json(items) }
            }
        };
        self.set_memory(memory);
        Ok(())
    }

    /// All items of an input, evaluated now. A value that is no list is a single item; null yields no items.
    pub fn all_items<T>(&mut self, input: Input<T>) -> Result<Vec<Value>, Fault> {
        let items = self.evaluate_input(input)?;
        check_extent(&items)?;
        Ok(match items {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            single => vec![single],
        })
    }

    /// The item at an index of the items in memory.
    pub fn kept_item(&self, index: i64) -> Option<Value> {
        match self.memory() {
            Memory::Items { items, .. } => at(&items.0, usize::try_from(index).ok()?),
            _ => None,
        }
    }

    /// The item at an index; `None` beyond the end of the list.
    pub fn item<T>(&mut self, input: Input<T>, index: i64) -> Result<Option<Value>, Fault> {
        let Ok(index) = usize::try_from(index) else {
            return Ok(None);
        };
        if let Memory::Items { items, .. } = self.memory() {
            return Ok(at(&items.0, index));
        }
        if let Some(list @ Value::Array(_)) = self.list_in_place(input.index) {
            return Ok(at(list, index));
        }
        // Text, null, or a missing value: evaluation converts it, or faults.
        let items = self.evaluate_input(input)?;
        require_list(&items)?;
        Ok(at(&items, index))
    }

    fn list_in_place(&self, input: usize) -> Option<&Value> {
        match &self.node.inputs.get(input)?.as_ref()?.kind {
            ExpressionKind::Literal(value) => Some(value),
            ExpressionKind::Variable(name) => {
                let location = find_variable(self.burst.instance, self.scope_start(), name)?;
                read_variable(self.burst.instance, location, name)
            }
            ExpressionKind::Input(name) => self.input_in_place(name),
            _ => None,
        }
    }
}

fn at(items: &Value, index: usize) -> Option<Value> {
    items.as_array().and_then(|items| items.get(index)).map(copy_or_null)
}

fn require_list(items: &Value) -> Result<(), Fault> {
    match items {
        Value::Array(_) => Ok(()),
        Value::Null => Err(Fault::new("22004", "items of a ForEach activity must not be null")),
        _ => Err(Fault::new("22023", "items of a ForEach activity must be a list")),
    }
}

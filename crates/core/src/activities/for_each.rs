//! `ForEach`: runs a body for each item of a collection.
//!
//! If the items are a literal, a variable or an input, each round reads them again, so that changes to the collection
//! take effect, as in Elsa. Computed items are evaluated once and kept in memory.

use serde_json::Value;

use crate::activity::handle::{inputs, outputs, ports};
use crate::activity::{Activity, Descriptor, FlowRole, InputDescriptor, OutputDescriptor};
use crate::execution::{Child, Execution, Outcomes, Signal};
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

/// Runs its body for each item.
#[derive(Debug)]
pub struct ForEach;

inputs! {
    ITEMS: Value =
        InputDescriptor::new("items", "ICollection<Object>", "The items.").default("[]").on_demand().needed(),
}

outputs! {
    CURRENT_VALUE = OutputDescriptor::new("currentValue", "Object", "The item of this round."),
}

ports! {
    BODY = "body",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.ForEach",
    category: "Looping",
    description: "Runs the body for each item. The body has the item in the variable CurrentValue and its number, from 0, in CurrentIndex. Break leaves the loop.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    ports: PORTS,
    flow: FlowRole::Loop(""),
    example: r#"{"type": "ForEach", "items": ["a", "b"], "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}"#,
    ..Descriptor::BASE
};

impl Activity for ForEach {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        cx.keep_items(ITEMS)?;
        run_round(cx)
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        if cx.is_breaking() {
            return cx.complete();
        }
        cx.set_position(cx.position() + 1);
        run_round(cx)
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        Ok(cx.break_here(signal))
    }
}

fn run_round(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let index = cx.position();
    match (cx.item(ITEMS, index)?, cx.port(BODY)) {
        (Some(item), Some(body)) => {
            cx.set_output(CURRENT_VALUE, copy_or_null(&item))?;
            let variables = vec![("CurrentValue".to_owned(), item), ("CurrentIndex".to_owned(), Value::from(index))];
            cx.schedule(body, 0, variables)
        }
        _ => cx.complete(),
    }
}

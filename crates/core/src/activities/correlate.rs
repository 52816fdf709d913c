//! `Correlate`: sets the correlation id of the instance.

use serde_json::Value;

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Sets the correlation id of the instance, or removes it; open bookmarks follow.
#[derive(Debug)]
pub struct Correlate;

inputs! {
    CORRELATION_ID: String =
        InputDescriptor::new("correlationId", "String", "The correlation id; null removes it."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Correlate",
    category: "Primitives",
    description: "Sets the correlation id of the workflow instance and of its open bookmarks. Under a correlated activation strategy, an id that is taken is a fault.",
    inputs: INPUTS,
    example: r#"{"type": "Correlate", "correlationId": {"input": "orderNumber"}}"#,
    ..Descriptor::BASE
};

impl Activity for Correlate {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let id = if *cx.peek(CORRELATION_ID) == Value::Null { None } else { Some(cx.get(CORRELATION_ID)?) };
        cx.correlate(id)?;
        cx.complete()
    }
}

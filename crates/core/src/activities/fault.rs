//! `Fault`: raises a fault on purpose.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Faults with the author's code and message.
#[derive(Debug)]
pub struct RaiseFault;

inputs! {
    CODE: String = InputDescriptor::new("code", "String", "Code that says what happened.").default(r#""0""#),
    CATEGORY: String =
        InputDescriptor::new("category", "String", "Category, such as HTTP or Business.").default(r#""General""#),
    FAULT_TYPE: String =
        InputDescriptor::new("faultType", "String", "System, Business or Integration.").default(r#""System""#),
    MESSAGE: String = InputDescriptor::new("message", "String", "Message of the incident."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Fault",
    category: "Primitives",
    description: "Raises a fault, which becomes an incident with SQLSTATE P0001.",
    inputs: INPUTS,
    example: r#"{"type": "Fault", "code": "42", "category": "Business", "message": "the order is too old"}"#,
    ..Descriptor::BASE
};

impl Activity for RaiseFault {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let (code, category, kind) = (cx.get(CODE)?, cx.get(CATEGORY)?, cx.get(FAULT_TYPE)?);
        let message = cx.get(MESSAGE)?;
        let message = if message.is_empty() { "the workflow raised a fault".into() } else { message };
        Err(Fault::new("P0001", message).detail(format!("Code {code}, category {category}, type {kind}.")))
    }
}

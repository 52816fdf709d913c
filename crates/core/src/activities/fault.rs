//! `Fault`: raises a fault on purpose.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::{Execution, default_of};
use workflow_value::fault::Fault;

/// Faults with the author's code and message. The DETAIL has what differs from the defaults.
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
        let message = cx.get(MESSAGE)?;
        let message = if message.is_empty() { "the workflow raised a fault".into() } else { message };
        let mut given = Vec::new();
        for (name, input) in [("code", CODE), ("category", CATEGORY), ("type", FAULT_TYPE)] {
            let value = cx.get(input)?;
            if !value.is_empty() && default_of(cx.node().activity.descriptor().inputs.get(input.index)) != value {
                given.push(format!("{name} {value}"));
            }
        }
        let mut detail = given.join(", ");
        let fault = Fault::new("P0001", message);
        Err(match detail.get_mut(..1) {
            Some(first) => {
                first.make_ascii_uppercase();
                fault.detail(format!("{detail}."))
            }
            None => fault,
        })
    }
}

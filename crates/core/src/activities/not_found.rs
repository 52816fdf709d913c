//! The activity for an unknown type in a definition that was stored all the same.

use crate::activity::{Activity, Descriptor, FurtherOutcomes};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Faults when it runs.
#[derive(Debug)]
pub struct NotFound;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.NotFoundActivity",
    category: "System",
    description: "Replaces an activity of an unknown type.",
    example: r#"{"type": "NotFoundActivity"}"#,
    further_outcomes: FurtherOutcomes::Any,
    ..Descriptor::BASE
};

impl Activity for NotFound {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let type_name = &cx.node().type_name;
        Err(Fault::new("42704", format!("activity type \"{type_name}\" does not exist"))
            .hint("Register it with wf_register_activity, then retry the instance."))
    }
}

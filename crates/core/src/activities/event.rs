//! `Event`: waits for an event, or starts the workflow at an event.

use serde_json::{Value, json};

use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, InputDescriptor, NonEmpty, OutputDescriptor, WaitKind};
use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::Execution;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

/// Waits until an event with this name is published; as a trigger, it starts the workflow then.
#[derive(Debug)]
pub struct Event;

inputs! {
    EVENT_NAME: NonEmpty = InputDescriptor::new("eventName", "String", "Name of the event.").needed(),
}

outputs! {
    RESULT = OutputDescriptor::new("result", "Object", "Payload of the event."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::EVENT.name,
    category: "Primitives",
    description: "Waits until the event of this name is published, or starts the workflow when it is (canStartWorkflow).",
    inputs: INPUTS,
    outputs: OUTPUTS,
    trigger: true,
    example: r#"{"type": "Event", "eventName": "OrderPaid", "result": {"var": "Payment"}}"#,
    waits: WaitKind::Always,
    ..Descriptor::BASE
};

impl Activity for Event {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        if cx.is_trigger() {
            let input = cx.trigger_input();
            cx.set_output(RESULT, input)?;
            return cx.complete();
        }
        let payload = stimulus(cx)?;
        cx.create_bookmark(NewBookmark { payload: Some(payload), ..NewBookmark::default() })?;
        Ok(())
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        cx.set_output(RESULT, input.map(copy_or_null).unwrap_or_default())?;
        cx.complete()
    }

    fn trigger_payloads(&self, cx: &mut Execution<'_>) -> Result<Vec<Option<Value>>, Fault> {
        Ok(vec![Some(stimulus(cx)?)])
    }
}

fn stimulus(cx: &Execution<'_>) -> Result<Value, Fault> {
    Ok(json!({ "EventName": cx.get(EVENT_NAME)? }))
}

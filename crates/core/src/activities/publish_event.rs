//! `PublishEvent`: publishes an event to other workflows, or to this instance only.

use serde_json::{Value, json};

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor, NonEmpty};
use crate::execution::{Execution, Published};
use crate::instance::check_correlation_id;
use workflow_value::fault::Fault;

/// Publishes an event after the burst, to all instances or only to its own.
#[derive(Debug)]
pub struct PublishEvent;

inputs! {
    EVENT_NAME: NonEmpty = InputDescriptor::new("eventName", "String", "Name of the event.").needed(),
    CORRELATION_ID: String = InputDescriptor::new(
        "correlationId",
        "String",
        "Only instances with this correlation id receive it; null means all.",
    ),
    IS_LOCAL_EVENT: bool =
        InputDescriptor::new("isLocalEvent", "Boolean", "Whether only this instance receives it.").default("false"),
    PAYLOAD: Value = InputDescriptor::new("payload", "Object", "Payload of the event."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.PublishEvent",
    category: "Primitives",
    description: "Publishes an event after this burst: workflows that wait for it continue, and workflows that it triggers start.",
    inputs: INPUTS,
    example: r#"{"type": "PublishEvent", "eventName": "OrderShipped", "payload": {"js": "({ order: getInput('number') })"}}"#,
    acts_for_owner: true,
    ..Descriptor::BASE
};

impl Activity for PublishEvent {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let event_name = cx.get(EVENT_NAME)?;
        let correlation_id = Some(cx.get(CORRELATION_ID)?).filter(|text| !text.is_empty());
        check_correlation_id(correlation_id.as_deref())?;
        let local = cx.get(IS_LOCAL_EVENT)?;
        let input = Some(cx.take(PAYLOAD)).filter(|value| *value != Value::Null);
        cx.publish(Published {
            name: "Elsa.Event".to_owned(),
            payload: Some(json!({ "EventName": event_name })),
            input,
            correlation_id,
            local,
            by_author: false,
        })?;
        cx.complete()
    }
}

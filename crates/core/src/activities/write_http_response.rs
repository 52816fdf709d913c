//! `WriteHttpResponse`: writes the response to the request that the burst serves.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::Execution;
use serde_json::Value;
use workflow_http::http::{check_headers, check_status, status, written};
use workflow_value::fault::Fault;

/// Sets the response to the HTTP request that the burst serves.
#[derive(Debug)]
pub struct WriteHttpResponse;

inputs! {
    STATUS_CODE: Value =
        InputDescriptor::new("statusCode", "Object", "Status: a number, or a name such as NotFound.")
            .default("200")
            .checked(check_status),
    CONTENT: Value = InputDescriptor::new("content", "Object", "Body: a text unchanged, anything else as JSON."),
    CONTENT_TYPE: String = InputDescriptor::new(
        "contentType",
        "String",
        "Content type; by default text/plain for a text, otherwise application/json.",
    ),
    RESPONSE_HEADERS: Value = InputDescriptor::new(
        "responseHeaders",
        "ObjectDictionary",
        "Further headers: a text for each name, or a list.",
    )
    .checked(check_headers),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.WriteHttpResponse",
    category: "HTTP",
    description: "Responds to the HTTP request that runs the workflow, or waits for it. Faults if there is none, or if it already has a response.",
    inputs: INPUTS,
    example: r#"{"type": "WriteHttpResponse", "statusCode": 201, "content": {"object": {"order": {"js": "getWorkflowInstanceId()"}}}, "responseHeaders": {"Cache-Control": "no-store"}}"#,
    ..Descriptor::BASE
};

impl Activity for WriteHttpResponse {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let response = written(
            status(cx.peek(STATUS_CODE))?,
            cx.peek(CONTENT),
            &cx.get(CONTENT_TYPE)?,
            cx.peek(RESPONSE_HEADERS),
        )?;
        cx.respond(response)?;
        cx.complete()
    }
}

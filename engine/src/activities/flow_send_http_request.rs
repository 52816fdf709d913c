//! `FlowSendHttpRequest`: sends an HTTP request inside a flowchart.

use serde_json::Value;

use super::http_request::{
    ANSWER, AUTHORIZATION, CONTENT, CONTENT_TYPE, EXPECTED, HEADERS, METHOD, OUTCOMES, PARSED, RECEIVED, RESILIENCY,
    STATUS, UNCHECKED, URL, expected, outcomes, usual_retry,
};
use super::outside::{self, Answer};
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor};
use crate::bookmark::Resumed;
use crate::execution::Execution;
use crate::expression::Expression;
use crate::fault::Fault;
use crate::retry::RetryPolicy;
use crate::value::copy_or_null;

/// Sends a request, and leaves with the status code.
#[derive(Debug)]
pub struct FlowSendHttpRequest;

inputs! {
    ADDRESS: String = URL,
    VERB: String = METHOD,
    CODES: Vec<String> = EXPECTED,
    BODY: Value = CONTENT,
    BODY_TYPE: String = CONTENT_TYPE,
    CREDENTIALS: Value = AUTHORIZATION,
    AS_IT_IS: bool = UNCHECKED,
    FIELDS: Value = HEADERS,
    RESILIENT: bool = RESILIENCY,
}

outputs! {
    STATUS_CODE = STATUS,
    PARSED_CONTENT = PARSED,
    RESPONSE_HEADERS = RECEIVED,
    RESULT = ANSWER,
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowSendHttpRequest",
    category: "HTTP",
    description: "Has a worker outside send an HTTP request, and leaves with the status code, if it is expected, and Done.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    opens_tasks: true,
    outcomes: OUTCOMES,
    example: r#"{"type": "FlowSendHttpRequest", "url": "https://stock.example/items", "expectedStatusCodes": [200, 404], "parsedContent": {"output": "Items"}}"#,
    ..Descriptor::BASE
};

impl Activity for FlowSendHttpRequest {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        outside::open(cx)
    }

    fn usual_retry(&self, inputs: &[Option<Expression>]) -> Option<RetryPolicy> {
        usual_retry(inputs.get(RESILIENT.index).and_then(Option::as_ref))
    }

    fn transient_causes(&self) -> &'static [&'static str] {
        outside::TRANSIENT_CAUSES
    }

    fn judge(&self, answer: Option<&Value>) -> Result<Option<Fault>, Fault> {
        Ok(Answer::read(answer)?.transient())
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let answer = Answer::read(input)?;
        if let Answer::Response { status, headers, content } = &answer {
            cx.set_output(STATUS_CODE, (*status).into())?;
            cx.set_output(PARSED_CONTENT, copy_or_null(content))?;
            cx.set_output(RESPONSE_HEADERS, copy_or_null(headers))?;
        }
        cx.set_output(RESULT, input.map(copy_or_null).unwrap_or_default())?;
        let codes = expected(cx, CODES)?;
        cx.complete_with(outcomes(&answer, &codes))
    }
}

//! `FlowSendHttpRequest`: sends an HTTP request inside a flowchart.

use serde_json::Value;

use super::http_request::{self, OUTCOMES, expected, outcomes, usual_retry};
use super::outside::{self, Answer};
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, FailedAttempt, FurtherOutcomes, WaitKind};
use crate::bookmark::Resumed;
use crate::execution::Execution;
use crate::node_ix::NodeIx;
use crate::program::Program;
use crate::retry::RetryPolicy;
use workflow_expression::Expression;
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

/// Sends a request, and completes with the status code as outcome.
#[derive(Debug)]
pub struct FlowSendHttpRequest;

inputs! {
    URL: String = http_request::URL,
    METHOD: String = http_request::METHOD,
    EXPECTED: Vec<String> = http_request::EXPECTED,
    CONTENT: Value = http_request::CONTENT,
    CONTENT_TYPE: String = http_request::CONTENT_TYPE,
    AUTHORIZATION: Value = http_request::AUTHORIZATION,
    UNCHECKED: bool = http_request::UNCHECKED,
    HEADERS: Value = http_request::HEADERS,
    RESILIENCY: bool = http_request::RESILIENCY,
}

outputs! {
    STATUS = http_request::STATUS,
    PARSED = http_request::PARSED,
    RECEIVED = http_request::RECEIVED,
    ANSWER = http_request::ANSWER,
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowSendHttpRequest",
    category: "HTTP",
    description: "Opens a task for a task worker that sends an HTTP request. Completes with the status code, if it is expected, and Done.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    waits: WaitKind::ForTask,
    outcomes: OUTCOMES,
    further_outcomes: FurtherOutcomes::Listed("expectedStatusCodes"),
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
        usual_retry(inputs.get(RESILIENCY.index).and_then(Option::as_ref))
    }

    fn transient_causes(&self) -> &'static [&'static str] {
        outside::TRANSIENT_CAUSES
    }

    fn validate_answer(
        &self,
        _: &[Option<Expression>],
        answer: Option<&Value>,
    ) -> Result<Option<FailedAttempt>, Fault> {
        outside::failed_attempt(&Answer::read(answer)?, answer)
    }

    fn handles_failure(&self, program: &Program, node: NodeIx, answer: Option<&Value>) -> bool {
        http_request::handles_failure(program, node, EXPECTED, answer)
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let answer = Answer::read(input)?;
        if let Answer::Response { status, headers, content } = &answer {
            cx.set_output(STATUS, (*status).into())?;
            cx.set_output(PARSED, copy_or_null(content))?;
            cx.set_output(RECEIVED, copy_or_null(headers))?;
        }
        cx.set_output(ANSWER, input.map(copy_or_null).unwrap_or_default())?;
        let codes = expected(cx, EXPECTED)?;
        cx.complete_with(outcomes(&answer, &codes))
    }
}

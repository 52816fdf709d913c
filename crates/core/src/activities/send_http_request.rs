//! `SendHttpRequest`: sends an HTTP request, and runs the activity for the status code of the response.

use serde_json::Value;

use super::http_request::{self, usual_retry};
use super::outside::{self, Answer};
use crate::activity::handle::{Port, inputs, outputs, ports};
use crate::activity::{Activity, Descriptor, FailedAttempt, PartCondition, PartList, WaitKind};
use crate::bookmark::Resumed;
use crate::execution::Execution;
use crate::node_ix::NodeIx;
use crate::program::Program;
use crate::retry::RetryPolicy;
use workflow_expression::Expression;
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

/// Opens a task for a task worker that makes an HTTP request, and waits for the answer.
#[derive(Debug)]
pub struct SendHttpRequest;

inputs! {
    URL: String = http_request::URL,
    METHOD: String = http_request::METHOD,
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

ports! {
    UNMATCHED = "unmatchedStatusCode",
    FAILED_TO_CONNECT = "failedToConnect",
    TIMEOUT = "timeout",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SendHttpRequest",
    category: "HTTP",
    description: "Opens a task for a task worker that sends an HTTP request, and runs the activity for the status code of the response.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    waits: WaitKind::ForTask,
    ports: PORTS,
    parts: &[PartList {
        name: "expectedStatusCodes",
        one: "status code",
        texts: &[("statusCode", true)],
        ports: &["activity"],
        condition: PartCondition::None,
        short: false,
        numbered: true,
        catches: false,
        hint: Some("http-status-codes"),
    }],
    example: r#"{"type": "SendHttpRequest", "url": "https://bank.example/charges", "method": "POST", "content": {"object": {"amount": {"input": "amount"}}}, "contentType": "application/json", "authorization": {"object": {"secret": "bank"}}, "expectedStatusCodes": [{"statusCode": 402, "activity": {"type": "Fault", "message": "the card was declined"}}], "parsedContent": {"output": "Receipt"}}"#,
    ..Descriptor::BASE
};

impl Activity for SendHttpRequest {
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
        let node = program.node(node);
        let has = |port: Port| node.ports.get(port.0).is_some_and(Option::is_some);
        match Answer::read(answer) {
            Ok(Answer::NotConnected(_)) => has(FAILED_TO_CONNECT),
            Ok(Answer::TimedOut(_)) => has(TIMEOUT),
            Ok(Answer::Response { status, .. }) => {
                let code = status.to_string();
                has(UNMATCHED) || node.part_list(0).iter().any(|case| case.text(0) == code)
            }
            Err(_) => true,
        }
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let port = match Answer::read(input)? {
            Answer::NotConnected(_) => cx.port(FAILED_TO_CONNECT),
            Answer::TimedOut(_) => cx.port(TIMEOUT),
            Answer::Response { status, headers, content } => {
                cx.set_output(STATUS, status.into())?;
                cx.set_output(PARSED, copy_or_null(content))?;
                cx.set_output(RECEIVED, copy_or_null(headers))?;
                let code = status.to_string();
                let mut cases = cx.node().part_list(0).iter();
                match cases.find(|case| case.text(0) == code) {
                    Some(case) => case.port(0),
                    None => cx.port(UNMATCHED),
                }
            }
        };
        cx.set_output(ANSWER, input.map(copy_or_null).unwrap_or_default())?;
        match port {
            Some(activity) => cx.schedule(activity, 0, Vec::new()),
            None => cx.complete(),
        }
    }
}

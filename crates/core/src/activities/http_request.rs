//! Code shared by the activities that send an HTTP request.

use chrono::TimeDelta;
use serde_json::Value;

use super::outside::Answer;
use crate::activity::{FromInput, Input, InputDescriptor, OutputDescriptor};
use crate::execution::{Execution, Outcomes, default_of};
use crate::node_ix::NodeIx;
use crate::program::Program;
use crate::retry::{Backoff, RetryPolicy};
use workflow_expression::{Expression, ExpressionKind};
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

/// Outcomes in addition to the expected status codes.
pub(super) const OUTCOMES: &[&str] = &["Done", UNMATCHED, NOT_CONNECTED, TIMED_OUT];
const UNMATCHED: &str = "Unmatched status code";
const NOT_CONNECTED: &str = "Failed to connect";
const TIMED_OUT: &str = "Timeout";

pub(super) const URL: InputDescriptor = InputDescriptor::new("url", "Uri", "Address.").needed();
pub(super) const METHOD: InputDescriptor =
    InputDescriptor::new("method", "String", "GET, POST, PUT, DELETE, PATCH, OPTIONS or HEAD.")
        .default("\"GET\"")
        .choices(&["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"]);
pub(super) const EXPECTED: InputDescriptor =
    InputDescriptor::new("expectedStatusCodes", "ICollection<Int32>", "Status codes with an outcome of their own.")
        .default("[200]")
        .hint("http-status-codes");
pub(super) const CONTENT: InputDescriptor =
    InputDescriptor::new("content", "Object", "Body. It is sent if there is a content type.");
pub(super) const CONTENT_TYPE: InputDescriptor =
    InputDescriptor::new("contentType", "String", "Content type of the body.");
pub(super) const AUTHORIZATION: InputDescriptor = InputDescriptor::new(
    "authorization",
    "Object",
    "Value of the Authorization header; {\"secret\": \"NAME\"} names a secret that the task worker knows.",
);
pub(super) const UNCHECKED: InputDescriptor = InputDescriptor::new(
    "disableAuthorizationHeaderValidation",
    "Boolean",
    "Whether the Authorization header is sent unchanged.",
);
pub(super) const HEADERS: InputDescriptor = InputDescriptor::new(
    "requestHeaders",
    "ObjectDictionary",
    "Headers: names with a value each, or a list of values.",
);
pub(super) const RESILIENCY: InputDescriptor = InputDescriptor::new(
    "enableResiliency",
    "Boolean",
    "Without a retry policy: 8 further attempts, from 1 second on.",
);

pub(super) const STATUS: OutputDescriptor = OutputDescriptor::new("statusCode", "Int32", "Status code.");
pub(super) const PARSED: OutputDescriptor =
    OutputDescriptor::new("parsedContent", "Object", "Content: JSON as a value, otherwise text.");
pub(super) const RECEIVED: OutputDescriptor =
    OutputDescriptor::new("responseHeaders", "Object", "Headers of the response.");
pub(super) const ANSWER: OutputDescriptor = OutputDescriptor::new("result", "Object", "The answer of the task worker.");

/// The policy of an activity whose `enableResiliency` is the constant true.
pub(super) fn usual_retry(resiliency: Option<&Expression>) -> Option<RetryPolicy> {
    let is_on = matches!(resiliency, Some(Expression { kind: ExpressionKind::Literal(Value::Bool(true)), .. }));
    is_on.then(|| RetryPolicy {
        max_attempts: 9,
        delay: TimeDelta::seconds(1),
        backoff: Backoff::Exponential { factor: 2.0 },
        ..RetryPolicy::default()
    })
}

/// The outcomes of an activity in a flowchart.
pub(super) fn outcomes(answer: &Answer<'_>, expected: &[String]) -> Outcomes {
    let names = match answer {
        Answer::NotConnected(_) => vec![NOT_CONNECTED.to_owned()],
        Answer::TimedOut(_) => vec![TIMED_OUT.to_owned()],
        Answer::Response { status, .. } => {
            let code = status.to_string();
            let named = if expected.contains(&code) { Some(code) } else { None };
            let named = named.or_else(|| (!expected.is_empty()).then(|| UNMATCHED.to_owned()));
            named.into_iter().chain(["Done".to_owned()]).collect()
        }
    };
    Outcomes::Named(names)
}

/// Whether a connection of the flowchart leaves the activity for this failure. `Done` says nothing of failures.
pub(super) fn handles_failure(
    program: &Program,
    node: NodeIx,
    input: Input<Vec<String>>,
    answer: Option<&Value>,
) -> bool {
    let flow = program.node(node).parent.and_then(|above| program.node(above).flow.as_deref());
    let is_connected = |outcome: &str| flow.is_some_and(|flow| flow.has_connection(node, outcome));
    match Answer::read(answer) {
        Ok(Answer::NotConnected(_)) => is_connected(NOT_CONNECTED),
        Ok(Answer::TimedOut(_)) => is_connected(TIMED_OUT),
        Ok(Answer::Response { status, .. }) => {
            let code = status.to_string();
            match constant_codes(program, node, input) {
                Some(codes) if codes.contains(&code) => is_connected(&code),
                Some(codes) => !codes.is_empty() && is_connected(UNMATCHED),
                None => is_connected(UNMATCHED) || is_connected(&code),
            }
        }
        Err(_) => true,
    }
}

/// The expected codes, unless an expression computes them.
fn constant_codes(program: &Program, node: NodeIx, input: Input<Vec<String>>) -> Option<Vec<String>> {
    let node = program.node(node);
    let value = match node.inputs.get(input.index) {
        Some(Some(Expression { kind: ExpressionKind::Literal(value), .. })) => copy_or_null(value),
        Some(Some(_)) => return None,
        _ => default_of(node.activity.descriptor().inputs.get(input.index)),
    };
    <Vec<String> as FromInput>::read(&value, EXPECTED.name).ok()
}

/// The expected codes of a resumed activity, evaluated again because inputs are not kept while it waits.
pub(super) fn expected(cx: &mut Execution<'_>, input: Input<Vec<String>>) -> Result<Vec<String>, Fault> {
    let given = cx.evaluate_input(input)?;
    <Vec<String> as FromInput>::read(&given, EXPECTED.name)
}

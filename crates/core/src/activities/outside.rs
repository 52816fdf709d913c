//! External activities: they open a task named after their type, whose payload contains their inputs under Elsa's
//! names. The answer to the task is the result.

use chrono::TimeDelta;
use serde_json::{Map, Value};

use crate::activity::{FailedAttempt, Input};
use crate::bookmark::NewBookmark;
use crate::execution::Execution;
use workflow_http::stimulus;
use workflow_value::fault::{Fault, TASK_FAILED};
use workflow_value::value::copy_or_null;

/// Status codes after which the same request may succeed later.
const TRANSIENT: [u16; 6] = [408, 429, 500, 502, 503, 504];

/// The longest `retryAfter`, in seconds: a year.
const MAX_RETRY_AFTER: i64 = 366 * 24 * 60 * 60;

/// Codes of the faults of attempts with such a status, or without a response.
pub(super) const TRANSIENT_CAUSES: &[&str] =
    &["http_408", "http_429", "http_500", "http_502", "http_503", "http_504", "connect", "timeout"];

/// Opens the task of an activity.
pub(super) fn open(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let descriptor = cx.node().activity.descriptor();
    let mut payload = Map::new();
    for (index, input) in descriptor.inputs.iter().enumerate() {
        let value = cx.peek(Input::<Value>::at(index));
        if !value.is_null() {
            payload.insert(elsa_name(input.name), copy_or_null(value));
        }
    }
    let id = cx.new_id();
    let name = descriptor.type_name;
    let stimulus = Some(stimulus::task_payload(id, name));
    cx.create_bookmark(NewBookmark { id: Some(id), payload: stimulus, is_task: true, ..NewBookmark::default() })?;
    cx.create_task(id, name.to_owned(), Some(Value::Object(payload)), 0, None)
}

/// Converts a camelCase name to the spelling of Elsa's classes.
fn elsa_name(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The result of a request.
#[derive(Debug, PartialEq)]
pub(super) enum Answer<'a> {
    /// The service has responded, with any status.
    Response { status: u16, headers: &'a Value, content: &'a Value },
    /// No connection was made; with the worker's reason.
    NotConnected(&'a str),
    /// No response arrived in time; with the worker's message.
    TimedOut(&'a str),
}

impl<'a> Answer<'a> {
    /// Reads `{"statusCode", "headers", "content"}` or `{"error": "connect" | "timeout", "message"}`.
    ///
    /// # Errors
    /// 22023 if it is neither.
    pub fn read(answer: Option<&'a Value>) -> Result<Self, Fault> {
        let members = answer.and_then(Value::as_object).ok_or_else(|| wrong("It is not an object."))?;
        let message = || members.get("message").and_then(Value::as_str).unwrap_or_default();
        match members.get("error") {
            None | Some(Value::Null) => {}
            Some(Value::String(error)) if error == "connect" => return Ok(Self::NotConnected(message())),
            Some(Value::String(error)) if error == "timeout" => return Ok(Self::TimedOut(message())),
            Some(_) => return Err(wrong("\"error\" is neither \"connect\" nor \"timeout\".")),
        }
        let status = members.get("statusCode").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
        let status = status.filter(|status| (100..1000).contains(status));
        let status = status.ok_or_else(|| wrong("\"statusCode\" is not a number from 100 to 999."))?;
        let member = |name: &str| members.get(name).unwrap_or(&Value::Null);
        let headers = member("headers");
        if !headers.is_null() && !headers.is_object() {
            return Err(wrong("\"headers\" is not an object."));
        }
        Ok(Self::Response { status, headers, content: member("content") })
    }

    /// The fault of an attempt with this answer, if another attempt may succeed.
    pub fn transient(&self) -> Option<Fault> {
        let failed =
            |code: String, message: String| Some(Fault { code: Some(code), ..Fault::new(TASK_FAILED, message) });
        match self {
            Self::Response { status, .. } if TRANSIENT.contains(status) => {
                failed(format!("http_{status}"), format!("the service answered with status {status}"))
            }
            Self::Response { .. } => None,
            Self::NotConnected(message) => failed("connect".to_owned(), message_with("the connection failed", message)),
            Self::TimedOut(message) => failed("timeout".to_owned(), message_with("no response came in time", message)),
        }
    }
}

/// The failed attempt with this answer, if another attempt may succeed. Its delay is the answer's `retryAfter`, a number of
/// seconds.
///
/// # Errors
/// 22023 if that is anything else.
pub(super) fn failed_attempt(read: &Answer<'_>, answer: Option<&Value>) -> Result<Option<FailedAttempt>, Fault> {
    let retry_in = match answer.and_then(|answer| answer.get("retryAfter")) {
        None | Some(Value::Null) => None,
        Some(given) => {
            let seconds = given.as_i64().filter(|seconds| (0..=MAX_RETRY_AFTER).contains(seconds));
            let seconds =
                seconds.ok_or_else(|| wrong("\"retryAfter\" is not a number of seconds of at most a year."))?;
            Some(TimeDelta::seconds(seconds))
        }
    };
    Ok(read.transient().map(|fault| FailedAttempt { fault, retry_in }))
}

fn message_with(what: &str, message: &str) -> String {
    if message.is_empty() { what.to_owned() } else { format!("{what}: {message}") }
}

fn wrong(detail: &str) -> Fault {
    Fault::new("22023", "this is not an answer to an HTTP request").detail(detail).hint(
        "An answer is {\"statusCode\", \"headers\", \"content\"}, or {\"error\": \"connect\" or \"timeout\", \"message\"}.",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failed(answer: &Value) -> Result<Option<FailedAttempt>, Fault> {
        failed_attempt(&Answer::read(Some(answer)).expect("an answer"), Some(answer))
    }

    #[test]
    fn a_service_can_ask_for_a_delay() {
        let delay = |answer| failed(&answer).expect("an answer").map(|failed| failed.retry_in);
        assert_eq!(delay(json!({"statusCode": 503, "retryAfter": 120})), Some(Some(TimeDelta::seconds(120))));
        assert_eq!(delay(json!({"statusCode": 503, "retryAfter": null})), Some(None));
        assert_eq!(delay(json!({"error": "timeout"})), Some(None));
        assert_eq!(delay(json!({"statusCode": 404, "retryAfter": 120})), None);
    }

    #[test]
    fn the_delay_is_checked() {
        for delay in [json!("120 s"), json!(-1), json!(1.5), json!(1e12)] {
            let fault = failed(&json!({"statusCode": 503, "retryAfter": delay})).expect_err("no delay");
            assert_eq!(fault.sqlstate, "22023", "{delay}");
        }
    }
}

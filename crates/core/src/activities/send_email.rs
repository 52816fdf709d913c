//! `SendEmail`: sends a message.

use serde_json::Value;

use super::outside;
use crate::activity::handle::{inputs, ports};
use crate::activity::{Activity, Descriptor, FailedAttempt, InputDescriptor, WaitKind};
use crate::bookmark::Resumed;
use crate::execution::Execution;
use crate::node_ix::NodeIx;
use crate::program::Program;
use workflow_expression::Expression;
use workflow_value::fault::{Fault, TASK_FAILED};

/// Opens a task for a task worker that sends a mail, and waits for the answer.
#[derive(Debug)]
pub struct SendEmail;

inputs! {
    FROM: String = InputDescriptor::new("from", "String", "Sender; by default the one in the settings of the task worker."),
    TO: Value = InputDescriptor::new("to", "ICollection<String>", "Addresses.").needed(),
    CC: Value = InputDescriptor::new("cc", "ICollection<String>", "Addresses that get a copy."),
    BCC: Value = InputDescriptor::new("bcc", "ICollection<String>", "Addresses that get a copy unseen."),
    SUBJECT: String = InputDescriptor::new("subject", "String", "Subject."),
    ATTACHMENTS: Value = InputDescriptor::new("attachments", "Object", "Files: {fileName, content, contentType}, the content in Base64."),
    BODY: String = InputDescriptor::new("body", "String", "Text in HTML."),
}

ports! {
    ERROR = "error",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SendEmail",
    category: "Email",
    description: "Opens a task for a task worker that sends a message. If sending fails, the port error runs.",
    inputs: INPUTS,
    ports: PORTS,
    waits: WaitKind::ForTask,
    example: r#"{"type": "SendEmail", "to": ["ada@example.com"], "subject": "Your order", "body": "<p>It is on its way.</p>", "error": {"type": "WriteLine", "text": "no mail"}}"#,
    ..Descriptor::BASE
};

/// The word in an answer that another attempt would fail as well: the mail server has refused the message.
const REFUSED: &str = "refused";

/// Why the message was not sent.
struct Failure<'a> {
    error: &'a str,
    message: &'a str,
}

/// The failure in an answer, if it has one.
///
/// # Errors
/// 22023 if the answer is neither empty nor an object whose `error` is a text.
fn failure(answer: Option<&Value>) -> Result<Option<Failure<'_>>, Fault> {
    let wrong = || {
        Fault::new("22023", "this is not an answer to a message")
            .hint("An answer is empty, or {\"error\": a word, \"message\": the reason}.")
    };
    let members = match answer {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(members)) => members,
        Some(_) => return Err(wrong()),
    };
    match (members.get("error"), members.get("message").and_then(Value::as_str)) {
        (None | Some(Value::Null), _) => Ok(None),
        (Some(Value::String(error)), message) => Ok(Some(Failure { error, message: message.unwrap_or(error) })),
        (Some(_), _) => Err(wrong()),
    }
}

impl Activity for SendEmail {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        outside::open(cx)
    }

    fn validate_answer(
        &self,
        _: &[Option<Expression>],
        answer: Option<&Value>,
    ) -> Result<Option<FailedAttempt>, Fault> {
        let transient = failure(answer)?.filter(|failure| failure.error != REFUSED);
        let fault = |message: &str| Fault { code: Some("send".to_owned()), ..Fault::new(TASK_FAILED, message) };
        Ok(transient.map(|failure| FailedAttempt { fault: fault(failure.message), retry_in: None }))
    }

    fn handles_failure(&self, program: &Program, node: NodeIx, _: Option<&Value>) -> bool {
        program.node(node).ports.get(ERROR.0).is_some_and(Option::is_some)
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        match (failure(input)?, cx.port(ERROR)) {
            (Some(_), Some(activity)) => cx.schedule(activity, 0, Vec::new()),
            _ => cx.complete(),
        }
    }
}

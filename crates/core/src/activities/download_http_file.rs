//! `DownloadHttpFile`: downloads a file inside a flowchart.

use serde_json::{Map, Value, json};

use super::http_request::{self, OUTCOMES, expected, outcomes};
use super::outside::{self, Answer};
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, FailedAttempt, FurtherOutcomes, OutputDescriptor, WaitKind};
use crate::bookmark::Resumed;
use crate::execution::Execution;
use crate::node_ix::NodeIx;
use crate::program::Program;
use workflow_expression::Expression;
use workflow_value::fault::Fault;
use workflow_value::value::{copy_or_null, to_text};

/// Opens a task for a task worker that fetches a file, and waits for the answer.
#[derive(Debug)]
pub struct DownloadHttpFile;

inputs! {
    URL: String = http_request::URL,
    METHOD: String = http_request::METHOD,
    EXPECTED: Vec<String> = http_request::EXPECTED,
    CONTENT: Value = http_request::CONTENT,
    CONTENT_TYPE: String = http_request::CONTENT_TYPE,
    AUTHORIZATION: Value = http_request::AUTHORIZATION,
    UNCHECKED: bool = http_request::UNCHECKED,
    HEADERS: Value = http_request::HEADERS,
}

outputs! {
    RESULT = OutputDescriptor::new("result", "Object", "The file: fileName, contentType, and content in Base64."),
    RESPONSE = OutputDescriptor::new("response", "Object", "The answer of the task worker, without the content."),
    STATUS = http_request::STATUS,
    BYTES = OutputDescriptor::new("responseContentBytes", "Byte[]", "Content in Base64."),
    RESPONSE_HEADERS = OutputDescriptor::new("responseHeaders", "Object", "Headers of the response, except those of its content."),
    CONTENT_HEADERS = OutputDescriptor::new("responseContentHeaders", "Object", "Headers of its content."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.DownloadHttpFile",
    category: "HTTP",
    description: "Opens a task for a task worker that downloads a file. Completes with the status code, if it is expected, and Done.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    waits: WaitKind::ForTask,
    outcomes: OUTCOMES,
    further_outcomes: FurtherOutcomes::Listed("expectedStatusCodes"),
    example: r#"{"type": "DownloadHttpFile", "url": "https://files.example/prices.csv", "responseContentBytes": {"output": "Prices"}}"#,
    ..Descriptor::BASE
};

impl Activity for DownloadHttpFile {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        outside::open(cx)
    }

    fn transient_causes(&self) -> &'static [&'static str] {
        outside::TRANSIENT_CAUSES
    }

    fn validate_answer(
        &self,
        _: &[Option<Expression>],
        answer: Option<&Value>,
    ) -> Result<Option<FailedAttempt>, Fault> {
        let read = Answer::read(answer)?;
        let is_text = |content: &Value| content.is_null() || content.is_string();
        match read {
            Answer::Response { content, .. } if !is_text(content) => {
                Err(Fault::new("22023", "this is not an answer to a download")
                    .detail("\"content\" is not a text in Base64."))
            }
            read => outside::failed_attempt(&read, answer),
        }
    }

    fn handles_failure(&self, program: &Program, node: NodeIx, answer: Option<&Value>) -> bool {
        http_request::handles_failure(program, node, EXPECTED, answer)
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        self.validate_answer(&[], input)?;
        let answer = Answer::read(input)?;
        if let Answer::Response { status, headers, content } = &answer {
            let (of_content, others) = parted(headers);
            let address = to_text(&cx.evaluate_input(URL)?);
            cx.set_output(RESULT, file(&of_content, &address, content))?;
            cx.set_output(RESPONSE, json!({"statusCode": status, "headers": headers}))?;
            cx.set_output(STATUS, (*status).into())?;
            cx.set_output(BYTES, copy_or_null(content))?;
            cx.set_output(RESPONSE_HEADERS, Value::Object(others))?;
            cx.set_output(CONTENT_HEADERS, Value::Object(of_content))?;
        }
        let codes = expected(cx, EXPECTED)?;
        cx.complete_with(outcomes(&answer, &codes))
    }
}

/// Splits the headers into those of the content and the others.
fn parted(headers: &Value) -> (Map<String, Value>, Map<String, Value>) {
    let all = headers.as_object().into_iter().flatten();
    let all = all.map(|(name, value)| (name.clone(), copy_or_null(value)));
    all.partition(|(name, _)| name.to_ascii_lowercase().starts_with("content-"))
}

/// The file, named by the service or else after the end of the URL.
fn file(headers: &Map<String, Value>, address: &str, content: &Value) -> Value {
    let header = |wanted: &str| {
        let mut found = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.next().map(|(_, value)| to_text(value.as_array().and_then(|list| list.first()).unwrap_or(value)))
    };
    let named = header("content-disposition").and_then(|text| {
        let name = text.split(';').find_map(|part| part.trim().strip_prefix("filename="))?;
        Some(name.trim_matches('"').to_owned())
    });
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let last = || path.rsplit('/').next().unwrap_or_default().to_owned();
    json!({
        "fileName": named.unwrap_or_else(last),
        "contentType": header("content-type"),
        "content": content,
    })
}

//! `HttpEndpoint`: waits for an HTTP request, or starts the workflow at one.

use serde_json::{Map, Value, json};

use crate::activities::timing::{check_positive, positive_interval};
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, Input, InputDescriptor, NonEmpty, OutputDescriptor, WaitKind};
use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::{Execution, Outcomes};
use workflow_http::http::content::{Content, File};
use workflow_http::http::template::Template;
use workflow_http::http::{Response, endpoint};
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::{copy_members, copy_or_null, to_text};

/// Waits for an HTTP request.
#[derive(Debug)]
pub struct HttpEndpoint;

inputs! {
    PATH: NonEmpty =
        InputDescriptor::new("path", "String", "Route template, such as orders/{id:int} or files/{*path}.")
            .checked(check_path)
            .needed(),
    METHODS: Value =
        InputDescriptor::new("supportedMethods", "String[]", "Methods.").default("[\"GET\"]").checked(check_methods)
            .choices(&["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"]),
    AUTHORIZE: bool = InputDescriptor::new(
        "authorize",
        "Boolean",
        "Whether callers need a right: membership in the role of \"policy\", or else to start the definition.",
    )
    .default("false"),
    POLICY: String = InputDescriptor::new("policy", "String", "Name of the role whose members may call."),
    TIMEOUT: Value = InputDescriptor::new(
        "requestTimeout",
        "TimeSpan",
        "How long the workflow may take to respond; after that it is rolled back, and the response is 408.",
    )
    .checked(check_positive),
    SIZE_LIMIT: i64 = InputDescriptor::new("requestSizeLimit", "Int64", "Largest body, in bytes."),
    FILE_SIZE_LIMIT: i64 = InputDescriptor::new("fileSizeLimit", "Int64", "Largest file of a form, in bytes."),
    ALLOWED_EXTENSIONS: Value =
        InputDescriptor::new("allowedFileExtensions", "String[]", "Only files with these extensions, such as .pdf."),
    BLOCKED_EXTENSIONS: Value =
        InputDescriptor::new("blockedFileExtensions", "String[]", "No files with these extensions."),
    ALLOWED_TYPES: Value =
        InputDescriptor::new("allowedMimeTypes", "String[]", "Only files of these types, such as application/pdf."),
    EXPOSE_REQUEST_TOO_LARGE: bool = InputDescriptor::new(
        "exposeRequestTooLargeOutcome",
        "Boolean",
        "Ends with the outcome \"Request too large\" instead of responding with 413.",
    )
    .default("false")
    .bare(),
    EXPOSE_FILE_TOO_LARGE: bool = InputDescriptor::new(
        "exposeFileTooLargeOutcome",
        "Boolean",
        "Ends with the outcome \"File too large\" instead of responding with 413.",
    )
    .default("false")
    .bare(),
    EXPOSE_INVALID_EXTENSION: bool = InputDescriptor::new(
        "exposeInvalidFileExtensionOutcome",
        "Boolean",
        "Ends with the outcome \"Invalid file extension\" instead of responding with 415.",
    )
    .default("false")
    .bare(),
    EXPOSE_INVALID_TYPE: bool = InputDescriptor::new(
        "exposeInvalidFileMimeTypeOutcome",
        "Boolean",
        "Ends with the outcome \"Invalid file MIME type\" instead of responding with 415.",
    )
    .default("false")
    .bare(),
}

outputs! {
    PARSED_CONTENT =
        OutputDescriptor::new("parsedContent", "Object", "The body: JSON, the fields of a form, a text, or a file."),
    FILES = OutputDescriptor::new(
        "files",
        "Object[]",
        "Files of a form: name, fileName, contentType, length, and content in Base64.",
    ),
    FILE = OutputDescriptor::new("file", "Object", "The first file of the form."),
    ROUTE_DATA =
        OutputDescriptor::new("routeData", "Object", "Values of the template's parameters."),
    QUERY =
        OutputDescriptor::new("queryStringData", "Object", "The query: a text for each name, or a list."),
    HEADERS =
        OutputDescriptor::new("headers", "Object", "The headers: a text for each name, or a list."),
    RESULT =
        OutputDescriptor::new("result", "Object", "The request: method, path, contentType, contentLength."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::HTTP_ENDPOINT.name,
    category: "HTTP",
    description: "Waits for an HTTP request with this path and method, or starts the workflow with one (canStartWorkflow). Requests arrive through wf_http_request.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    outcomes: &["Done", "Request too large", "File too large", "Invalid file extension", "Invalid file MIME type"],
    trigger: true,
    example: r#"{"type": "HttpEndpoint", "path": "orders/{id:int}", "supportedMethods": ["POST"], "canStartWorkflow": true, "routeData": {"output": "Route"}, "parsedContent": {"output": "Order"}}"#,
    waits: WaitKind::Always,
    ..Descriptor::BASE
};

impl Activity for HttpEndpoint {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let is_trigger = cx.is_trigger();
        if is_trigger && cx.request().is_some() {
            cx.receive_request();
            return receive(cx);
        }
        for payload in payloads(cx)? {
            wait(cx, payload, is_trigger)?;
        }
        Ok(())
    }

    fn resumed(&self, cx: &mut Execution<'_>, bookmark: &Resumed, _input: Option<&Value>) -> Result<(), Fault> {
        match (cx.request(), &bookmark.payload) {
            (Some(_), _) => {
                cx.receive_request();
                cx.evaluate_inputs()?;
                receive(cx)
            }
            // The resuming call had no request, so the activity continues to wait for one.
            (None, Some(payload)) => wait(cx, copy_or_null(payload), true),
            (None, None) => Ok(()),
        }
    }

    fn trigger_payloads(&self, cx: &mut Execution<'_>) -> Result<Vec<Option<Value>>, Fault> {
        Ok(payloads(cx)?.into_iter().map(Some).collect())
    }
}

/// Creates the bookmark for one method. As in Elsa, metadata marks a bookmark that was created because a request was
/// missing.
fn wait(cx: &mut Execution<'_>, payload: Value, is_missed: bool) -> Result<(), Fault> {
    cx.claim_endpoint(&payload)?;
    let metadata = is_missed.then(|| json!({ "X-HttpCrossBoundary": "true" }));
    cx.create_bookmark(NewBookmark { payload: Some(payload), metadata, ..NewBookmark::default() })?;
    Ok(())
}

fn payloads(cx: &Execution<'_>) -> Result<Vec<Value>, Fault> {
    let path = cx.get(PATH)?;
    let mut settings = Map::new();
    if cx.get(AUTHORIZE)? {
        settings.insert("Authorize".into(), Value::Bool(true));
    }
    for (name, text) in [("Policy", cx.get(POLICY)?), ("RequestTimeout", to_text(cx.peek(TIMEOUT)))] {
        if !text.is_empty() {
            settings.insert(name.into(), Value::from(text));
        }
    }
    if settings.contains_key("RequestTimeout") {
        positive_interval(cx.peek(TIMEOUT))?;
    }
    if let Some(limit) = limit(cx, SIZE_LIMIT)?
        && !cx.get(EXPOSE_REQUEST_TOO_LARGE)?
    {
        settings.insert("RequestSizeLimit".into(), Value::from(limit));
    }
    methods(cx.peek(METHODS))?.iter().map(|method| endpoint::payload(&path, method, &settings)).collect()
}

/// The methods without duplicates; GET if the input names none.
fn methods(value: &Value) -> Result<Vec<String>, Fault> {
    let mut methods = Vec::new();
    for method in texts(value) {
        let method = method.trim().to_ascii_lowercase();
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    if methods.is_empty() {
        return match value {
            Value::Null => Ok(vec!["get".into()]),
            _ => Err(Fault::new("22023", "\"supportedMethods\" must not be empty")),
        };
    }
    Ok(methods)
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(to_text).collect(),
        value => vec![to_text(value)],
    }
}

fn limit(cx: &Execution<'_>, input: Input<i64>) -> Result<Option<u64>, Fault> {
    if cx.peek(input).is_null() {
        return Ok(None);
    }
    u64::try_from(cx.get(input)?).map(Some).map_err(|_| Fault::new("22023", "a size limit must not be negative"))
}

fn check_path(value: &Value) -> Result<(), Fault> {
    Template::parse(&to_text(value)).map(drop)
}

fn check_methods(value: &Value) -> Result<(), Fault> {
    let path = "/";
    methods(value)?.iter().try_for_each(|method| endpoint::payload(path, method, &Map::new()).map(drop))
}

/// Reads the request into the outputs.
fn receive(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let Some(request) = cx.request() else { return Ok(()) };
    cx.set_output(RESULT, request.summary())?;
    cx.set_output(ROUTE_DATA, Value::Object(copy_members(&request.route_data)?))?;
    cx.set_output(QUERY, Value::Object(copy_members(&request.query)?))?;
    cx.set_output(HEADERS, Value::Object(copy_members(&request.headers)?))?;
    if let Some(limit) = limit(cx, SIZE_LIMIT)?.filter(|limit| request.body.len() as u64 > *limit) {
        let message = format!("The maximum request size allowed is {limit} bytes.");
        return reject(cx, EXPOSE_REQUEST_TOO_LARGE, "Request too large", 413, &message);
    }
    let content = match Content::read(&request) {
        Ok(content) => content,
        Err(response) => {
            cx.check_for_interrupts();
            cx.refuse(response);
            return Ok(());
        }
    };
    cx.set_output(PARSED_CONTENT, content.parsed)?;
    if content.files.is_empty() {
        return cx.complete();
    }
    if let Some(wrong) = wrong_files(cx, &content.files)? {
        return reject(cx, wrong.expose, wrong.outcome, wrong.status, &wrong.message);
    }
    cx.check_for_interrupts();
    let files: Vec<Value> = content.files.iter().map(File::value).collect();
    cx.check_for_interrupts();
    cx.set_output(FILE, copy_or_null(&files[0]))?;
    cx.set_output(FILES, Value::Array(files))?;
    cx.complete()
}

/// Completes with an outcome if the definition uses it; otherwise rejects the request, and the burst changes nothing.
fn reject(cx: &mut Execution<'_>, expose: Input<bool>, outcome: &str, status: u16, message: &str) -> Result<(), Fault> {
    if cx.get(expose)? {
        return cx.complete_with(Outcomes::Named(vec![outcome.to_owned()]));
    }
    cx.refuse(Response::message(status, message));
    Ok(())
}

/// Why the files of a form are rejected.
struct FileRefusal {
    expose: Input<bool>,
    outcome: &'static str,
    status: u16,
    message: String,
}

fn wrong_files(cx: &Execution<'_>, files: &[File]) -> Result<Option<FileRefusal>, Fault> {
    if let Some(limit) = limit(cx, FILE_SIZE_LIMIT)?.filter(|limit| files.iter().any(|f| f.bytes.len() as u64 > *limit))
    {
        let message = format!("The maximum file size allowed is {limit} bytes.");
        return Ok(Some(FileRefusal {
            expose: EXPOSE_FILE_TOO_LARGE,
            outcome: "File too large",
            status: 413,
            message,
        }));
    }
    let has = |list: &[String], text: &str| list.iter().any(|item| item.trim().eq_ignore_ascii_case(text));
    let [allowed, blocked, types] =
        [ALLOWED_EXTENSIONS, BLOCKED_EXTENSIONS, ALLOWED_TYPES].map(|input| texts(cx.peek(input)));
    let extension = |message| FileRefusal {
        expose: EXPOSE_INVALID_EXTENSION,
        outcome: "Invalid file extension",
        status: 415,
        message,
    };
    if !allowed.is_empty() && !files.iter().all(|file| has(&allowed, file.extension())) {
        let list = allowed.join(", ");
        return Ok(Some(extension(format!("Only the following file extensions are allowed: {list}"))));
    }
    if files.iter().any(|file| has(&blocked, file.extension())) {
        let list = blocked.join(", ");
        return Ok(Some(extension(format!("The following file extensions are not allowed: {list}"))));
    }
    if !types.is_empty() && !files.iter().all(|file| has(&types, &file.content_type)) {
        let message = format!("Only the following MIME types are allowed: {}", types.join(", "));
        let outcome = "Invalid file MIME type";
        return Ok(Some(FileRefusal { expose: EXPOSE_INVALID_TYPE, outcome, status: 415, message }));
    }
    Ok(None)
}

//! The message of a task: its sender, recipients, subject, body and attachments.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lettre::message::header::{ContentDisposition, ContentTransferEncoding, ContentType};
use lettre::message::{Body, Mailbox, Mailboxes, Message, MultiPart, SinglePart};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::text;

/// Why the inputs of a task are no message. Another attempt would fail as well.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidMessage(pub String);

/// A file of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    /// The name that mail programs show.
    pub name: String,
    /// The media type; by default `application/octet-stream`.
    pub content_type: Option<String>,
    /// The bytes.
    pub content: Vec<u8>,
}

/// An attachment as the task has it.
#[derive(Debug, PartialEq, Eq)]
pub enum Attached {
    File(File),
    Url(String),
}

/// The inputs of a task, read and validated.
#[derive(Debug)]
pub struct Draft {
    from: Mailbox,
    to: Vec<Mailbox>,
    cc: Vec<Mailbox>,
    bcc: Vec<Mailbox>,
    subject: String,
    body: String,
    pub attachments: Vec<Attached>,
}

impl Draft {
    /// Reads the inputs of a task. The default sender is for messages without one of their own.
    ///
    /// # Errors
    /// An address, the subject, or an attachment is not valid, or there is no sender or no recipient.
    pub fn read(inputs: &Map<String, Value>, default_sender: Option<&Mailbox>) -> Result<Self, InvalidMessage> {
        let input = |name: &str| inputs.get(name).filter(|value| !is_blank(value));
        let from = match input("From") {
            Some(value) => mailboxes("From", Some(value))?.into_iter().next(),
            None => default_sender.cloned(),
        };
        let from = from.ok_or_else(|| invalid("it has no sender, and the worker has no default sender"))?;
        let [to, cc, bcc] =
            [mailboxes("To", input("To"))?, mailboxes("Cc", input("Cc"))?, mailboxes("Bcc", input("Bcc"))?];
        if to.is_empty() && cc.is_empty() && bcc.is_empty() {
            return Err(invalid("it has no recipient"));
        }
        let subject = text_of("Subject", input("Subject"))?;
        refuse_control("the subject", &subject)?;
        let body = text_of("Body", input("Body"))?;
        let attachments = attachments(input("Attachments"))?;
        Ok(Self { from, to, cc, bcc, subject, body, attachments })
    }

    /// The message, in HTML and as plain text. `Message-ID` is derived from the task, so it is the same for all attempts.
    ///
    /// # Errors
    /// A file has a name or a type that is not valid.
    pub fn into_message(self, task_id: Uuid, files: Vec<File>) -> Result<Message, InvalidMessage> {
        let id = format!("<{task_id}@{}>", self.from.email.domain());
        let mut builder = Message::builder().from(self.from).message_id(Some(id)).subject(self.subject);
        for to in self.to {
            builder = builder.to(to);
        }
        for cc in self.cc {
            builder = builder.cc(cc);
        }
        for bcc in self.bcc {
            builder = builder.bcc(bcc);
        }
        let body = MultiPart::alternative_plain_html(text::of_html(&self.body), self.body);
        let whole = if files.is_empty() {
            body
        } else {
            let parts = files.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
            parts.into_iter().fold(MultiPart::mixed().multipart(body), MultiPart::singlepart)
        };
        builder.multipart(whole).map_err(|error| invalid(error.to_string()))
    }
}

fn invalid(reason: impl Into<String>) -> InvalidMessage {
    InvalidMessage(reason.into())
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// A line break would begin a header of its own.
fn refuse_control(what: &str, text: &str) -> Result<(), InvalidMessage> {
    if text.chars().any(|c| c.is_control() && c != '\t') {
        return Err(invalid(format!("{what} has a line break or another control character")));
    }
    Ok(())
}

fn text_of(name: &str, value: Option<&Value>) -> Result<String, InvalidMessage> {
    match value {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(_) | Value::Object(_)) => Err(invalid(format!("{name} is not text"))),
        Some(other) => Ok(other.to_string()),
    }
}

/// Addresses in a list, or one or several in a text.
fn mailboxes(name: &str, value: Option<&Value>) -> Result<Vec<Mailbox>, InvalidMessage> {
    let mut found = Vec::new();
    let addresses: &[Value] = match value {
        None => &[],
        Some(Value::Array(list)) => list,
        Some(one) => std::slice::from_ref(one),
    };
    for address in addresses.iter().filter(|address| !is_blank(address)) {
        let text = address.as_str().ok_or_else(|| invalid(format!("{name} has an address that is not text")))?;
        refuse_control(&format!("an address in {name}"), text)?;
        let parsed: Mailboxes =
            text.parse().map_err(|_| invalid(format!("{name} has an address that is not valid: {text:?}")))?;
        found.extend(parsed);
    }
    Ok(found)
}

fn attachments(value: Option<&Value>) -> Result<Vec<Attached>, InvalidMessage> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => {
            let present = list.iter().enumerate().filter(|(_, one)| !is_blank(one));
            present.map(|(index, one)| attachment(index + 1, one)).collect()
        }
        Some(one) => Ok(vec![attachment(1, one)?]),
    }
}

/// Reads `{fileName, content, contentType}`, a URL, or bytes. Bytes are Base64, as everywhere in the engine. A path is
/// never opened.
fn attachment(number: usize, value: &Value) -> Result<Attached, InvalidMessage> {
    let decoded = |text: &str| {
        let wrong = |_| {
            let rule = "it is a URL (http or https), bytes in Base64, or {fileName, content in Base64, contentType}";
            invalid(format!("attachment {number} is not valid: {rule}; files of the worker are never read"))
        };
        STANDARD.decode(text.trim()).map_err(wrong)
    };
    match value {
        Value::String(text) if is_url(text) => Ok(Attached::Url(text.trim().to_owned())),
        Value::String(text) => {
            let (name, content_type) = (format!("attachment-{number}"), None);
            Ok(Attached::File(File { name, content_type, content: decoded(text)? }))
        }
        Value::Object(members) => {
            let content = member(members, "content").unwrap_or_default();
            let name = member(members, "fileName").map_or_else(|| format!("attachment-{number}"), str::to_owned);
            let content_type = member(members, "contentType").map(str::to_owned);
            Ok(Attached::File(File { name, content_type, content: decoded(content)? }))
        }
        _ => Err(invalid(format!("attachment {number} is neither an object nor text"))),
    }
}

fn is_url(text: &str) -> bool {
    let scheme = text.trim_start().split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// A text member, whose name may be in Elsa's case.
fn member<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let found = members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
    found.1.as_str().filter(|text| !text.is_empty())
}

fn part(file: File) -> Result<SinglePart, InvalidMessage> {
    let File { name, content_type, content } = file;
    refuse_control("the name of an attachment", &name)?;
    let content_type = content_type.as_deref().unwrap_or("application/octet-stream");
    let content_type = ContentType::parse(content_type)
        .map_err(|_| invalid(format!("the attachment {name:?} has a type that is not valid: {content_type:?}")))?;
    let body = Body::new_with_encoding(content, ContentTransferEncoding::Base64)
        .map_err(|_| invalid(format!("the attachment {name:?} cannot be encoded")))?;
    Ok(SinglePart::builder().header(ContentDisposition::attachment(&name)).header(content_type).body(body))
}

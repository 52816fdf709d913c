//! `SendEmail`: sends a message by SMTP.
//!
//! A message is sent at least once: if the connection is lost after the message and before the mail server's answer, the
//! next attempt sends it again, with the same `Message-ID`.

mod connections;
mod message;
mod options;
mod text;

use std::fmt;
use std::future::Future;

use lettre::message::Mailbox;
use lettre::transport::smtp::Error as SmtpError;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use connections::Connections;
pub use message::File;
use message::{Attached, Draft, InvalidMessage};
pub use options::{MailOptions, SmtpTls};

use crate::task::{Failure, ServiceTask};

/// The connection to the mail server failed, or it answered that the same message may succeed later.
const NOT_SENT: &str = "send";

/// The mail server has refused the message for good.
const REFUSED: &str = "refused";

/// Replies that are about the worker's access to the mail server, and not about the message.
const ABOUT_ACCESS: [u16; 5] = [500, 530, 534, 535, 538];

/// The longest reason in an answer.
const MAX_REASON: usize = 1000;

/// Loads the attachments that are URLs.
pub trait Load {
    /// The file at a URL, if it has at most `limit` bytes.
    fn load(&self, url: &str, limit: usize) -> impl Future<Output = Result<File, LoadError>> + Send;
}

/// Why an attachment was not loaded.
#[derive(Debug)]
pub enum LoadError {
    /// Another attempt may succeed.
    Failed(String),
    /// Another attempt would fail as well.
    Refused(Failure),
}

/// Sends messages to one mail server.
pub struct Mailer {
    connections: Connections,
    default_sender: Option<Mailbox>,
    options: MailOptions,
    /// Messages that may be sent at the same time.
    permits: Semaphore,
}

impl Mailer {
    /// A mailer, or none if the options name no mail server.
    ///
    /// # Errors
    /// A message about options that contradict each other, or about a file that cannot be used.
    pub fn new(options: &MailOptions) -> Result<Option<Self>, String> {
        let Some(host) = &options.smtp_host else { return Ok(None) };
        Ok(Some(Self {
            connections: Connections::new(options.server(host)?),
            default_sender: options.smtp_from.clone(),
            permits: Semaphore::new(options.smtp_connections as usize),
            options: options.clone(),
        }))
    }

    /// Sends the message of a task. The answer is NULL if the mail server has taken it, and `{"error", "message"}` if it
    /// has not: `send` if another attempt may succeed, otherwise `refused`.
    ///
    /// # Errors
    /// `invalid_message` if the inputs are no message, `too_large`, or why an attachment is refused: another attempt would
    /// fail as well.
    pub async fn send(&self, task: &ServiceTask, loader: &impl Load) -> Result<Value, Failure> {
        let sent = tokio::time::timeout_at(task.deadline, self.send_message(task, loader)).await;
        match sent.unwrap_or_else(|_| Err(Unsent::ForNow("the mail server did not take it in time".into()))) {
            Ok(()) => Ok(Value::Null),
            Err(Unsent::ForNow(reason)) => Ok(answer(NOT_SENT, &reason)),
            Err(Unsent::ForGood(reason)) => Ok(answer(REFUSED, &reason)),
            Err(Unsent::Failed(failure)) => Err(failure),
        }
    }

    async fn send_message(&self, task: &ServiceTask, loader: &impl Load) -> Result<(), Unsent> {
        let mut draft = Draft::read(&task.inputs, self.default_sender.as_ref())?;
        // Before anything is loaded, because it also bounds the memory for messages.
        let Ok(_permit) = self.permits.acquire().await else {
            return Err(Unsent::ForNow("the worker stops".into()));
        };
        let files = self.load_files(std::mem::take(&mut draft.attachments), loader).await?;
        let task_id = task.task_id;
        // Large messages would keep the heartbeats of other tasks waiting.
        let encoded = tokio::task::spawn_blocking(move || {
            draft.into_message(task_id, files).map(|message| (message.envelope().clone(), message.formatted()))
        });
        let encoded = encoded.await.map_err(|_| Failure::last("invalid_message", "the message cannot be encoded"));
        let (envelope, bytes) = encoded.map_err(Unsent::Failed)??;
        if bytes.len() > self.options.max_bytes() {
            return Err(self.too_large());
        }
        self.connections.send(&envelope, &bytes).await.map_err(|error| Unsent::of_smtp(&error))
    }

    /// The files of all attachments. Together they may be as large as a message.
    async fn load_files(&self, attachments: Vec<Attached>, loader: &impl Load) -> Result<Vec<File>, Unsent> {
        let mut files = Vec::with_capacity(attachments.len());
        let mut left = self.options.max_bytes();
        for attachment in attachments {
            let file = match attachment {
                Attached::File(file) => file,
                Attached::Url(url) => loader.load(&url, left).await?,
            };
            left = left.checked_sub(file.content.len()).ok_or_else(|| self.too_large())?;
            files.push(file);
        }
        Ok(files)
    }

    fn too_large(&self) -> Unsent {
        let limit = self.options.smtp_max_size;
        Unsent::Failed(Failure::last("too_large", format!("the message has more than {limit} MB")))
    }
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Why a message was not sent.
enum Unsent {
    /// Another attempt may succeed.
    ForNow(String),
    /// The mail server has refused the message.
    ForGood(String),
    /// It is no message, or none that this worker sends.
    Failed(Failure),
}

impl Unsent {
    fn of_smtp(error: &SmtpError) -> Self {
        let reason = with_causes(error);
        match error.status().map(u16::from) {
            Some(code) if error.is_permanent() && !ABOUT_ACCESS.contains(&code) => Self::ForGood(reason),
            _ => Self::ForNow(reason),
        }
    }
}

impl From<InvalidMessage> for Unsent {
    fn from(InvalidMessage(reason): InvalidMessage) -> Self {
        Self::Failed(Failure::last("invalid_message", format!("this is no message: {reason}")))
    }
}

impl From<LoadError> for Unsent {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Failed(reason) => Self::ForNow(format!("an attachment was not loaded: {reason}")),
            LoadError::Refused(failure) => Self::Failed(failure),
        }
    }
}

fn with_causes(error: &SmtpError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let part = next.to_string();
        if !text.contains(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        cause = next.source();
    }
    text
}

/// An answer of the engine's form. What the mail server says may have characters that jsonb does not have.
fn answer(error: &str, reason: &str) -> Value {
    let reason: String = reason.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_REASON).collect();
    json!({"error": error, "message": reason})
}

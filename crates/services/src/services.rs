//! Dispatches tasks to the services.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use workflow_client::{Answer, Task, TaskError};

use crate::http::connections::SystemLookup;
use crate::http::{self, Download, HttpService};
use crate::mail::{File, Load, LoadError, Mailer};
use crate::options::WorkOptions;
use crate::secrets::Secrets;
use crate::task::{Failure, ServiceTask, Then};

const SEND_EMAIL: &str = "Elsa.SendEmail";

/// The services of this worker.
pub struct Services {
    options: WorkOptions,
    secrets: Secrets,
    http: HttpService,
    /// `None` if no mail server is configured: another worker may send the mail.
    mailer: Option<Mailer>,
}

impl Services {
    /// # Errors
    /// Describes the option that is invalid.
    pub fn new(options: &WorkOptions, secrets: Secrets) -> Result<Self, String> {
        let http = HttpService::new(&options.http, secrets.clone(), Arc::new(SystemLookup))?;
        let services = Self { options: options.clone(), secrets, http, mailer: Mailer::new(&options.mail)? };
        let known = services.known();
        if let Some(name) = options.names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("no service for {name} is configured; there are {}", known.join(", ")));
        }
        Ok(services)
    }

    fn known(&self) -> Vec<&'static str> {
        http::NAMES.into_iter().chain(self.mailer.iter().map(|_| SEND_EMAIL)).collect()
    }

    /// How many secrets there are.
    pub fn secrets(&self) -> usize {
        self.secrets.number()
    }

    /// The names of the tasks to claim.
    pub fn names(&self) -> Vec<String> {
        let asked = &self.options.names;
        self.known()
            .into_iter()
            .filter(|name| asked.is_empty() || asked.iter().any(|one| one == name))
            .map(str::to_owned)
            .collect()
    }

    /// Reads the secrets again from time to time.
    pub async fn refresh_secrets(&self) -> Infallible {
        loop {
            tokio::time::sleep(Duration::from_secs(self.options.secrets_seconds.into())).await;
            if let Err(error) = self.secrets.reload().await {
                tracing::warn!(%error, "a secret cannot be read again, and stays as it is");
            }
        }
    }

    /// Does a task.
    pub async fn perform(&self, task: Task) -> Result<Answer, TaskError> {
        let answer = match self.service_task(&task) {
            Ok(task) => self.dispatch(&task).await,
            Err(failure) => Err(failure),
        };
        let failure = match answer {
            Ok(answer) => return Ok(answer.into()),
            Err(failure) => failure,
        };
        let message = self.secrets.redactor(owner(&task)).text(failure.message);
        tracing::info!(task = %task.task_id, name = task.name, code = &*failure.code, reason = message, "the task was not done");
        Err(Failure { message, ..failure }.into())
    }

    async fn dispatch(&self, task: &ServiceTask) -> Result<Value, Failure> {
        match (task.name.as_str(), &self.mailer) {
            (SEND_EMAIL, Some(mailer)) => mailer.send(task, &Attachments { http: &self.http, task }).await,
            _ => self.http.send(task).await,
        }
    }

    fn service_task(&self, task: &Task) -> Result<ServiceTask, Failure> {
        let inputs = match &task.payload {
            None => Map::new(),
            Some(Value::Object(inputs)) => inputs.clone(),
            Some(_) => return Err(Failure::last("invalid_request", "the payload of the task is not an object")),
        };
        Ok(ServiceTask {
            task_id: task.task_id,
            instance_id: task.instance_id,
            name: task.name.clone(),
            owner: owner(task).to_owned(),
            attempt: task.attempt,
            max_attempts: task.max_attempts,
            traceparent: task.traceparent.clone(),
            inputs,
            deadline: Instant::now() + self.options.timeout(),
        })
    }
}

/// The owner of the instance. Nothing is permitted to the workflows of a role that was dropped, which has no name.
fn owner(task: &Task) -> &str {
    task.owner.as_deref().unwrap_or_default()
}

/// Loads the attachments of a message by the rules for requests.
struct Attachments<'a> {
    http: &'a HttpService,
    task: &'a ServiceTask,
}

impl Load for Attachments<'_> {
    async fn load(&self, url: &str, limit: usize) -> Result<File, LoadError> {
        match self.http.download(url, limit, self.task).await {
            Ok(Download { name, content_type, content }) => Ok(File { name, content_type, content }),
            Err(Failure { message, then: Then::Retry(_), .. }) => Err(LoadError::Failed(message)),
            Err(failure) => Err(LoadError::Refused(failure)),
        }
    }
}

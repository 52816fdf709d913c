//! Dispatches tasks to the services.

use serde_json::{Map, Value};
use tokio::time::Instant;
use workflow_client::{Answer, Task, TaskError};

use crate::mail::{File, Load, LoadError, Mailer};
use crate::options::WorkOptions;
use crate::task::{Failure, ServiceTask};

const SEND_EMAIL: &str = "Elsa.SendEmail";

/// The services of this worker.
pub struct Services {
    options: WorkOptions,
    /// `None` if no mail server is configured: another worker may send the mail.
    mailer: Option<Mailer>,
}

impl Services {
    /// # Errors
    /// Describes the option that is invalid.
    pub fn new(options: &WorkOptions) -> Result<Self, String> {
        let services = Self { options: options.clone(), mailer: Mailer::new(&options.mail)? };
        let known = services.known();
        if let Some(name) = options.names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("no service for {name} is configured; there are {}", known.join(", ")));
        }
        Ok(services)
    }

    fn known(&self) -> Vec<&'static str> {
        self.mailer.iter().map(|_| SEND_EMAIL).collect()
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

    /// Does a task.
    pub async fn perform(&self, task: Task) -> Result<Answer, TaskError> {
        let task = self.service_task(&task)?;
        let answer = match (task.name.as_str(), &self.mailer) {
            (SEND_EMAIL, Some(mailer)) => mailer.send(&task, &NoWeb).await,
            _ => Err(Failure::release(format!("this worker has no service for {}", task.name))),
        };
        answer.map(Answer::from).map_err(TaskError::from)
    }

    fn service_task(&self, task: &Task) -> Result<ServiceTask, Failure> {
        let inputs = match &task.payload {
            None => Map::new(),
            Some(Value::Object(inputs)) => inputs.clone(),
            Some(_) => return Err(Failure::last("invalid_request", "the payload of the task is not an object")),
        };
        Ok(ServiceTask {
            task_id: task.task_id,
            name: task.name.clone(),
            owner: task.owner.clone(),
            attempt: task.attempt,
            max_attempts: task.max_attempts,
            inputs,
            deadline: Instant::now() + self.options.timeout(),
        })
    }
}

/// Loads no attachments.
struct NoWeb;

impl Load for NoWeb {
    async fn load(&self, url: &str, _limit: usize) -> Result<File, LoadError> {
        Err(LoadError::Refused(Failure::last("invalid_message", format!("this worker loads no attachments: {url}"))))
    }
}

//! What calls return.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Error;
use crate::statement::column;

/// The state of an instance after a call: `wf_result`.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::Run;
///
/// let state = client.run(Run::new("order")).await?;
/// match &*state.sub_status {
///     "Finished" => println!("{:?}", state.output),
///     "Suspended" => println!("it waits at {:?}", state.bookmarks),
///     "Faulted" => println!("{:?}", state.incidents),
///     other => println!("{other}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct InstanceState {
    /// The instance. NULL only after a resume with `missing_ok` of a bookmark that no longer exists.
    pub instance_id: Option<Uuid>,
    /// `Running` or `Finished`; empty if there is no instance.
    #[serde(deserialize_with = "text_or_null")]
    pub status: String,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Faulted` or `Cancelled`; empty if there is no instance.
    #[serde(deserialize_with = "text_or_null")]
    pub sub_status: String,
    /// Outputs of the workflow so far; `None` if the role may not read them.
    pub output: Option<Value>,
    /// Where it waits: `[{id, name, activity_id, payload}]`; `None` if the role may not read the instance.
    pub bookmarks: Option<Value>,
    /// Open incidents; `None` if the role may not read them.
    pub incidents: Option<Value>,
    /// Whether the call created the instance.
    pub is_new: Option<bool>,
}

impl InstanceState {
    /// A statement that calls a function and reads its result.
    pub(crate) fn select_from(call: &str) -> String {
        format!("SELECT instance_id, status, sub_status, output, bookmarks, incidents, is_new FROM @wf.{call}")
    }

    pub(crate) fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            instance_id: column(row, "instance_id")?,
            status: column::<Option<String>>(row, "status")?.unwrap_or_default(),
            sub_status: column::<Option<String>>(row, "sub_status")?.unwrap_or_default(),
            output: column(row, "output")?,
            bookmarks: column(row, "bookmarks")?,
            incidents: column(row, "incidents")?,
            is_new: column(row, "is_new")?,
        })
    }

    /// The outputs as a type of the application. Fails if the role may not read them.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
    /// use workflow_client::Run;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Outputs {
    ///     #[serde(rename = "Answer")]
    ///     answer: String,
    /// }
    /// let outputs: Outputs = client.run(Run::new("order")).await?.output_as()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn output_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        decode(self.output.as_ref())
    }
}

/// The effect of a stimulus: `wf_delivery`.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::PublishEvent;
///
/// let delivery = client.run(PublishEvent::new("OrderPaid").correlation_id("order-42")).await?;
/// if delivery.is_lost() {
///     eprintln!("no workflow of this order waits for a payment");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Delivery {
    /// Instances that it started.
    pub started: Vec<Uuid>,
    /// Instances that it resumed.
    pub resumed: Vec<Uuid>,
    /// The queue item that stores the stimulus, if no instance waits for it yet, or one that matches cannot continue in
    /// this session.
    pub queued_id: Option<Uuid>,
    /// Matching triggers and bookmarks whose owners may not receive stimuli of this sender.
    pub withheld: i32,
}

impl Delivery {
    /// A statement that calls a function and reads its result.
    pub(crate) fn select_from(call: &str) -> String {
        format!("SELECT started, resumed, queued_id, withheld FROM @wf.{call}")
    }

    pub(crate) fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            started: column(row, "started")?,
            resumed: column(row, "resumed")?,
            queued_id: column(row, "queued_id")?,
            withheld: column(row, "withheld")?,
        })
    }

    /// Whether the stimulus had no effect and is not stored.
    ///
    /// ```
    /// # fn example(delivery: workflow_client::Delivery) {
    /// assert!(!delivery.is_lost());
    /// # }
    /// ```
    pub fn is_lost(&self) -> bool {
        self.started.is_empty() && self.resumed.is_empty() && self.queued_id.is_none()
    }
}

/// A task that a claim has acquired.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::{ClaimTasks, CompleteTask};
///
/// for task in client.run(ClaimTasks::new(["Charge card"])).await? {
///     println!("attempt {} of {:?}", task.attempt, task.max_attempts);
///     client.run(CompleteTask::new(task.task_id).token(task.token).result("R-1")).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClaimedTask {
    /// The id, the same for all attempts: use it as the idempotency key of requests to other services.
    pub task_id: Uuid,
    /// Proof of the claim, which the other calls for the task require.
    pub token: Uuid,
    /// The name by which workers choose tasks.
    pub name: String,
    /// The input of the task.
    pub payload: Option<Value>,
    /// The correlation id of the instance.
    pub correlation_id: Option<String>,
    /// The instance.
    pub instance_id: Uuid,
    /// The definition of the instance.
    pub definition_id: String,
    /// The activity that opened the task.
    pub activity_id: String,
    /// The role that owns the instance. `None` if it was dropped.
    pub owner: Option<String>,
    /// The number of this attempt; each claim counts as one.
    pub attempt: i32,
    /// The number of attempts that the retry policy allows; `None` without a policy.
    pub max_attempts: Option<i32>,
    /// Tasks with a higher priority are claimed first.
    pub priority: i32,
    /// The time by which people should complete it.
    pub deadline: Option<DateTime<Utc>>,
    /// The end of the lease.
    pub lease_until: DateTime<Utc>,
    /// What a worker has recorded in this attempt or an earlier one.
    pub progress: Option<Value>,
    /// The header `traceparent` (W3C Trace Context) for requests of the worker; `None` if the instance belongs to no
    /// trace.
    pub traceparent: Option<String>,
}

impl ClaimedTask {
    /// A statement that calls a function and reads its result.
    pub(crate) fn select_from(call: &str) -> String {
        format!(
            "SELECT task_id, token, name, payload, correlation_id, instance_id, definition_id, activity_id, owner, \
             attempt, max_attempts, priority, deadline, lease_until, progress, traceparent FROM @wf.{call}"
        )
    }

    pub(crate) fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            task_id: column(row, "task_id")?,
            token: column(row, "token")?,
            name: column(row, "name")?,
            payload: column(row, "payload")?,
            correlation_id: column(row, "correlation_id")?,
            instance_id: column(row, "instance_id")?,
            definition_id: column(row, "definition_id")?,
            activity_id: column(row, "activity_id")?,
            owner: column(row, "owner")?,
            attempt: column(row, "attempt")?,
            max_attempts: column(row, "max_attempts")?,
            priority: column(row, "priority")?,
            deadline: column(row, "deadline")?,
            lease_until: column(row, "lease_until")?,
            progress: column(row, "progress")?,
            traceparent: column(row, "traceparent")?,
        })
    }

    /// The payload as a type of the worker.
    ///
    /// ```
    /// # fn example(task: workflow_client::ClaimedTask) -> Result<(), workflow_client::Error> {
    /// #[derive(serde::Deserialize)]
    /// struct Charge {
    ///     amount: u64,
    /// }
    /// let charge: Charge = task.payload_as()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn payload_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        decode(self.payload.as_ref())
    }
}

/// The response of a workflow to an HTTP request: `wf_http_response`.
///
/// ```
/// # fn example(response: workflow_client::HttpResponse) {
/// let kind = response.headers.get("Content-Type").and_then(|value| value.as_str());
/// println!("{} {kind:?} {} bytes", response.status, response.body.len());
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct HttpResponse {
    /// The status code.
    pub status: i32,
    /// The headers: each is a text, or a list of texts.
    #[serde(default)]
    pub headers: Map<String, Value>,
    /// The bytes of the body.
    #[serde(default, deserialize_with = "bytes_of_text")]
    pub body: Vec<u8>,
}

impl HttpResponse {
    pub(crate) fn read(row: &Row) -> Result<Self, Error> {
        let headers = match column::<Option<Value>>(row, "headers")? {
            Some(Value::Object(headers)) => headers,
            _ => Map::new(),
        };
        let body = column::<Option<Vec<u8>>>(row, "body")?.unwrap_or_default();
        Ok(Self { status: column(row, "status")?, headers, body })
    }
}

/// What became of one answer of [`CompleteTasks`](crate::CompleteTasks).
///
/// ```
/// # fn example(answers: Vec<workflow_client::AnswerOutcome>) {
/// for answer in answers.iter().filter(|answer| answer.outcome == "Refused") {
///     eprintln!("{}: {:?}", answer.task_id, answer.message);
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerOutcome {
    /// The task.
    pub task_id: Uuid,
    /// `Completed`, `Open`, `Failed` or `Refused`.
    pub outcome: String,
    /// The sub-status of the instance, after `Completed` and `Failed`.
    pub sub_status: Option<String>,
    /// Why the answer was refused.
    pub message: Option<String>,
}

/// What became of a task whose attempt failed.
///
/// ```
/// # fn example(after: workflow_client::AfterFailure) {
/// if after == workflow_client::AfterFailure::Failed {
///     println!("this was the last attempt");
/// }
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// It can be claimed again, after the delay of the retry policy.
    Open,
    /// Its activity has faulted.
    Failed,
}

/// A version of a definition.
///
/// ```
/// # fn example(defined: workflow_client::DefinedVersion) {
/// println!("{} is at version {}", defined.definition_id, defined.version);
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinedVersion {
    /// The id of the definition.
    pub definition_id: String,
    /// The number of the version.
    pub version: i32,
}

/// A problem that [`Validate`](crate::Validate) found in a document.
///
/// ```
/// # fn example(problem: workflow_client::Problem) {
/// eprintln!("{}: {} ({})", problem.path, problem.message, problem.severity);
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// A JSON pointer into the document.
    pub path: String,
    /// `error` or `warning`.
    pub severity: String,
    /// What is wrong.
    pub message: String,
}

/// A value that may be missing, as a type of the application. A missing value is read as JSON's null.
fn decode<T: DeserializeOwned>(value: Option<&Value>) -> Result<T, Error> {
    Ok(T::deserialize(value.unwrap_or(&Value::Null))?)
}

/// `wf_call` returns bodies as text.
fn bytes_of_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default().into_bytes())
}

fn text_or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stored_results_of_a_call_are_read_like_its_columns() {
        let id = Uuid::from_u128(7);
        let state: InstanceState = serde_json::from_value(json!({
            "instance_id": id, "status": "Running", "sub_status": "Suspended", "output": {}, "bookmarks": [],
            "incidents": null, "is_new": true,
        }))
        .expect("a state");
        assert_eq!((state.instance_id, &*state.sub_status, state.is_new), (Some(id), "Suspended", Some(true)));
        let delivery: Delivery =
            serde_json::from_value(json!({"started": [], "resumed": [id], "queued_id": null, "withheld": 0}))
                .expect("a delivery");
        assert!(!delivery.is_lost() && delivery.resumed == [id]);
    }

    #[test]
    fn a_missing_value_is_null() {
        assert_eq!(decode::<Option<u8>>(None).expect("null"), None);
        assert_eq!(decode::<Option<u8>>(Some(&json!(3))).expect("a number"), Some(3));
        assert!(matches!(decode::<u8>(None), Err(Error::Value(_))));
    }
}

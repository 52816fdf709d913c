//! What a service gets of a task, and how it fails.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use uuid::Uuid;
use workflow_client::TaskError;

/// A claimed task of a service.
///
/// The worker extends the lease while the service works, and drops the service's future if the lease is lost.
#[derive(Debug)]
pub struct ServiceTask {
    /// The same for all attempts: the key by which the other side recognizes a repetition.
    pub task_id: Uuid,
    /// The instance that opened it: the trace of its requests.
    pub instance_id: Uuid,
    /// The type of the activity, such as `Elsa.SendEmail`.
    pub name: String,
    /// The role that owns the instance. Secrets are bound to owners.
    pub owner: String,
    /// The number of this attempt, from 1 on.
    pub attempt: i32,
    /// The number of attempts that the retry policy allows; `None` without a policy.
    pub max_attempts: Option<i32>,
    /// The trace of the instance, with the wait for the task as the parent; `None`: it belongs to none.
    pub traceparent: Option<String>,
    /// The inputs of the activity under Elsa's names (`Url`, `To`, …). Inputs that are NULL are left out.
    pub inputs: Map<String, Value>,
    /// When the service has to be ready. It answers that the time is over, or fails.
    pub deadline: Instant,
}

impl ServiceTask {
    /// An input.
    pub fn input(&self, name: &str) -> Option<&Value> {
        self.inputs.get(name).filter(|value| !value.is_null())
    }

    /// An input that is text.
    ///
    /// # Errors
    /// `invalid_request` if it is anything else.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Failure> {
        let wrong = || Failure::last("invalid_request", format!("the input {name} is not a text"));
        self.input(name).map(|value| value.as_str().ok_or_else(wrong)).transpose()
    }

    /// The header `traceparent` (W3C Trace Context) of the requests of this attempt: that of the task. If the instance
    /// belongs to no trace, it is one itself, and each attempt at a task a span of its own. `None` if the ids cannot be
    /// those of a trace.
    pub fn traceparent(&self) -> Option<String> {
        if self.traceparent.is_some() {
            return self.traceparent.clone();
        }
        let span = self.task_id.as_u64_pair().1 ^ u64::from(self.attempt.unsigned_abs());
        let is_valid = !self.instance_id.is_nil() && span != 0;
        // 01: the caller has recorded its part, in the journal.
        is_valid.then(|| format!("00-{}-{span:016x}-01", self.instance_id.simple()))
    }

    /// The time until the deadline.
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// Why a task was not done. The retry policy of the activity decides whether another attempt follows, unless this one
/// is the last or does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A word by which retry policies and catches identify the fault.
    pub code: Cow<'static, str>,
    /// A sentence for people, which the incident shows. Values of secrets in it are replaced.
    pub message: String,
    /// What follows.
    pub then: Then,
}

/// What follows a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Another attempt, if the policy allows one, after this delay in place of the policy's.
    Retry(Option<Duration>),
    /// No other attempt: it would fail as well.
    Stop,
    /// The task is given back, and can be claimed again after this time. Nothing was sent: the attempt does not count.
    Postpone(Duration),
}

impl Failure {
    /// A failure after which another attempt can succeed.
    pub fn transient(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), then: Then::Retry(None) }
    }

    /// A failure after which another attempt would fail as well.
    pub fn last(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), then: Then::Stop }
    }

    /// Gives the task back for a time, without counting the attempt. Only if nothing was sent.
    pub fn postpone(time: Duration, message: impl Into<String>) -> Self {
        Self { code: "postponed".into(), message: message.into(), then: Then::Postpone(time) }
    }
}

impl From<Failure> for TaskError {
    fn from(failure: Failure) -> Self {
        let error = Self::new(failure.message).code(failure.code);
        match failure.then {
            Then::Retry(None) => error,
            Then::Retry(Some(delay)) => error.retry_in(delay),
            Then::Stop => error.without_retry(),
            Then::Postpone(time) => Self::release().retry_in(time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_is_a_span_in_the_trace_of_its_instance() {
        let task = |instance: u128, attempt| ServiceTask {
            task_id: Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0010),
            instance_id: Uuid::from_u128(instance),
            name: "Elsa.SendHttpRequest".into(),
            owner: "shop".into(),
            attempt,
            max_attempts: None,
            traceparent: None,
            inputs: Map::new(),
            deadline: Instant::now(),
        };
        let first = task(0xab, 1).traceparent();
        assert_eq!(first.as_deref(), Some("00-000000000000000000000000000000ab-8000000000000011-01"));
        assert_ne!(first, task(0xab, 2).traceparent());
        assert_eq!(task(0, 1).traceparent(), None);

        let joined = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let joining = ServiceTask { traceparent: Some(joined.into()), ..task(0xab, 1) };
        assert_eq!(joining.traceparent().as_deref(), Some(joined));
    }

    #[test]
    fn a_failure_says_what_follows() {
        let error = TaskError::from(Failure::last("secret_denied", "not for this host"));
        assert_eq!(error, TaskError::new("not for this host").code("secret_denied").without_retry());
        assert_eq!(
            TaskError::from(Failure::postpone(Duration::from_secs(30), "the host is down")),
            TaskError::release().retry_in(Duration::from_secs(30))
        );
    }
}

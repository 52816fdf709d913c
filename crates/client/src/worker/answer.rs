//! What a handler returns: an answer, or an error with its consequences.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;

use crate::error::Error;
use crate::statement::Json;
use crate::transaction::Transaction;

/// Statements of the worker that are committed together with its answer.
pub(crate) type Writes = Box<dyn FnMut(Transaction) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send>> + Send>;

/// The result of a task.
///
/// A handler returns an answer, a `serde_json::Value`, or nothing.
///
/// ```
/// use serde_json::json;
/// use workflow_client::Answer;
///
/// let answer = Answer::new("approved");
/// let answer: Answer = json!({"receipt": "R-1"}).into();
/// ```
pub struct Answer {
    pub(crate) result: Json,
    pub(crate) writes: Option<Writes>,
}

impl Answer {
    /// An answer with this result.
    ///
    /// ```
    /// #[derive(serde::Serialize)]
    /// struct Receipt {
    ///     number: String,
    /// }
    /// let answer = workflow_client::Answer::new(Receipt { number: "R-1".into() });
    /// ```
    pub fn new(result: impl Serialize) -> Self {
        Self { result: Json::of(result), writes: None }
    }

    /// Runs statements of the worker in the transaction of the answer: both take effect, or neither. If they fail, the
    /// attempt fails with their error.
    ///
    /// They may run again although they were committed, if the answer to COMMIT was lost. So use the id of the task as
    /// their key. Each run of the function returns a future that owns what it needs.
    ///
    /// ```
    /// use workflow_client::{Answer, Task};
    ///
    /// fn answer(task: &Task, receipt: String) -> Answer {
    ///     let task_id = task.task_id;
    ///     Answer::new(&receipt).and_write(move |tx| {
    ///         let receipt = receipt.clone();
    ///         async move {
    ///             let sql = "INSERT INTO payments VALUES ($1, $2) ON CONFLICT DO NOTHING";
    ///             tx.execute(sql, &[&task_id, &receipt]).await.map(drop)
    ///         }
    ///     })
    /// }
    /// ```
    pub fn and_write<Done>(mut self, mut writes: impl FnMut(Transaction) -> Done + Send + 'static) -> Self
    where
        Done: Future<Output = Result<(), Error>> + Send + 'static,
    {
        self.writes = Some(Box::new(move |tx| Box::pin(writes(tx))));
        self
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("result", &self.result).field("writes", &self.writes.is_some()).finish()
    }
}

impl From<serde_json::Value> for Answer {
    fn from(result: serde_json::Value) -> Self {
        Self::new(result)
    }
}

impl From<()> for Answer {
    fn from((): ()) -> Self {
        Self::new(())
    }
}

/// Why an attempt failed, and what follows. By default the retry policy of the activity decides.
///
/// Every type that implements `std::error::Error` converts into it by `?`, so it does not implement that trait itself.
///
/// ```
/// use workflow_client::TaskError;
///
/// fn charge(amount: u64) -> Result<(), TaskError> {
///     let limit: u64 = "5000".parse()?;
///     if amount > limit {
///         return Err(TaskError::new("the card was declined").code("card_declined").without_retry());
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskError {
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) retry_in: Option<Duration>,
    pub(crate) retry: bool,
    pub(crate) is_release: bool,
}

impl TaskError {
    /// A message for people, which the incident shows.
    ///
    /// ```
    /// let error = workflow_client::TaskError::new("the bank does not answer");
    /// ```
    pub fn new(message: impl Into<String>) -> Self {
        let (detail, code, retry_in) = (None, None, None);
        Self { message: message.into(), detail, code, retry_in, retry: true, is_release: false }
    }

    /// Gives the task back: another worker can claim it at once, or after [`retry_in`](Self::retry_in), and the attempt
    /// does not count.
    ///
    /// ```
    /// # async fn example(task: workflow_client::Task) -> Result<(), workflow_client::TaskError> {
    /// tokio::select! {
    ///     () = task.stopping() => Err(workflow_client::TaskError::release()),
    ///     () = std::future::pending() => Ok(()),
    /// }
    /// # }
    /// ```
    pub fn release() -> Self {
        Self { is_release: true, ..Self::new("the worker gives the task back") }
    }

    /// More about the error, for people.
    ///
    /// ```
    /// # use workflow_client::TaskError;
    /// let error = TaskError::new("the bank does not answer").detail("no route to host");
    /// ```
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// A word by which retry policies and catches identify the fault. It must not look like a SQLSTATE.
    ///
    /// ```
    /// # use workflow_client::TaskError;
    /// let error = TaskError::new("the card was declined").code("card_declined");
    /// ```
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// The delay before the next attempt, in place of the policy's.
    ///
    /// ```
    /// # use workflow_client::TaskError;
    /// let error = TaskError::new("too many requests").retry_in(std::time::Duration::from_secs(30));
    /// ```
    pub fn retry_in(mut self, delay: Duration) -> Self {
        self.retry_in = Some(delay);
        self
    }

    /// Makes this attempt the last.
    ///
    /// ```
    /// # use workflow_client::TaskError;
    /// let error = TaskError::new("the card was declined").without_retry();
    /// ```
    pub fn without_retry(mut self) -> Self {
        self.retry = false;
        self
    }
}

/// The error's text is the message, and its causes are the detail.
impl<E: std::error::Error> From<E> for TaskError {
    fn from(error: E) -> Self {
        let mut causes = Vec::new();
        let mut cause = error.source();
        while let Some(next) = cause {
            causes.push(next.to_string());
            cause = next.source();
        }
        let detail = (!causes.is_empty()).then(|| causes.join(": "));
        Self { detail, ..Self::new(error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_causes_of_an_error_are_its_detail() {
        let cause = std::io::Error::other("no route to host");
        let error = TaskError::from(std::io::Error::other(cause));
        assert_eq!(error.message, "no route to host");
        let plain = TaskError::from("x".parse::<u8>().expect_err("no number"));
        assert_eq!((plain.detail, plain.retry, plain.is_release), (None, true, false));
    }
}

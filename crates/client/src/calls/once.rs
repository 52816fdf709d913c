//! `wf_call`: calls that a message identifies, so that they take effect once however often they are made.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::http::HttpRequest;
use crate::error::Error;
use crate::repeat::Repeat;
use crate::results::{Delivery, HttpResponse, InstanceState};
use crate::statement::sealed::Parts;
use crate::statement::{Call, Json, Statement, only_value};

/// `wf_call`: a start, an event, a stimulus, an answer or an HTTP request that takes effect once.
///
/// `key` is the correlation id, and `message` the idempotency key: an id of the caller's choice, such as that of the
/// message in a queue. A repeated call with the same message returns the stored result, also from another process. The
/// result is stored for the time of the setting `workflow.message_retention`. `Output` is what the call returns.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::CallOnce;
///
/// let payment = json!({"amount": 250});
/// let first = client.run(CallOnce::event("order-42", "bank-901", "OrderPaid", &payment)).await?;
/// let second = client.run(CallOnce::event("order-42", "bank-901", "OrderPaid", &payment)).await?;
/// assert_eq!(first, second);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct CallOnce<Output> {
    key: String,
    message: String,
    kind: &'static str,
    name: String,
    body: Json,
    output: PhantomData<fn() -> Output>,
}

impl<Output> CallOnce<Output> {
    fn new(key: impl Into<String>, message: impl Into<String>, kind: &'static str, name: String, body: Json) -> Self {
        Self { key: key.into(), message: message.into(), kind, name, body, output: PhantomData }
    }
}

impl CallOnce<InstanceState> {
    /// Starts a workflow with this correlation id.
    ///
    /// ```
    /// # use workflow_client::CallOnce;
    /// # use serde_json::json;
    /// let call = CallOnce::start("order-42", "web-7", "order", json!({"customer": "Ada"}));
    /// ```
    pub fn start(
        key: impl Into<String>,
        message: impl Into<String>,
        definition: impl Into<String>,
        input: impl Serialize,
    ) -> Self {
        Self::new(key, message, "start", definition.into(), Json::of(input))
    }

    /// Answers a task of an instance with this correlation id.
    ///
    /// ```
    /// # use workflow_client::CallOnce;
    /// # let task = uuid::Uuid::nil();
    /// let call = CallOnce::task("order-42", "web-8", task, "approved");
    /// ```
    pub fn task(key: impl Into<String>, message: impl Into<String>, task_id: Uuid, result: impl Serialize) -> Self {
        Self::new(key, message, "task", task_id.to_string(), Json::of(result))
    }
}

impl CallOnce<Delivery> {
    /// Publishes an event to this correlation id. It is stored for `workflow.queue_ttl` if nothing waits for it.
    ///
    /// ```
    /// # use workflow_client::CallOnce;
    /// # use serde_json::json;
    /// let call = CallOnce::event("order-42", "bank-901", "OrderPaid", json!({"amount": 250}));
    /// ```
    pub fn event(
        key: impl Into<String>,
        message: impl Into<String>,
        event: impl Into<String>,
        payload: impl Serialize,
    ) -> Self {
        Self::new(key, message, "event", event.into(), Json::of(payload))
    }

    /// Sends a stimulus to this correlation id.
    ///
    /// ```
    /// # use workflow_client::CallOnce;
    /// # use serde_json::json;
    /// let folder = json!({"folder": "in"});
    /// let call = CallOnce::stimulus("order-42", "disk-3", "Acme.FileArrived", folder, json!({"file": "a.csv"}));
    /// ```
    pub fn stimulus(
        key: impl Into<String>,
        message: impl Into<String>,
        name: impl Into<String>,
        stimulus: impl Serialize,
        input: impl Serialize,
    ) -> Self {
        let (stimulus, input) = (Json::of(stimulus), Json::of(input));
        let body = match (stimulus.get(), input.get()) {
            (Ok(stimulus), Ok(input)) => Json::of(json!({"stimulus": stimulus, "input": input})),
            (Err(_), _) => stimulus,
            (_, Err(_)) => input,
        };
        Self::new(key, message, "stimulus", name.into(), body)
    }
}

impl CallOnce<HttpResponse> {
    /// Sends a request to the endpoint of a workflow, with this correlation id. Its body must be a text in UTF-8.
    ///
    /// The response is stored only if a workflow has served the request.
    ///
    /// ```
    /// use workflow_client::{CallOnce, HttpRequest};
    ///
    /// let request = HttpRequest::new("POST", "/orders").header("Content-Type", "application/json").body(r#"{"total": 250}"#);
    /// let call = CallOnce::http("order-42", "web-9", request);
    /// ```
    pub fn http(key: impl Into<String>, message: impl Into<String>, request: HttpRequest) -> Self {
        let body = Json::of_result(request.message());
        Self::new(key, message, "http", request.path, body)
    }
}

impl<Output> Parts for CallOnce<Output> {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new("SELECT @wf.wf_call($1, $2, $3, $4, $5)").bind(self.key.clone());
        let statement = statement.bind(self.message.clone()).bind(self.kind.to_owned()).bind(self.name.clone());
        statement.bind_json(&self.body)
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl<Output: DeserializeOwned> Call for CallOnce<Output> {
    type Output = Output;

    fn read(&self, rows: &[Row]) -> Result<Output, Error> {
        Ok(serde_json::from_value(only_value::<Value>(rows)?)?)
    }
}

//! Calls that send events and other stimuli.

use std::time::Duration;

use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Error;
use crate::repeat::Repeat;
use crate::results::Delivery;
use crate::statement::sealed::Parts;
use crate::statement::{Call, Json, Statement, only_row};

/// Which instances a stimulus reaches: `'*'` all of them, NULL those without a correlation id.
#[derive(Debug, Clone)]
struct Target {
    correlation_id: Option<String>,
    instance_id: Option<Uuid>,
    keep_for: Duration,
}

impl Target {
    fn all() -> Self {
        Self { correlation_id: Some("*".into()), instance_id: None, keep_for: Duration::ZERO }
    }
}

/// `wf_publish_event`: sends an event to the workflows that wait for it, and starts those that begin with it.
///
/// If the answer is lost, the outcome is unknown. [`CallOnce::event`](crate::CallOnce::event) can be repeated instead.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::PublishEvent;
///
/// let event = PublishEvent::new("OrderPaid").payload(json!({"amount": 250})).correlation_id("order-42");
/// let delivery = client.run(event).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct PublishEvent {
    name: String,
    payload: Json,
    target: Target,
}

impl PublishEvent {
    /// Publishes to all instances, whatever their correlation id. An event that reaches none is lost.
    ///
    /// ```
    /// # use workflow_client::PublishEvent;
    /// let call = PublishEvent::new("ShopClosed");
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), payload: Json::null(), target: Target::all() }
    }

    /// The payload: any JSON value.
    ///
    /// ```
    /// # use workflow_client::PublishEvent;
    /// let call = PublishEvent::new("OrderPaid").payload(250);
    /// ```
    pub fn payload(mut self, payload: impl Serialize) -> Self {
        self.payload = Json::of(payload);
        self
    }

    /// Reaches only instances with this correlation id; `None`: only those without one.
    ///
    /// ```
    /// # use workflow_client::PublishEvent;
    /// let call = PublishEvent::new("OrderPaid").correlation_id("order-42");
    /// let call = PublishEvent::new("OrderPaid").correlation_id(None);
    /// ```
    pub fn correlation_id<'a>(mut self, id: impl Into<Option<&'a str>>) -> Self {
        self.target.correlation_id = id.into().map(str::to_owned);
        self
    }

    /// Reaches only this instance.
    ///
    /// ```
    /// # use workflow_client::PublishEvent;
    /// let call = PublishEvent::new("OrderPaid").instance_id(uuid::Uuid::nil());
    /// ```
    pub fn instance_id(mut self, id: Uuid) -> Self {
        self.target.instance_id = Some(id);
        self
    }

    /// How long the event is stored if no instance waits for it yet.
    ///
    /// ```
    /// # use workflow_client::PublishEvent;
    /// let call = PublishEvent::new("OrderPaid").keep_for(std::time::Duration::from_secs(3600));
    /// ```
    pub fn keep_for(mut self, time: Duration) -> Self {
        self.target.keep_for = time;
        self
    }
}

impl Parts for PublishEvent {
    fn statement(&self) -> Result<Statement, Error> {
        let sql = Delivery::select_from("wf_publish_event($1, $2, $3, $4, $5::pg_catalog.interval)");
        let statement = Statement::new(sql).bind(self.name.clone()).bind_json(&self.payload)?;
        let target = &self.target;
        Ok(statement.bind(target.correlation_id.clone()).bind(target.instance_id).bind(target.keep_for))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for PublishEvent {
    type Output = Delivery;

    fn read(&self, rows: &[Row]) -> Result<Delivery, Error> {
        Delivery::read(only_row(rows)?)
    }
}

/// `wf_send_stimulus`: what [`PublishEvent`] does, for activities of any type.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::SendStimulus;
///
/// let arrived = SendStimulus::new("Acme.FileArrived").stimulus(json!({"folder": "in"})).input(json!({"file": "a.csv"}));
/// let delivery = client.run(arrived).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct SendStimulus {
    name: String,
    stimulus: Json,
    input: Json,
    target: Target,
}

impl SendStimulus {
    /// Sends to all instances, whatever their correlation id.
    ///
    /// ```
    /// # use workflow_client::SendStimulus;
    /// let call = SendStimulus::new("Acme.FileArrived");
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), stimulus: Json::null(), input: Json::null(), target: Target::all() }
    }

    /// The payload that bookmarks and triggers must have.
    ///
    /// ```
    /// # use workflow_client::SendStimulus;
    /// # use serde_json::json;
    /// let call = SendStimulus::new("Acme.FileArrived").stimulus(json!({"folder": "in"}));
    /// ```
    pub fn stimulus(mut self, stimulus: impl Serialize) -> Self {
        self.stimulus = Json::of(stimulus);
        self
    }

    /// The input of the activity.
    ///
    /// ```
    /// # use workflow_client::SendStimulus;
    /// # use serde_json::json;
    /// let call = SendStimulus::new("Acme.FileArrived").input(json!({"file": "a.csv"}));
    /// ```
    pub fn input(mut self, input: impl Serialize) -> Self {
        self.input = Json::of(input);
        self
    }

    /// Reaches only instances with this correlation id; `None`: only those without one.
    ///
    /// ```
    /// # use workflow_client::SendStimulus;
    /// let call = SendStimulus::new("Acme.FileArrived").correlation_id("order-42");
    /// ```
    pub fn correlation_id<'a>(mut self, id: impl Into<Option<&'a str>>) -> Self {
        self.target.correlation_id = id.into().map(str::to_owned);
        self
    }

    /// Reaches only this instance.
    ///
    /// ```
    /// # use workflow_client::SendStimulus;
    /// let call = SendStimulus::new("Acme.FileArrived").instance_id(uuid::Uuid::nil());
    /// ```
    pub fn instance_id(mut self, id: Uuid) -> Self {
        self.target.instance_id = Some(id);
        self
    }

    /// How long the stimulus is stored if it starts and resumes nothing.
    ///
    /// ```
    /// # use workflow_client::SendStimulus;
    /// let call = SendStimulus::new("Acme.FileArrived").keep_for(std::time::Duration::from_secs(60));
    /// ```
    pub fn keep_for(mut self, time: Duration) -> Self {
        self.target.keep_for = time;
        self
    }
}

impl Parts for SendStimulus {
    fn statement(&self) -> Result<Statement, Error> {
        let sql = Delivery::select_from("wf_send_stimulus($1, $2, $3, $4, $5, $6::pg_catalog.interval)");
        let statement =
            Statement::new(sql).bind(self.name.clone()).bind_json(&self.stimulus)?.bind_json(&self.input)?;
        let target = &self.target;
        Ok(statement.bind(target.correlation_id.clone()).bind(target.instance_id).bind(target.keep_for))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for SendStimulus {
    type Output = Delivery;

    fn read(&self, rows: &[Row]) -> Result<Delivery, Error> {
        Delivery::read(only_row(rows)?)
    }
}

/// `wf_enqueue_bookmark`: resumes every bookmark that matches the filters. If none matches, the stimulus is stored until
/// one does, or until it expires. It never starts an instance. At least one filter is required.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::EnqueueBookmark;
///
/// let approval = EnqueueBookmark::new()
///     .activity_id("ManagerApproval")
///     .correlation_id("request-1001")
///     .input(json!({"approved": true}));
/// let delivery = client.run(approval).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct EnqueueBookmark {
    name: Option<String>,
    stimulus: Json,
    instance_id: Option<Uuid>,
    correlation_id: Option<String>,
    bookmark_id: Option<Uuid>,
    activity_id: Option<String>,
    input: Json,
    keep_for: Option<Duration>,
}

impl Default for EnqueueBookmark {
    fn default() -> Self {
        let (stimulus, input) = (Json::null(), Json::null());
        let (name, correlation_id, activity_id, keep_for) = (None, None, None, None);
        Self { name, stimulus, instance_id: None, correlation_id, bookmark_id: None, activity_id, input, keep_for }
    }
}

impl EnqueueBookmark {
    /// Without any filter yet.
    ///
    /// ```
    /// # use workflow_client::EnqueueBookmark;
    /// let call = EnqueueBookmark::new().activity_id("ManagerApproval");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of the stimulus, such as `Event`, and its payload.
    ///
    /// ```
    /// # use workflow_client::EnqueueBookmark;
    /// # use serde_json::json;
    /// let call = EnqueueBookmark::new().stimulus("Event", json!({"EventName": "OrderPaid"}));
    /// ```
    pub fn stimulus(mut self, name: impl Into<String>, payload: impl Serialize) -> Self {
        self.name = Some(name.into());
        self.stimulus = Json::of(payload);
        self
    }

    /// The instance of the bookmark.
    ///
    /// ```
    /// # use workflow_client::EnqueueBookmark;
    /// let call = EnqueueBookmark::new().instance_id(uuid::Uuid::nil());
    /// ```
    pub fn instance_id(mut self, id: Uuid) -> Self {
        self.instance_id = Some(id);
        self
    }

    /// The correlation id of the instance.
    ///
    /// ```
    /// # use workflow_client::EnqueueBookmark;
    /// let call = EnqueueBookmark::new().correlation_id("request-1001");
    /// ```
    pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
        self.correlation_id = Some(id.into());
        self
    }

    /// The bookmark itself.
    ///
    /// ```
    /// # use workflow_client::EnqueueBookmark;
    /// let call = EnqueueBookmark::new().bookmark_id(uuid::Uuid::nil());
    /// ```
    pub fn bookmark_id(mut self, id: Uuid) -> Self {
        self.bookmark_id = Some(id);
        self
    }

    /// The activity that waits.
    ///
    /// ```
    /// # use workflow_client::EnqueueBookmark;
    /// let call = EnqueueBookmark::new().activity_id("ManagerApproval");
    /// ```
    pub fn activity_id(mut self, id: impl Into<String>) -> Self {
        self.activity_id = Some(id.into());
        self
    }

    /// The input of the activity.
    ///
    /// ```
    /// # use workflow_client::EnqueueBookmark;
    /// let call = EnqueueBookmark::new().activity_id("ManagerApproval").input(true);
    /// ```
    pub fn input(mut self, input: impl Serialize) -> Self {
        self.input = Json::of(input);
        self
    }

    /// How long the stimulus is stored; by default the setting `workflow.queue_ttl`, with zero not at all.
    ///
    /// ```
    /// # use workflow_client::EnqueueBookmark;
    /// let call = EnqueueBookmark::new().activity_id("ManagerApproval").keep_for(std::time::Duration::ZERO);
    /// ```
    pub fn keep_for(mut self, time: Duration) -> Self {
        self.keep_for = Some(time);
        self
    }
}

impl Parts for EnqueueBookmark {
    fn statement(&self) -> Result<Statement, Error> {
        let sql = Delivery::select_from(
            "wf_enqueue_bookmark(name => $1, stimulus => $2, instance_id => $3, correlation_id => $4, \
             bookmark_id => $5, activity_id => $6, input => $7, keep_for => $8::pg_catalog.interval)",
        );
        let statement = Statement::new(sql).bind(self.name.clone()).bind_json(&self.stimulus)?;
        let statement = statement.bind(self.instance_id).bind(self.correlation_id.clone()).bind(self.bookmark_id);
        Ok(statement.bind(self.activity_id.clone()).bind_json(&self.input)?.bind(self.keep_for))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for EnqueueBookmark {
    type Output = Delivery;

    fn read(&self, rows: &[Row]) -> Result<Delivery, Error> {
        Delivery::read(only_row(rows)?)
    }
}

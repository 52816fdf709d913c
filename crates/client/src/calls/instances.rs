//! Calls for instances: start, resume, end, explain.

use std::borrow::Cow;

use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::OnFault;
use crate::error::Error;
use crate::repeat::Repeat;
use crate::results::InstanceState;
use crate::statement::sealed::Parts;
use crate::statement::{Call, Json, Statement, only_row, only_value};

/// What `wf_start` and `wf_run` have in common.
#[derive(Debug)]
struct StartArguments {
    definition: String,
    input: Json,
    correlation_id: Option<String>,
    name: Option<String>,
    instance_id: Uuid,
    has_own_id: bool,
    version: Option<i32>,
    trigger_activity_id: Option<String>,
    on_fault: Option<OnFault>,
}

/// A clone is another start: it has an id of its own, unless the application chose the id.
impl Clone for StartArguments {
    fn clone(&self) -> Self {
        Self {
            definition: self.definition.clone(),
            input: self.input.clone(),
            correlation_id: self.correlation_id.clone(),
            name: self.name.clone(),
            instance_id: if self.has_own_id { self.instance_id } else { Uuid::now_v7() },
            has_own_id: self.has_own_id,
            version: self.version,
            trigger_activity_id: self.trigger_activity_id.clone(),
            on_fault: self.on_fault,
        }
    }
}

impl StartArguments {
    fn new(definition: String) -> Self {
        Self {
            definition,
            input: Json::empty_object(),
            correlation_id: None,
            name: None,
            // The id makes a repeated start harmless.
            instance_id: Uuid::now_v7(),
            has_own_id: false,
            version: None,
            trigger_activity_id: None,
            on_fault: None,
        }
    }

    fn statement(&self, sql: impl Into<Cow<'static, str>>) -> Result<Statement, Error> {
        let statement = Statement::new(sql).bind(self.definition.clone()).bind_json(&self.input)?;
        let statement = statement.bind(self.correlation_id.clone()).bind(self.name.clone()).bind(self.instance_id);
        Ok(statement.bind(self.version).bind(self.trigger_activity_id.clone()).bind(OnFault::text(self.on_fault)))
    }
}

macro_rules! start_call {
    ($name:ident) => {
        impl $name {
            /// Starts the published version of a definition. The client makes the id of the instance, and another id
            /// for each clone, so a value can be the template of several starts.
            ///
            /// Work that may run again after its COMMIT, in a
            /// [repeatable transaction](crate::Client::repeatable_transaction), needs a start with an id of its
            /// [choice](Self::instance_id).
            ///
            /// ```
            #[doc = concat!("let call = workflow_client::", stringify!($name), "::new(\"order\");")]
            /// ```
            pub fn new(definition: impl Into<String>) -> Self {
                Self(StartArguments::new(definition.into()))
            }

            /// The inputs of the workflow: anything that serializes as a JSON object.
            ///
            /// ```
            /// use serde_json::json;
            #[doc = concat!("let call = workflow_client::", stringify!($name), "::new(\"order\").input(json!({\"customer\": \"Ada\"}));")]
            /// ```
            pub fn input(mut self, input: impl Serialize) -> Self {
                self.0.input = Json::of(input);
                self
            }

            /// Your name for what the instance is about, such as the number of an order.
            ///
            /// ```
            #[doc = concat!("let call = workflow_client::", stringify!($name), "::new(\"order\").correlation_id(\"order-42\");")]
            /// ```
            pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
                self.0.correlation_id = Some(id.into());
                self
            }

            /// A name, for people.
            ///
            /// ```
            #[doc = concat!("let call = workflow_client::", stringify!($name), "::new(\"order\").name(\"Ada's order\");")]
            /// ```
            pub fn name(mut self, name: impl Into<String>) -> Self {
                self.0.name = Some(name.into());
                self
            }

            /// An id of your choice, in place of one that the client makes. A second start with the same id runs nothing.
            ///
            /// ```
            #[doc = concat!("let call = workflow_client::", stringify!($name), "::new(\"order\").instance_id(uuid::Uuid::now_v7());")]
            /// ```
            pub fn instance_id(mut self, id: Uuid) -> Self {
                self.0.instance_id = id;
                self.0.has_own_id = true;
                self
            }

            /// A version other than the published one.
            ///
            /// ```
            #[doc = concat!("let call = workflow_client::", stringify!($name), "::new(\"order\").version(3);")]
            /// ```
            pub fn version(mut self, version: i32) -> Self {
                self.0.version = Some(version);
                self
            }

            /// Starts as if this trigger had fired.
            ///
            /// ```
            #[doc = concat!("let call = workflow_client::", stringify!($name), "::new(\"order\").trigger_activity_id(\"Paid\");")]
            /// ```
            pub fn trigger_activity_id(mut self, id: impl Into<String>) -> Self {
                self.0.trigger_activity_id = Some(id.into());
                self
            }

            /// What a fault does; by default what the setting `workflow.on_fault` says.
            ///
            /// ```
            /// use workflow_client::OnFault;
            #[doc = concat!("let call = workflow_client::", stringify!($name), "::new(\"order\").on_fault(OnFault::Raise);")]
            /// ```
            pub fn on_fault(mut self, fault: OnFault) -> Self {
                self.0.on_fault = Some(fault);
                self
            }
        }
    };
}

/// `wf_start`: creates an instance, runs it until every branch waits or has ended, and returns its id.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::Start;
///
/// let start = Start::new("order").input(json!({"customer": "Ada"})).correlation_id("order-42");
/// let instance = client.run(start).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Start(StartArguments);

start_call!(Start);

impl Parts for Start {
    fn statement(&self) -> Result<Statement, Error> {
        self.0.statement("SELECT @wf.wf_start($1, $2, $3, $4, $5, $6, $7, $8)")
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl Call for Start {
    type Output = Uuid;

    fn read(&self, rows: &[Row]) -> Result<Uuid, Error> {
        only_value(rows)
    }
}

/// `wf_run`: does what [`Start`] does, and returns the state of the instance.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::Run;
///
/// let state = client.run(Run::new("greet")).await?;
/// println!("{}: {:?}", state.sub_status, state.output);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Run(StartArguments);

start_call!(Run);

impl Parts for Run {
    fn statement(&self) -> Result<Statement, Error> {
        self.0.statement(InstanceState::select_from("wf_run($1, $2, $3, $4, $5, $6, $7, $8)"))
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl Call for Run {
    type Output = InstanceState;

    fn read(&self, rows: &[Row]) -> Result<InstanceState, Error> {
        let mut state = InstanceState::read(only_row(rows)?)?;
        if !self.0.has_own_id {
            // The id is of this call: an earlier attempt whose COMMIT was lost has created the instance.
            state.is_new = Some(true);
        }
        Ok(state)
    }
}

/// `wf_resume`: resumes an instance at a bookmark.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, bookmark: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::Resume;
///
/// let state = client.run(Resume::new(bookmark).input(json!({"approved": true}))).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Resume {
    bookmark_id: Uuid,
    input: Json,
    missing_ok: bool,
    on_fault: Option<OnFault>,
}

impl Resume {
    /// Resumes at this bookmark.
    ///
    /// ```
    /// # use workflow_client::Resume;
    /// let call = Resume::new(uuid::Uuid::nil());
    /// ```
    pub fn new(bookmark_id: Uuid) -> Self {
        Self { bookmark_id, input: Json::null(), missing_ok: false, on_fault: None }
    }

    /// The result of the activity that waits: any JSON value.
    ///
    /// ```
    /// # use workflow_client::Resume;
    /// let call = Resume::new(uuid::Uuid::nil()).input("approved");
    /// ```
    pub fn input(mut self, input: impl Serialize) -> Self {
        self.input = Json::of(input);
        self
    }

    /// Returns a state without an instance, instead of an error, if the bookmark no longer exists.
    ///
    /// ```
    /// # use workflow_client::Resume;
    /// let call = Resume::new(uuid::Uuid::nil()).missing_ok();
    /// ```
    pub fn missing_ok(mut self) -> Self {
        self.missing_ok = true;
        self
    }

    /// What a fault does; by default what the setting `workflow.on_fault` says.
    ///
    /// ```
    /// # use workflow_client::{OnFault, Resume};
    /// let call = Resume::new(uuid::Uuid::nil()).on_fault(OnFault::Raise);
    /// ```
    pub fn on_fault(mut self, fault: OnFault) -> Self {
        self.on_fault = Some(fault);
        self
    }
}

impl Parts for Resume {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new(InstanceState::select_from("wf_resume($1, $2, $3, $4)"));
        let statement = statement.bind(self.bookmark_id).bind_json(&self.input)?;
        Ok(statement.bind(self.missing_ok).bind(OnFault::text(self.on_fault)))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for Resume {
    type Output = InstanceState;

    fn read(&self, rows: &[Row]) -> Result<InstanceState, Error> {
        InstanceState::read(only_row(rows)?)
    }
}

/// `wf_cancel`: cancels an instance. Returns `false` if it had already ended.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, instance: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// use workflow_client::Cancel;
///
/// client.run(Cancel::new(instance).reason("the customer changed her mind")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Cancel {
    instance_id: Uuid,
    reason: Option<String>,
    force: bool,
}

impl Cancel {
    /// Cancels this instance.
    ///
    /// ```
    /// # use workflow_client::Cancel;
    /// let call = Cancel::new(uuid::Uuid::nil());
    /// ```
    pub fn new(instance_id: Uuid) -> Self {
        Self { instance_id, reason: None, force: false }
    }

    /// The reason, which the journal records.
    ///
    /// ```
    /// # use workflow_client::Cancel;
    /// let call = Cancel::new(uuid::Uuid::nil()).reason("a duplicate");
    /// ```
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Ends the instance at once, without compensating what it has done.
    ///
    /// ```
    /// # use workflow_client::Cancel;
    /// let call = Cancel::new(uuid::Uuid::nil()).force();
    /// ```
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }
}

impl Parts for Cancel {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new("SELECT @wf.wf_cancel($1, $2, $3)");
        Ok(statement.bind(self.instance_id).bind(self.reason.clone()).bind(self.force))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for Cancel {
    type Output = bool;

    fn read(&self, rows: &[Row]) -> Result<bool, Error> {
        only_value(rows)
    }
}

/// `wf_pause`: pauses an instance until [`Unpause`]. Returns `false` if it is paused already, or has ended.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, instance: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// use workflow_client::{Pause, Unpause};
///
/// client.run(Pause::new(instance).reason("maintenance of the bank")).await?;
/// client.run(Unpause::new(instance)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Pause {
    instance_id: Uuid,
    reason: Option<String>,
    children: bool,
}

impl Pause {
    /// Pauses this instance.
    ///
    /// ```
    /// # use workflow_client::Pause;
    /// let call = Pause::new(uuid::Uuid::nil());
    /// ```
    pub fn new(instance_id: Uuid) -> Self {
        Self { instance_id, reason: None, children: false }
    }

    /// The reason, which the journal records.
    ///
    /// ```
    /// # use workflow_client::Pause;
    /// let call = Pause::new(uuid::Uuid::nil()).reason("maintenance");
    /// ```
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Pauses all child workflows as well.
    ///
    /// ```
    /// # use workflow_client::Pause;
    /// let call = Pause::new(uuid::Uuid::nil()).with_children();
    /// ```
    pub fn with_children(mut self) -> Self {
        self.children = true;
        self
    }
}

impl Parts for Pause {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new("SELECT @wf.wf_pause($1, $2, $3)");
        Ok(statement.bind(self.instance_id).bind(self.reason.clone()).bind(self.children))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for Pause {
    type Output = bool;

    fn read(&self, rows: &[Row]) -> Result<bool, Error> {
        only_value(rows)
    }
}

/// `wf_unpause`: ends the pause of an instance, and of the children that were paused with it.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, instance: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// let state = client.run(workflow_client::Unpause::new(instance)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Unpause(Uuid);

impl Unpause {
    /// Ends the pause of this instance.
    ///
    /// ```
    /// # use workflow_client::Unpause;
    /// let call = Unpause::new(uuid::Uuid::nil());
    /// ```
    pub fn new(instance_id: Uuid) -> Self {
        Self(instance_id)
    }
}

impl Parts for Unpause {
    fn statement(&self) -> Result<Statement, Error> {
        Ok(Statement::new(InstanceState::select_from("wf_unpause($1)")).bind(self.0))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for Unpause {
    type Output = InstanceState;

    fn read(&self, rows: &[Row]) -> Result<InstanceState, Error> {
        InstanceState::read(only_row(rows)?)
    }
}

/// `wf_retry`: runs the faulted activities of an instance again.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, instance: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// use workflow_client::Retry;
///
/// let state = client.run(Retry::new(instance).activities(["Charge"])).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Retry {
    instance_id: Uuid,
    activity_ids: Option<Vec<String>>,
    on_fault: Option<OnFault>,
}

impl Retry {
    /// Runs all faulted activities of this instance again.
    ///
    /// ```
    /// # use workflow_client::Retry;
    /// let call = Retry::new(uuid::Uuid::nil());
    /// ```
    pub fn new(instance_id: Uuid) -> Self {
        Self { instance_id, activity_ids: None, on_fault: None }
    }

    /// Runs only these activities again.
    ///
    /// ```
    /// # use workflow_client::Retry;
    /// let call = Retry::new(uuid::Uuid::nil()).activities(["Charge"]);
    /// ```
    pub fn activities(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.activity_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// What a fault does; by default what the setting `workflow.on_fault` says.
    ///
    /// ```
    /// # use workflow_client::{OnFault, Retry};
    /// let call = Retry::new(uuid::Uuid::nil()).on_fault(OnFault::Store);
    /// ```
    pub fn on_fault(mut self, fault: OnFault) -> Self {
        self.on_fault = Some(fault);
        self
    }
}

impl Parts for Retry {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new(InstanceState::select_from("wf_retry($1, $2, $3)"));
        Ok(statement.bind(self.instance_id).bind(self.activity_ids.clone()).bind(OnFault::text(self.on_fault)))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for Retry {
    type Output = InstanceState;

    fn read(&self, rows: &[Row]) -> Result<InstanceState, Error> {
        InstanceState::read(only_row(rows)?)
    }
}

/// `wf_explain`: the history and the present state of an instance, in lines for people.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, instance: uuid::Uuid) -> Result<(), workflow_client::Error> {
/// for line in client.run(workflow_client::Explain::new(instance)).await? {
///     println!("{line}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Explain(Uuid);

impl Explain {
    /// Explains this instance.
    ///
    /// ```
    /// # use workflow_client::Explain;
    /// let call = Explain::new(uuid::Uuid::nil());
    /// ```
    pub fn new(instance_id: Uuid) -> Self {
        Self(instance_id)
    }
}

impl Parts for Explain {
    fn statement(&self) -> Result<Statement, Error> {
        Ok(Statement::new("SELECT @wf.wf_explain($1)").bind(self.0))
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl Call for Explain {
    type Output = Vec<String>;

    fn read(&self, rows: &[Row]) -> Result<Vec<String>, Error> {
        rows.iter().map(|row| row.try_get(0).map_err(|error| Error::Value(error.into()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The id is what makes the second one harmless.
    #[test]
    fn each_start_has_an_id_of_its_own() {
        let (one, another) = (Start::new("order"), Start::new("order"));
        assert_ne!(one.0.instance_id, another.0.instance_id);
        assert_ne!(one.clone().0.instance_id, one.0.instance_id, "a template starts another instance each time");
        let given = Uuid::from_u128(7);
        assert_eq!(Run::new("order").instance_id(given).clone().0.instance_id, given);
    }

    #[test]
    fn an_input_that_is_no_json_fails_before_anything_is_sent() {
        let keys: std::collections::BTreeMap<Vec<u8>, u8> = [(vec![1], 2)].into();
        assert!(matches!(Start::new("order").input(keys).statement(), Err(Error::Value(_))));
    }
}

//! The engine's only door outward.

use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::calendar::Zone;
use crate::expression::{Rows, Scope, Take};
use crate::fault::Fault;
use crate::http::Request;

/// What a burst needs from the world around it.
///
/// A method that runs user SQL returns its error as a [`Fault`]. Errors that must end the call (query
/// cancel, serialization failures, lack of resources) never come back as a fault: the host unwinds with
/// them. After a `Fault` from [`sql`](Host::sql), [`sql_value`](Host::sql_value) or
/// [`call`](Host::call) the burst ends the open step without keeping it before it asks for more.
pub trait Host {
    /// The instant of this burst, the same for all its activities.
    fn now(&self) -> DateTime<Utc>;

    /// The rules of a time zone by its name; without a name, of the session's.
    ///
    /// # Errors
    /// 22023 if there is no such zone.
    fn zone(&self, name: Option<&str>) -> Result<Rc<dyn Zone>, Fault>;

    /// Makes a new time-ordered id (UUID version 7 of [`now`](Host::now)).
    fn new_id(&mut self) -> Uuid;

    /// Whether another instance has a bookmark with this id.
    fn has_bookmark(&mut self, id: Uuid) -> bool;

    /// Answers to query cancel and termination; called once per step.
    fn check_interrupts(&mut self);

    /// Opens a step: effects of what follows can be undone together. Called only around activities
    /// whose node says [`uses_sql`](crate::program::Node::uses_sql).
    fn begin_step(&mut self);

    /// Ends the open step and keeps or undoes its effects.
    fn end_step(&mut self, keep: bool);

    /// Runs a statement with parameters `$1…`, whose types follow from where they stand, and are jsonb where that says none
    /// or several. Rows come back as objects.
    fn sql(&mut self, statement: &str, parameters: &[Value]) -> Result<Rows, Fault>;

    /// Runs a statement with parameters `$1…` whose types follow from where they stand, as a client's do.
    fn sql_inferred(&mut self, statement: &str, parameters: &[Value], take: Take) -> Result<Rows, Fault>;

    /// Evaluates a SQL expression; its named parameters are read from `scope`.
    fn sql_value(&mut self, expression: &str, scope: &dyn Scope) -> Result<Value, Fault>;

    /// Calls a function of the user: `f(context jsonb) RETURNS jsonb`.
    fn call(&mut self, function: Function<'_>, context: &Value) -> Result<Value, Fault>;

    /// Calls the payload function of a custom trigger type; one value per row.
    fn payloads(&mut self, type_name: &str, context: &Value) -> Result<Vec<Value>, Fault>;

    /// Makes the instance known under a new correlation id at once, so that a taken one faults here.
    fn correlate(&mut self, correlation_id: Option<&str>) -> Result<(), Fault>;

    /// Finds the version of a definition that a child with this input would run: the published one, where the
    /// instance's owner may start it and its declared inputs accept the input.
    ///
    /// # Errors
    /// 42704 if there is no such definition, 55000 if it is not published, 42501 without the right to start it, and
    /// whatever a start would say about the input.
    fn child_version(&mut self, definition_id: &str, input: &Map<String, Value>) -> Result<Uuid, Fault>;

    /// The HTTP request that this burst serves, if it serves one.
    fn request(&self) -> Option<Rc<Request>> {
        None
    }

    /// Makes sure that the definition's owner may have an endpoint with this payload.
    ///
    /// # Errors
    /// 42501 if its path belongs to another one.
    fn claim_endpoint(&mut self, _payload: &Value) -> Result<(), Fault> {
        Ok(())
    }

    /// Passes on a line that `WriteLine` wrote.
    fn write_line(&mut self, text: &str);

    /// Passes on what an activity logs, if anybody wants it.
    fn log(&mut self, _entry: &LogEntry) {}
}

/// What an activity logs.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// How much it matters.
    pub level: LogLevel,
    /// What it is about, in a word.
    pub category: String,
    /// The text.
    pub message: String,
    /// What belongs to it: an object, or null.
    pub attributes: Value,
}

/// Elsa's levels, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum LogLevel {
    Trace,
    Debug,
    Information,
    Warning,
    Error,
    Critical,
}

impl LogLevel {
    /// Their names, in their order.
    pub const NAMES: [&str; 6] = ["Trace", "Debug", "Information", "Warning", "Error", "Critical"];

    /// The level at this position of [`NAMES`](Self::NAMES).
    pub fn at(position: usize) -> Self {
        const ALL: [LogLevel; 6] = [
            LogLevel::Trace,
            LogLevel::Debug,
            LogLevel::Information,
            LogLevel::Warning,
            LogLevel::Error,
            LogLevel::Critical,
        ];
        ALL[position.min(ALL.len() - 1)]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A function of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function<'a> {
    /// The handler registered for an activity type.
    Handler(&'a str),
    /// A function by the name that a bookmark gave as its callback.
    Callback(&'a str),
}

//! The interface of the engine to its environment: the trait through which a burst uses clock, ids, SQL and storage.

use std::collections::BTreeSet;
use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::activity::Excluded;
use crate::approval::Approval;
use crate::instance::compensation::{Record, RecordFilter};
use crate::node_ix::NodeIx;
use crate::notification::{Addressees, OpenTask};
use workflow_expression::{Rows, Scope, Take};
use workflow_http::http::Request;
use workflow_value::calendar::Zone;
use workflow_value::fault::Fault;

/// What a burst needs from its environment.
///
/// A method that runs users' SQL returns its error as a [`Fault`]. Errors that must end the call (query cancel,
/// serialization failures, lack of resources) are never returned as a fault: the host unwinds. After a `Fault` from
/// [`sql`](Host::sql), [`sql_value`](Host::sql_value) or [`call`](Host::call) the burst rolls the open step back before
/// it calls the host again.
///
/// # Examples
///
/// A workflow that waits for its task. `Alone` is the smallest host.
///
/// ```
/// use serde_json::json;
/// use workflow_engine::definition::{ReadLimits, compile};
/// use workflow_engine::execution::{Limits, start};
/// use workflow_engine::instance::{Instance, SubStatus};
///
#[cfg_attr(any(doc, doctest), doc = include_str!("../../engine/tests/support/alone.rs"))]
///
/// let leave = json!({"definitionId": "leave", "root": [
///     {"id": "hello", "type": "WriteLine", "text": "good morning"},
///     {"id": "ask", "type": "RunTask", "taskName": "approve"}]});
/// let program = compile(&leave, &(), &ReadLimits::default(), false).expect("acceptable");
/// let mut instance = Instance::new(Uuid::nil(), &program, 1, None, None, Map::new()).expect("no input is needed");
/// let mut host = Alone::default();
/// let delta = start(&program, &mut instance, None, None, &mut host, &Limits::default()).expect("the burst ends");
/// assert_eq!(instance.sub_status, SubStatus::Suspended);
/// assert_eq!((delta.tasks[0].name.as_str(), delta.tasks[0].bookmark_id), ("approve", delta.created[0].id));
/// assert_eq!(host.lines, ["good morning"]);
/// ```
pub trait Host {
    /// The instant of this burst, the same for all its activities.
    fn now(&self) -> DateTime<Utc>;

    /// The rules of a time zone by its name; without a name, those of the session's zone.
    ///
    /// # Errors
    /// 22023 if there is no such zone.
    fn zone(&self, name: Option<&str>) -> Result<Rc<dyn Zone>, Fault>;

    /// Makes a new time-ordered id (UUID version 7 of [`now`](Host::now)).
    fn new_id(&mut self) -> Uuid;

    /// Random bits for retry jitter. The default returns 0, which disables jitter.
    fn random(&mut self) -> u64 {
        0
    }

    /// Checks that a role with this name exists. A host without roles accepts all names.
    ///
    /// # Errors
    /// 42704 if it does not.
    fn check_role(&mut self, _name: &str) -> Result<(), Fault> {
        Ok(())
    }

    /// The members of a role who can answer a task in its place, by name, without those whom a task with these
    /// exclusions would refuse. A host without roles knows none.
    ///
    /// # Errors
    /// 42704 if there is no such role.
    fn members(&mut self, role: &str, _excluded: &[Excluded]) -> Result<Vec<String>, Fault> {
        self.check_role(role).map(|()| Vec::new())
    }

    /// The positions of the undecided voters for whom nobody is left who can vote: one person has one vote, and those
    /// who have voted, or whom a task with these exclusions refuses, have none. A host without roles knows none.
    fn unreachable_voters(&mut self, _approval: &Approval, _excluded: &[Excluded]) -> BTreeSet<usize> {
        BTreeSet::new()
    }

    /// The people behind these assignees and candidates of a task, with what the directory knows of them. A host that
    /// knows roles may name their members in place of a role, and substitutes of absent people, without those whom the
    /// task would refuse: by these exclusions, or because they gave one of these other votes of its approval. The
    /// default knows no people.
    fn addressees(&mut self, asked: &[String], _excluded: &[Excluded], _voted: &[Uuid]) -> Addressees {
        Addressees::unknown(asked)
    }

    /// The manager of a person or group by the directory, in the form of an assignee whom a task with these exclusions
    /// can have.
    ///
    /// # Errors
    /// Why the directory cannot tell. It may be able to later.
    fn manager_of(&mut self, _person: &str, _excluded: &[Excluded]) -> Result<Option<String>, String> {
        Ok(None)
    }

    /// An open task of this instance that was opened before this burst.
    fn open_task(&mut self, _task: Uuid) -> Option<OpenTask> {
        None
    }

    /// The answer to a task of this instance that was answered before this burst.
    fn answer_to(&mut self, _task: Uuid) -> Option<Value> {
        None
    }

    /// Who gave the answer that this burst carries out: the actor, otherwise `role:` and the name of the role. `None`:
    /// nobody did, or the host does not know.
    fn answerer(&mut self) -> Option<String> {
        None
    }

    /// In whose place a substitute gave that answer to a task. `None`: the person who gave it acted for itself.
    fn answered_for(&mut self, _task: Uuid) -> Option<String> {
        None
    }

    /// When that answer to a task was given.
    fn answered_at(&mut self, _task: Uuid) -> DateTime<Utc> {
        self.now()
    }

    /// Whether another instance has a bookmark with this id.
    fn has_bookmark(&mut self, id: Uuid) -> bool;

    /// Processes query cancel and termination; called once per step.
    fn check_interrupts(&mut self);

    /// Opens a step, so that the host can undo all effects of the step together. The burst calls this only around nodes
    /// with [`uses_sql`](crate::program::Node::uses_sql).
    fn begin_step(&mut self);

    /// Ends the open step and keeps or undoes its effects.
    fn end_step(&mut self, keep: bool);

    /// Runs a statement with parameters `$1…`. The type of a parameter is inferred from its context in the statement;
    /// it is jsonb if the context implies no type or several. Rows are returned as objects.
    fn sql(&mut self, statement: &str, parameters: &[Value]) -> Result<Rows, Fault>;

    /// Runs a statement with parameters `$1…` whose types are inferred from their context, as for a client's statement.
    fn sql_inferred(&mut self, statement: &str, parameters: &[Value], take: Take) -> Result<Rows, Fault>;

    /// Evaluates a SQL expression; its named parameters are read from `scope`.
    fn sql_value(&mut self, expression: &str, scope: &dyn Scope) -> Result<Value, Fault>;

    /// Calls a user's SQL function: `f(context jsonb) RETURNS jsonb`.
    fn call(&mut self, function: Function<'_>, context: &Value) -> Result<Value, Fault>;

    /// Calls the payload function of a custom trigger type; one value per row.
    fn payloads(&mut self, type_name: &str, context: &Value) -> Result<Vec<Value>, Fault>;

    /// Checks that a correlation id belongs to the node of this instance. A host without other nodes accepts all.
    ///
    /// # Errors
    /// 22023 if it belongs to another node.
    fn check_key(&mut self, _correlation_id: Option<&str>) -> Result<(), Fault> {
        Ok(())
    }

    /// Registers a new correlation id of the instance immediately, so that an id rejected by an activation strategy
    /// faults here.
    fn correlate(&mut self, correlation_id: Option<&str>) -> Result<(), Fault>;

    /// Finds the version that a child workflow with this input would run: the published one. The instance's owner must
    /// have the right to start it, and its declared inputs must accept the input.
    ///
    /// # Errors
    /// 42704 if there is no such definition, 55000 if it is not published, 42501 without the right to start it, and the
    /// fault of a start if the input is invalid.
    fn child_version(&mut self, definition_id: &str, input: &Map<String, Value>) -> Result<Uuid, Fault>;

    /// The same for a workflow that notifies people of a task. It belongs to the owner of this definition, who has named
    /// it, and who must have the right to start it.
    ///
    /// # Errors
    /// As [`child_version`](Host::child_version).
    fn notice_version(&mut self, definition_id: &str, input: &Map<String, Value>) -> Result<Uuid, Fault> {
        self.child_version(definition_id, input)
    }

    /// The same for an instance that replaces this one. It is no child, but has the same owner.
    ///
    /// # Errors
    /// As [`child_version`](Host::child_version).
    fn continuation_version(&mut self, definition_id: &str, input: &Map<String, Value>) -> Result<Uuid, Fault> {
        self.child_version(definition_id, input)
    }

    /// How many notices have led to this burst, each one by the one before it. A host that does not count them has none.
    fn generation(&mut self) -> u32 {
        0
    }

    /// Whether child workflows started by earlier bursts of this instance are running, except those of these
    /// definitions. A host without children has none.
    fn has_children(&mut self, _except: &[&str]) -> bool {
        false
    }

    /// The HTTP request that this burst serves, if any.
    fn request(&self) -> Option<Rc<Request>> {
        None
    }

    /// What became of the HTTP request that an execution of `HttpEndpoint` received in an earlier burst, which left it
    /// without a response; `None`: of any request of the instance. A host whose requests do not wait has none.
    fn waiting_request(&mut self, _received_by: Option<Uuid>) -> WaitingRequest {
        WaitingRequest::None
    }

    /// Checks that the definition's owner may have an endpoint with this payload.
    ///
    /// # Errors
    /// 42501 if its path belongs to another owner.
    fn claim_endpoint(&mut self, _payload: &Value) -> Result<(), Fault> {
        Ok(())
    }

    /// Stores a compensation record of this instance. Records are not part of its state: a stored record can be found
    /// immediately, in this burst and in later ones. The burst changes records only between steps, and never undoes
    /// that. A host that does not store them supports only programs without compensation.
    fn store_record(&mut self, _record: &Record) {}

    /// Moves all records of one holder to another, and returns their number.
    fn move_records(&mut self, _from: u32, _to: u32) -> u64 {
        0
    }

    /// The first record that matches.
    fn find_record(&mut self, _wanted: RecordFilter) -> Option<Record> {
        None
    }

    /// Removes the record with this number; its handler has ended.
    fn remove_record(&mut self, _number: u32) {}

    /// The activities of at most `at_most` newest records of the instance, and the number of all records.
    fn list_records(&mut self, _at_most: usize) -> (Vec<NodeIx>, u64) {
        (Vec::new(), 0)
    }

    /// Removes all records of the instance.
    fn remove_records(&mut self) {}

    /// Passes on a line of `WriteLine`.
    fn write_line(&mut self, text: &str);

    /// Warns the caller of the burst. A host without an audience ignores it.
    fn warn(&mut self, _message: &str) {}

    /// Passes on a log entry of an activity. A host without a log ignores it.
    fn log(&mut self, _entry: &LogEntry) {}
}

/// An HTTP request that an earlier burst has left without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingRequest {
    /// There is none, or it got the response of the workflow.
    None,
    /// It waits for a response.
    Open,
    /// It got another response: its time was over, or the workflow had faulted.
    Over,
}

/// An entry that the activity `Log` writes to the server's log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// The severity chosen by the workflow's author.
    pub level: LogLevel,
    /// Category of the entry, a keyword.
    pub category: String,
    /// The evaluated text.
    pub message: String,
    /// Further data of the entry: an object, or null.
    pub attributes: Value,
}

/// Elsa's log levels, from the lowest severity.
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
    /// The names of the levels, in their order.
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

    /// Elsa's name of the level, as definitions have it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A user's SQL function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function<'a> {
    /// The handler registered for an activity type.
    Handler(&'a str),
    /// The callback of a bookmark, a function name.
    Callback(&'a str),
}

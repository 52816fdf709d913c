//! An instance: the durable state of one run of a definition.
//!
//! Columns that users query (`input`, `output`, `variables`, `correlation_id`, `name`, the statuses) are fields here
//! and columns in the table. Everything else is [`State`], stored as compact bytes with a format number. Bookmarks are
//! in neither: their rows are the only record of them, and a context only counts them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::approval::Approval;
use crate::node_ix::NodeIx;
use workflow_value::fault::Fault;
use workflow_value::value::Json;
use workflow_value::value::indexed::{MAX_INDEXED, check_indexed};

pub mod codec;
pub mod compensation;
pub mod continuation;
mod flow_scope;
pub mod outputs;
mod token_scope;

use compensation::{Ending, Unwinding};
use continuation::Continuation;
pub use flow_scope::FlowScope;
use outputs::{EndedInside, LastResult, Outputs};
pub use token_scope::{TokenChange, TokenScope};

/// One run of a definition.
///
/// # Examples
///
/// ```
/// use serde_json::{Value, json};
/// use workflow_engine::Instance;
/// use workflow_engine::definition::{ReadLimits, compile};
/// use workflow_engine::instance::SubStatus;
///
/// let inputs = json!([{"name": "Days", "type": "Int32"}]);
/// let leave = json!({"definitionId": "leave", "inputs": inputs, "root": {"type": "Start"}});
/// let program = compile(&leave, &(), &ReadLimits::default(), false).expect("acceptable");
/// let new = |name: &str, value: Value| {
///     let input = serde_json::Map::from_iter([(name.to_owned(), value)]);
///     Instance::new(uuid::Uuid::nil(), &program, 1, Some("A-1".to_owned()), None, input)
/// };
///
/// // The input is converted to the type that the definition declares.
/// let instance = new("Days", json!("3")).expect("an instance");
/// assert_eq!((&instance.input["Days"], instance.sub_status), (&json!(3), SubStatus::Pending));
/// let fault = new("Dais", json!(3)).unwrap_err();
/// assert_eq!(fault.message, "workflow definition \"leave\" has no input \"Dais\"");
/// ```
#[derive(Debug, PartialEq)]
pub struct Instance {
    /// UUID version 7 with the creation time, unless the caller of the start chose another id.
    pub id: Uuid,
    /// Version number of the definition that the instance runs.
    pub version: i32,
    /// Identifies the business object of the instance, such as an order number, if given.
    pub correlation_id: Option<String>,
    /// Name that the workflow gives the instance for lists, if any.
    pub name: Option<String>,
    /// The sub-status, from which the status is derived.
    pub sub_status: SubStatus,
    /// Input given at start.
    pub input: Map<String, Value>,
    /// Workflow outputs so far.
    pub output: Map<String, Value>,
    /// Variables of the workflow scope, by name.
    pub variables: Map<String, Value>,
    /// Number of incidents so far.
    pub incident_count: u32,
    /// The part that only the engine reads.
    pub state: State,
}

impl Instance {
    /// Whether an activity is faulted and can be retried.
    pub fn has_faulted_activity(&self) -> bool {
        self.state.contexts.values().any(|context| context.status == ActivityStatus::Faulted)
    }

    /// Whether nothing can continue the run: it has finished, was cancelled, or ended with a fault. Stored as the end
    /// time of the instance.
    pub fn has_ended(&self) -> bool {
        matches!(self.sub_status, SubStatus::Finished | SubStatus::Cancelled) || self.has_failed()
    }

    /// Whether the run ended with a fault: it is faulted, and no open execution could be retried.
    pub fn has_failed(&self) -> bool {
        self.sub_status == SubStatus::Faulted && self.state.contexts.is_empty()
    }
}

/// The progress of an instance, with Elsa's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubStatus {
    /// Created, not started.
    Pending,
    /// In a burst, which ends with another sub-status.
    Executing,
    /// Waits for bookmarks (or, with incidents, for a retry).
    Suspended,
    /// Every execution has ended.
    Finished,
    /// A fault stopped the instance; it can be retried, resumed or cancelled.
    Faulted,
    /// A call cancelled the instance before it ended.
    Cancelled,
}

/// Whether an instance has ended, with Elsa's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has not ended; it may be pending, in a burst or waiting.
    Running,
    /// Ended; `Faulted` counts as ended although a retry or resume can continue the instance.
    Finished,
}

impl SubStatus {
    /// All values, in the order of an instance's life.
    pub const ALL: [SubStatus; 6] =
        [Self::Pending, Self::Executing, Self::Suspended, Self::Finished, Self::Faulted, Self::Cancelled];

    /// Elsa's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Executing => "Executing",
            Self::Suspended => "Suspended",
            Self::Finished => "Finished",
            Self::Faulted => "Faulted",
            Self::Cancelled => "Cancelled",
        }
    }

    /// Reads Elsa's name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// The status derived from the sub-status.
    pub fn status(self) -> Status {
        match self {
            Self::Pending | Self::Executing | Self::Suspended => Status::Running,
            Self::Finished | Self::Faulted | Self::Cancelled => Status::Finished,
        }
    }
}

impl Status {
    /// Elsa's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Finished => "Finished",
        }
    }
}

/// The engine's own part of an instance.
#[derive(Debug, Default, PartialEq)]
pub struct State {
    /// Open activity executions by sequence number.
    pub contexts: BTreeMap<u32, Context>,
    /// Next sequence number.
    pub next_context: u32,
    /// Number of journal rows written so far, which is the `seq` of the next row.
    pub next_journal: u32,
    /// Latest outputs of each activity that ended inside the root, and of the root itself; they survive a suspend.
    pub outputs: BTreeMap<NodeIx, Outputs>,
    /// The trigger that this run started with.
    pub trigger: Option<NodeIx>,
    /// Whether that trigger has executed as the trigger; after that it waits like any other activity.
    pub trigger_used: bool,
    /// The time of the run, if it is bounded. Packed behind the state, so that a state without one takes no byte more.
    pub deadline: Option<Timeout>,
    /// What begins in place of the run when the handlers of its end have run. Packed in the same way.
    pub continuation: Option<Box<Continuation>>,
    /// Number of journal rows that were removed, which is the `seq` of the first that may be there. Packed in the same
    /// way.
    pub first_journal: u32,
    /// Executions with a lower number were opened when all outputs were those of the root: what they do not find
    /// inside a container they look for around it. Packed in the same way.
    pub outputs_shared_below: u32,
    /// Spans, in microseconds, of deadlines that another version has armed and whose span this version does not have.
    /// Packed in the same way.
    pub armed_spans: BTreeMap<DeadlineKey, i64>,
}

/// The owner of a deadline: an execution, or `u32::MAX` for the run; and whether it is the one for the first claim of a
/// task.
pub type DeadlineKey = (u32, bool);

impl State {
    /// Whether every node that the state names exists in a program with this number of nodes. Damaged bytes may decode
    /// and still name others.
    pub fn fits(&self, nodes: usize) -> bool {
        let contexts = self.contexts.values().map(|context| context.node);
        let inside = self.contexts.values().filter_map(|context| context.ended_inside.as_deref());
        let inside = inside.flat_map(|inside| inside.outputs.keys().chain(inside.arrived.keys()));
        let mut named = contexts.chain(self.outputs.keys().chain(inside).copied()).chain(self.trigger);
        named.all(|node| (node.0 as usize) < nodes)
    }

    /// How the run will end, once the handlers that are running have ended.
    pub fn ending(&self) -> Ending {
        let found = self.contexts.values().find_map(|context| match context.memory {
            Memory::Unwinding(Unwinding::Instance(ending)) => Some(ending),
            _ => None,
        });
        found.unwrap_or(Ending::None)
    }

    /// Number of stored bookmarks.
    pub fn bookmarks(&self) -> u32 {
        let of_executions: u32 = self.contexts.values().map(|context| context.bookmarks).sum();
        of_executions.saturating_add(u32::from(self.deadline.is_some()))
    }
}

/// One open execution of an activity.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Its activity, by number in the version that the instance runs.
    pub node: NodeIx,
    /// Sequence number of the execution that scheduled it; `None`: it is the root, or runs the instance's own handlers.
    pub parent: Option<u32>,
    /// Whether a fault has stopped it.
    pub status: ActivityStatus,
    /// Number of its stored bookmarks.
    pub bookmarks: u32,
    /// Number of faulted executions: itself and its descendants.
    pub faults: u32,
    /// Tag given by the parent, which distinguishes executions of one child.
    pub tag: u32,
    /// Whether a `Break` signal passed: the execution ends with the next child that completes.
    pub breaking: bool,
    /// Variables of its scope: those declared by a container first, then those passed by a loop.
    pub variables: Vec<(String, Json)>,
    /// Memory of the activity itself.
    pub memory: Memory,
    /// Its attempts, if a policy repeats or limits them. Packed after the state, so that a state without any takes no
    /// additional byte.
    #[serde(skip)]
    pub attempts: Option<Box<Attempts>>,
    /// Outputs that it has set itself. Those of the root are in [`State::outputs`]. Packed after everything else, like
    /// the next two.
    #[serde(skip)]
    pub outputs: Outputs,
    /// The last result produced on the path to this execution.
    #[serde(skip)]
    pub last_result: Option<LastResult>,
    /// Outputs of executions that ended inside it, if any.
    #[serde(skip)]
    pub ended_inside: Option<Box<EndedInside>>,
    /// The last HTTP request received on the path to this execution, to which its path responds: the number of the
    /// execution of `HttpEndpoint` that received it. Packed behind all of these.
    #[serde(skip)]
    pub request: Option<u32>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            node: NodeIx(0),
            parent: None,
            status: ActivityStatus::Running,
            bookmarks: 0,
            faults: 0,
            tag: 0,
            breaking: false,
            variables: Vec::new(),
            memory: Memory::None,
            attempts: None,
            outputs: Outputs::new(),
            last_result: None,
            ended_inside: None,
            request: None,
        }
    }
}

/// The attempts of an execution: the number of failed ones, and the deadline of the current one.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Attempts {
    /// Number of failed attempts; the current one is the next.
    pub failed: u32,
    /// Start of the first one, in microseconds since 1970.
    pub since: i64,
    /// The input of the last attempt when it failed; the next one gets it if it waits for the same.
    pub input: Option<KeptInput>,
    /// The timeout of the current attempt, if its bookmark is stored.
    pub timeout: Option<Timeout>,
    /// The resilience strategy that the current attempt has computed, or the name of one. Packed after everything else.
    #[serde(skip)]
    pub strategy: Option<Json>,
}

/// A timeout of an open execution or of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeout {
    /// Id of the bookmark that is due at the deadline.
    #[serde(with = "uuid::serde::compact")]
    pub bookmark: Uuid,
    /// The deadline, in microseconds since 1970.
    pub until: i64,
}

impl Context {
    /// Number of the current attempt: 1 if none has failed.
    pub fn attempt(&self) -> u32 {
        self.attempts.as_ref().map_or(0, |attempts| attempts.failed).saturating_add(1)
    }

    /// The resilience strategy that its current attempt has computed, or the name of one.
    pub fn strategy(&self) -> Option<&Value> {
        self.attempts.as_ref()?.strategy.as_ref().map(|strategy| &strategy.0)
    }

    /// Number of its stored bookmarks, not counting that of a timeout.
    pub fn waits(&self) -> u32 {
        let is_timed = self.attempts.as_ref().is_some_and(|attempts| attempts.timeout.is_some());
        self.bookmarks.saturating_sub(u32::from(is_timed))
    }
}

/// The input of a resume, or of a trigger, whose activity faulted.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptInput {
    /// Name of the bookmark; `None`: the activity ran as the trigger.
    pub name: Option<String>,
    /// Payload of the bookmark, by which the next attempt detects that it waits for the same.
    pub payload: Json,
    /// The input; null if there was none.
    pub input: Json,
}

/// Elsa's activity status; completed and cancelled executions are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActivityStatus {
    /// Started and not ended.
    Running,
    /// Stopped by a fault and still open; a retry runs it again.
    Faulted,
}

impl ActivityStatus {
    /// Elsa's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Faulted => "Faulted",
        }
    }
}

/// The memory of an activity between its calls. Variants are stored by number, so a new one must be added at the end.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    /// No memory.
    #[default]
    None,
    /// A position among its children, or the number of children it waits for.
    Count(i64),
    /// Progress of a counting loop.
    Range {
        /// The number of the current round.
        current: i64,
        /// The limit of the range; `inclusive` says whether it belongs to it.
        end: i64,
        /// The difference between two rounds.
        step: i64,
        /// Whether the bound belongs to the range.
        inclusive: bool,
    },
    /// Progress of a loop over computed items.
    Items {
        /// Index of the current round.
        index: i64,
        /// The items as computed before the first round, an array.
        items: Json,
    },
    /// How often a flowchart in counter mode has followed which connections.
    Flow(Box<FlowScope>),
    /// Data of any other activity.
    Json(Json),
    /// The tokens on the connections of a flowchart in token mode.
    Tokens(Box<TokenScope>),
    /// The activity is deferred to a later burst and has not been executed yet.
    Deferred,
    /// The execution runs handlers of compensation records.
    Unwinding(Unwinding),
    /// An open approval.
    Approval(#[serde(with = "crate::approval::as_text")] Box<Approval>),
}

impl Memory {
    /// The position or count, 0 if the variant has none.
    pub fn position(&self) -> i64 {
        match self {
            Self::Count(position) | Self::Range { current: position, .. } | Self::Items { index: position, .. } => {
                *position
            }
            _ => 0,
        }
    }

    /// Sets the position; a variant without one becomes a count.
    pub fn set_position(&mut self, to: i64) {
        match self {
            Self::Count(position) | Self::Range { current: position, .. } | Self::Items { index: position, .. } => {
                *position = to
            }
            _ => *self = Self::Count(to),
        }
    }
}

/// The value that means all correlation ids when a stimulus is sent. No instance can have it.
pub const EVERYONE: &str = "*";

/// Rejects texts that no instance can have as its correlation id: the one that means all of them (22023), and one that
/// is too long for an index (54000).
pub fn check_correlation_id(correlation_id: Option<&str>) -> Result<(), Fault> {
    match correlation_id {
        None => Ok(()),
        Some(EVERYONE) => Err(Fault::new("22023", "a correlation id cannot be \"*\"")
            .detail("It stands for all correlation ids where a stimulus is sent.")),
        Some(id) => check_indexed("correlation id", id, MAX_INDEXED),
    }
}

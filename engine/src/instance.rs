//! An instance: the durable state of one run of a definition.
//!
//! Columns that users query (`input`, `output`, `variables`, `correlation_id`, `name`, the statuses) are
//! fields here and columns in the table. Everything else is [`State`], stored as compact bytes with a
//! format number. Bookmarks are in neither: their rows are the only truth, a context only counts them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::fault::Fault;
use crate::node_ix::NodeIx;
use crate::value::Json;

pub mod codec;
mod flow_scope;
mod token_scope;

pub use flow_scope::FlowScope;
pub use token_scope::{TokenChange, TokenScope};

/// One run of a definition.
#[derive(Debug, PartialEq)]
pub struct Instance {
    /// Id.
    pub id: Uuid,
    /// Version number of the definition it is pinned to.
    pub version: i32,
    /// Correlation id.
    pub correlation_id: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Sub-status; the status follows from it.
    pub sub_status: SubStatus,
    /// Input given at start.
    pub input: Map<String, Value>,
    /// Workflow outputs so far.
    pub output: Map<String, Value>,
    /// Variables of the workflow scope, by name.
    pub variables: Map<String, Value>,
    /// Number of incidents so far.
    pub incident_count: u32,
    /// What only the engine reads.
    pub state: State,
}

/// Elsa's sub-status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubStatus {
    /// Created, not started.
    Pending,
    /// In a burst.
    Executing,
    /// Waits for bookmarks (or, with incidents, for a retry).
    Suspended,
    /// All done.
    Finished,
    /// A fault stopped it; it can be retried, resumed or cancelled.
    Faulted,
    /// Cancelled.
    Cancelled,
}

/// Elsa's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not ended.
    Running,
    /// Ended; `Faulted` counts as ended although it can be taken up again.
    Finished,
}

impl SubStatus {
    /// All values, in the order of life.
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

    /// The status that belongs to it.
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
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Open activity executions by sequence number.
    pub contexts: BTreeMap<u32, Context>,
    /// Next sequence number.
    pub next_context: u32,
    /// Number of journal rows written so far; the next one's `seq`.
    pub next_journal: u32,
    /// Latest outputs of each activity that had any; they survive a suspend.
    pub outputs: BTreeMap<NodeIx, Vec<(String, Json)>>,
    /// The activity that last produced a result, and which of its outputs that is.
    pub last_result: Option<(NodeIx, u32)>,
    /// The trigger that this run started with.
    pub trigger: Option<NodeIx>,
    /// Whether that trigger has run as such; from then on it waits like any other activity.
    pub trigger_used: bool,
}

impl State {
    /// Whether everything in it that names a node names one of a program with so many nodes. Bytes that were damaged can be
    /// read and still name others.
    pub fn fits(&self, nodes: usize) -> bool {
        let contexts = self.contexts.values().map(|context| context.node);
        let last = self.last_result.map(|(node, _)| node);
        let mut named = contexts.chain(self.outputs.keys().copied()).chain(last).chain(self.trigger);
        named.all(|node| (node.0 as usize) < nodes)
    }

    /// Result of the activity that last produced one.
    pub fn last_result(&self) -> Option<&Value> {
        let (node, at) = self.last_result?;
        self.outputs.get(&node)?.get(at as usize).map(|(_, value)| &value.0)
    }
}

/// One open execution of an activity.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// What it executes.
    pub node: NodeIx,
    /// The execution that scheduled it.
    pub parent: Option<u32>,
    /// Where it stands.
    pub status: ActivityStatus,
    /// Bookmarks of it that are stored.
    pub bookmarks: u32,
    /// Faults of it and below it.
    pub faults: u32,
    /// Mark given by the parent, to tell executions of one child apart.
    pub tag: u32,
    /// Whether a `Break` passed: it ends with the next child that completes.
    pub breaking: bool,
    /// Variables of its scope: those declared by a container first, then those given by a loop.
    pub variables: Vec<(String, Json)>,
    /// What the activity itself remembers.
    pub memory: Memory,
}

/// Elsa's activity status; completed and cancelled executions are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActivityStatus {
    /// Begun and not ended.
    Running,
    /// Ended by a fault; a retry runs it again.
    Faulted,
}

/// What an activity remembers between its child's or bookmark's events. It is stored by the number of the variant: a new one
/// comes last.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    /// Nothing.
    #[default]
    None,
    /// A position or a count.
    Count(i64),
    /// Where a counting loop stands.
    Range {
        /// The number of this round.
        current: i64,
        /// The bound.
        end: i64,
        /// The difference between two rounds.
        step: i64,
        /// Whether the bound belongs to the range.
        inclusive: bool,
    },
    /// Where a loop over computed items stands.
    Items {
        /// Index of this round.
        index: i64,
        /// The items, as an array.
        items: Json,
    },
    /// Visits of a flowchart.
    Flow(Box<FlowScope>),
    /// Of another activity.
    Json(Json),
    /// Tokens of a flowchart.
    Tokens(Box<TokenScope>),
    /// That it has not been executed yet, and waits for a burst of its own.
    Deferred,
}

impl Memory {
    /// The position or count in it, 0 if it has none.
    pub fn position(&self) -> i64 {
        match self {
            Self::Count(position) | Self::Range { current: position, .. } | Self::Items { index: position, .. } => {
                *position
            }
            Self::None | Self::Flow(_) | Self::Json(_) | Self::Tokens(_) | Self::Deferred => 0,
        }
    }

    /// Moves the position; what has none becomes a count.
    pub fn set_position(&mut self, to: i64) {
        match self {
            Self::Count(position) | Self::Range { current: position, .. } | Self::Items { index: position, .. } => {
                *position = to
            }
            Self::None | Self::Flow(_) | Self::Json(_) | Self::Tokens(_) | Self::Deferred => *self = Self::Count(to),
        }
    }
}

/// What stands for all correlation ids where a stimulus is sent. No instance can have it.
pub const EVERYONE: &str = "*";

/// Refuses the correlation id that stands for all of them (22023).
pub fn refuse_everyone(correlation_id: Option<&str>) -> Result<(), Fault> {
    if correlation_id != Some(EVERYONE) {
        return Ok(());
    }
    Err(Fault::new("22023", "a correlation id cannot be \"*\"")
        .detail("It stands for all correlation ids where a stimulus is sent."))
}

//! The compiled form of a definition: what a burst reads and never changes.
//!
//! A program is built once per definition version and backend, and all instances of the version share it. The engine
//! identifies a node by its index, in the state of an instance as well; ids are for people.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use chrono::TimeDelta;
use serde_json::Value;

use crate::activity::{Activity, FlowRole};
use crate::journal::Level;
use crate::node_ix::NodeIx;
use crate::notification::Notify;
use crate::resilience::Strategies;
use crate::retry::{Cause, RetryPolicy};
use workflow_expression::Expression;
use workflow_schema::Schema;
use workflow_value::calendar::Interval;
use workflow_value::fault::Fault;
use workflow_value::value::TypeName;

mod compensation;
mod executions;
mod flow_edges;
mod flow_graph;
mod flow_mode;
mod flow_paths;
mod ids;
mod inline;
mod input;
mod journaling;
mod machine;
mod new_instance;
mod numbering;
mod retry;
mod search;
mod types;

pub use compensation::Compensation;
pub use executions::begins;
pub use executions::{ExecutionTracker, Subject};
pub use flow_edges::{Edge, Edges};
pub use flow_graph::{Connection, FlowGraph, Member};
pub use flow_mode::{FlowMode, MergeMode};
pub use flow_paths::{Direction, Paths};
pub use input::GIVEN_BY_ENGINE;
pub use input::GivenInput;
pub use journaling::{Journaling, Keep};
pub use machine::{Machine, STATES, TRANSITIONS};
pub use numbering::Numbering;
pub use retry::{ComputedStrategy, Retry};
pub use search::{SearchAttribute, SearchKind, SearchSource, SearchValue};

/// A definition as a burst runs it: names resolved, expressions compiled. It never changes.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use workflow_engine::definition::{ReadLimits, compile};
///
/// let leave = json!({"definitionId": "leave", "root": {"id": "main", "type": "Sequence", "activities": [
///     {"id": "ask", "type": "RunTask", "taskName": "approve"}]}});
/// let program = compile(&leave, &(), &ReadLimits::default(), false).expect("acceptable");
/// let ask = program.node(program.find("ask").expect("an activity"));
/// assert_eq!((ask.type_name.as_str(), ask.parent), ("Elsa.RunTask", program.find("main")));
/// assert_eq!(ask.node_id, "Workflow1:main:ask");
/// ```
#[derive(Debug)]
pub struct Program {
    /// Logical id, shared by all versions.
    pub definition_id: String,
    /// Id of the stored version; before it is stored, the `id` in the document.
    pub version_id: Option<String>,
    /// Name of the workflow, if it has one.
    pub name: Option<String>,
    /// The `options` of the document, with defaults for missing ones.
    pub options: Options,
    /// Variables of the workflow scope.
    pub variables: Vec<Variable>,
    /// Declared inputs; without declarations the definition accepts any input.
    pub inputs: Vec<Argument>,
    /// Declared outputs, to whose types values are converted.
    pub outputs: Vec<Argument>,
    /// JSON Schema that the input must match as one object, after its members match theirs.
    pub input_schema: Option<Schema>,
    /// All activities. The first is the root, and a parent has a lower index than its children. The definition's own
    /// nodes come first, then those of each inlined workflow in the workflow's own order. The own nodes of a definition
    /// that was just read are in document order, those of a stored one in the order of its [`Numbering`].
    pub nodes: Vec<Node>,
    /// The definition's own nodes by activity id. If an id occurs twice, which is possible only across nesting levels,
    /// the entry is the first node.
    pub by_id: HashMap<String, NodeIx>,
    /// The inlined workflows, including those inside other inlined workflows.
    pub inlined: Vec<Inlined>,
    /// Outcomes of the activity when another workflow inlines this one, for documentation and the check of connections.
    pub outcomes: Vec<String>,
    /// Size of all documents in the program; the document of an inlined workflow counts at each use.
    pub size: usize,
    /// Whether any activity or expression can run SQL or a user's SQL function.
    pub uses_sql: bool,
    /// Whether any of its tasks excludes people.
    pub excludes_people: bool,
    /// Whether it notifies people of any of its tasks.
    pub notifies: bool,
    /// What it can compensate, computed on first use.
    pub compensation: OnceLock<Compensation>,
}

/// An inlined workflow: one that another workflow uses as an activity.
#[derive(Debug)]
pub struct Inlined {
    /// The activity that uses the workflow.
    pub node: NodeIx,
    /// Root of the workflow; the nodes of its program follow from here, in their order.
    pub first: NodeIx,
    /// The workflow's own program, whose node 0 is `first` here.
    pub program: Arc<Program>,
}

/// A composite: its children see a scope of their own, which the activity's own inputs do not see.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Composite {
    /// Id of the inlined definition; `None` if the composite holds its activities itself.
    pub definition: Option<String>,
    /// Declared inputs. They are variables of the node, after the variables that the definition declares.
    pub inputs: Vec<Argument>,
    /// Index of the first declared input among the variables.
    pub first_input: usize,
    /// Declared outputs, which become outputs of the activity.
    pub outputs: Vec<Argument>,
}

/// Settings of a definition that the engine acts on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Whether calls without an actor are rejected for its instances.
    pub actor_required: bool,
    /// Whether publishing a new version also gives its consumers a new version.
    pub updates_consumers: bool,
    /// Whether publishing a new version migrates the instances of the others.
    pub migrates: bool,
    /// Whether other definitions may use the workflow as an activity, under its name as the type.
    pub usable_as_activity: bool,
    /// Which instances may run at the same time.
    pub activation: Activation,
    /// The effect of a fault on the rest of the instance.
    pub incidents: IncidentStrategy,
    /// Whose rights users' SQL has.
    pub security: Security,
    /// The search path of users' SQL.
    pub search_path: SearchPath,
    /// Mode of flowcharts that declare none.
    pub flowcharts: FlowMode,
    /// How long finished instances are kept.
    pub retention: Option<Interval>,
    /// How many instances may run at the same time.
    pub max_concurrency: Option<MaxConcurrency>,
    /// The default retry policy of activities that contain no others.
    pub retry: Option<Arc<RetryPolicy>>,
    /// When completed work is compensated.
    pub compensate_on: CompensateOn,
    /// The time limit of a run, from its first burst to its end.
    pub timeout: Option<TimeDelta>,
    /// Which events the requester of an instance may send to it without a privilege on the definition.
    pub requester_events: RequesterEvents,
    /// Which events and values the journal keeps, and for how long.
    pub journal: Journaling,
    /// The default for the events of single activities; `None`: as for the rest.
    pub activity_events: Option<Level>,
    /// Elsa's resilience strategies that its activities may name.
    pub strategies: Arc<Strategies>,
    /// The default of its activities' `notify`.
    pub notify: Option<Box<Notify>>,
    /// The values by which instances are found.
    pub search_attributes: Vec<SearchAttribute>,
}

/// When completed activities of a scope are compensated automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompensateOn {
    /// When the scope is cancelled.
    pub cancel: bool,
    /// When an unhandled fault ends the run.
    pub fault: bool,
}

impl Default for CompensateOn {
    fn default() -> Self {
        Self { cancel: true, fault: false }
    }
}

/// The events that a definition accepts from the requester of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequesterEvents {
    /// Every event for which an activity `Event` waits.
    All,
    /// Those with these names.
    Named(Vec<String>),
}

impl Default for RequesterEvents {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

impl RequesterEvents {
    /// Whether the event of this name is one of them.
    pub fn contains(&self, event: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| name == event),
        }
    }
}

/// How many instances of a definition may run at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxConcurrency {
    /// Number of the instances, at least 1.
    pub max: u32,
    /// The input for each of whose values the limit applies separately.
    pub key: Option<String>,
}

/// Elsa's activation strategies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// Any number of instances.
    #[default]
    Always,
    /// One running instance of the definition.
    Singleton,
    /// One running instance with the same correlation id, of any definition with this strategy.
    Correlated,
    /// One running instance of the definition with the same correlation id.
    CorrelatedSingleton,
}

/// Elsa's incident strategies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncidentStrategy {
    /// The instance becomes `Faulted`.
    #[default]
    Fault,
    /// Other branches continue; the instance is then `Suspended`.
    ContinueWithIncidents,
}

/// Whose rights users' SQL has, as for SQL functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// Those of the caller, or of the owner if a background worker runs it; the default.
    #[default]
    Invoker,
    /// Those of the definition's owner, as a security-restricted operation.
    Definer,
}

/// The search path of users' SQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SearchPath {
    /// The definition declares none: the extension chooses by `security` and by whether the burst has a caller.
    #[default]
    Unset,
    /// The path of the session that runs it.
    Caller,
    /// These schemas, in this order.
    Schemas(Vec<String>),
}

/// A declared variable with its initial value, already converted to its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Elsa's id; bindings refer to it.
    pub id: String,
    /// Name; scripts refer to it.
    pub name: String,
    /// Type that assigned values are converted to.
    pub type_name: TypeName,
    /// Value at the start of its scope, converted to its type.
    pub initial: Value,
}

/// A declared input or output of the workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Name by which callers give or read it.
    pub name: String,
    /// Type that values are converted to.
    pub type_name: TypeName,
    /// Value of a missing input.
    pub default: Option<Value>,
    /// Whether a run cannot start without it.
    pub required: bool,
    /// Schema that a value must satisfy beyond its type.
    pub schema: Option<Schema>,
}

/// One activity of the program.
#[derive(Debug)]
pub struct Node {
    /// Activity id, unique among its siblings.
    pub id: String,
    /// Whether another activity of the program has the same id.
    pub shares_id: bool,
    /// Path of ids from the workflow down, as Elsa writes it (`Workflow1:Flowchart1:Event1`).
    pub node_id: String,
    /// Name given by the author.
    pub name: Option<String>,
    /// Full type name, such as `Elsa.Event`.
    pub type_name: String,
    /// The activity that has this one as a child.
    pub parent: Option<NodeIx>,
    /// Depth of nesting; the root has 0.
    pub depth: u32,
    /// The behaviour of the activity; that of an unknown type faults.
    pub activity: &'static dyn Activity,
    /// Whether the activity's type was known when the definition was compiled.
    pub is_known: bool,
    /// Whether the activity is a trigger of the definition.
    pub can_start_workflow: bool,
    /// Whether a burst of its own executes the activity (`runAsynchronously`).
    pub runs_in_background: bool,
    /// The retry policy that is applied before its faults become incidents.
    pub retry: Option<Retry>,
    /// Time limit of one attempt, including waiting.
    pub timeout: Option<TimeDelta>,
    /// Time limit until the first claim of its task.
    pub start_timeout: Option<TimeDelta>,
    /// Who is notified of the tasks for people that it opens, and how.
    pub notify: Option<Box<Notify>>,
    /// Which of its events the journal keeps; `None`: as for the rest.
    pub events: Option<Level>,
    /// Whether the activity ends the enclosing sequence or flowchart (`Break`, `Complete`, `Finish`, `End`).
    pub terminal: bool,
    /// Variables declared by a container.
    pub variables: Vec<Variable>,
    /// Inputs in the order of the descriptor; `None` means unset.
    pub inputs: Vec<Option<Expression>>,
    /// Targets of outputs, in the order of the descriptor.
    pub outputs: Vec<Option<Binding>>,
    /// Inputs of a custom activity by name as written, or of an inlined workflow by name as declared.
    pub custom_inputs: Vec<(String, Expression)>,
    /// Output bindings of a custom activity by name as written, or of an inlined workflow by name as declared.
    pub custom_outputs: Vec<(String, Binding)>,
    /// Single children in the order of the descriptor's ports.
    pub ports: Vec<Option<NodeIx>>,
    /// Children of a list port (`activities`, `branches`).
    pub children: Vec<NodeIx>,
    /// The activity's lists of parts, in the order of the descriptor.
    pub parts: Vec<Vec<Part>>,
    /// States and transitions of a state machine.
    pub machine: Option<Box<Machine>>,
    /// Connections of a flowchart, by the positions of its activities.
    pub flow: Option<Box<FlowGraph>>,
    /// Variable that `SetVariable` assigns, or that holds the result of a `Composite` (its name, resolved at compile
    /// time).
    pub variable: Option<String>,
    /// Set if the activity is a composite.
    pub composite: Option<Box<Composite>>,
    /// Index of the inlined workflow that the node belongs to; `None` for the definition's own nodes.
    pub inlined: Option<u32>,
    /// Whether running this activity (including its inputs) can run SQL or a user's SQL function.
    pub uses_sql: bool,
}

impl Node {
    /// Whether it runs several executions of one child in parallel.
    pub fn runs_bodies_beside(&self) -> bool {
        self.activity.descriptor().flow == FlowRole::Each
    }

    /// Whether its author raises a fault with it. A retry raises that again.
    pub fn is_fault(&self) -> bool {
        self.type_name == "Elsa.Fault"
    }

    /// A list of parts by its position in the descriptor.
    pub fn part_list(&self, list: usize) -> &[Part] {
        self.parts.get(list).map_or(&[], Vec::as_slice)
    }
}

/// One object of a list of parts, such as a case of a switch.
#[derive(Debug)]
pub struct Part {
    /// Text members in the order of the descriptor; empty if a part has none.
    pub texts: Vec<String>,
    /// Condition; `None` always holds.
    pub condition: Option<Expression>,
    /// Activities in the order of the descriptor's ports.
    pub ports: Vec<Option<NodeIx>>,
    /// Causes of the faults that it handles; an empty list stands for all.
    pub on: Vec<Cause>,
    /// The variable that receives the handled fault.
    pub variable: Option<String>,
}

impl Part {
    /// The text member at this position; empty if the part has none.
    pub fn text(&self, index: usize) -> &str {
        self.texts.get(index).map_or("", String::as_str)
    }

    /// Whether it handles a fault.
    pub fn takes(&self, fault: &Fault) -> bool {
        self.on.is_empty() || self.on.iter().any(|cause| cause.is_of(fault))
    }

    /// The activity at a port of the part, if the author has put one there.
    pub fn port(&self, port: usize) -> Option<NodeIx> {
        self.ports.get(port).copied().flatten()
    }
}

/// Target of an output's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Into the variable of this name, looked up from the activity's scope.
    Variable(String),
    /// Into the workflow output of this name.
    Output(String),
}

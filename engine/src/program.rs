//! The compiled form of a definition: what a burst reads and never changes.
//!
//! A program is built once per definition version and backend and shared by all instances of it.
//! Nodes stand in document order; a node is named by its index, ids are for people and for storage.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::activity::Activity;
use crate::activity::flowchart::graph::FlowGraph;
use crate::calendar::Interval;

/// Index of a node in [`Program::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeIx(pub u32);

/// A compiled definition.
#[derive(Debug)]
pub struct Program {
    /// Logical id, shared by all versions.
    pub definition_id: String,
    /// Name of the workflow, if it has one.
    pub name: Option<String>,
    /// Settings of the definition.
    pub options: Options,
    /// Variables of the workflow scope.
    pub variables: Vec<Variable>,
    /// Declared inputs; none declared means that any input is accepted.
    pub inputs: Vec<Argument>,
    /// Declared outputs.
    pub outputs: Vec<Argument>,
    /// All activities in document order; the first is the root.
    pub nodes: Vec<Node>,
    /// Node by activity id. An id that occurs twice (only possible across nesting levels) maps to the first.
    pub by_id: HashMap<String, NodeIx>,
    /// Whether any activity or expression can run SQL or a function of the user.
    pub uses_sql: bool,
}

impl Program {
    /// Returns the node with this index.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix.0 as usize]
    }

    /// Finds a node by its activity id.
    pub fn find(&self, activity_id: &str) -> Option<NodeIx> {
        self.by_id.get(activity_id).copied()
    }
}

/// Settings of a definition that the engine acts on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which instances may run beside each other.
    pub activation: Activation,
    /// What a fault does to the rest of the instance.
    pub incidents: IncidentStrategy,
    /// Whose rights user SQL has.
    pub security: Security,
    /// How long finished instances are kept.
    pub retention: Option<Interval>,
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
    /// Other branches go on; the instance ends `Suspended`.
    ContinueWithIncidents,
}

/// Whose rights user SQL has, as for SQL functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// The caller's.
    #[default]
    Invoker,
    /// The definition owner's.
    Definer,
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
    /// Initial value.
    pub initial: Value,
}

/// A declared input or output of the workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Name.
    pub name: String,
    /// Type that values are converted to.
    pub type_name: TypeName,
    /// Value used when an input is not given.
    pub default: Option<Value>,
}

/// One activity of the program.
#[derive(Debug)]
pub struct Node {
    /// Activity id, unique among its siblings.
    pub id: String,
    /// Path of ids from the workflow down, as Elsa writes it (`Workflow1:Flowchart1:Event1`).
    pub node_id: String,
    /// Name given by the author.
    pub name: Option<String>,
    /// Full type name, such as `Elsa.Event`.
    pub type_name: String,
    /// The activity that holds this one.
    pub parent: Option<NodeIx>,
    /// Depth of nesting; the root has 0.
    pub depth: u32,
    /// Behaviour.
    pub activity: &'static dyn Activity,
    /// Whether the activity is a trigger of the definition.
    pub can_start_workflow: bool,
    /// Whether it ends the enclosing sequence or flowchart (`Break`, `Complete`, `Finish`, `End`).
    pub terminal: bool,
    /// Variables declared by a container.
    pub variables: Vec<Variable>,
    /// Inputs in the order of the descriptor; `None` means unset.
    pub inputs: Vec<Option<Expression>>,
    /// Where outputs go, in the order of the descriptor.
    pub outputs: Vec<Option<Binding>>,
    /// Inputs of a custom activity, by name as written.
    pub custom_inputs: Vec<(String, Expression)>,
    /// Output bindings of a custom activity, by name as written.
    pub custom_outputs: Vec<(String, Binding)>,
    /// Single children in the order of the descriptor's ports.
    pub ports: Vec<Option<NodeIx>>,
    /// Children of a list port (`activities`, `branches`).
    pub children: Vec<NodeIx>,
    /// Cases of `Switch` and `FlowSwitch`.
    pub cases: Vec<Case>,
    /// Connections of a flowchart.
    pub flow: Option<Box<FlowGraph>>,
    /// Variable that `SetVariable` assigns (its name, resolved when compiled).
    pub variable: Option<String>,
    /// Whether running this activity (its inputs included) can run SQL or a function of the user.
    pub uses_sql: bool,
}

/// One case of a switch.
#[derive(Debug)]
pub struct Case {
    /// Label, which is the outcome of a `FlowSwitch`.
    pub label: String,
    /// Condition.
    pub condition: Expression,
    /// Activity of a `Switch`.
    pub activity: Option<NodeIx>,
}

/// Where the value of an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Into the variable of this name, looked up from the activity's scope.
    Variable(String),
    /// Into the workflow output of this name.
    Output(String),
}

/// An expression with the type that its value is converted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What is evaluated.
    pub kind: ExpressionKind,
    /// Type that the result is converted to.
    pub type_name: TypeName,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A constant, already converted.
    Literal(Value),
    /// An object whose members may be expressions in the short form (`{"js": …}`).
    Object(ObjectTemplate),
    /// The variable of this name.
    Variable(String),
    /// The workflow input of this name.
    Input(String),
    /// JavaScript source.
    JavaScript(Arc<str>),
    /// SQL source: a query if it begins with SELECT, WITH or VALUES, else an expression.
    Sql(Arc<str>),
}

/// A JSON value with expressions inside.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectTemplate {
    /// A part without expressions.
    Constant(Value),
    /// An array.
    Array(Vec<ObjectTemplate>),
    /// An object.
    Object(Vec<(String, ObjectTemplate)>),
    /// An expression.
    Expression(Box<Expression>),
}

/// The .NET type names that the engine converts to; anything else is passed on as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypeName {
    /// No conversion.
    #[default]
    Any,
    /// `Boolean`.
    Boolean,
    /// `Int16`, `Int32`, `Int64`, `Byte`.
    Integer,
    /// `Single`, `Double`.
    Float,
    /// `Decimal`: kept as exact text.
    Decimal,
    /// `String`.
    String,
    /// `Guid`.
    Guid,
    /// `DateTime` and `DateTimeOffset`.
    DateTime,
    /// `TimeSpan`.
    TimeSpan,
    /// Collections and arrays.
    List,
    /// Objects and dictionaries: JSON text is parsed.
    Object,
}

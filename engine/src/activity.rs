//! Activities: what they are called, take, give and do.
//!
//! An activity is one file with one unit struct that implements [`Activity`]. To add one is to add that
//! file and one line in [`ACTIVITIES`](crate::activities::catalogue::ACTIVITIES); documentation, validation, reading and export derive
//! from its [`Descriptor`].

use std::fmt;

use crate::bookmark::Resumed;
use crate::calendar::Schedule;
use crate::execution::{Child, Execution, Outcomes, Signal};
use crate::fault::Fault;
use serde_json::Value;

pub(crate) mod handle;

pub use handle::{FromInput, Input, NonEmpty, Output, Port};

/// What the catalogue says about an activity type.
#[derive(Debug)]
pub struct Descriptor {
    /// Full type name, `Elsa.…`.
    pub type_name: &'static str,
    /// One or two sentences for `wf_activities()`.
    pub description: &'static str,
    /// Inputs in evaluation order.
    pub inputs: &'static [InputDescriptor],
    /// Outputs.
    pub outputs: &'static [OutputDescriptor],
    /// Single-child ports, JSON property names such as `then`.
    pub ports: &'static [&'static str],
    /// JSON property that holds a list of children (`activities`, `branches`), if any.
    pub children: Option<&'static str>,
    /// Lists of objects that it has, such as `cases`.
    pub parts: &'static [PartList],
    /// Outcomes it can complete with; empty means `Done`. For documentation.
    pub outcomes: &'static [&'static str],
    /// Whether it may carry `canStartWorkflow`.
    pub trigger: bool,
    /// Whether it ends the enclosing sequence or flowchart.
    pub terminal: bool,
    /// What it is in the flow around it.
    pub flow: FlowRole,
    /// What it has beside inputs, outputs, ports and parts.
    pub special: Special,
    /// Whether it declares `variables`.
    pub container: bool,
    /// Whether it runs user SQL by itself.
    pub uses_sql: bool,
    /// Whether it does something outside in the name of the instance's owner: starts a child or sends an event.
    pub acts_for_owner: bool,
    /// A complete example in the short form, JSON text.
    pub example: &'static str,
}

/// What an activity is in the flow around it: flowcharts ask for their start and their joins, pictures for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowRole {
    /// A step: the flow goes on behind it, by its outcomes, or through its ports and parts.
    Step,
    /// Where a flowchart begins.
    Start,
    /// Where branches of a flowchart part.
    Fork,
    /// Where they meet.
    Join,
    /// Its children run one after the other.
    Sequence,
    /// Its body runs again and again; the label of the way into it.
    Loop(&'static str),
    /// Its body runs for many items side by side.
    Each,
    /// The flow goes on behind the innermost loop.
    Break,
    /// The flow goes on nowhere.
    Exit,
}

/// Members that the reader of definitions makes something of, other than inputs, outputs, ports and parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// None.
    None,
    /// `variable`: the variable that it assigns.
    Variable,
    /// `resultVariable`: the variable that is its result; it is a scope of its own.
    Result,
    /// `connections` and the mode of a flowchart.
    Connections,
    /// States and transitions of a state machine.
    States,
}

impl Special {
    /// Member that names the variable of a `Composite`'s result.
    pub(crate) const RESULT_VARIABLE: &str = "resultVariable";
    /// Member that names the variable which `SetVariable` assigns.
    pub(crate) const VARIABLE: &str = "variable";
    /// Names of them all.
    pub(crate) fn members(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Variable => &[Self::VARIABLE],
            Self::Result => &[Self::RESULT_VARIABLE],
            Self::Connections => &["connections", "mode", "executionMode"],
            Self::States => &["initialState", "currentState"],
        }
    }
}

/// A list of objects beside the inputs, such as the cases of a switch: each has texts, activities, a condition.
#[derive(Debug)]
pub struct PartList {
    /// JSON property that holds the list.
    pub name: &'static str,
    /// What one of them is called in messages.
    pub one: &'static str,
    /// Text members, and whether each must be there.
    pub texts: &'static [(&'static str, bool)],
    /// Single-child ports.
    pub ports: &'static [&'static str],
    /// Whether it has a `condition`.
    pub condition: PartCondition,
    /// Whether text may stand for an object with that first text member alone.
    pub short: bool,
}

/// Whether a part has a condition, and what one that is not there means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartCondition {
    /// It has none.
    None,
    /// It must have one; one that a designer left empty never holds. Elsa writes it without a wrapper.
    Needed,
    /// It may have one, as an input; without one it always holds.
    Optional,
}

/// Judges a constant.
pub type Check = fn(&Value) -> Result<(), Fault>;

/// One input.
#[derive(Debug)]
pub struct InputDescriptor {
    /// JSON property in camelCase.
    pub name: &'static str,
    /// Type that the value is converted to, in Elsa's name.
    pub type_name: &'static str,
    /// Default, JSON text; `None` is null.
    pub default: Option<&'static str>,
    /// Whether Elsa's own publish refuses a definition without it.
    pub required: bool,
    /// Whether the activity faults without it, or could not be meant without it: the short form must have it. In Elsa's
    /// form its default is what the designer shows.
    pub needed: bool,
    /// Whether it is evaluated before the activity runs (otherwise the activity asks for it).
    pub auto_evaluate: bool,
    /// Whether it is a script that the activity runs: constant text, or JavaScript written as an expression.
    pub script: bool,
    /// Whether Elsa keeps its constants bare, without a type and an expression around them.
    pub bare: bool,
    /// What a constant must satisfy, beyond its type, when the definition is stored.
    pub check: Option<Check>,
    /// Language of Elsa's host, if the input is code: its value is what the code returns.
    pub code: Option<ForeignLanguage>,
    /// Whether it is a SQL statement: an expression of type `Sql` is its text, not a value to compute.
    pub statement: bool,
    /// What it means.
    pub description: &'static str,
}

/// A language that Elsa runs in its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignLanguage {
    /// C#.
    CSharp,
    /// Python.
    Python,
}

impl ForeignLanguage {
    /// Elsa's name for expressions in it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CSharp => "CSharp",
            Self::Python => "Python",
        }
    }
}

/// One output.
#[derive(Debug)]
pub struct OutputDescriptor {
    /// JSON property in camelCase.
    pub name: &'static str,
    /// Type in Elsa's name.
    pub type_name: &'static str,
    /// What it means.
    pub description: &'static str,
}

impl Descriptor {
    /// An activity without anything, to be filled in with struct update syntax.
    pub const BASE: Self = Self {
        type_name: "",
        description: "",
        inputs: &[],
        outputs: &[],
        ports: &[],
        children: None,
        parts: &[],
        outcomes: &[],
        trigger: false,
        terminal: false,
        flow: FlowRole::Step,
        special: Special::None,
        container: false,
        uses_sql: false,
        acts_for_owner: false,
        example: "",
    };
}

impl InputDescriptor {
    /// An optional input, evaluated before the activity runs.
    pub const fn new(name: &'static str, type_name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            type_name,
            default: None,
            required: false,
            needed: false,
            auto_evaluate: true,
            script: false,
            bare: false,
            check: None,
            code: None,
            statement: false,
            description,
        }
    }

    /// Gives it a default, as JSON text.
    #[must_use]
    pub const fn default(mut self, json: &'static str) -> Self {
        self.default = Some(json);
        self
    }

    /// Makes a definition without it unacceptable.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Makes a definition in the short form without it unacceptable.
    #[must_use]
    pub const fn needed(mut self) -> Self {
        self.needed = true;
        self
    }

    /// Checks constants when the definition is stored.
    #[must_use]
    pub const fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// Makes it a script that the activity runs.
    #[must_use]
    pub const fn script(mut self) -> Self {
        self.script = true;
        self.auto_evaluate = false;
        self
    }

    /// Makes it a SQL statement.
    #[must_use]
    pub const fn statement(mut self) -> Self {
        self.statement = true;
        self
    }

    /// Makes it code of Elsa's host.
    #[must_use]
    pub const fn code(mut self, language: ForeignLanguage) -> Self {
        self.code = Some(language);
        self
    }

    /// Says that Elsa keeps its constants bare.
    #[must_use]
    pub const fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    /// Leaves its evaluation to the activity.
    #[must_use]
    pub const fn on_demand(mut self) -> Self {
        self.auto_evaluate = false;
        self
    }
}

impl OutputDescriptor {
    /// An output.
    pub const fn new(name: &'static str, type_name: &'static str, description: &'static str) -> Self {
        Self { name, type_name, description }
    }
}

/// The behaviour of an activity type. All methods run inside a burst, on the execution `cx`.
///
/// An activity that returns without completing itself, without having scheduled a child and without a
/// bookmark would never end; the burst does not guess. Most activities end with `cx.complete()`.
pub trait Activity: Sync {
    /// Its entry in the catalogue.
    fn descriptor(&self) -> &'static Descriptor;

    /// Runs the activity; inputs that are auto-evaluated can be read with `cx.get(…)`.
    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault>;

    /// A child that this execution scheduled has completed.
    fn child_completed(&self, cx: &mut Execution<'_>, child: &Child, outcomes: &Outcomes) -> Result<(), Fault> {
        let _ = (child, outcomes);
        cx.complete()
    }

    /// A child that this execution scheduled was cancelled (not by this execution's own end).
    fn child_canceled(&self, cx: &mut Execution<'_>, child: &Child) -> Result<(), Fault> {
        let _ = (cx, child);
        Ok(())
    }

    /// A descendant has faulted: below this child, or the child itself. `true` takes the fault: it becomes no incident, and
    /// the child is cancelled with all below it once this call has returned (`child_canceled` is not called for it). Asked
    /// from the inside to the outside.
    ///
    /// # Errors
    /// A fault of this activity, beside the one it was asked about.
    fn child_faulted(&self, cx: &mut Execution<'_>, child: &Child, fault: &Fault) -> Result<bool, Fault> {
        let _ = (cx, child, fault);
        Ok(false)
    }

    /// One of its bookmarks without a callback of the user was resumed with this input.
    fn resumed(&self, cx: &mut Execution<'_>, bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let _ = input;
        if bookmark.auto_complete { cx.complete() } else { Ok(()) }
    }

    /// Whether a retry of a faulted execution goes on with what it remembers instead of beginning anew.
    fn remembers(&self) -> bool {
        false
    }

    /// A signal from below (or from itself) passes. `true` stops it here.
    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        let _ = (cx, signal);
        Ok(false)
    }

    /// Payloads that index this activity as a trigger on publish; one row each. `None` in the list is a
    /// row without payload. Evaluated with the workflow's initial variables and no input.
    fn trigger_payloads(&self, cx: &mut Execution<'_>) -> Result<Vec<Option<Value>>, Fault> {
        let _ = cx;
        Ok(vec![None])
    }

    /// When time itself fires this activity as a trigger. Asked for after the payloads, in the same execution.
    fn schedule(&self, cx: &mut Execution<'_>) -> Result<Option<Schedule>, Fault> {
        let _ = cx;
        Ok(None)
    }
}

impl fmt::Debug for dyn Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.descriptor().type_name)
    }
}

/// Prefixes that may be left out of a type name, Elsa's first.
pub(crate) const PREFIXES: [&str; 2] = ["Elsa.", "Workflow."];

/// The type name without our prefix or Elsa's.
pub fn short_name(type_name: &str) -> &str {
    PREFIXES.iter().find_map(|prefix| type_name.strip_prefix(prefix)).unwrap_or(type_name)
}

/// Says which input could not be evaluated, unless the fault says where it comes from already.
pub(crate) fn locate(mut fault: Fault, input: &str) -> Fault {
    if fault.context.is_none() && !input.is_empty() {
        fault.context = Some(format!("input \"{input}\""));
    }
    fault
}

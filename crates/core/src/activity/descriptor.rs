//! Descriptors: the entries of activity types in the catalogue.

use serde_json::Value;

use workflow_value::fault::Fault;

/// The catalogue's description of an activity type.
#[derive(Debug)]
pub struct Descriptor {
    /// Full type name, `Elsa.…` or `Workflow.…`.
    pub type_name: &'static str,
    /// The designer's group of activities, with Elsa's name: `Branching`.
    pub category: &'static str,
    /// A few sentences for `wf_activities()`.
    pub description: &'static str,
    /// Inputs in evaluation order.
    pub inputs: &'static [InputDescriptor],
    /// Its outputs, in the order of [`Node::outputs`](crate::program::Node::outputs).
    pub outputs: &'static [OutputDescriptor],
    /// Single-child ports, JSON property names such as `then`.
    pub ports: &'static [&'static str],
    /// JSON property that holds a list of children (`activities`, `branches`), if any.
    pub children: Option<&'static str>,
    /// The activity's lists of objects, such as `cases`.
    pub parts: &'static [PartList],
    /// Outcomes it can complete with; empty means `Done`. For documentation and the check of connections.
    pub outcomes: &'static [&'static str],
    /// Which other outcomes it can complete with.
    pub further_outcomes: FurtherOutcomes,
    /// Whether it may carry `canStartWorkflow`.
    pub trigger: bool,
    /// Whether it ends the enclosing sequence or flowchart.
    pub terminal: bool,
    /// Role of the activity in the control flow.
    pub flow: FlowRole,
    /// Members other than inputs, outputs, ports and parts.
    pub special: Special,
    /// Whether it declares `variables`.
    pub container: bool,
    /// Whether the activity itself runs users' SQL.
    pub uses_sql: bool,
    /// Whether the activity itself waits at a bookmark.
    pub waits: WaitKind,
    /// Its role in compensation.
    pub compensation: CompensationRole,
    /// Whether the activity acts outside the instance on its owner's behalf: it starts a child or publishes an event.
    pub acts_for_owner: bool,
    /// A complete example in the short form, JSON text.
    pub example: &'static str,
}

/// Whether an activity itself waits, so that the burst can end there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// It does not, though activities inside it may.
    Never,
    /// It waits for a time or a stimulus, unless it starts the workflow.
    Always,
    /// It opens a task, for a task worker or a person.
    ForTask,
    /// It opens tasks for people, one for each vote.
    ForVotes,
    /// It waits if this input is true.
    IfTrue(&'static str),
    /// It depends on a child or a handler.
    Perhaps,
}

/// Outcomes that depend on the activity in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FurtherOutcomes {
    /// There are none.
    None,
    /// The first text of each part of its first list of parts, such as the label of a case.
    Labels,
    /// The constants in the list of this input; any name, if the input is computed.
    Listed(&'static str),
    /// Any name, chosen by a script or an inner activity.
    Any,
}

/// Role of an activity in the control flow. Flowcharts need it to find their start and joins, diagrams for the other
/// roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowRole {
    /// A step: the flow continues after it by its outcomes, or through its ports and parts.
    Step,
    /// A flowchart that holds it begins there.
    Start,
    /// Branches of a flowchart split here.
    Fork,
    /// Branches of a flowchart join here.
    Join,
    /// The children run one after the other.
    Sequence,
    /// The body runs repeatedly; the text labels the arrow into it.
    Loop(&'static str),
    /// The body runs for each item, in parallel.
    Each,
    /// The flow continues after the innermost loop.
    Break,
    /// The flow ends here.
    Exit,
}

/// Role of an activity in compensation. If it has handlers, the first port is its body, and the others are handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompensationRole {
    /// Its work is not compensated.
    None,
    /// It can be compensated when it has completed.
    Compensable,
    /// It holds the completed work inside it.
    Scope,
    /// It runs handlers: those of the Compensable that its input `target` names, or all in a scope.
    Unwinds,
}

impl CompensationRole {
    /// Whether the activity holds the completed work inside it, and may have handlers.
    pub fn has_handlers(self) -> bool {
        matches!(self, Self::Compensable | Self::Scope)
    }

    /// Whether completed work inside it belongs to it.
    pub fn is_scope(self) -> bool {
        self == Self::Scope
    }
}

/// Members that the reader of definitions handles separately from inputs, outputs, ports and parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// It has no such members.
    None,
    /// The name of the variable that it assigns.
    Variable,
    /// `resultVariable`: the variable whose value is the result; the activity has a scope of its own.
    Result,
    /// `connections` and the mode of a flowchart.
    Connections,
    /// States and transitions of a state machine.
    States,
}

impl Special {
    /// Member that names the variable of a `Composite`'s result.
    pub const RESULT_VARIABLE: &str = "resultVariable";
    /// Member that names the variable which `SetVariable` assigns.
    pub const VARIABLE: &str = "variable";
    /// The keys in the JSON of the activity that the reader leaves to this case.
    pub fn members(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Variable => &[Self::VARIABLE],
            Self::Result => &[Self::RESULT_VARIABLE],
            Self::Connections => &["connections", "mode", "executionMode"],
            Self::States => &["initialState", "currentState"],
        }
    }
}

/// A list of objects in addition to the inputs, such as the cases of a switch; each has texts, activities, a condition.
#[derive(Debug)]
pub struct PartList {
    /// JSON property that holds the list.
    pub name: &'static str,
    /// The name of one part of the list in messages.
    pub one: &'static str,
    /// Text members, and whether each is required.
    pub texts: &'static [(&'static str, bool)],
    /// Single-child ports.
    pub ports: &'static [&'static str],
    /// Whether a part has a `condition`.
    pub condition: PartCondition,
    /// Whether a text may replace an object that has only the first text member.
    pub short: bool,
    /// Whether its texts are written as whole numbers.
    pub numbered: bool,
    /// Whether a part names faults (`on`) and a variable for the handled fault (`variable`).
    pub catches: bool,
    /// How Elsa's designer edits the list, as Elsa's UI hint, if it can.
    pub hint: Option<&'static str>,
}

/// Whether a part has a condition, and what a missing condition means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartCondition {
    /// Parts have no condition.
    None,
    /// Required; a condition that the designer left empty never holds. Elsa writes it without a wrapper.
    Needed,
    /// A part may have a condition, as an input; without one the part always holds.
    Optional,
}

/// Checks whether a constant is valid for an input; its fault is the problem shown to the author.
pub type Check = fn(&Value) -> Result<(), Fault>;

/// An input of an activity type.
#[derive(Debug)]
pub struct InputDescriptor {
    /// JSON property in camelCase.
    pub name: &'static str,
    /// Elsa's name of the type that the value is converted to.
    pub type_name: &'static str,
    /// Default, JSON text; `None` is null.
    pub default: Option<&'static str>,
    /// Whether Elsa rejects publishing a definition without it.
    pub required: bool,
    /// Whether the activity faults or makes no sense without it. The short form must have it; in Elsa's form a missing
    /// one has the default that the designer shows.
    pub needed: bool,
    /// Whether the burst evaluates it before the activity runs; otherwise the activity evaluates it.
    pub auto_evaluate: bool,
    /// Whether it is a script that the activity runs: constant text, or a JavaScript expression.
    pub script: bool,
    /// Whether Elsa writes a constant bare, without a wrapper with type and expression.
    pub bare: bool,
    /// Whether its value must be a constant, because it is also read outside bursts.
    pub constant: bool,
    /// Check of a constant beyond its type, when the definition is stored.
    pub check: Option<Check>,
    /// Language of Elsa's host, if the input is code; its value is what the code returns.
    pub code: Option<ForeignLanguage>,
    /// Whether it is a SQL statement: an expression of type `Sql` is then its text, not a value to compute.
    pub statement: bool,
    /// The permitted constants of the input or its list; empty if there are many.
    pub choices: &'static [&'static str],
    /// Elsa's UI hint for editing it, if it cannot be derived from the other fields.
    pub hint: Option<&'static str>,
    /// Language for editing it, if it cannot be derived from the other fields.
    pub language: Option<&'static str>,
    /// Meaning of the input, for documentation.
    pub description: &'static str,
}

/// A language whose scripts Elsa runs in its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignLanguage {
    /// C#, translated if a script only returns a value.
    CSharp,
    /// Python, translated if a script only returns a value.
    Python,
}

impl ForeignLanguage {
    /// Elsa's name for expressions in this language.
    pub fn name(self) -> &'static str {
        match self {
            Self::CSharp => "CSharp",
            Self::Python => "Python",
        }
    }
}

/// An output of an activity type.
#[derive(Debug)]
pub struct OutputDescriptor {
    /// JSON property in camelCase.
    pub name: &'static str,
    /// Type, with Elsa's name.
    pub type_name: &'static str,
    /// Meaning of the output, for documentation.
    pub description: &'static str,
}

impl Descriptor {
    /// A descriptor with defaults in every field, to be completed with struct update syntax.
    pub const BASE: Self = Self {
        type_name: "",
        category: "",
        description: "",
        inputs: &[],
        outputs: &[],
        ports: &[],
        children: None,
        parts: &[],
        outcomes: &[],
        further_outcomes: FurtherOutcomes::None,
        trigger: false,
        terminal: false,
        flow: FlowRole::Step,
        special: Special::None,
        container: false,
        uses_sql: false,
        waits: WaitKind::Never,
        compensation: CompensationRole::None,
        acts_for_owner: false,
        example: "",
    };

    /// Whether the activity opens tasks.
    pub fn opens_tasks(&self) -> bool {
        matches!(self.waits, WaitKind::ForTask | WaitKind::ForVotes)
    }

    /// Whether a worker may have to claim its task in time.
    pub fn may_limit_start(&self) -> bool {
        self.waits == WaitKind::ForTask
    }

    /// The outcomes that its type names.
    pub fn fixed_outcomes(&self) -> &'static [&'static str] {
        if self.outcomes.is_empty() { &["Done"] } else { self.outcomes }
    }

    /// Position of a port among `ports`; `None`: it has none of this name.
    pub fn port(&self, name: &str) -> Option<usize> {
        self.ports.iter().position(|port| *port == name)
    }

    /// Whether activities of this type contain others.
    pub fn holds_activities(&self) -> bool {
        self.container || !self.ports.is_empty() || self.children.is_some() || !self.parts.is_empty()
    }
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
            constant: false,
            check: None,
            code: None,
            statement: false,
            choices: &[],
            hint: None,
            language: None,
            description,
        }
    }

    /// Sets the default, as JSON text.
    #[must_use]
    pub const fn default(mut self, json: &'static str) -> Self {
        self.default = Some(json);
        self
    }

    /// Makes it mandatory in every definition.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Makes it mandatory in definitions in the short form.
    #[must_use]
    pub const fn needed(mut self) -> Self {
        self.needed = true;
        self
    }

    /// Sets a check of constants when the definition is stored.
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

    /// Sets the permitted constants.
    #[must_use]
    pub const fn choices(mut self, choices: &'static [&'static str]) -> Self {
        self.choices = choices;
        self
    }

    /// Sets the UI hint.
    #[must_use]
    pub const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Sets the language for editing it.
    #[must_use]
    pub const fn edited_as(mut self, language: &'static str) -> Self {
        self.language = Some(language);
        self
    }

    /// Marks that Elsa writes a constant bare.
    #[must_use]
    pub const fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    /// Requires a constant.
    #[must_use]
    pub const fn constant(mut self) -> Self {
        self.constant = true;
        self
    }

    /// Makes the activity itself evaluate it.
    #[must_use]
    pub const fn on_demand(mut self) -> Self {
        self.auto_evaluate = false;
        self
    }
}

impl OutputDescriptor {
    /// Declares an output in a `static`.
    pub const fn new(name: &'static str, type_name: &'static str, description: &'static str) -> Self {
        Self { name, type_name, description }
    }
}

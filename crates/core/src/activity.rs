//! Activities: descriptors of their inputs, outputs and ports, and their behaviour.
//!
//! An activity is one file with one unit struct that implements [`Activity`]. A new activity changes two other files of
//! the engine: `activities.rs` declares its module, and the [`catalogue`](crate::activities::catalogue) imports it and
//! names it in `ACTIVITIES` and `LATER`. Validation, reading, export and `wf_activities()` derive from its
//! [`Descriptor`]. Pages, tests and a few statements name activities as well: docs/internals/changes.md lists them.

use std::fmt;

use chrono::TimeDelta;

use crate::bookmark::Resumed;
use crate::execution::{Child, Execution, Faulted, Outcomes, Signal};
use crate::node_ix::NodeIx;
use crate::program::{Node, Program};
use crate::retry::RetryPolicy;
use serde_json::Value;
use workflow_expression::Expression;
use workflow_value::calendar::Schedule;
use workflow_value::fault::Fault;

pub(crate) mod descriptor;
mod designer;
mod excluded;
pub(crate) mod handle;

pub use descriptor::{
    Check, CompensationRole, Descriptor, FlowRole, ForeignLanguage, FurtherOutcomes, InputDescriptor, OutputDescriptor,
    PartCondition, PartList, Special, WaitKind,
};
pub use designer::DesignerField;
pub use excluded::Excluded;
pub(crate) use handle::locate;
pub use handle::{FromInput, Input, NonEmpty, Output, Port};

/// An attempt at a task that failed although the worker has answered.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedAttempt {
    /// Why it failed.
    pub fault: Fault,
    /// The delay before the next attempt, in place of the policy's.
    pub retry_in: Option<TimeDelta>,
}

/// The scope that an `End` inside an activity ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// The activity itself.
    End,
    /// The enclosing container: the activity is one step there, and runs one of its branches.
    NextAround,
    /// Nothing: the activity continues as after any other child.
    Nothing,
}

/// The behaviour of an activity type. All methods run inside a burst, on the execution `cx`.
///
/// The burst does not notice an activity that returns without completing, scheduling a child or making a bookmark: its
/// execution would never end. Most activities end with `cx.complete()`.
///
/// # Examples
///
/// ```
/// use workflow_engine::Fault;
/// use workflow_engine::activity::{Activity, Descriptor};
/// use workflow_engine::execution::Execution;
/// # use serde_json::{Map, json};
/// # use workflow_engine::{Instance, Limits, definition::compile, execution::start};
/// # mod host { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/support/alone.rs")); }
///
/// struct Greet;
///
/// static DESCRIPTOR: Descriptor =
///     Descriptor { type_name: "Elsa.Greet", category: "Console", description: "Greets.", ..Descriptor::BASE };
///
/// impl Activity for Greet {
///     fn descriptor(&self) -> &'static Descriptor {
///         &DESCRIPTOR
///     }
///
///     fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
///         cx.write_line("good morning".to_owned());
///         cx.complete()
///     }
/// }
/// #
/// # // The catalogue has no such type, so the example gives the node its activity.
/// # let definition = json!({"definitionId": "greeting", "root": {"type": "Start"}});
/// # let mut program = compile(&definition, &(), &Default::default(), false).expect("acceptable");
/// # program.nodes[0].activity = &Greet;
/// # let instance = Instance::new(uuid::Uuid::nil(), &program, 1, None, None, Map::new());
/// # let mut instance = instance.expect("no input is needed");
/// # let mut host = host::Alone::default();
/// # start(&program, &mut instance, None, None, &mut host, &Limits::default()).expect("the burst ends");
/// # assert_eq!(instance.sub_status, workflow_engine::instance::SubStatus::Finished);
/// # assert_eq!(host.lines, ["good morning"]);
/// ```
pub trait Activity: Sync {
    /// Its entry in the catalogue.
    fn descriptor(&self) -> &'static Descriptor;

    /// Runs the activity; inputs that are auto-evaluated can be read with `cx.get(…)`.
    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault>;

    /// Called when a child that this execution scheduled has completed.
    fn child_completed(&self, cx: &mut Execution<'_>, child: &Child, outcomes: &Outcomes) -> Result<(), Fault> {
        let _ = (child, outcomes);
        cx.complete()
    }

    /// Called when a child that this execution scheduled was cancelled manually. It counts as a child that has ended
    /// without an outcome.
    fn child_cancelled(&self, cx: &mut Execution<'_>, child: &Child) -> Result<(), Fault> {
        self.child_completed(cx, child, &Outcomes::Empty)
    }

    /// The scope that an `End` below it ends.
    fn ended_by(&self) -> EndedBy {
        EndedBy::Nothing
    }

    /// Schedules a child out of turn at an operator's request. When it ends, `child_completed` is called as for any
    /// other child.
    ///
    /// # Errors
    /// 0A000 if the activity could not continue after such a child.
    fn begin_child(&self, cx: &mut Execution<'_>, child: NodeIx) -> Result<(), Fault> {
        let _ = child;
        let Node { id, type_name, .. } = cx.node();
        Err(Fault::new("0A000", format!("an activity of \"{id}\" cannot be scheduled out of turn"))
            .detail(format!("{} cannot go on after it; Flowchart, Sequence and Parallel can.", short_name(type_name)))
            .hint(format!("Schedule \"{id}\" itself.")))
    }

    /// Called after the instance was migrated to a version that lacks an open child, or in which a join has nothing
    /// left to wait for. `child` has the tag of the missing child, and otherwise names this execution itself.
    fn child_dropped(&self, cx: &mut Execution<'_>, child: &Child) -> Result<(), Fault> {
        self.child_completed(cx, child, &Outcomes::Done)
    }

    /// Called when a descendant has faulted: `child` itself or an execution below it. Returning `true` handles the
    /// fault: it becomes no incident, and after this call the burst cancels the child with all its descendants (without
    /// `child_cancelled`). The innermost ancestor is asked first.
    ///
    /// # Errors
    /// A fault of this activity itself, in addition to the descendant's.
    fn child_faulted(&self, cx: &mut Execution<'_>, child: &Child, faulted: &Faulted<'_>) -> Result<bool, Fault> {
        let _ = (cx, child, faulted);
        Ok(false)
    }

    /// Called when a bookmark of this execution without a user's callback was resumed with this input.
    fn resumed(&self, cx: &mut Execution<'_>, bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let _ = input;
        if bookmark.auto_complete { cx.complete() } else { Ok(()) }
    }

    /// Validates the answer to a task that an activity with these inputs has opened, before it is accepted. If it reports a
    /// failed attempt and the retry policy allows another one, that follows; otherwise `resumed` is called with the answer.
    ///
    /// # Errors
    /// 22023 if it is no valid answer: the caller gets the error, and the task stays open.
    fn validate_answer(
        &self,
        inputs: &[Option<Expression>],
        answer: Option<&Value>,
    ) -> Result<Option<FailedAttempt>, Fault> {
        let _ = (inputs, answer);
        Ok(None)
    }

    /// Whether the author has said what follows an answer that counts as a failed attempt: an activity in a port of the
    /// node, or a connection of the flowchart above it. If not, the last failed attempt that the policy `retry` permits
    /// is the activity's fault.
    fn handles_failure(&self, program: &Program, node: NodeIx, answer: Option<&Value>) -> bool {
        let _ = (program, node, answer);
        true
    }

    /// The people who must not answer the tasks that an activity with these inputs opens.
    ///
    /// # Errors
    /// 22023 if the input that lists them is invalid.
    fn excluded(&self, inputs: &[Option<Expression>]) -> Result<Vec<Excluded>, Fault> {
        let _ = inputs;
        Ok(Vec::new())
    }

    /// Whether those who are asked by the tasks of an activity with these inputs may assign them to others.
    fn is_reassignable(&self, inputs: &[Option<Expression>]) -> bool {
        let _ = inputs;
        false
    }

    /// The default retry policy of an activity with these inputs.
    fn usual_retry(&self, inputs: &[Option<Expression>]) -> Option<RetryPolicy> {
        let _ = inputs;
        None
    }

    /// Codes of the faults that Elsa's resilience strategies retry; empty: all faults.
    fn transient_causes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a retry of a faulted execution continues with its memory instead of starting again.
    fn remembers(&self) -> bool {
        false
    }

    /// Called when a signal from a descendant passes. `true` stops the signal here.
    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        let _ = (cx, signal);
        Ok(false)
    }

    /// Payloads under which a publish indexes this activity as a trigger, one row each. `None` in the list is a row
    /// without payload. They are evaluated with the workflow's initial variables and no input.
    fn trigger_payloads(&self, cx: &mut Execution<'_>) -> Result<Vec<Option<Value>>, Fault> {
        let _ = cx;
        Ok(vec![None])
    }

    /// The schedule on which timers fire this activity as a trigger. Called after `trigger_payloads`, in the same
    /// execution.
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

/// Prefixes that may be omitted from a type name, Elsa's first.
pub(crate) const PREFIXES: [&str; 2] = ["Elsa.", "Workflow."];

/// The type name without the prefix `Elsa.` or `Workflow.`.
pub fn short_name(type_name: &str) -> &str {
    PREFIXES.iter().find_map(|prefix| type_name.strip_prefix(prefix)).unwrap_or(type_name)
}

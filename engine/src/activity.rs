//! Activities: what they are called, take, give and do.
//!
//! An activity is one file with one unit struct that implements [`Activity`]. To add one is to add that
//! file and one line in [`catalogue::ACTIVITIES`]; documentation, validation, reading and export derive
//! from its [`Descriptor`].

use std::fmt;

use crate::bookmark::Resumed;
use crate::calendar::Schedule;
use crate::definition::HostLanguage;
use crate::execution::{Child, Execution, Outcomes, Signal};
use crate::fault::Fault;
use serde_json::Value;

pub mod catalogue;
pub mod flowchart;

pub mod break_;
pub mod bulk_dispatch_workflows;
pub mod child;
pub mod complete;
pub mod composite;
pub mod correlate;
pub mod cron;
pub mod custom;
mod database;
pub mod delay;
pub mod dispatch_workflow;
pub mod end;
pub mod event;
pub mod execute_workflow;
pub mod fault;
pub mod finish;
pub mod flow_decision;
pub mod flow_fork;
pub mod flow_join;
pub mod flow_node;
pub mod flow_switch;
pub mod for_;
pub mod for_each;
pub mod fork;
mod host_script;
pub mod http_endpoint;
pub mod if_;
pub mod not_found;
pub mod parallel;
pub mod parallel_for_each;
pub mod publish_event;
pub mod run_csharp;
pub mod run_java_script;
pub mod run_python;
pub mod run_task;
pub mod scheduled_command;
pub mod sequence;
pub mod set_name;
pub mod set_output;
pub mod set_variable;
pub mod sql;
pub mod sql_command;
pub mod sql_query;
pub mod sql_single_value;
pub mod start;
pub mod start_at;
pub mod state_machine;
pub mod switch;
pub mod timer;
pub mod timing;
pub mod while_;
pub mod workflow_definition_activity;
pub mod write_http_response;
pub mod write_line;

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
    /// Whether it declares `variables`.
    pub container: bool,
    /// Whether it runs user SQL by itself.
    pub uses_sql: bool,
    /// A complete example in the short form, JSON text.
    pub example: &'static str,
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
    pub code: Option<HostLanguage>,
    /// Whether it is a SQL statement: an expression of type `Sql` is its text, not a value to compute.
    pub statement: bool,
    /// What it means.
    pub description: &'static str,
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

/// The behaviour of an activity type. All methods run inside a burst, on the execution `cx`.
///
/// An activity that returns without completing itself, without having scheduled a child and without a
/// bookmark would never end; the burst does not guess. Most activities end with `cx.complete()`.
pub trait Activity: Sync {
    /// Its entry in the catalogue.
    fn descriptor(&self) -> &'static Descriptor;

    /// Runs the activity; inputs that are auto-evaluated can be read with `cx.input(…)`.
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

//! The interface between expressions and the instance.

use serde_json::Value;

use super::script_limits::ScriptLimits;
use workflow_value::fault::Fault;

/// What an expression can read and change in the instance, from the point of view of one activity execution.
pub trait Scope {
    /// Value of the nearest variable of this name.
    fn variable(&self, name: &str) -> Option<Value>;
    /// Names of all variables in scope, nearest first, no name twice.
    fn variable_names(&self) -> Vec<String>;
    /// Sets the nearest variable of this name, converted to its declared type. If there is none, creates one in the
    /// nearest container. `false` if there is no container either.
    fn set_variable(&mut self, name: &str, value: Value) -> Result<bool, Fault>;
    /// A workflow input. The input of the resume that started this burst takes precedence over that of the start.
    fn input(&self, name: &str) -> Option<Value>;
    /// All inputs as one object. Those of the resume take precedence over those of the start, and these over the
    /// defaults.
    fn inputs(&self) -> Value;
    /// Names of declared and given inputs.
    fn input_names(&self) -> Vec<String>;
    /// Latest output of an activity, by activity id or name. Without an output name: its only output, or the output
    /// `result`.
    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value>;
    /// `(activity id or name, output name)` of all outputs that activities of the program declare.
    fn output_names(&self) -> Vec<(String, String)>;
    /// All outputs so far: `{activity id: {output: value}}`.
    fn outputs(&self) -> Value;
    /// Result of the activity that last produced one.
    fn last_result(&self) -> Option<Value>;
    /// `{id, definitionId, version, correlationId, name}`.
    fn instance(&self) -> Value;
    /// Id of the instance, which templates read as `WorkflowInstanceId`.
    fn instance_id(&self) -> uuid::Uuid;
    /// The id that all versions of the definition share.
    fn definition_id(&self) -> String;
    /// Number of the version that the instance runs.
    fn definition_version(&self) -> i32;
    /// Id of the stored definition version, where one is stored.
    fn definition_version_id(&self) -> Option<String> {
        None
    }
    /// The correlation id; `None` if the instance has none.
    fn correlation_id(&self) -> Option<String>;
    /// Changes the correlation id of the instance and of its open bookmarks.
    fn set_correlation_id(&mut self, value: Option<String>) -> Result<(), Fault>;
    /// The name that the workflow gave its instance, if any.
    fn instance_name(&self) -> Option<String>;
    /// Sets the name of the instance; `None` removes it.
    fn set_instance_name(&mut self, value: Option<String>);
    /// Outcomes that the script sets. Only a script run by an activity has them.
    fn outcomes(&mut self) -> Option<&mut Vec<String>> {
        None
    }
    /// A UUID from the host, for scripts that create ids.
    fn new_id(&mut self) -> uuid::Uuid;
    /// The instant of the burst, the same for all expressions that it evaluates.
    fn now(&self) -> chrono::DateTime<chrono::Utc>;
    /// Evaluates SQL with the named parameters of this scope.
    fn sql_value(&mut self, expression: &str) -> Result<Value, Fault>;
    /// Runs a statement with parameters `$1…` whose types PostgreSQL infers from their positions.
    fn sql_inferred(&mut self, statement: &str, parameters: &[Value], take: Take) -> Result<Rows, Fault> {
        let _ = (statement, parameters, take);
        Err(Fault::new("25006", "SQL cannot be run here"))
    }
    /// Output of the workflow, if it is already set.
    fn workflow_output(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }
    /// The time and memory that a script of this scope may take.
    fn script_limits(&self) -> ScriptLimits;
    /// Checks for a query cancel; unwinds if there is one.
    fn check_interrupts(&mut self);
}

/// Which part of a statement's rows the caller takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Each row, as an object of its columns.
    Rows,
    /// The first column of each row.
    FirstColumn,
    /// The first column of each row, of a text that is a query or an expression.
    Value,
}

/// The result of an author's statement.
#[derive(Debug, Default, PartialEq)]
pub struct Rows {
    /// One object per row, or the first column of each; empty for a statement that returns no rows.
    pub rows: Vec<Value>,
    /// Number of rows returned or affected.
    pub count: u64,
}

pub(crate) fn unknown_variable(name: &str) -> Fault {
    Fault::new("42704", format!("variable \"{}\" does not exist", workflow_value::fault::shorten(name, 60)))
}

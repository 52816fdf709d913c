//! Expressions: literals, objects, variables, inputs, JavaScript, Liquid and SQL.
//!
//! An expression sees the instance through a [`Scope`] and gives a value converted to its type. Knows
//! neither activities nor how instances are stored; SQL text is passed on, never looked at.

use std::sync::Arc;

use serde_json::Value;

use crate::fault::Fault;
use crate::value::{Bounds, TypeName, convert, copy};

pub mod javascript;
pub mod liquid;
mod object;
pub mod shared_time;
pub mod sql_template;
mod text;

use liquid::LiquidTemplate;
use sql_template::SqlTemplate;

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
    /// The texts of these, one after the other.
    Text(Vec<Expression>),
    /// JavaScript source.
    JavaScript(Arc<str>),
    /// A Liquid template.
    Liquid(LiquidTemplate),
    /// SQL with parameters as Elsa writes them.
    SqlTemplate(SqlTemplate),
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

/// Evaluates an expression and converts the result to its type.
///
/// # Errors
/// What the script or the SQL faults with; 42704 for an unknown variable; 22P02 and 22003 if the result
/// cannot be converted; 54001 for an object nested too deep; 57014 if it is time to stop.
pub fn evaluate(expression: &Expression, scope: &mut dyn Scope) -> Result<Value, Fault> {
    Bounds::go_on()?;
    let value = match &expression.kind {
        ExpressionKind::Literal(value) => copy(value)?,
        ExpressionKind::Object(template) => object::evaluate(template, scope)?,
        ExpressionKind::Variable(name) => scope.variable(name).ok_or_else(|| unknown_variable(name))?,
        ExpressionKind::Input(name) => scope.input(name).unwrap_or(Value::Null),
        ExpressionKind::Text(parts) => text::evaluate(parts, scope)?,
        ExpressionKind::JavaScript(source) => javascript::evaluate(source, scope)?,
        ExpressionKind::Liquid(template) => liquid::evaluate(template, scope)?,
        ExpressionKind::SqlTemplate(template) => sql_template::evaluate(template, scope)?,
        ExpressionKind::Sql(source) => scope.sql_value(source)?,
    };
    // What the scope gives is null where it was told to stop.
    Bounds::go_on()?;
    converted(value, expression.type_name)
}

fn converted(value: Value, to: TypeName) -> Result<Value, Fault> {
    convert(value, to).map_err(|fault| match fault.detail {
        Some(_) => fault,
        None => fault.detail(format!("The value of the expression is converted to {to:?}.")),
    })
}

pub(crate) fn unknown_variable(name: &str) -> Fault {
    Fault::new("42704", format!("variable \"{}\" does not exist", crate::fault::shorten(name, 60)))
}

/// What an expression can see and change: the instance, seen from one activity execution.
pub trait Scope {
    /// Value of the nearest variable of this name.
    fn variable(&self, name: &str) -> Option<Value>;
    /// Names of all variables in scope, nearest first, no name twice.
    fn variable_names(&self) -> Vec<String>;
    /// Sets the nearest variable of this name (converted to its declared type), or makes one in the nearest
    /// container. `false`: there is neither.
    fn set_variable(&mut self, name: &str, value: Value) -> Result<bool, Fault>;
    /// A workflow input: what the resume of this burst gave comes before what the start gave.
    fn input(&self, name: &str) -> Option<Value>;
    /// All inputs that are there, resume's first, as one object.
    fn inputs(&self) -> Value;
    /// Names of declared and given inputs.
    fn input_names(&self) -> Vec<String>;
    /// Latest output of an activity, by activity id or name; without an output name its only or `result` output.
    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value>;
    /// `(activity id or name, output name)` of all outputs that activities of the program declare.
    fn output_names(&self) -> Vec<(String, String)>;
    /// All outputs so far: `{activity id: {output: value}}`.
    fn outputs(&self) -> Value;
    /// Result of the activity that last produced one.
    fn last_result(&self) -> Option<Value>;
    /// `{id, definitionId, version, correlationId, name}`.
    fn instance(&self) -> Value;
    /// Instance id.
    fn instance_id(&self) -> uuid::Uuid;
    /// Definition id.
    fn definition_id(&self) -> String;
    /// Definition version.
    fn definition_version(&self) -> i32;
    /// Id of the stored definition version, where one is stored.
    fn definition_version_id(&self) -> Option<String> {
        None
    }
    /// Correlation id.
    fn correlation_id(&self) -> Option<String>;
    /// Changes the correlation id (open bookmarks follow).
    fn set_correlation_id(&mut self, value: Option<String>) -> Result<(), Fault>;
    /// Instance name.
    fn instance_name(&self) -> Option<String>;
    /// Changes the instance name.
    fn set_instance_name(&mut self, value: Option<String>);
    /// Outcomes that the script sets; only a script that an activity runs has any.
    fn outcomes(&mut self) -> Option<&mut Vec<String>> {
        None
    }
    /// A new id.
    fn new_id(&mut self) -> uuid::Uuid;
    /// The instant of the burst.
    fn now(&self) -> chrono::DateTime<chrono::Utc>;
    /// Evaluates SQL with the named parameters of this scope.
    fn sql_value(&mut self, expression: &str) -> Result<Value, Fault>;
    /// Runs a statement with parameters `$1…` whose types follow from where they stand.
    fn sql_inferred(&mut self, statement: &str, parameters: &[Value], take: Take) -> Result<Rows, Fault> {
        let _ = (statement, parameters, take);
        Err(Fault::new("25006", "SQL cannot be run here"))
    }
    /// Output of the workflow, if it is set already.
    fn workflow_output(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }
    /// Limits of scripts.
    fn script_limits(&self) -> javascript::ScriptLimits;
    /// Answers to query cancel; unwinds if there is one.
    fn check_interrupts(&mut self);
}

/// What is wanted of the rows of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Each row as an object.
    Rows,
    /// The first column of each row.
    FirstColumn,
    /// The same, of a text that is a query or an expression.
    Value,
}

/// Result of a statement.
#[derive(Debug, Default, PartialEq)]
pub struct Rows {
    /// One object per row, or the first column of each; empty for a statement that returns none.
    pub rows: Vec<Value>,
    /// Number of rows returned or affected.
    pub count: u64,
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) mod tests_support;

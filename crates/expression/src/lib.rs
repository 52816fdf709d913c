//! Expressions: literals, objects, variables, inputs, JavaScript, Liquid and SQL.
//!
//! An expression reads the instance through a [`Scope`] and returns a value converted to its type. Scripts and
//! templates are untrusted: time, memory and nesting are limited, and a query cancel stops them.
//!
//! The crate knows neither activities nor how instances are stored. It passes SQL text on to the scope without running
//! it. Scripts reach no clock, no random numbers, no file and no network except through the scope.
//!
//! # Examples
//!
//! `Session` is a scope of a few variables.
//!
//! ```
//! use serde_json::json;
//! use workflow_expression::{Expression, ExpressionKind, evaluate};
//! use workflow_value::value::TypeName;
//! # mod scope { #![allow(dead_code)] include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/scope.rs")); }
//! # use scope::Session;
//!
//! let kind = ExpressionKind::JavaScript("getAmount() * 2".into());
//! let mut session = Session::with([("Amount", json!(21))]);
//! let value = evaluate(&Expression { kind, type_name: TypeName::Any }, &mut session).expect("a value");
//! assert_eq!(value, json!(42));
//! ```
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

use std::sync::Arc;

use serde_json::Value;

use workflow_value::fault::Fault;
use workflow_value::value::{Bounds, TypeName, convert, copy};

pub mod javascript;
pub mod liquid;
mod object;
mod scope;
mod script_limits;
pub mod shared_time;
pub mod sql_template;
mod text;

use liquid::LiquidTemplate;
pub(crate) use scope::unknown_variable;
pub use scope::{Rows, Scope, Take};
pub use script_limits::ScriptLimits;
use sql_template::SqlTemplate;

/// An expression with the type that its value is converted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// How the value is computed.
    pub kind: ExpressionKind,
    /// Type that the value is converted to; [`TypeName::Any`]: it stays as it is.
    pub type_name: TypeName,
}

/// How a value is computed, by the language of the expression.
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
    /// The texts of these expressions, concatenated.
    Text(Vec<Expression>),
    /// JavaScript source.
    JavaScript(Arc<str>),
    /// A Liquid template, compiled together with the definition.
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
    /// An array with an expression inside.
    Array(Vec<ObjectTemplate>),
    /// An object with an expression inside; its members stay in order.
    Object(Vec<(String, ObjectTemplate)>),
    /// An expression, replaced by its value.
    Expression(Box<Expression>),
}

/// Evaluates an expression and converts the result to its type.
///
/// # Errors
/// The fault of the script or of the SQL; 42704 for an unknown variable; 22P02 and 22003 if the result
/// cannot be converted; 54001 for an object nested too deep; 57014 if it is time to stop.
pub fn evaluate(expression: &Expression, scope: &mut dyn Scope) -> Result<Value, Fault> {
    Bounds::check_interrupts()?;
    let value = match &expression.kind {
        ExpressionKind::Literal(value) => copy(value)?,
        ExpressionKind::Object(template) => object::evaluate(template, scope)?,
        ExpressionKind::Variable(name) => complete(scope.variable(name))?.ok_or_else(|| unknown_variable(name))?,
        ExpressionKind::Input(name) => complete(scope.input(name))?.unwrap_or(Value::Null),
        ExpressionKind::Text(parts) => text::evaluate(parts, scope)?,
        ExpressionKind::JavaScript(source) => javascript::evaluate(source, scope)?,
        ExpressionKind::Liquid(template) => complete(liquid::evaluate(template, scope)?)?,
        ExpressionKind::SqlTemplate(template) => complete(sql_template::evaluate(template, scope)?)?,
        ExpressionKind::Sql(source) => scope.sql_value(source)?,
    };
    converted(value, expression.type_name)
}

/// A value from a scope; a fault if the evaluation must stop, because the scope then returns null instead of the value.
fn complete<R>(value: R) -> Result<R, Fault> {
    Bounds::check_interrupts()?;
    Ok(value)
}

fn converted(value: Value, to: TypeName) -> Result<Value, Fault> {
    convert(value, to).map_err(|fault| match fault.detail {
        Some(_) => fault,
        None => fault.detail(format!("The value of the expression is converted to {}.", to.name())),
    })
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) mod tests_support;

#[cfg(test)]
#[path = "../../value/tests/support/any_json.rs"]
mod any_json;

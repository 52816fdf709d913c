//! JSON Schema for inputs and outputs: compiled on first use, applied within limits.
//!
//! The supported drafts are those that `$schema` may name, by default 2020-12. Schemas and values are untrusted:
//! patterns are matched in linear time, a schema whose validation would not terminate is rejected, and the cost of a
//! validation is limited.
//!
//! The crate never fetches anything: references resolve only within the same schema. It does not depend on workflows:
//! the caller names what it checks, for messages.
//!
//! # Examples
//!
//! ```
//! use serde_json::json;
//! use workflow_schema::Schema;
//!
//! let order = Schema::new(json!({"properties": {"total": {"type": "number"}}, "required": ["total"]}));
//! assert!(order.accept(&json!({"total": 7}), "input \"order\"", "").is_ok());
//! let fault = order.accept(&json!({}), "input \"order\"", "").unwrap_err();
//! assert_eq!(fault.sqlstate, "22023");
//! ```
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

use std::sync::{Arc, OnceLock};

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use workflow_value::fault::{Fault, shorten};
use workflow_value::value::depth_ok;

mod graph;
mod view;

use view::{Budget, View, Viewed};

/// Maximum nesting of a schema, and of a validated value: the validator recurses over both.
pub const MAX_DEPTH: usize = 100;

/// Cost limit of one validation.
const MAX_WORK: u64 = 4_000_000;

/// Cost limit for listing the violations of a value.
const MAX_WORK_FOR_WORDS: u64 = 400_000;

/// Cost of a schema at one place of a value that is included in the base price.
const FREE_COST: u64 = 16;

/// Maximum size of a compiled pattern in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// How many violations a message lists.
const MAX_VIOLATIONS: usize = 5;

/// Maximum length of one violation in characters.
const MAX_VIOLATION: usize = 200;

/// A JSON Schema, compiled, with the text that it was read from.
#[derive(Clone, Debug)]
pub struct Schema {
    source: Arc<Value>,
    compiled: Arc<OnceLock<Result<Compiled, SchemaRefusal>>>,
}

/// Two schemas are equal if their texts are.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

#[derive(Debug)]
struct Compiled {
    validator: Validator<Viewed>,
    price: u64,
}

/// Why a schema is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaRefusal {
    /// JSON pointer into the schema.
    pub pointer: String,
    /// What is wrong, in the style of a primary message.
    pub message: String,
    /// The kind of problem.
    pub kind: SchemaRefusalKind,
}

/// The kinds of rejections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaRefusalKind {
    /// The document is no schema.
    Invalid,
    /// The schema uses an unsupported feature.
    Unsupported,
    /// It is nested too deep.
    TooDeep,
    /// It has more parts than a schema may.
    TooLarge,
}

impl SchemaRefusal {
    fn new(pointer: String, message: String, kind: SchemaRefusalKind) -> Self {
        Self { pointer, message, kind }
    }
}

impl Schema {
    /// Takes a schema without compiling it.
    pub fn new(source: Value) -> Self {
        Self { source: Arc::new(source), compiled: Arc::default() }
    }

    /// Whether the schema can be used; compiles it.
    ///
    /// # Errors
    /// Where it is wrong, and how.
    pub fn check(&self) -> Result<(), SchemaRefusal> {
        self.compiled().map(|_| ()).map_err(Clone::clone)
    }

    /// Validates a value.
    ///
    /// `what` names it in messages; `pointer` is its place in the user's input.
    ///
    /// ```
    /// use serde_json::json;
    /// use workflow_schema::Schema;
    ///
    /// let days = Schema::new(json!({"type": "integer", "minimum": 1}));
    /// assert!(days.accept(&json!(3), "input \"days\"", "").is_ok());
    /// let fault = days.accept(&json!(0), "input \"days\"", "").unwrap_err();
    /// assert_eq!(fault.message, "input \"days\" does not match its schema");
    /// ```
    ///
    /// # Errors
    /// 22023 with a DETAIL that lists violations, 54001 if the value is nested too deep, 54000 if the validation would
    /// take too long.
    pub fn accept(&self, value: &Value, what: &str, pointer: &str) -> Result<(), Fault> {
        let compiled = self.compiled().map_err(|refusal| {
            Fault::new("XX001", format!("schema of {what} cannot be used")).detail(refusal.message.clone())
        })?;
        if !depth_ok(value, MAX_DEPTH) {
            return Err(Fault::new("54001", format!("{what} is nested too deeply for its schema"))
                .detail(format!("At most {MAX_DEPTH} levels are allowed.")));
        }
        let budget = Budget::new(MAX_WORK, compiled.price);
        let is_valid = compiled.validator.is_valid(View::new(value, &budget));
        if budget.is_spent() {
            return Err(Fault::new("54000", format!("{what} takes too long to check against its schema"))
                .hint("Give less at once, or simplify the schema."));
        }
        if is_valid {
            return Ok(());
        }
        Err(Fault::new("22023", format!("{what} does not match its schema"))
            .detail(violations(compiled, value, pointer)))
    }

    fn compiled(&self) -> Result<&Compiled, &SchemaRefusal> {
        self.compiled.get_or_init(|| compile(&self.source)).as_ref()
    }
}

fn compile(source: &Value) -> Result<Compiled, SchemaRefusal> {
    if !depth_ok(source, MAX_DEPTH) {
        let message = format!("a schema must not be nested more than {MAX_DEPTH} levels deep");
        return Err(SchemaRefusal::new(String::new(), message, SchemaRefusalKind::TooDeep));
    }
    if !matches!(source, Value::Object(_) | Value::Bool(_)) {
        return Err(SchemaRefusal::new(
            String::new(),
            "a schema must be an object or a boolean".into(),
            SchemaRefusalKind::Invalid,
        ));
    }
    let cost = graph::cost(source)?;
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
    let options = jsonschema::options_for::<Viewed>().offline().with_pattern_options(patterns);
    let validator = options.should_validate_formats(true).build(source).map_err(refused)?;
    Ok(Compiled { validator, price: 1 + cost / FREE_COST })
}

/// Why the crate rejects a schema.
fn refused(error: ValidationError<'_>) -> SchemaRefusal {
    let words = shorten(&error.to_string(), MAX_VIOLATION);
    let message = format!("invalid JSON Schema: {words}");
    SchemaRefusal::new(error.instance_path().to_string(), message, SchemaRefusalKind::Invalid)
}

/// The violations of a value, one line each.
fn violations(compiled: &Compiled, value: &Value, pointer: &str) -> String {
    let budget = Budget::new(MAX_WORK_FOR_WORDS, compiled.price);
    let errors: Vec<_> = compiled.validator.iter_errors(View::new(value, &budget)).collect();
    if !budget.is_spent() {
        let mut lines: Vec<String> = errors.iter().take(MAX_VIOLATIONS).map(|error| line(error, pointer)).collect();
        if errors.len() > lines.len() {
            lines.push(format!("… and {} more.", errors.len() - lines.len()));
        }
        return lines.join("\n");
    }
    // Finding all violations costs too much: report the first.
    let budget = Budget::new(MAX_WORK_FOR_WORDS, compiled.price);
    match compiled.validator.validate(View::new(value, &budget)) {
        Err(error) if !budget.is_spent() => line(&error, pointer),
        Ok(()) | Err(_) => "The violations take too long to list.".into(),
    }
}

fn line(error: &ValidationError<'_>, pointer: &str) -> String {
    let pointer = format!("{pointer}{}", error.instance_path());
    let pointer = if pointer.is_empty() { "/" } else { &pointer };
    let words = error.masked_with("the value").to_string();
    format!("{}: {}", shorten(pointer, MAX_VIOLATION), shorten(&words, MAX_VIOLATION))
}

#[cfg(test)]
mod tests;

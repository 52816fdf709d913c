//! References to variables, inputs and outputs.

use serde_json::Value;

use super::ExpressionReader;
use crate::forms::wrapper;
use crate::json::{Path, kind_of, member, parse, text};
use crate::mentions::Use;
use workflow_core::program::Binding;

impl ExpressionReader<'_> {
    /// Resolves a variable by name.
    pub fn variable(&mut self, name: &str, place: &Path<'_>) -> Option<String> {
        if self.names.by_name(name).is_none() {
            if !self.names.in_loop() {
                self.problems.invalid(place, format!("variable \"{name}\" is not declared"));
                return None;
            }
            if self.strict {
                self.problems.mentions.want(Use::Variable, name.into(), place);
            }
        }
        Some(name.into())
    }

    /// Resolves Elsa's reference to a variable: its JSON, that JSON as text, or a bare id.
    pub fn reference(&mut self, value: &Value, place: &Path<'_>) -> Option<String> {
        let parsed: Value;
        let object = match value {
            Value::Object(object) => Some(object),
            Value::String(text) if text.trim_start().starts_with('{') => {
                parsed = parse(text).unwrap_or_default();
                parsed.as_object()
            }
            _ => None,
        };
        let (id, name) = match (object, value) {
            (Some(object), _) => (text(object, "id"), text(object, "name")),
            (None, Value::String(text)) => (Some(text.as_str()), None),
            (None, other) => {
                let message = format!("a variable must be an object or a string, not {}", kind_of(other));
                self.problems.invalid(place, message);
                return None;
            }
        };
        if let Some(found) = self.names.by_reference(id, name) {
            return Some(found.into());
        }
        match name.or(id) {
            Some(name) => self.variable(name, place),
            None => {
                self.problems.invalid(place, "a variable needs an \"id\" or a \"name\"");
                None
            }
        }
    }

    /// Reads Elsa's reference to an input: its definition, the definition as text, or a bare name.
    pub(super) fn input_name(&mut self, value: &Value, place: &Path<'_>) -> Option<String> {
        let parsed: Value;
        let name = match value {
            Value::Object(object) => text(object, "name"),
            Value::String(name) if name.trim_start().starts_with('{') => {
                parsed = parse(name).unwrap_or_default();
                parsed.as_object().and_then(|object| text(object, "name"))
            }
            Value::String(name) => Some(name.as_str()),
            _ => None,
        };
        if name.is_none() {
            self.problems.invalid(place, "an expression of type \"Input\" needs the name of an input");
        }
        name.map(Into::into)
    }

    /// Reads the target of an output; `None` if the output is unbound.
    pub fn binding(&mut self, value: &Value, place: &Path<'_>) -> Option<Binding> {
        if value.is_null() {
            return None;
        }
        match short_binding(value) {
            Some(("var", name)) => return self.variable(name, place).map(Binding::Variable),
            Some((_, name)) => return self.output(name, place),
            None => {}
        }
        let Some(wrapper) = wrapper(value) else {
            let message = "an output must be {\"var\": \"Name\"} or {\"output\": \"Name\"}";
            self.problems.invalid(place, message);
            return None;
        };
        if wrapper.converter.is_some() {
            self.problems.unsupported(
                place,
                "output converters are not supported: bind the output to a variable of the type that is wanted",
            );
        }
        let id = wrapper.memory?;
        match self.names.by_reference(Some(id), None) {
            Some(name) => Some(Binding::Variable(name.into())),
            None => self.names.has_output(id).then(|| Binding::Output(id.into())),
        }
    }

    fn output(&mut self, name: &str, place: &Path<'_>) -> Option<Binding> {
        if !self.names.has_output(name) && !self.names.any_output() {
            self.problems.invalid(place, format!("workflow output \"{name}\" is not declared"));
            return None;
        }
        Some(Binding::Output(name.into()))
    }
}

/// `{"var": "Name"}` or `{"output": "Name"}`.
pub(crate) fn short_binding(value: &Value) -> Option<(&str, &str)> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (key, name) = object.iter().next()?;
    let name = name.as_str().filter(|_| key == "var" || key == "output")?;
    Some((key.as_str(), name))
}

/// The text of an expression of type `Sql`, for an input that needs the statement and not its value.
pub(crate) fn statement_text(value: &Value) -> Option<&Value> {
    if let Some(text) = value.as_object().filter(|object| object.len() == 1).and_then(|object| object.get("sql")) {
        return Some(text);
    }
    let expression = wrapper(value)?.expression?.as_object()?;
    let is_sql = text(expression, "type")?.eq_ignore_ascii_case("sql");
    member(expression, "value").filter(|_| is_sql)
}

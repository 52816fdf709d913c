//! The two spellings of a value: the short form, and Elsa's with its wrappers and .NET type names.

use serde_json::Value;

use super::json::{entry, member, text};

/// A key that makes an object with one member an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShortKey {
    JavaScript,
    Sql,
    Liquid,
    Variable,
    Input,
    Object,
    Literal,
}

impl ShortKey {
    const ALL: [Self; 7] =
        [Self::JavaScript, Self::Sql, Self::Liquid, Self::Variable, Self::Input, Self::Object, Self::Literal];

    /// The key as documents have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::JavaScript => "js",
            Self::Sql => "sql",
            Self::Liquid => "liquid",
            Self::Variable => "var",
            Self::Input => "input",
            Self::Object => "object",
            Self::Literal => "literal",
        }
    }
}

/// The key and the value of an expression in the short form.
pub(super) fn short_form(value: &Value) -> Option<(ShortKey, &Value)> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (name, value) = object.iter().next()?;
    ShortKey::ALL.into_iter().find(|key| key.name() == name).map(|key| (key, value))
}

/// Elsa's wrapper of an input or output.
pub(super) struct Wrapper<'d> {
    /// Type name of the value.
    pub type_name: Option<&'d str>,
    /// The expression; outputs have none.
    pub expression: Option<&'d Value>,
    /// Id of the variable or workflow output to which it is bound.
    pub memory: Option<&'d str>,
    /// Elsa's output converter.
    pub converter: Option<&'d Value>,
}

/// Recognizes Elsa's wrapper. Plain objects may have members with the same names, so all members must fit.
pub(super) fn wrapper(value: &Value) -> Option<Wrapper<'_>> {
    const MEMBERS: [&str; 6] = ["typeName", "expression", "memoryReference", "converter", "$id", "$type"];
    let object = value.as_object()?;
    let known = |key: &str| MEMBERS.iter().any(|member| member.eq_ignore_ascii_case(key));
    let expression = member(object, "expression");
    let typed = expression.and_then(Value::as_object).is_some_and(|e| entry(e, "type").is_some());
    let named = entry(object, "typeName").is_some() || entry(object, "memoryReference").is_some();
    if !(typed || named && object.keys().all(|key| known(key))) {
        return None;
    }
    let memory = member(object, "memoryReference").and_then(Value::as_object).and_then(|memory| text(memory, "id"));
    let converter = member(object, "converter");
    Some(Wrapper { type_name: text(object, "typeName"), expression, memory, converter })
}

/// The class of an assembly-qualified .NET type name.
pub(super) fn class_name(text: &str) -> &str {
    let type_name = text.split(',').next().unwrap_or(text).trim();
    type_name.rsplit('.').next().unwrap_or(type_name)
}

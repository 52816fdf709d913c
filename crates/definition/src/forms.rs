//! The two spellings of a value: the short form, and Elsa's with its wrappers and .NET type names.

use serde_json::Value;

use super::json::{entry, escaped, member, text};

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

    /// The key in documents.
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

/// A part of a plain value.
pub(super) enum PlainPart<'v> {
    /// An object that would be an expression in another place.
    Expression(ShortKey),
    /// A text.
    Text(&'v str),
}

impl PlainPart<'_> {
    /// Whether it would be an expression in another place.
    pub fn is_expression(&self) -> bool {
        matches!(self, Self::Expression(_))
    }
}

/// The first matching part of a plain value, with its JSON Pointer. Only that pointer is built, because keys can be
/// long.
pub(super) fn find_part<'v>(
    value: &'v Value,
    is_wanted: impl Fn(&PlainPart<'v>) -> bool,
) -> Option<(String, PlainPart<'v>)> {
    let mut open = vec![(0, None, value)];
    let mut path: Vec<Step<'v>> = Vec::new();
    while let Some((depth, step, value)) = open.pop() {
        path.truncate(depth);
        path.extend(step);
        let part = match (short_form(value), value) {
            // {"properties": {"input": {…}}} of a JSON Schema is no expression.
            (Some((key, Value::String(_))), _) => Some(PlainPart::Expression(key)),
            (_, Value::String(text)) => Some(PlainPart::Text(text)),
            _ => None,
        };
        if let Some(part) = part {
            if is_wanted(&part) {
                return Some((path.iter().map(Step::pointer).collect(), part));
            }
            continue;
        }
        let below = path.len();
        match value {
            Value::Array(list) => {
                open.extend(list.iter().enumerate().rev().map(|(at, part)| (below, Some(Step::Index(at)), part)));
            }
            Value::Object(members) => {
                open.extend(members.iter().rev().map(|(key, part)| (below, Some(Step::Key(key)), part)));
            }
            _ => {}
        }
    }
    None
}

/// A step of a JSON pointer.
enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

impl Step<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Key(key) => format!("/{}", escaped(key)),
            Self::Index(index) => format!("/{index}"),
        }
    }
}

/// The problem of an expression inside a plain value.
pub(super) fn no_expression(key: ShortKey) -> String {
    format!(
        "\"{}\" inside a plain value is no expression: write {{\"object\": …}} around the whole value, or \
         {{\"literal\": …}} to pass it on as it is",
        key.name()
    )
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

/// Recognizes Elsa's wrapper. Plain objects may have members with the same names, so all members must match.
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

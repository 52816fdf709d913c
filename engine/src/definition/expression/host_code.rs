//! C# and Python, as far as they say nothing but a value: a literal, a variable, an input, a text with these inside.
//!
//! No code of a host runs in the database. What is so plain that it needs no host is translated; anything
//! else is refused when the definition is stored. The document keeps its text.

use serde_json::Value;

use super::{Reader, unavailable, wrapper};
use crate::definition::json::{Path, kind_of, member, text};
use crate::program::{Expression, ExpressionKind, TypeName};
use crate::value::number;

mod literal;

/// A language that Elsa runs in its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLanguage {
    /// C#.
    CSharp,
    /// Python.
    Python,
}

impl HostLanguage {
    /// Elsa's name for expressions in it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CSharp => "CSharp",
            Self::Python => "Python",
        }
    }
}

/// What such a text says.
#[derive(Clone, Debug, PartialEq)]
enum Term {
    Literal(Value),
    Variable(String),
    Input(String),
    /// A fact of the workflow, by the function that scripts have for it.
    Fact(&'static str),
    /// A text with values inside.
    Text(Vec<Term>),
}

impl Reader<'_> {
    /// Reads the code that an input of `RunCSharp` and `RunPython` holds: what it returns.
    pub fn code_input(&mut self, value: &Value, language: HostLanguage, place: &Path<'_>) -> Option<Expression> {
        let wrapped = wrapper(value).and_then(|wrapper| wrapper.expression).and_then(Value::as_object);
        let source = match wrapped {
            None => Some(value),
            Some(expression) => {
                let constant = text(expression, "type").is_none_or(|name| {
                    name.eq_ignore_ascii_case("literal") || name.eq_ignore_ascii_case(language.name())
                });
                member(expression, "value").filter(|_| constant)
            }
        };
        match source {
            Some(Value::Null) => None,
            Some(Value::String(source)) if source.trim().is_empty() => None,
            Some(Value::String(source)) => self.host_code(source, language, TypeName::Any, place),
            Some(other) if wrapped.is_some() || !other.is_object() => {
                self.problems.invalid(place, format!("a script must be a string, not {}", kind_of(other)));
                None
            }
            _ => {
                self.problems.unsupported(place, "the script must be given as text, not computed");
                None
            }
        }
    }

    /// Reads a text that may be translated.
    pub(super) fn host_code(
        &mut self,
        source: &str,
        language: HostLanguage,
        type_name: TypeName,
        place: &Path<'_>,
    ) -> Option<Expression> {
        let Some(term) = returned(source, language).and_then(|text| term(text, language)) else {
            self.problems.unsupported(place, unavailable::expression(language.name()));
            return None;
        };
        if let Term::Literal(value) = term {
            return (!value.is_null()).then(|| self.literal(value, type_name, place))?;
        }
        let kind = self.kind_of_term(term, place)?;
        Some(Expression { kind, type_name })
    }

    fn kind_of_term(&mut self, term: Term, place: &Path<'_>) -> Option<ExpressionKind> {
        Some(match term {
            Term::Literal(value) => ExpressionKind::Literal(value),
            Term::Variable(name) => ExpressionKind::Variable(self.variable(&name, place)?),
            Term::Input(name) => ExpressionKind::Input(name),
            Term::Fact(function) => ExpressionKind::JavaScript(format!("{function}()").into()),
            Term::Text(parts) => {
                let parts: Option<Vec<Expression>> = parts
                    .into_iter()
                    .map(|part| {
                        let kind = self.kind_of_term(part, place)?;
                        Some(Expression { kind, type_name: TypeName::Any })
                    })
                    .collect();
                ExpressionKind::Text(parts?)
            }
        })
    }
}

/// The one expression that the text returns.
fn returned(source: &str, language: HostLanguage) -> Option<&str> {
    let text = source.trim();
    let (text, is_statement) = match text.strip_prefix("return") {
        Some(rest) if rest.starts_with([' ', '\t', '(', '"', '$']) => (rest.trim(), true),
        _ => (text, false),
    };
    match (language, text.strip_suffix(';')) {
        (HostLanguage::CSharp, Some(text)) => Some(text.trim()),
        (HostLanguage::CSharp, None) if is_statement => None,
        (_, Some(_)) => None,
        (_, None) => Some(text),
    }
}

fn term(text: &str, language: HostLanguage) -> Option<Term> {
    match language {
        HostLanguage::CSharp => csharp(text),
        HostLanguage::Python => python(text),
    }
}

fn csharp(text: &str) -> Option<Term> {
    if let Some(inner) = text.strip_suffix(".ToString()") {
        let inner = csharp(inner.strip_suffix('?').unwrap_or(inner))?;
        return Some(Term::Text(vec![inner]));
    }
    match text {
        "null" => return Some(Term::Literal(Value::Null)),
        "true" => return Some(Term::Literal(Value::Bool(true))),
        "false" => return Some(Term::Literal(Value::Bool(false))),
        "CorrelationId" => return Some(Term::Fact("getCorrelationId")),
        "WorkflowInstanceId" => return Some(Term::Fact("getWorkflowInstanceId")),
        "WorkflowInstanceName" => return Some(Term::Fact("getWorkflowInstanceName")),
        _ => {}
    }
    if let Some(text) = text.strip_prefix('$') {
        return interpolated(literal::inside(text, &['"'])?, HostLanguage::CSharp);
    }
    if let Some(text) = text.strip_prefix('@') {
        return literal::verbatim(text).map(|text| Term::Literal(Value::String(text)));
    }
    if let Some(inner) = literal::inside(text, &['"']) {
        return literal::unescaped(inner).map(|text| Term::Literal(Value::String(text)));
    }
    let digits = text.trim_end_matches(['m', 'M', 'd', 'D', 'f', 'F', 'l', 'L', 'u', 'U']);
    number_of(digits)
        .or_else(|| reference(text, &["Variables.", "Variable."], &["Variable.Get", "Variables.Get"], Term::Variable))
        .or_else(|| reference(text, &["Inputs.", "Input."], &["Input.Get", "Inputs.Get"], Term::Input))
}

fn python(text: &str) -> Option<Term> {
    if let Some(inner) = text.strip_prefix("str(").and_then(|rest| rest.strip_suffix(')')) {
        return Some(Term::Text(vec![python(inner.trim())?]));
    }
    match text {
        "None" => return Some(Term::Literal(Value::Null)),
        "True" => return Some(Term::Literal(Value::Bool(true))),
        "False" => return Some(Term::Literal(Value::Bool(false))),
        _ => {}
    }
    if let Some(inner) = text.strip_prefix(['f', 'F']).and_then(|text| literal::inside(text, &['"', '\''])) {
        return interpolated(inner, HostLanguage::Python);
    }
    if let Some(inner) = literal::inside(text, &['"', '\'']) {
        return literal::unescaped(inner).map(|text| Term::Literal(Value::String(text)));
    }
    const VARIABLES: [&str; 3] = ["variables.get", "execution_context.get_variable", "execution_context.GetVariable"];
    number_of(text)
        .or_else(|| reference(text, &["variables."], &VARIABLES, Term::Variable))
        .or_else(|| reference(text, &["input."], &["input.get", "input.Get"], Term::Input))
        .or_else(|| Some(Term::Variable(subscript(text.strip_prefix("variables[")?)?)))
        .or_else(|| Some(Term::Input(subscript(text.strip_prefix("input[")?)?)))
}

fn subscript(rest: &str) -> Option<String> {
    literal::unescaped(literal::inside(rest.strip_suffix(']')?.trim(), &['"', '\''])?)
}

fn number_of(text: &str) -> Option<Term> {
    let looks = text.starts_with(|first: char| first.is_ascii_digit() || first == '-' || first == '.');
    let digits = text.replace('_', "");
    looks.then(|| number::from_text(&digits).map(|number| Term::Literal(Value::Number(number))))?
}

/// `Prefix.Name`, `Function("Name")` and `Function<Type>("Name")`.
fn reference(text: &str, prefixes: &[&str], functions: &[&str], make: fn(String) -> Term) -> Option<Term> {
    for function in functions {
        let Some(rest) = text.strip_prefix(function) else { continue };
        let rest = match rest.strip_prefix('<') {
            Some(generic) => generic.split_once('>')?.1,
            None => rest,
        };
        if let Some(argument) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            return literal::unescaped(literal::inside(argument.trim(), &['"', '\''])?).map(make);
        }
    }
    let name = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?;
    literal::is_name(name).then(|| make(name.to_owned()))
}

/// A text with `{value}` inside; a format makes it none.
fn interpolated(inner: &str, language: HostLanguage) -> Option<Term> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = inner;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..];
        if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            plain.push_str(&brace[..1]);
            rest = after;
            continue;
        }
        let (value, after) = brace.strip_prefix('{')?.split_once('}')?;
        parts.push(Term::Literal(Value::String(literal::unescaped(&std::mem::take(&mut plain))?)));
        // A text inside of a text would be cut at its own braces.
        let value =
            term(value.trim(), language).filter(|value| !matches!(value, Term::Text(parts) if parts.len() > 1))?;
        parts.push(value);
        rest = after;
    }
    plain.push_str(rest);
    parts.push(Term::Literal(Value::String(literal::unescaped(&plain)?)));
    parts.retain(|part| *part != Term::Literal(Value::String(String::new())));
    Some(Term::Text(parts))
}

#[cfg(test)]
mod tests;

//! C# and Python that only returns a value: literals, variables, inputs, their members, comparisons, and interpolated
//! texts.
//!
//! Code for Elsa's host never runs in the database. Code that is simple enough is translated; any other code is
//! rejected when the definition is stored. The document keeps the original text.

use serde_json::Value;

use super::{ExpressionReader, unavailable};
use crate::forms::wrapper;
use crate::json::{Path, kind_of, member, text};
use workflow_core::activity::ForeignLanguage;
use workflow_expression::Expression;
use workflow_expression::ExpressionKind;
use workflow_value::value::TypeName;

mod literal;
mod operators;
mod parse;

/// The parsed value of the code.
#[derive(Clone, Debug, PartialEq)]
enum Term {
    Literal(Value),
    Variable(String),
    Input(String),
    /// A property of the workflow, named by the JavaScript function that returns it.
    Fact(&'static str),
    /// An interpolated text.
    Text(Vec<Term>),
    /// An access to a part of a value.
    Step(Box<Term>, Accessor),
    Not(Box<Term>),
    /// A call of a JavaScript function on a value.
    Call(&'static str, Box<Term>),
    Binary(Operator, Box<Term>, Box<Term>),
}

/// A way to access a part of a value.
#[derive(Clone, Debug, PartialEq)]
enum Accessor {
    Member(String),
    Item(u32),
    /// The number of items or characters, with the name of the property in the language.
    Size(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    /// JavaScript's operator that yields the right side if the left one is absent or false.
    Or(&'static str),
    And,
    Equal,
    Unequal,
    /// JavaScript's operator. The comparison is false if a side is null.
    Compare(&'static str),
}

impl ExpressionReader<'_> {
    /// Reads the code in an input of `RunCSharp` or `RunPython`, as the expression that it returns.
    pub fn code_input(&mut self, value: &Value, language: ForeignLanguage, place: &Path<'_>) -> Option<Expression> {
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
            Some(Value::String(source)) => self.foreign_code(source, language, TypeName::Any, place),
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

    /// Translates code into an expression.
    pub(super) fn foreign_code(
        &mut self,
        source: &str,
        language: ForeignLanguage,
        type_name: TypeName,
        place: &Path<'_>,
    ) -> Option<Expression> {
        let Some(term) = returned(source, language).and_then(|text| parse::term(text, language)) else {
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
            Term::Step(..) | Term::Not(_) | Term::Call(..) | Term::Binary(..) => {
                ExpressionKind::JavaScript(self.script_of(&term, place)?.into())
            }
        })
    }

    /// The term as JavaScript. The parser limits its nesting.
    fn script_of(&mut self, term: &Term, place: &Path<'_>) -> Option<String> {
        Some(match term {
            Term::Literal(value) => value.to_string(),
            Term::Variable(name) => format!("getVariable({})", Value::from(self.variable(name, place)?)),
            Term::Input(name) => format!("getInput({})", Value::from(name.as_str())),
            Term::Fact(function) => format!("{function}()"),
            Term::Step(owner, step) => {
                let owner = self.script_of(owner, place)?;
                match step {
                    Accessor::Member(name) => format!("{owner}[{}]", Value::from(name.as_str())),
                    Accessor::Item(at) => format!("{owner}[{at}]"),
                    Accessor::Size(name) => format!(
                        "(of => typeof of === \"string\" || Array.isArray(of) ? of.length : of[{}])({owner})",
                        Value::from(name.as_str())
                    ),
                }
            }
            Term::Not(inner) => format!("!({})", self.script_of(inner, place)?),
            Term::Call(function, inner) => format!("{function}({})", self.script_of(inner, place)?),
            Term::Binary(operator, left, right) => {
                let null = [left, right].iter().any(|side| ***side == Term::Literal(Value::Null));
                let (left, right) = (self.script_of(left, place)?, self.script_of(right, place)?);
                match operator {
                    Operator::Or(or) => format!("(({left}) {or} ({right}))"),
                    Operator::And => format!("(({left}) && ({right}))"),
                    Operator::Equal if null => format!("({left} == {right})"),
                    Operator::Unequal if null => format!("({left} != {right})"),
                    Operator::Equal => format!("({left} === {right})"),
                    Operator::Unequal => format!("({left} !== {right})"),
                    Operator::Compare(sign) => {
                        format!("((a, b) => a != null && b != null && a {sign} b)({left}, {right})")
                    }
                }
            }
            // Inside an operator, a text would need the language's formats for numbers and dates.
            Term::Text(_) => {
                self.problems.unsupported(place, "a text with values inside cannot be compared here; use JavaScript");
                return None;
            }
        })
    }
}

/// The one expression that the code returns.
fn returned(source: &str, language: ForeignLanguage) -> Option<&str> {
    let text = source.trim();
    let (text, is_statement) = match text.strip_prefix("return") {
        Some(rest) if rest.starts_with(|next: char| !next.is_alphanumeric() && next != '_') => (rest.trim(), true),
        _ => (text, false),
    };
    match (language, text.strip_suffix(';')) {
        (ForeignLanguage::CSharp, Some(text)) => Some(text.trim()),
        (ForeignLanguage::CSharp, None) if is_statement => None,
        (_, Some(_)) => None,
        (_, None) => Some(text),
    }
}

#[cfg(test)]
mod tests;

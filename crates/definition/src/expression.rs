//! Expressions and bindings, in both spellings.
//!
//! Elsa wraps an expression with its type (`{"typeName", "expression": {"type", "value"}}`); in the
//! short form an object with one key from a short list is an expression, and any other value a constant.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::constant::is_blank;
use super::forms::{ShortKey, short_form, wrapper};
use super::json::{Path, entry, kind_of, member, too_deep};
use super::mentions::Use;
use super::problem::{ProblemKind, Problems};
use super::scope::VisibleNames;
use super::unavailable;
use workflow_core::activity::ForeignLanguage;
use workflow_expression::Expression;
use workflow_expression::ExpressionKind;
use workflow_expression::liquid::LiquidTemplate;
use workflow_expression::sql_template::SqlTemplate;
use workflow_value::value::{TypeName, convert, copy_or_null};

mod foreign_code;
mod plain;
mod reference;
mod template;

pub(super) use reference::{short_binding, statement_text};

/// The value chosen from a list. Elsa's Studio leaves blank text, or nothing, if no value was chosen.
fn chosen(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null() && value.as_str().is_none_or(|text| !text.trim().is_empty()))
}

/// Reads the expressions of one activity.
pub(super) struct ExpressionReader<'a> {
    /// Variables and outputs that the activity sees.
    pub names: VisibleNames<'a>,
    /// Whether the content is new and in the short form, so that names in it must exist.
    pub strict: bool,
    /// Collects problems; reading continues.
    pub problems: &'a mut Problems,
    /// Whether any expression read so far runs SQL.
    pub uses_sql: bool,
}

impl ExpressionReader<'_> {
    /// Reads an input; `None` if it is unset or wrong.
    pub fn input(&mut self, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        if short_form(value).is_none() && wrapper(value).is_none() {
            self.check_plain(value, place);
        }
        self.source(value, type_name, place)
    }

    /// Reads an input that may be source code as plain text; braces in it are no mistake.
    pub fn source(&mut self, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        if let Some((key, inner)) = short_form(value) {
            return self.short(key, inner, type_name, place);
        }
        let Some(wrapper) = wrapper(value) else {
            return self.constant(value, type_name, place);
        };
        match wrapper.expression {
            Some(Value::Object(expression)) => self.elsa(expression, type_name, place),
            Some(other) => {
                self.problems.invalid(place, format!("an expression must be an object, not {}", kind_of(other)));
                None
            }
            // Early versions bound an input to a variable without an expression.
            None => {
                let name = wrapper.memory.and_then(|id| self.names.by_reference(Some(id), None))?;
                Some(Expression { kind: ExpressionKind::Variable(name.into()), type_name })
            }
        }
    }

    /// Reads a script that an activity runs: constant text, or JavaScript. Computed text is rejected, because it would
    /// run code that was not checked when the definition was stored.
    pub fn script(&mut self, value: &Value, place: &Path<'_>) -> Option<Expression> {
        let mut read = self.source(value, TypeName::String, place)?;
        read.type_name = TypeName::Any;
        match &read.kind {
            ExpressionKind::JavaScript(_) => {}
            ExpressionKind::Literal(Value::String(source)) if source.trim().is_empty() => return None,
            ExpressionKind::Literal(Value::String(source)) => {
                self.problems.check_script(source, self.strict, place);
                read.kind = ExpressionKind::JavaScript(source.as_str().into());
            }
            _ => {
                self.problems.invalid(place, "a script must be constant text");
                return None;
            }
        }
        Some(read)
    }

    /// Reads an input whose plain arrays and objects may hold expressions.
    pub fn template_input(&mut self, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        match value {
            Value::Array(_) => self.object(value, type_name, place),
            _ => self.input(value, type_name, place),
        }
    }

    /// Reads a condition, which Elsa writes without a wrapper.
    pub fn condition(&mut self, value: &Value, place: &Path<'_>) -> Option<Expression> {
        self.bare(value, TypeName::Boolean, place)
    }

    /// Reads an expression that Elsa writes without a wrapper.
    pub fn bare(&mut self, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        match value.as_object() {
            Some(object) if entry(object, "type").is_some() && wrapper(value).is_none() => {
                self.elsa(object, type_name, place)
            }
            _ => self.input(value, type_name, place),
        }
    }

    /// Reads the value with this key in the short form.
    fn short(&mut self, key: ShortKey, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        let below = place.key(key.name());
        let kind = match key {
            ShortKey::Literal => return self.constant(value, type_name, place),
            ShortKey::Object => return self.object(value, type_name, &below),
            ShortKey::JavaScript => {
                let source = self.short_text(key, value, &below)?;
                self.problems.check_script(source, self.strict, &below);
                ExpressionKind::JavaScript(source.into())
            }
            ShortKey::Liquid => {
                let source = self.short_text(key, value, &below)?;
                self.liquid(source, &below)?
            }
            ShortKey::Sql => {
                let source = self.short_text(key, value, &below)?;
                self.sql(source, &below)?
            }
            ShortKey::Variable => {
                let name = self.short_text(key, value, &below)?;
                ExpressionKind::Variable(self.variable(name, place)?)
            }
            ShortKey::Input => {
                let name = self.short_text(key, value, &below)?;
                if self.strict {
                    self.problems.mentions.want(Use::Input, name.into(), place);
                }
                ExpressionKind::Input(name.into())
            }
        };
        Some(Expression { kind, type_name })
    }

    fn short_text<'v>(&mut self, key: ShortKey, value: &'v Value, place: &Path<'_>) -> Option<&'v str> {
        if value.as_str().is_none() {
            let (key, kind) = (key.name(), kind_of(value));
            let message = format!("\"{key}\" must be a string, not {kind} (a constant is {{\"literal\": …}})");
            self.problems.invalid(place, message);
        }
        value.as_str()
    }

    /// Reads `{"type", "value"}`.
    fn elsa(&mut self, expression: &Map<String, Value>, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        let type_text = match entry(expression, "type") {
            None | Some((_, Value::Null)) => "Literal",
            Some((_, Value::String(text))) => text,
            Some((_, other)) => {
                let message = format!("an expression type must be a string, not {}", kind_of(other));
                self.problems.invalid(place, message);
                return None;
            }
        };
        let value = member(expression, "value");
        let kind = match type_text.to_ascii_lowercase().as_str() {
            "literal" => return value.and_then(|value| self.constant(value, type_name, place)),
            "object" | "json" => {
                return value.and_then(|value| self.elsa_object(value, type_name, place));
            }
            "javascript" => {
                let source = self.elsa_text(value?, type_text, place)?;
                self.problems.check_script(source, self.strict, place);
                ExpressionKind::JavaScript(source.into())
            }
            "liquid" => {
                let source = self.elsa_text(value?, type_text, place)?;
                self.liquid(source, place)?
            }
            "sql" => {
                let source = self.elsa_text(value?, type_text, place)?;
                self.sql(source, place)?
            }
            "csharp" | "python" => {
                let source = self.elsa_text(value?, type_text, place).filter(|source| !source.trim().is_empty())?;
                let csharp = type_text.eq_ignore_ascii_case("csharp");
                let language = if csharp { ForeignLanguage::CSharp } else { ForeignLanguage::Python };
                return self.foreign_code(source, language, type_name, place);
            }
            "variable" => ExpressionKind::Variable(self.reference(chosen(value)?, place)?),
            "input" => ExpressionKind::Input(self.input_name(chosen(value)?, place)?),
            _ => {
                self.problems.unsupported(place, unavailable::expression(type_text));
                return None;
            }
        };
        Some(Expression { kind, type_name })
    }

    fn liquid(&mut self, source: &str, place: &Path<'_>) -> Option<ExpressionKind> {
        match LiquidTemplate::compile(source) {
            Ok(template) => Some(ExpressionKind::Liquid(template)),
            Err(message) => {
                self.problems.invalid(place, message);
                None
            }
        }
    }

    fn sql(&mut self, source: &str, place: &Path<'_>) -> Option<ExpressionKind> {
        self.uses_sql = true;
        let parsed = SqlTemplate::parse(source);
        if let Ok(template) = &parsed {
            self.problems.note_sql(template.statement(), false, place);
        }
        match parsed {
            Ok(template) if template.is_plain() => Some(ExpressionKind::Sql(Arc::from(source))),
            Ok(template) => Some(ExpressionKind::SqlTemplate(template)),
            Err(message) => {
                self.problems.invalid(place, message);
                None
            }
        }
    }

    /// Adds the constant text of an activity's statement to the SQL of the document.
    pub fn statement(&mut self, source: &str, place: &Path<'_>) {
        if let Ok(template) = SqlTemplate::parse(source) {
            self.problems.note_sql(template.statement(), true, place);
        }
    }

    fn elsa_text<'v>(&mut self, value: &'v Value, type_text: &str, place: &Path<'_>) -> Option<&'v str> {
        if value.as_str().is_none() {
            let message = format!("an expression of type \"{type_text}\" must be a string, not {}", kind_of(value));
            self.problems.invalid(place, message);
        }
        value.as_str()
    }

    fn constant(&mut self, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        if value.is_null() || is_blank(value, type_name) || !self.is_shallow(value, place) {
            return None;
        }
        self.literal(copy_or_null(value), type_name, place)
    }

    fn literal(&mut self, value: Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        match convert(value, type_name) {
            Ok(value) => Some(Expression { kind: ExpressionKind::Literal(value), type_name }),
            Err(fault) => {
                self.problems.invalid(place, fault.message);
                None
            }
        }
    }

    fn is_shallow(&mut self, value: &Value, place: &Path<'_>) -> bool {
        let deep = too_deep(value);
        if deep {
            self.problems.add(ProblemKind::TooDeep, place, "a constant is nested too deeply");
        }
        !deep
    }
}

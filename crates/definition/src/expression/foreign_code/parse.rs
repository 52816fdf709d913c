//! The parser of C# and Python, which reads the text from left to right.

use serde_json::Value;

use super::literal::{self, is_name};
use super::operators::{is_truth, levels, same_in_python};
use super::{Accessor, Term};
use workflow_core::activity::ForeignLanguage;
use workflow_value::value::number;

/// Maximum nesting depth of brackets, interpolated texts and operators.
const MAX_DEPTH: usize = 16;

/// Parses a whole text as one value.
pub(super) fn term(text: &str, language: ForeignLanguage) -> Option<Term> {
    let mut parser = Parser { rest: text, language, depth: 0 };
    let term = parser.value()?;
    parser.skip_blank();
    parser.rest.is_empty().then_some(term)
}

struct Parser<'t> {
    rest: &'t str,
    language: ForeignLanguage,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn skip_blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn name(&mut self) -> Option<&'t str> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        is_name(name).then(|| {
            self.rest = rest;
            name
        })
    }

    fn value(&mut self) -> Option<Term> {
        self.depth += 1;
        let term = if self.depth > MAX_DEPTH { None } else { self.level(0) };
        self.depth -= 1;
        term
    }

    /// Parses one level of operators.
    fn level(&mut self, level: usize) -> Option<Term> {
        let operators = levels(self.language);
        let Some(mine) = operators.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        let mut count = 0;
        loop {
            self.skip_blank();
            let Some((_, operator)) = mine.iter().find(|(word, _)| self.eat(word)) else { return Some(left) };
            count += 1;
            // C# has no chained comparisons, and in Python they have another meaning than in JavaScript.
            if count > MAX_DEPTH || (count > 1 && level + 1 == operators.len()) {
                return None;
            }
            let right = self.level(level + 1)?;
            if self.language == ForeignLanguage::Python && !same_in_python(*operator, &left, &right) {
                return None;
            }
            left = Term::Binary(*operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Option<Term> {
        self.skip_blank();
        let not = match self.language {
            ForeignLanguage::CSharp => !self.rest.starts_with("!=") && self.eat("!"),
            ForeignLanguage::Python => self.eat("not "),
        };
        if not {
            self.depth += 1;
            let inner = match self.language {
                _ if self.depth > MAX_DEPTH => None,
                ForeignLanguage::CSharp => self.unary(),
                // Python negates a whole comparison.
                ForeignLanguage::Python => self.level(levels(self.language).len() - 1).filter(is_truth),
            };
            self.depth -= 1;
            return inner.map(|inner| Term::Not(Box::new(inner)));
        }
        let primary = self.primary()?;
        self.steps(primary)
    }

    fn primary(&mut self) -> Option<Term> {
        if self.eat("(") {
            let inner = self.value()?;
            self.skip_blank();
            return self.eat(")").then_some(inner);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
            return self.number();
        }
        match self.language {
            ForeignLanguage::CSharp => self.csharp(),
            ForeignLanguage::Python => self.python(),
        }
    }

    fn number(&mut self) -> Option<Term> {
        let end = self
            .rest
            .char_indices()
            .find(|(at, c)| !(c.is_ascii_alphanumeric() || *c == '.' || *c == '_' || (*at == 0 && *c == '-')))
            .map_or(self.rest.len(), |(at, _)| at);
        let (text, rest) = self.rest.split_at(end);
        let digits = match self.language {
            ForeignLanguage::CSharp => text.trim_end_matches(['m', 'M', 'd', 'D', 'f', 'F', 'l', 'L', 'u', 'U']),
            ForeignLanguage::Python => text,
        };
        self.rest = rest;
        number::from_text(&digits.replace('_', "")).map(|number| Term::Literal(Value::Number(number)))
    }

    fn csharp(&mut self) -> Option<Term> {
        let interpolated = self.eat("$");
        if self.rest.starts_with("\"\"\"") {
            let (inner, rest) = literal::raw(self.rest)?;
            self.rest = rest;
            return if interpolated { self.inside(&inner) } else { Some(text_of(inner)) };
        }
        if interpolated {
            return self.interpolated();
        }
        if self.eat("@") {
            let (text, rest) = literal::verbatim(self.rest)?;
            self.rest = rest;
            return Some(text_of(text));
        }
        if self.rest.starts_with('"') {
            return self.string().map(text_of);
        }
        let word = self.name()?;
        match word {
            "null" => Some(Term::Literal(Value::Null)),
            "true" => Some(Term::Literal(Value::Bool(true))),
            "false" => Some(Term::Literal(Value::Bool(false))),
            "CorrelationId" => Some(Term::Fact("getCorrelationId")),
            "WorkflowInstanceId" => Some(Term::Fact("getWorkflowInstanceId")),
            "WorkflowInstanceName" => Some(Term::Fact("getWorkflowInstanceName")),
            "string" | "String" => self.null_or_empty_call(),
            "Variable" | "Variables" => self.member_or_call("Get", Term::Variable),
            "Input" | "Inputs" => self.member_or_call("Get", Term::Input),
            _ => None,
        }
    }

    /// Parses a call of C#'s `string.IsNullOrEmpty` or `string.IsNullOrWhiteSpace`, after the word `string`.
    fn null_or_empty_call(&mut self) -> Option<Term> {
        let functions = [("IsNullOrEmpty", "isNullOrEmpty"), ("IsNullOrWhiteSpace", "isNullOrWhiteSpace")];
        let (_, function) = functions.into_iter().find(|(name, _)| self.eat(&format!(".{name}(")))?;
        let inner = self.value()?;
        self.skip_blank();
        self.eat(")").then(|| Term::Call(function, Box::new(inner)))
    }

    fn python(&mut self) -> Option<Term> {
        if let Some(rest) = self.rest.strip_prefix(['f', 'F']).filter(|rest| rest.starts_with(['"', '\''])) {
            self.rest = rest;
            return self.interpolated();
        }
        if self.rest.starts_with(['"', '\'']) {
            return self.string().map(text_of);
        }
        match self.name()? {
            "None" => Some(Term::Literal(Value::Null)),
            "True" => Some(Term::Literal(Value::Bool(true))),
            "False" => Some(Term::Literal(Value::Bool(false))),
            "str" if self.eat("(") => {
                let inner = self.value()?;
                self.skip_blank();
                self.eat(")").then(|| Term::Text(vec![inner]))
            }
            "execution_context" if self.eat(".get_variable") || self.eat(".GetVariable") => {
                self.argument().map(Term::Variable)
            }
            "variables" => self.member_or_call("get", Term::Variable),
            "input" if self.eat(".Get") => self.argument().map(Term::Input),
            "input" => self.member_or_call("get", Term::Input),
            _ => None,
        }
    }

    /// `.Name`, `["Name"]` in Python, `.Get("Name")` and `.Get<Type>("Name")`.
    fn member_or_call(&mut self, function: &str, make: fn(String) -> Term) -> Option<Term> {
        if self.language == ForeignLanguage::Python && self.eat("[") {
            let name = self.string()?;
            return self.eat("]").then(|| make(name));
        }
        if !self.eat(".") {
            return None;
        }
        let name = self.name()?;
        if name == function && self.rest.starts_with(['(', '<']) {
            return self.argument().map(make);
        }
        Some(make(name.to_owned()))
    }

    /// Parses `("Name")`, optionally after a type in angle brackets.
    fn argument(&mut self) -> Option<String> {
        if self.rest.starts_with('<') {
            let mut depth = 0usize;
            let end = self.rest.find(|c: char| {
                depth += usize::from(c == '<');
                depth -= usize::from(c == '>' && depth > 0);
                depth == 0
            })?;
            self.rest = &self.rest[end + 1..];
        }
        if !self.eat("(") {
            return None;
        }
        self.skip_blank();
        let name = self.string()?;
        self.skip_blank();
        self.eat(")").then_some(name)
    }

    /// Parses accesses to a value: members, items, its size, its text.
    fn steps(&mut self, mut term: Term) -> Option<Term> {
        let mut count = 0;
        loop {
            count += 1;
            if count > MAX_DEPTH {
                return None;
            }
            if self.eat("[") {
                self.skip_blank();
                let step = match self.number_of_item() {
                    Some(at) => Accessor::Item(at),
                    None => Accessor::Member(self.string()?),
                };
                self.skip_blank();
                if !self.eat("]") {
                    return None;
                }
                term = Term::Step(Box::new(term), step);
            } else if self.language == ForeignLanguage::CSharp && (self.eat(".ToString()") || self.eat("?.ToString()"))
            {
                term = Term::Text(vec![term]);
            } else if self.eat(".") || (self.language == ForeignLanguage::CSharp && self.eat("?.")) {
                let name = self.name().filter(|_| !self.rest.starts_with(['(', '<']))?;
                let size = self.language == ForeignLanguage::CSharp && ["Count", "Length"].contains(&name);
                let step = if size { Accessor::Size(name.to_owned()) } else { Accessor::Member(name.to_owned()) };
                term = Term::Step(Box::new(term), step);
            } else {
                return Some(term);
            }
            // Access to a constant or a computed value is not supported, because no author needs it.
            if let Term::Step(owner, _) = &term
                && matches!(
                    **owner,
                    Term::Literal(_) | Term::Text(_) | Term::Not(_) | Term::Call(..) | Term::Binary(..)
                )
            {
                return None;
            }
        }
    }

    fn number_of_item(&mut self) -> Option<u32> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit())?;
        let at = self.rest[..end].parse().ok()?;
        self.rest = &self.rest[end..];
        Some(at)
    }

    /// Parses a quoted text.
    fn string(&mut self) -> Option<String> {
        let (inner, rest) = literal::quoted(self.rest, self.language)?;
        self.rest = rest;
        literal::unescaped(inner)
    }

    /// Parses an interpolated text from its first quote; a format in it is not supported.
    fn interpolated(&mut self) -> Option<Term> {
        let quote = self
            .rest
            .chars()
            .next()
            .filter(|c| *c == '"' || (*c == '\'' && self.language == ForeignLanguage::Python))?;
        self.rest = &self.rest[1..];
        let mut parts = Vec::new();
        let mut plain = String::new();
        loop {
            let at = self.rest.find(['{', '}', '\\', '\n', quote])?;
            plain.push_str(&self.rest[..at]);
            self.rest = &self.rest[at..];
            if self.eat("{{") {
                plain.push('{');
            } else if self.eat("}}") {
                plain.push('}');
            } else if self.eat("{") {
                parts.push(text_of(literal::unescaped(&std::mem::take(&mut plain))?));
                parts.push(self.inserted()?);
            } else if self.rest.starts_with('\\') {
                let escape: String = self.rest.chars().take(2).collect();
                self.rest = &self.rest[escape.len()..];
                plain.push_str(&escape);
            } else if self.rest.starts_with(quote) {
                self.rest = &self.rest[1..];
                parts.push(text_of(literal::unescaped(&plain)?));
                return Some(text_with(parts));
            } else {
                return None;
            }
        }
    }

    /// Parses a value and the closing brace.
    fn inserted(&mut self) -> Option<Term> {
        let value = self.value()?;
        self.skip_blank();
        self.eat("}").then_some(value)
    }

    /// Parses an interpolated text without escapes.
    fn inside(&self, text: &str) -> Option<Term> {
        let mut parser = Parser { rest: text, language: self.language, depth: self.depth };
        let mut parts = Vec::new();
        while let Some(at) = parser.rest.find(['{', '}']) {
            parts.push(text_of(parser.rest[..at].to_owned()));
            parser.rest = parser.rest[at..].strip_prefix('{').filter(|rest| !rest.starts_with('{'))?;
            parts.push(parser.inserted()?);
        }
        parts.push(text_of(parser.rest.to_owned()));
        Some(text_with(parts))
    }
}

fn text_of(text: String) -> Term {
    Term::Literal(Value::String(text))
}

fn text_with(mut parts: Vec<Term>) -> Term {
    parts.retain(|part| *part != text_of(String::new()));
    Term::Text(parts)
}

//! Forms from JSON Schema: the controls, and the conversion of their input to JSON.
//!
//! A value without a control of its own is entered as JSON. Only input that is no JSON value at all is rejected here:
//! the database validates the answer against the schema.

mod answer;
mod fields;

use serde_json::Value;

use super::typed::Typed;
use fields::{FormSize, field};

/// Name of the control for the whole answer. Members append their path as in a JSON Pointer: `result/address/street`.
const ROOT: &str = "result";

/// A form with its input and the errors in it.
pub struct Form {
    root: Field,
}

/// A control, or a group of them.
#[derive(askama::Template)]
#[template(path = "task_field.html")]
pub struct Field {
    /// Name of the control: `result`, and the path of the member.
    name: String,
    /// Id of the control in the page.
    id: String,
    label: String,
    help: Option<String>,
    is_required: bool,
    kind: FieldKind,
    /// The input: a text, or the ticked choices.
    given: Vec<String>,
    problems: Vec<String>,
}

enum FieldKind {
    /// A line of text, with its input type.
    Line(&'static str),
    Lines,
    /// `inputmode` of the input: digits are kept as typed.
    Number(&'static str),
    /// Date and time in UTC.
    Instant,
    YesNo,
    Choice(Vec<Choice>),
    /// Any number of choices.
    Choices(Vec<Choice>),
    Json,
    Group(Vec<Field>),
}

struct Choice {
    key: String,
    label: String,
    value: Value,
}

impl Form {
    /// The form for a schema. Without a schema, or with one that is too large, the answer is entered as JSON. Members
    /// required by the schema of the answer are required in the form as well.
    pub fn new(schema: Option<&Value>, of_answer: Option<&Value>) -> Self {
        let whole = Value::Null;
        let schema = schema.unwrap_or(&whole);
        let label = schema.get("title").and_then(Value::as_str).unwrap_or("Answer");
        let root = field(schema, of_answer, ROOT, label, false, &mut FormSize::new());
        let root = root.or_else(|| field(&whole, None, ROOT, label, false, &mut FormSize::new()));
        Self { root: root.unwrap_or_else(|| Field::json(ROOT, label)) }
    }

    /// The heading of the form.
    pub fn title(&self) -> &str {
        &self.root.label
    }

    pub fn help(&self) -> Option<&str> {
        self.root.help.as_deref().filter(|_| matches!(self.root.kind, FieldKind::Group(_)))
    }

    /// The top-level fields.
    pub fn fields(&self) -> &[Field] {
        match &self.root.kind {
            FieldKind::Group(fields) => fields,
            _ => std::slice::from_ref(&self.root),
        }
    }

    pub fn has_problems(&self) -> bool {
        !self.root.problems.is_empty() || self.root.children().iter().any(Field::is_wrong)
    }

    /// Clears the errors of all fields.
    pub fn forgive(&mut self) {
        self.root.forgive();
    }

    /// Sets the input.
    pub fn fill(&mut self, typed: &Typed) {
        self.root.fill(typed);
    }

    /// The answer as JSON, without invalid input; `None` if nothing was entered.
    pub fn answer(&mut self) -> Option<String> {
        self.root.answer().map(|value| value.to_string())
    }

    /// Assigns the database's errors, `/path: message` per line, to their fields. Returns those that belong to no
    /// field.
    pub fn blame(&mut self, reasons: &str) -> Vec<String> {
        let mut others = Vec::new();
        for reason in reasons.lines() {
            let (path, text) = reason.split_once(": ").unwrap_or(("", reason));
            match self.root.find(&format!("{ROOT}{}", path.trim_end_matches('/'))) {
                Some(field) if !matches!(field.kind, FieldKind::Group(_)) => field.problems.push(text.to_owned()),
                _ => others.push(reason.to_owned()),
            }
        }
        others
    }
}

impl Field {
    fn json(name: &str, label: &str) -> Self {
        Self {
            name: name.to_owned(),
            id: "f0".to_owned(),
            label: label.to_owned(),
            help: None,
            is_required: false,
            kind: FieldKind::Json,
            given: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn children(&self) -> &[Self] {
        if let FieldKind::Group(fields) = &self.kind { fields } else { &[] }
    }

    fn children_mut(&mut self) -> &mut [Self] {
        if let FieldKind::Group(fields) = &mut self.kind { fields } else { &mut [] }
    }

    fn is_wrong(&self) -> bool {
        !self.problems.is_empty() || self.children().iter().any(Self::is_wrong)
    }

    fn find(&mut self, name: &str) -> Option<&mut Self> {
        if self.name == name {
            return Some(self);
        }
        self.children_mut().iter_mut().find_map(|child| child.find(name))
    }

    fn forgive(&mut self) {
        self.problems.clear();
        for child in self.children_mut() {
            child.forgive();
        }
    }

    fn fill(&mut self, typed: &Typed) {
        self.given = typed.all(&self.name).to_vec();
        for child in self.children_mut() {
            child.fill(typed);
        }
    }

    /// The text in the control.
    fn text(&self) -> &str {
        self.given.first().map_or("", String::as_str)
    }

    fn has(&self, key: &str) -> bool {
        self.given.iter().any(|given| given == key)
    }
}

#[cfg(test)]
mod tests;

//! Forms from JSON Schema: the controls, and the conversion of their input to JSON.
//!
//! A value without a control of its own is entered as JSON. Only input that is no JSON value at all is rejected here:
//! the database validates the answer against the schema.

mod answer;
mod fields;

use serde_json::Value;

use super::texts::Language;
use super::typed::Typed;
use fields::{FormSize, field};

/// Name of the control for the whole answer. Members append their path as in a JSON Pointer: `result/address/street`.
const ROOT: &str = "result";

/// A form with its input and the errors in it.
pub struct Form {
    root: Field,
    decision: Option<Decision>,
}

/// The question that buttons answer in place of a field.
pub struct Decision {
    /// Name of the field.
    name: String,
    /// Name of the field that says that the answer is neither, if there is one.
    abstain: Option<String>,
    /// Whether it asks for an approval, as votes do, and not for something else that is yes or no.
    is_approval: bool,
}

/// The keywords of the buttons.
pub const YES: &str = "yes";
pub const NO: &str = "no";
pub const ABSTAIN: &str = "abstain";

/// A control, or a group of them.
#[derive(askama::Template)]
#[template(path = "task_field.html")]
pub struct Field {
    /// Name of the control: `result`, and the path of the member.
    name: String,
    language: Language,
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

/// The help of a field and the errors in it.
#[derive(askama::Template)]
#[template(path = "task_field_notes.html")]
pub struct Notes<'a> {
    id: &'a str,
    help: &'a Option<String>,
    problems: &'a [String],
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
    pub fn new(schema: Option<&Value>, of_answer: Option<&Value>, language: Language) -> Self {
        let whole = Value::Null;
        let schema = schema.unwrap_or(&whole);
        let label = schema.get("title").and_then(Value::as_str).unwrap_or_else(|| language.text("form.answer"));
        let root = field(schema, of_answer, ROOT, label, false, &mut FormSize::new(language));
        let root = root.or_else(|| field(&whole, None, ROOT, label, false, &mut FormSize::new(language)));
        let root = root.unwrap_or_else(|| Field::json(ROOT, label, language));
        let decision = decision(&root);
        Self { root, decision }
    }

    /// The same with a field in place of the buttons.
    pub fn without_buttons(self) -> Self {
        Self { decision: None, ..self }
    }

    /// The heading of the form.
    pub fn title(&self) -> &str {
        &self.root.label
    }

    pub fn help(&self) -> Option<&str> {
        self.root.help.as_deref().filter(|_| matches!(self.root.kind, FieldKind::Group(_)))
    }

    /// The top-level fields, without those that buttons answer.
    pub fn fields(&self) -> Vec<&Field> {
        let fields = match &self.root.kind {
            FieldKind::Group(fields) => fields,
            _ => std::slice::from_ref(&self.root),
        };
        let is_button = |field: &&Field| self.decision.as_ref().is_some_and(|decision| decision.is_of(field));
        fields.iter().filter(|field| !is_button(field)).collect()
    }

    /// The question that buttons answer.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }

    /// The field of the question, for its label, help and errors.
    pub fn question(&self) -> Option<&Field> {
        let decision = self.decision.as_ref()?;
        self.root.children().iter().find(|field| field.name == decision.name)
    }

    /// The buttons in place of the question: keyword, key of the text, and icon.
    pub fn buttons(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let Some(decision) = &self.decision else { return Vec::new() };
        let mut buttons = match decision.is_approval {
            true => vec![(YES, "task.approve", "check"), (NO, "task.reject", "x")],
            false => vec![(YES, "value.yes", "check"), (NO, "value.no", "x")],
        };
        if decision.abstain.is_some() {
            buttons.push((ABSTAIN, "task.abstain", "minus"));
        }
        buttons
    }

    /// Enters the answer of a button. Returns whether the form has this button.
    pub fn decide(&self, button: &str, typed: &mut Typed) -> bool {
        let Some(decision) = &self.decision else { return false };
        let (answer, abstains) = match button {
            YES => ("true", ""),
            NO => ("false", ""),
            ABSTAIN if decision.abstain.is_some() => ("", "true"),
            _ => return false,
        };
        typed.set(&decision.name, answer);
        if let Some(abstain) = &decision.abstain {
            typed.set(abstain, abstains);
        }
        true
    }

    /// Whether a field must be filled in.
    pub fn has_required(&self) -> bool {
        self.fields().iter().any(|field| field.is_required)
    }

    /// Whether the whole answer is entered as JSON.
    pub fn is_json(&self) -> bool {
        matches!(self.root.kind, FieldKind::Json)
    }

    pub fn is_empty(&self) -> bool {
        self.root.text().trim().is_empty()
    }

    /// The fields with errors, for a list above the form.
    pub fn wrong_fields(&self) -> Vec<&Field> {
        let mut wrong = Vec::new();
        self.root.collect_wrong(&mut wrong);
        wrong
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
    fn json(name: &str, label: &str, language: Language) -> Self {
        Self {
            name: name.to_owned(),
            language,
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

    fn collect_wrong<'a>(&'a self, found: &mut Vec<&'a Self>) {
        if !self.problems.is_empty() {
            found.push(self);
        }
        for child in self.children() {
            child.collect_wrong(found);
        }
    }

    /// The help and the errors, where the page has no control for the field.
    pub fn notes(&self) -> Notes<'_> {
        Notes { id: &self.id, help: &self.help, problems: &self.problems }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    pub fn problem(&self) -> String {
        self.problems.join("; ")
    }

    /// The text of a key, for the template.
    fn t(&self, key: &str) -> &'static str {
        self.language.text(key)
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

impl Decision {
    fn is_of(&self, field: &Field) -> bool {
        field.name == self.name || self.abstain.as_ref() == Some(&field.name)
    }
}

/// The question that buttons answer: `approved` of a vote, or the only one that must be answered by yes or no.
fn decision(root: &Field) -> Option<Decision> {
    let mut questions = root.children().iter().filter(|field| matches!(field.kind, FieldKind::YesNo));
    let named = |name: &str| format!("{ROOT}/{name}");
    let of_name = |name: &str| {
        root.children().iter().find(|field| matches!(field.kind, FieldKind::YesNo) && field.name == named(name))
    };
    if let Some(approved) = of_name("approved") {
        let abstain = of_name("abstain").map(|field| field.name.clone());
        return Some(Decision { name: approved.name.clone(), abstain, is_approval: true });
    }
    let only = questions.next().filter(|field| field.is_required && questions.next().is_none())?;
    Some(Decision { name: only.name.clone(), abstain: None, is_approval: false })
}

#[cfg(test)]
mod tests;

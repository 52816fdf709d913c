//! Converts fields to JSON.

use serde_json::{Map, Value};

use super::{Field, FieldKind};
use crate::json;
use crate::pages::typed::lines;

impl Field {
    /// The value of the field; `None` if it is empty or invalid: then `problems` has the reason.
    pub(super) fn answer(&mut self) -> Option<Value> {
        self.problems.clear();
        if let FieldKind::Group(_) = self.kind {
            return self.members();
        }
        match self.value() {
            Ok(None) if self.is_required => {
                self.problems.push(self.t("form.missing").to_owned());
                None
            }
            Ok(value) => value,
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    /// The object of a group. An optional group with no input is omitted.
    fn members(&mut self) -> Option<Value> {
        let mut members = Map::new();
        for child in self.children_mut() {
            // The last segment of the path is the name of the member.
            let name = child.name.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
            if let Some(value) = child.answer() {
                members.insert(name, value);
            }
        }
        let is_left_out = self.name.contains('/') && !self.is_required && !self.is_touched();
        if is_left_out {
            self.forgive();
            return None;
        }
        Some(Value::Object(members))
    }

    fn is_touched(&self) -> bool {
        self.given.iter().any(|given| !given.trim().is_empty()) || self.children().iter().any(Self::is_touched)
    }

    fn value(&self) -> Result<Option<Value>, String> {
        let text = self.text();
        if let FieldKind::Choices(_) = self.kind {
            return self
                .chosen()
                .map(|values| (self.is_required || !values.is_empty()).then_some(Value::Array(values)));
        }
        if text.trim().is_empty() {
            return Ok(None);
        }
        match &self.kind {
            FieldKind::Line(_) => Ok(Value::String(text.to_owned())),
            FieldKind::Lines => Ok(Value::String(lines(text))),
            FieldKind::Instant => Ok(Value::String(instant(text.trim()))),
            FieldKind::Number(_) => number(text.trim()).map_err(|()| self.filled("form.no-number", text.trim())),
            FieldKind::YesNo => yes_or_no(text).map_err(|()| self.filled("form.no-choice", text)),
            FieldKind::Json => json::read(text.as_bytes()).map_err(|error: String| self.filled("form.no-json", &error)),
            FieldKind::Choice(_) => self.chosen().map(|mut values| values.swap_remove(0)),
            FieldKind::Choices(_) | FieldKind::Group(_) => return Ok(None),
        }
        .map(Some)
    }

    fn filled(&self, key: &str, value: &str) -> String {
        self.language.filled(key, &[value])
    }

    /// The values of the selected choices, in schema order.
    fn chosen(&self) -> Result<Vec<Value>, String> {
        let (FieldKind::Choice(choices) | FieldKind::Choices(choices)) = &self.kind else { return Ok(Vec::new()) };
        match self.given.iter().find(|given| choices.iter().all(|choice| choice.key != **given)) {
            Some(unknown) => Err(self.filled("form.no-choice", unknown)),
            None => Ok(choices.iter().filter(|c| self.has(&c.key)).map(|c| c.value.clone()).collect()),
        }
    }
}

/// A number with all digits as typed.
fn number(text: &str) -> Result<Value, ()> {
    match json::read::<Value>(text.as_bytes()) {
        Ok(value) if value.is_number() => Ok(value),
        _ => Err(()),
    }
}

fn yes_or_no(text: &str) -> Result<Value, ()> {
    match text {
        "true" => Ok(Value::Bool(true)),
        "false" => Ok(Value::Bool(false)),
        _ => Err(()),
    }
}

/// The value of `datetime-local` has no zone, and omits seconds that are zero.
fn instant(text: &str) -> String {
    match text.len() {
        16 => format!("{text}:00Z"),
        19..=23 if !text.ends_with('Z') => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

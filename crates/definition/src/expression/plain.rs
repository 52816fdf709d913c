//! Plain values that look like expressions. They would be passed on unchanged.

use serde_json::Value;

use super::ExpressionReader;
use crate::forms::{PlainPart, find_part, no_expression};
use crate::json::{Path, too_deep};
use workflow_expression::Expression;
use workflow_value::value::TypeName;

impl ExpressionReader<'_> {
    /// Checks a plain value of new content in the short form. An expression inside is a problem; a text that looks like
    /// a template is a warning. Only the first of each is reported.
    pub(super) fn check_plain(&mut self, value: &Value, place: &Path<'_>) {
        if !self.strict || too_deep(value) {
            return;
        }
        if let Some((step, PlainPart::Expression(key))) = find_part(value, PlainPart::is_expression) {
            self.problems.invalid(&Path::Below(place, &step), no_expression(key));
        }
        let is_template =
            |part: &PlainPart<'_>| matches!(part, PlainPart::Text(text) if meant_language(text).is_some());
        if let Some((step, PlainPart::Text(text))) = find_part(value, is_template) {
            self.warn_of_template(text, &Path::Below(place, &step));
        }
    }

    /// Warns about a plain text that looks like a JavaScript or Liquid template.
    pub(super) fn warn_of_template(&mut self, text: &str, place: &Path<'_>) {
        if let (true, Some(meant)) = (self.strict, meant_language(text)) {
            let message = format!(
                "a plain text is not evaluated: write {{\"{meant}\": …}} for a template, or {{\"literal\": …}} to pass it \
                 on as it is"
            );
            self.problems.warn(place, message);
        }
    }

    /// Reads a statement whose parameters are `$1`, `$2` and so on.
    pub fn numbered_statement(&mut self, value: &Value, type_name: TypeName, place: &Path<'_>) -> Option<Expression> {
        let has_braces = |text: &str| text.split_once("{{").is_some_and(|(_, rest)| rest.contains("}}"));
        if self.problems.is_new() && value.as_str().is_some_and(has_braces) {
            self.problems.warn(
                place,
                "names in braces are not replaced here: write $1 and \"parameters\", or use SqlQuery, SqlCommand or \
                 SqlSingleValue",
            );
        }
        self.source(value, type_name, place)
    }
}

/// The key of the language whose template a text resembles.
fn meant_language(text: &str) -> Option<&'static str> {
    let holds = |open: &str, close: &str| text.split_once(open).is_some_and(|(_, rest)| rest.contains(close));
    if holds("{{", "}}") || holds("{%", "%}") { Some("liquid") } else { holds("${", "}").then_some("js") }
}

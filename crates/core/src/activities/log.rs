//! `Log`: writes a log entry with a level and attributes.
//!
//! Elsa passes entries on to the sinks of its host. Here an entry is written to the host's log, if there is one, and to
//! the journal.

use serde_json::Value;

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::{Execution, one_of};
use crate::host::{LogEntry, LogLevel};
use workflow_value::fault::Fault;
use workflow_value::value::{Text, parse_json, to_text};

/// Writes a log entry.
#[derive(Debug)]
pub struct Log;

const CATEGORY_OF_ELSA: &str = "Process";

inputs! {
    MESSAGE: String = InputDescriptor::new(
        "message", "String", "The text. Names in braces stand for arguments, such as {Item}.").needed(),
    ARGUMENTS: Value = InputDescriptor::new(
        "arguments", "Object", "Values for the names in the message: an object, or a list in their order."),
    LEVEL: Value = InputDescriptor::new(
        "level", "LogLevel", "Trace, Debug, Information, Warning, Error or Critical.")
        .default(r#""Information""#)
        .checked(|level| one_of(level, "level", &LogLevel::NAMES))
        .choices(&LogLevel::NAMES),
    CATEGORY: String =
        InputDescriptor::new("category", "String", "The subject, in a word.").default(r#""Process""#),
    ATTRIBUTES: Value = InputDescriptor::new("attributes", "Object", "Further data: an object."),
    SINK_NAMES: Value = InputDescriptor::new("sinkNames", "Object", "Elsa's sinks; no effect here."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Log",
    category: "Diagnostics",
    description: "Writes a log entry to the journal of the instance, and from workflow.log_min_level on to the server's log.",
    inputs: INPUTS,
    example: r#"{"type": "Log", "message": "{Left} of {Item} left", "arguments": {"Left": 3, "Item": "tea"}, "level": "Warning", "category": "Stock", "attributes": {"sku": 17}}"#,
    ..Descriptor::BASE
};

impl Activity for Log {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let level = LogLevel::at(cx.choice(LEVEL, &LogLevel::NAMES)?);
        let message = filled(&cx.get(MESSAGE)?, &arguments(cx.take(ARGUMENTS)))?;
        let category = cx.get(CATEGORY)?;
        let category = if category.trim().is_empty() { CATEGORY_OF_ELSA.into() } else { category };
        let attributes = cx.take(ATTRIBUTES);
        if !matches!(attributes, Value::Null | Value::Object(_)) {
            return Err(Fault::new("22023", "input \"attributes\" must be an object"));
        }
        cx.log(LogEntry { level, category, message, attributes });
        cx.complete()
    }
}

/// A text may be JSON, as a template produces it.
fn arguments(given: Value) -> Value {
    match given {
        Value::String(text) => parse_json(&text).ok().filter(Value::is_object).unwrap_or_else(|| vec![text].into()),
        Value::Null | Value::Array(_) | Value::Object(_) => given,
        scalar => vec![scalar].into(),
    }
}

/// The message with its placeholders replaced by arguments. A placeholder without an argument stays, and a doubled
/// brace becomes a single one. A short message can use a long argument many times, so memory is reserved for every
/// piece of text.
fn filled(message: &str, arguments: &Value) -> Result<String, Fault> {
    let (mut text, mut rest, mut position) = (Text::default(), message, 0);
    while let Some(at) = rest.find(['{', '}']) {
        text.push(&rest[..at])?;
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            text.push(brace)?;
            rest = after;
            continue;
        }
        let hole = rest.find(['{', '}']).filter(|end| brace == "{" && rest.as_bytes()[*end] == b'}');
        let Some(end) = hole else {
            text.push(brace)?;
            continue;
        };
        match argument(&rest[..end], position, arguments) {
            Some(Value::String(argument)) => text.push(argument)?,
            Some(argument) => text.push(&to_text(argument))?,
            None => [brace, &rest[..=end]].into_iter().try_for_each(|piece| text.push(piece))?,
        }
        (rest, position) = (&rest[end + 1..], position + 1);
    }
    text.push(rest)?;
    text.finish()
}

/// The argument for a placeholder, by its name or by its position in a list. A format in the placeholder is ignored.
fn argument<'a>(hole: &str, position: usize, arguments: &'a Value) -> Option<&'a Value> {
    let name = hole.split([',', ':']).next().unwrap_or_default().trim().trim_start_matches(['@', '$']);
    match arguments {
        Value::Array(list) => list.get(name.parse().unwrap_or(position)),
        Value::Object(members) => {
            members.get(name).or_else(|| Some(members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?.1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{arguments, filled};
    use serde_json::{Value, json};

    #[test]
    fn names_stand_for_arguments() {
        let named = json!({"Item": "tea", "left": 3});
        for (message, given, expected) in [
            ("{Left} of {Item} left", named.clone(), "3 of tea left"),
            ("{Left,5:N0} of {@Item}", named.clone(), "3 of tea"),
            ("{Other} {{Item}} }}{", named, "{Other} {Item} }{"),
            ("{A} {B} {C}", json!(["x", 2]), "x 2 {C}"),
            ("{1} {0}", json!(["x", 2]), "2 x"),
            ("{A}", json!(7), "7"),
            ("{A}", json!("plain"), "plain"),
            ("{A}", json!("{\"A\": \"from a template\"}"), "from a template"),
            ("{A} {", Value::Null, "{A} {"),
            ("{a{A}", json!({"A": "ä"}), "{aä"),
        ] {
            assert_eq!(filled(message, &arguments(given)).unwrap(), expected, "{message}");
        }
    }
}

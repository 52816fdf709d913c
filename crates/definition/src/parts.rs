//! Parts of an activity, such as the cases of a switch: their texts, conditions and activities.

use serde_json::Value;

use super::expression::{ExpressionReader, short_binding};
use super::json::{Path, kind_of};
use super::members;
use super::outline::RawPart;
use super::problem::Problems;
use super::retry;
use workflow_core::NodeIx;
use workflow_core::activity::{PartCondition, PartList};
use workflow_core::program::Part;
use workflow_expression::{Expression, ExpressionKind};
use workflow_value::value::TypeName;

/// Members that a part of any list may have.
pub(super) const COMMON: [&str; 5] = ["id", "displayName", "description", "metadata", "customProperties"];

/// Reads one list of parts; `short`: of an activity in the short form.
pub(super) fn read(
    list: &PartList,
    found: &[RawPart<'_>],
    short: bool,
    above: &Path<'_>,
    reader: &mut ExpressionReader<'_>,
) -> Vec<Part> {
    // An invalid part stays in the list, so that the others keep their positions; the program is then discarded.
    found.iter().map(|raw| part(list, raw, short, above, reader)).collect()
}

fn part(list: &PartList, raw: &RawPart<'_>, short: bool, above: &Path<'_>, reader: &mut ExpressionReader<'_>) -> Part {
    let place = Path::Below(above, &raw.step);
    if let (Value::Object(members), true) = (raw.value, reader.strict) {
        let texts = list.texts.iter().map(|(name, _)| *name);
        let condition = (list.condition != PartCondition::None).then_some("condition");
        let catches = ["on", "variable"].into_iter().filter(|_| list.catches);
        let own = texts.chain(condition).chain(catches).chain(list.ports.iter().copied());
        members::check(members, own, COMMON.into_iter(), &format!("a {}", list.one), &place, reader.problems);
    }
    let mut texts = Vec::with_capacity(list.texts.len());
    for (at, (name, needed)) in list.texts.iter().enumerate() {
        let read = match raw.value.as_str().filter(|_| at == 0) {
            Some(text) => Some(text.to_owned()),
            None => text(list, raw, name, &place, reader.problems),
        };
        // The Studio accepts a case without a label, to which nothing can be connected.
        if *needed && short && read.as_ref().is_some_and(String::is_empty) {
            reader.problems.invalid(&place, format!("a {} needs a \"{name}\"", list.one));
        }
        texts.push(read.unwrap_or_default());
    }
    let condition = match list.condition {
        PartCondition::None => None,
        PartCondition::Needed => needed_condition(list, raw, &place, reader),
        PartCondition::Optional => match raw.member("condition") {
            Some((key, value)) => reader.condition(value, &place.key(key)),
            None => None,
        },
    };
    let ports = raw.ports.iter().map(|port| port.map(NodeIx::at)).collect();
    let member = |name| raw.member(name).filter(|(_, value)| list.catches && !value.is_null());
    let on = member("on").map(|(key, value)| retry::causes(value, key, true, &place, reader.problems));
    let variable = member("variable").and_then(|(key, value)| variable(value, &place.key(key), reader));
    Part { texts, condition, ports, on: on.unwrap_or_default(), variable }
}

/// The variable that a part names: by its name, or as `{"var": "Name"}`.
fn variable(value: &Value, place: &Path<'_>, reader: &mut ExpressionReader<'_>) -> Option<String> {
    match (value, short_binding(value)) {
        (Value::String(name), _) => reader.variable(name, place),
        (_, Some(("var", name))) => reader.variable(name, place),
        _ => reader.reference(value, place),
    }
}

/// A text member; empty if it is missing, `None` if it is no text.
fn text(list: &PartList, raw: &RawPart<'_>, name: &str, place: &Path<'_>, problems: &mut Problems) -> Option<String> {
    match raw.member(name) {
        None | Some((_, Value::Null)) => Some(String::new()),
        Some((_, Value::Number(number))) if list.numbered && number.is_u64() => Some(number.to_string()),
        Some((_, Value::String(text))) if !list.numbered => Some(text.clone()),
        Some((key, value)) => {
            let wanted = if list.numbered { "a whole number" } else { "a string" };
            let message = format!("\"{key}\" of a {} must be {wanted}, not {}", list.one, kind_of(value));
            problems.invalid(&place.key(key), message);
            None
        }
    }
}

fn needed_condition(
    list: &PartList,
    raw: &RawPart<'_>,
    place: &Path<'_>,
    reader: &mut ExpressionReader<'_>,
) -> Option<Expression> {
    let Some((key, value)) = raw.member("condition") else {
        reader.problems.invalid(place, format!("a {} needs a \"condition\"", list.one));
        return None;
    };
    let before = reader.problems.count();
    let condition = reader.condition(value, &place.key(key));
    if condition.is_none() && reader.problems.count() > before {
        return None;
    }
    // A condition left empty in the Studio never holds.
    let never = Expression { kind: ExpressionKind::Literal(Value::Bool(false)), type_name: TypeName::Boolean };
    Some(condition.unwrap_or(never))
}

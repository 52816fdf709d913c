//! Inputs of a task for people: assignee, candidates, deadline, and the form of an answer.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::activities::timing::{interval, read_instant};
use crate::activity::{Excluded, FromInput, Input, InputDescriptor};
use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::{Execution, ForPeople, one_of};
use crate::journal::EventKind;
use crate::notification::Notify;
use workflow_expression::{Expression, ExpressionKind};
use workflow_http::stimulus;
use workflow_schema::Schema;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::indexed::{MAX_INDEXED, check_indexed};
use workflow_value::value::{as_bool, copy_or_null, is_date_time, parse_json, to_text};

/// Maximum number of candidates of one task.
const MAX_CANDIDATES: usize = 100;
/// The keyword with which an author orders the fields of a form: jsonb does not keep the order of `properties`.
const PROPERTY_ORDER: &str = "propertyOrder";
/// Levels of a form in which this keyword is checked.
const MAX_FORM_LEVELS: usize = 32;

/// The member of the metadata of a timer with the id of its task, as a text: Elsa's clients expect texts there.
pub(super) const TASK: &str = "TaskId";

pub(super) const ASSIGNEE: InputDescriptor =
    InputDescriptor::new("assignee", "String", "Who is to do it: role:NAME, or any name that the application knows.")
        .checked(|value| assignee(value).map(drop));

pub(super) const CANDIDATES: InputDescriptor =
    InputDescriptor::new("candidates", "ICollection<String>", "Who may do it, in the same form.")
        .checked(|value| candidates(value).map(drop));

pub(super) const DEADLINE: InputDescriptor = InputDescriptor::new(
    "deadline",
    "String",
    "By when it should be done: a time, or an interval from the opening of the task. \"onDeadline\" says what happens then.",
)
.checked(check_deadline);

pub(super) const FORM: InputDescriptor =
    InputDescriptor::new("form", "Object", "JSON Schema, with titles, of a form for the answer. Numbers as \"propertyOrder\" in its properties order the fields.")
        .hint("json-editor")
        .checked(check_form);

pub(super) const RESULT_SCHEMA: InputDescriptor =
    InputDescriptor::new("resultSchema", "Object", "JSON Schema: an answer that does not match it is rejected.")
        .hint("json-editor")
        .checked(check_schema);

/// The values of the input `onDeadline` of a task.
pub(super) const ON_DEADLINES: [&str; 5] = ["nothing", "expire", "escalate", "raise", "event"];

pub(super) const ON_DEADLINE: InputDescriptor = InputDescriptor::new(
    "onDeadline",
    "String",
    "What happens at the deadline: nothing, expire (the outcome is Expired), escalate (those in \"escalateTo\" are asked instead, once), raise (the priority becomes \"raiseTo\"), or event (\"deadlineEvent\" is published).",
)
.checked(|value| one_of(value, "onDeadline", &ON_DEADLINES))
.choices(&ON_DEADLINES);

pub(super) const ESCALATE_TO: InputDescriptor = InputDescriptor::new(
    "escalateTo",
    "Object",
    "Who is asked then, written like \"candidates\"; \"manager\": the managers of those who were asked.",
)
.hint("json-editor")
.checked(|value| if is_blank(value) { Ok(()) } else { escalate_to(value).map(drop) });

pub(super) const RAISE_TO: InputDescriptor =
    InputDescriptor::new("raiseTo", "Int32", "The priority from the deadline on, with \"onDeadline\": \"raise\".")
        .checked(|value| if is_blank(value) { Ok(()) } else { priority(value).map(drop) });

pub(super) const DEADLINE_EVENT: InputDescriptor =
    InputDescriptor::new("deadlineEvent", "String", "The event of the deadline, with \"onDeadline\": \"event\".")
        .checked(|value| check_indexed("event name", to_text(value).trim(), MAX_INDEXED));

pub(super) const NOTIFY: InputDescriptor = InputDescriptor::new(
    "notify",
    "Object",
    "What happens when a task is opened, assigned, reminded or escalated: {\"event\": NAME} is published, {\"workflow\": ID} is started; false: nothing, whatever the options say.",
)
.hint("json-editor")
.constant()
.checked(|value| Notify::read(value).map(drop));

pub(super) const NOT: InputDescriptor = InputDescriptor::new(
    "not",
    "Object",
    "Who must not answer it: \"starter\", and {\"answered\": \"<activity id>\"} for whoever answered an earlier activity.",
)
.hint("json-editor")
.constant()
.checked(|value| Excluded::read(value).map(drop));

pub(super) const REASSIGNABLE: InputDescriptor = InputDescriptor::new(
    "reassignable",
    "Boolean",
    "Whether the assignee, or without one a candidate, may assign it to somebody else.",
)
.constant();

/// Whether a constant input is true.
pub(super) fn is_true(inputs: &[Option<Expression>], input: Input<bool>) -> bool {
    let given = inputs.get(input.index).and_then(Option::as_ref).map(|input| &input.kind);
    matches!(given, Some(ExpressionKind::Literal(value)) if as_bool(value) == Ok(true))
}

/// The value of the input `assignee`; null is no assignee. 22023 if it is no name.
pub(super) fn assignee(value: &Value) -> Result<Option<String>, Fault> {
    match value {
        Value::Null => Ok(None),
        value => ForPeople::entry(&to_text(value), "assignee").map(Some),
    }
}

/// The value of the input `candidates`; null is no candidates. 22023 if it is no list of names.
pub(super) fn candidates(value: &Value) -> Result<Vec<String>, Fault> {
    let list = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list,
        _ => return Err(Fault::new("22023", "input \"candidates\" must be a list")),
    };
    if list.len() > MAX_CANDIDATES {
        return Err(Fault::new("22023", format!("a task has at most {MAX_CANDIDATES} candidates, not {}", list.len())));
    }
    list.iter().map(|entry| ForPeople::entry(&to_text(entry), "candidate")).collect()
}

/// Who is asked at the deadline.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EscalateTo {
    /// The managers of those who were asked before, by the directory.
    Managers,
    /// These.
    People(Vec<String>),
}

/// The value of the input `escalateTo`. Designers write a list as text. 22023 if the list is empty: any role with `resume`
/// could answer such a task.
pub(super) fn escalate_to(value: &Value) -> Result<EscalateTo, Fault> {
    let nobody = || Fault::new("22023", "\"escalateTo\" must name somebody");
    match value {
        value if is_manager(value) => Ok(EscalateTo::Managers),
        value if is_blank(value) => Err(nobody()),
        Value::String(text) => match parse_json(text) {
            Ok(list @ Value::Array(_)) => escalate_to(&list),
            _ => Err(Fault::new("22023", "\"escalateTo\" must be a list of names, or \"manager\"")),
        },
        value => match candidates(value)? {
            names if names.is_empty() => Err(nobody()),
            names => Ok(EscalateTo::People(names)),
        },
    }
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Whether `escalateTo` stands for the managers of those who are asked. In a list, `manager` is a name.
pub(super) fn is_manager(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim() == "manager")
}

/// Who is asked in place of people, by the directory.
pub(super) enum Managers {
    /// The managers, each once, and in their own place those who have none.
    Known(Vec<String>),
    /// No manager of theirs may answer.
    None,
    /// The directory has failed, and no manager is known. The next look-up is due at this time.
    Later(DateTime<Utc>),
}

/// When the directory is asked again after it failed.
const ASK_AGAIN: TimeDelta = TimeDelta::hours(1);

/// The managers of these people. Those without one who may answer go on record, as does a directory that fails.
///
/// # Errors
/// 22008 if the time to ask again is out of range.
pub(super) fn managers_of(cx: &mut Execution<'_>, people: &[String]) -> Result<Managers, Fault> {
    let node = cx.node();
    let excluded = node.activity.excluded(&node.inputs)?;
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    let (mut knows_any, mut failure) = (false, None);
    for person in people {
        let manager = cx.manager_of(person, &excluded).unwrap_or_else(|why| {
            failure.get_or_insert(why);
            None
        });
        knows_any |= manager.is_some();
        if manager.is_none() {
            unknown.push(person.as_str());
        }
        let asked = manager.unwrap_or_else(|| person.clone());
        if !found.contains(&asked) {
            found.push(asked);
        }
    }
    if !unknown.is_empty() || people.is_empty() {
        let mut note = json!({ "noManager": unknown });
        if let Some(why) = &failure {
            note["why"] = Value::from(why.as_str());
        }
        cx.journal(EventKind::Note, Some(note));
    }
    match failure {
        _ if knows_any => Ok(Managers::Known(found)),
        None => Ok(Managers::None),
        Some(_) => {
            let again = cx.instant().checked_add_signed(ASK_AGAIN);
            again.map(Managers::Later).ok_or_else(|| Fault::new("22008", "timestamp out of range"))
        }
    }
}

/// Arms the deadline of a task, or of all open tasks of the execution.
pub(super) fn arm_deadline(cx: &mut Execution<'_>, at: DateTime<Utc>, task: Option<Uuid>) -> Result<(), Fault> {
    cx.create_bookmark(NewBookmark {
        name: Some(stimulus::DEADLINE.to_owned()),
        due_at: Some(at),
        metadata: task.map(|task| json!({ TASK: task.to_string() })),
        auto_complete: false,
        ..NewBookmark::default()
    })
    .map(drop)
}

/// The task of a deadline or a reminder.
pub(super) fn task_of(bookmark: &Resumed) -> Option<Uuid> {
    Uuid::parse_str(bookmark.metadata.as_ref()?[TASK].as_str()?).ok()
}

/// The priority in the input `raiseTo`. 22023 if there is none, or it is no integer, 22003 if it is out of range.
pub(super) fn raise_to(cx: &Execution<'_>, input: Input<Value>) -> Result<i32, Fault> {
    let value = cx.peek(input);
    if value.is_null() || is_blank(value) {
        return Err(Fault::new("22023", "\"onDeadline\": \"raise\" requires \"raiseTo\""));
    }
    priority(value)
}

fn priority(value: &Value) -> Result<i32, Fault> {
    let number = <i64 as FromInput>::read(value, "raiseTo")?;
    i32::try_from(number).map_err(|_| Fault::new("22003", "input \"raiseTo\" is out of range for an integer"))
}

/// The name in the input `deadlineEvent`. 22023 if there is none.
pub(super) fn deadline_event(cx: &Execution<'_>, input: Input<Value>) -> Result<String, Fault> {
    let name = to_text(cx.peek(input)).trim().to_owned();
    if name.is_empty() {
        return Err(Fault::new("22023", "\"onDeadline\": \"event\" requires \"deadlineEvent\""));
    }
    check_indexed("event name", &name, MAX_INDEXED)?;
    Ok(name)
}

/// Checks that the roles named by a task exist.
pub(super) fn check_roles(cx: &mut Execution<'_>, for_people: &ForPeople) -> Result<(), Fault> {
    let entries = for_people.assignee.iter().chain(&for_people.candidates);
    for role in entries.filter_map(|entry| entry.strip_prefix(ForPeople::ROLE)) {
        cx.check_role(role)?;
    }
    Ok(())
}

/// The task's deadline.
pub(super) fn deadline(cx: &Execution<'_>, input: Input<Value>) -> Result<Option<DateTime<Utc>>, Fault> {
    let value = cx.peek(input);
    if value.is_null() {
        return Ok(None);
    }
    let zone = cx.zone(None)?;
    match read_instant(&to_text(value), zone.as_ref())? {
        Some(at) => Ok(Some(at)),
        None => span(value)?.after(cx.instant(), zone.as_ref()).map(Some).ok_or_else(|| {
            let text = shorten(&to_text(value), 60);
            Fault::new("22008", format!("\"deadline\" is out of range: \"{text}\""))
        }),
    }
}

fn span(value: &Value) -> Result<workflow_value::calendar::Interval, Fault> {
    interval(value).map_err(|_| {
        let text = shorten(&to_text(value), 60);
        Fault::new("22007", format!("\"deadline\" is neither an instant nor an interval: \"{text}\""))
    })
}

pub(super) fn check_deadline(value: &Value) -> Result<(), Fault> {
    if is_date_time(to_text(value).trim()) { Ok(()) } else { span(value).map(drop) }
}

/// The author's value: designers write JSON as text.
fn json_value(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) if text.trim().is_empty() => Some(Value::Null),
        Value::String(text) => parse_json(text).ok(),
        other => Some(copy_or_null(other)),
    }
}

/// The value of the input `form`; null is no form. 22023 if it is no object, or orders its fields by anything else than
/// numbers.
pub(super) fn form(value: &Value) -> Result<Option<Value>, Fault> {
    match json_value(value) {
        Some(Value::Null) => Ok(None),
        Some(form @ Value::Object(_)) => {
            check_order(&form, "form")?;
            Ok(Some(form))
        }
        _ => Err(Fault::new("22023", "input \"form\" must be an object")),
    }
}

/// Refuses a [`PROPERTY_ORDER`] that would order nothing (22023).
fn check_order(form: &Value, input: &str) -> Result<(), Fault> {
    let Some(at) = misplaced_order(form, false, MAX_FORM_LEVELS) else { return Ok(()) };
    let must = format!("\"{PROPERTY_ORDER}\" must be a number in the schema of a property");
    Err(Fault::new("22023", format!("\"{input}\" cannot be used at {at}: {must}")))
}

/// The JSON Pointer to a [`PROPERTY_ORDER`] that is no number, or that the whole form has, which is no property.
fn misplaced_order(schema: &Value, is_property: bool, levels: usize) -> Option<String> {
    if schema.get(PROPERTY_ORDER).is_some_and(|order| !(is_property && order.is_number())) {
        return Some(format!("/{PROPERTY_ORDER}"));
    }
    let levels = levels.checked_sub(1)?;
    let properties = schema.get("properties")?.as_object()?;
    properties.iter().find_map(|(name, property)| {
        let below = misplaced_order(property, true, levels)?;
        Some(format!("/properties/{}{below}", name.replace('~', "~0").replace('/', "~1")))
    })
}

fn check_form(value: &Value) -> Result<(), Fault> {
    form(value).map(drop)
}

/// Reads the schema of the answer.
pub(super) fn result_schema(value: &Value) -> Result<Option<Value>, Fault> {
    let Some(schema) = json_value(value) else { return Err(Fault::new("22023", "input \"resultSchema\" is no JSON")) };
    if schema.is_null() {
        return Ok(None);
    }
    Schema::new(copy_or_null(&schema)).check().map_err(|refusal| {
        let at = if refusal.pointer.is_empty() { String::new() } else { format!(" at {}", refusal.pointer) };
        Fault::new("22023", format!("\"resultSchema\" cannot be used{at}: {}", refusal.message))
    })?;
    // Without a form the fields are those of the schema.
    check_order(&schema, "resultSchema")?;
    Ok(Some(schema))
}

fn check_schema(value: &Value) -> Result<(), Fault> {
    result_schema(value).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_ordered_by_numbers_in_their_schemas() {
        let inner = json!({"propertyOrder": 1.5, "properties": {"propertyOrder": {"propertyOrder": -1}, "c": true}});
        let ordered = json!({"properties": {"a": {"propertyOrder": 2}, "b": inner}});
        assert_eq!(form(&ordered), Ok(Some(ordered.clone())));
        assert_eq!(result_schema(&ordered), Ok(Some(ordered.clone())));
        for (wrong, at) in [
            (json!({"propertyOrder": ["a", "b"], "properties": {"a": {}, "b": {}}}), "/propertyOrder"),
            (json!({"propertyOrder": 1}), "/propertyOrder"),
            (json!({"properties": {"a": {}, "b": {"propertyOrder": "1"}}}), "/properties/b/propertyOrder"),
            (
                json!({"properties": {"a": {"properties": {"b/c": {"propertyOrder": null}}}}}),
                "/properties/a/properties/b~1c/propertyOrder",
            ),
        ] {
            let must = "\"propertyOrder\" must be a number in the schema of a property";
            let refused = form(&wrong).expect_err("refused");
            assert_eq!(refused.message, format!("\"form\" cannot be used at {at}: {must}"));
            let refused = result_schema(&wrong).expect_err("refused");
            assert_eq!(refused.message, format!("\"resultSchema\" cannot be used at {at}: {must}"));
            // As a designer writes it.
            assert!(form(&Value::String(wrong.to_string())).is_err());
        }
    }
}

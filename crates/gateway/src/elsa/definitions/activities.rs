//! Converts activities between the stored form and the form that Elsa Studio edits.
//!
//! Studio's input editors write top-level members of an activity and cannot reach into `customProperties`, where
//! `retry` and `timeout` of every activity are stored. While a document is being edited, they are therefore members
//! named after their path, such as `customProperties.retry`. No input has such a name.
//!
//! Studio shows the JSON of an expression of type `Json`, but not of type `Object`, unless the input has a list editor.
//! We show `Object` as `Json` with a marker of the original type; an editor that changes the expression drops the
//! marker.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::json::{self, member, raw};

/// The member that holds the properties common to all activities.
const HOME: &str = "customProperties";
/// The common properties, and whether their value is JSON rather than text.
const PROPERTIES: [(&str, bool); 2] = [("retry", true), ("timeout", false)];
/// Members of an activity that contain no activities.
const CLOSED: [&str; 3] = [HOME, "metadata", "expression"];
/// Lists of objects that are edited as JSON: activity type and member.
const LISTS: [(&str, &str); 1] = [("Workflow.Try", "catch")];
/// Input types whose constants have their own editors.
const LISTED: [&str; 4] = ["ICollection<String>", "String[]", "ICollection<Int32>", "Int32[]"];

/// Expression types, and the member that records the original one.
const OBJECT: &str = "Object";
const JSON: &str = "Json";
const WAS: &str = "was";

/// The member through which an editor sets a common property.
pub fn property_member(name: &str) -> String {
    format!("{HOME}.{name}")
}

/// Converts the root activity of a stored document for an editor.
pub fn for_editor(root: Box<RawValue>) -> Result<Box<RawValue>, Failure> {
    within(root, &["\"retry\"", "\"timeout\"", "\"Object\""], show)
}

/// The same for a parsed root.
pub fn show(root: &mut Value) {
    each(root, |activity| {
        lift(activity);
        activity.values_mut().for_each(show_json);
    });
}

/// Converts the root activity of a document that a client sent for storage.
pub fn for_storage(root: Box<RawValue>) -> Result<Box<RawValue>, Failure> {
    within(root, &["\"customProperties.", "\"was\"", "\"catch\""], |root| {
        each(root, |activity| {
            put_back(activity);
            activity.values_mut().for_each(put_back_json);
            put_back_lists(activity);
        });
    })
}

/// Applies a change if the text of the root contains one of these strings; most contain none, and are not parsed.
fn within(root: Box<RawValue>, concerns: &[&str], change: impl Fn(&mut Value)) -> Result<Box<RawValue>, Failure> {
    if !concerns.iter().any(|text| root.get().contains(text)) {
        return Ok(root);
    }
    let mut tree: Value = json::parse(root.get().as_bytes())?;
    change(&mut tree);
    raw(&tree)
}

/// Applies a change to every activity.
fn each(root: &mut Value, change: impl Fn(&mut Map<String, Value>)) {
    let mut work = vec![root];
    while let Some(value) = work.pop() {
        match value {
            Value::Object(members) => {
                if members.get("type").is_some_and(Value::is_string) {
                    change(members);
                }
                let open = members.iter_mut().filter(|(name, _)| !CLOSED.contains(&name.as_str()));
                work.extend(open.map(|(_, value)| value));
            }
            Value::Array(items) => work.extend(items),
            _ => {}
        }
    }
}

/// Parses the lists that were edited as JSON text.
fn put_back_lists(activity: &mut Map<String, Value>) {
    let kind = activity.get("type").and_then(Value::as_str).unwrap_or_default();
    if let Some((_, list)) = LISTS.iter().find(|(of, _)| *of == kind)
        && let Some(text) = activity.get(*list).and_then(typed)
    {
        match text.trim() {
            "" => activity.remove(*list),
            text => activity.insert((*list).into(), read(text)),
        };
    }
}

/// Moves the common properties to members of the activity.
fn lift(activity: &mut Map<String, Value>) {
    for (name, _) in PROPERTIES {
        let home = activity.get_mut(HOME).and_then(Value::as_object_mut);
        if let Some(value) = home.and_then(|home| home.remove(name)) {
            activity.insert(property_member(name), value);
        }
    }
}

/// Moves these members back into the properties. An emptied one is removed.
fn put_back(activity: &mut Map<String, Value>) {
    for (name, is_json) in PROPERTIES {
        let Some(value) = activity.remove(&property_member(name)) else { continue };
        let value = match typed(&value) {
            Some(text) if text.trim().is_empty() => Value::Null,
            Some(text) if is_json => read(&text),
            Some(text) => Value::String(text),
            None => value,
        };
        let home = activity.entry(HOME).or_insert(Value::Null);
        if home.is_null() {
            *home = json!({});
        }
        if let Some(home) = home.as_object_mut() {
            home.remove(name);
            if !value.is_null() {
                home.insert(name.into(), value);
            }
        }
    }
}

/// The value a user entered: plain text, or a literal in Studio's wrapper.
fn typed(value: &Value) -> Option<String> {
    let text = value.as_str().or_else(|| member(member(value, "expression"), "value").as_str());
    text.map(str::to_owned)
}

/// Incomplete JSON stays text: the draft keeps it, and publishing reports the error.
fn read(text: &str) -> Value {
    json::read(text.as_bytes()).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn expression(input: &mut Value) -> Option<&mut Map<String, Value>> {
    input.get_mut("expression").and_then(Value::as_object_mut)
}

/// Shows an expression whose value is JSON text as type `Json`.
fn show_json(input: &mut Value) {
    if LISTED.contains(&json::text(input, "typeName")) {
        return;
    }
    let Some(expression) = expression(input) else { return };
    let is_text = expression.get("value").is_some_and(Value::is_string);
    if is_text && expression.get("type").is_some_and(|kind| kind == OBJECT) && !expression.contains_key(WAS) {
        expression.insert("type".into(), JSON.into());
        expression.insert(WAS.into(), OBJECT.into());
    }
}

/// Restores the type of an expression that was shown as `Json`.
fn put_back_json(input: &mut Value) {
    let Some(expression) = expression(input) else { return };
    let is = |name: &str, text: &str| expression.get(name).is_some_and(|value| value == text);
    if is("type", JSON) && is(WAS, OBJECT) {
        expression.insert("type".into(), OBJECT.into());
        expression.remove(WAS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(change: fn(Box<RawValue>) -> Result<Box<RawValue>, Failure>, root: &Value) -> Value {
        serde_json::from_str(change(raw(root).unwrap()).unwrap().get()).unwrap()
    }

    fn root(activity: Value) -> Value {
        json!({"type": "Elsa.Flowchart", "id": "f", "activities": [{"type": "Elsa.If", "id": "i", "then": activity}]})
    }

    #[test]
    fn properties_are_members_and_come_back_as_they_were() {
        let properties = json!({"canStartWorkflow": false, "retry": {"maxAttempts": 3, "jitter": 0.50}, "timeout": "30 s", "mine": {"retry": 1}});
        let document = root(json!({"type": "Elsa.WriteLine", "id": "w", "customProperties": properties,
            "metadata": {"type": "x", "customProperties": {"retry": 1}}}));
        let shown = through(for_editor, &document);
        let activity = &shown["activities"][0]["then"];
        assert_eq!(activity["customProperties.retry"], properties["retry"]);
        assert_eq!(activity["customProperties.timeout"], "30 s");
        assert_eq!(activity["customProperties"], json!({"canStartWorkflow": false, "mine": {"retry": 1}}));
        assert_eq!(activity["metadata"], document["activities"][0]["then"]["metadata"]);
        assert_eq!(through(for_storage, &shown), document);
    }

    #[test]
    fn what_was_typed_becomes_json_once_it_is() {
        let wrapped = |text: &str| json!({"typeName": null, "expression": {"type": "Literal", "value": text}, "memoryReference": null});
        let after = |value: Value| {
            let sent = json!({"type": "Elsa.WriteLine", "customProperties.retry": value, "customProperties": {"retry": 1, "a": 2}});
            through(for_storage, &sent)["customProperties"].clone()
        };
        assert_eq!(
            after(wrapped(r#"{"maxAttempts": 3.0}"#)),
            json!({"a": 2, "retry": serde_json::from_str::<Value>(r#"{"maxAttempts": 3.0}"#).unwrap()})
        );
        assert_eq!(after(wrapped(r#"{"maxAttempts"#)), json!({"a": 2, "retry": r#"{"maxAttempts"#}));
        assert_eq!(after(json!({"maxAttempts": 3})), json!({"a": 2, "retry": {"maxAttempts": 3}}));
        for empty in [wrapped(" "), json!(""), json!(null)] {
            assert_eq!(after(empty), json!({"a": 2}));
        }
        let timeout = json!({"type": "Elsa.Delay", "customProperties.timeout": "5", "customProperties": null});
        assert_eq!(through(for_storage, &timeout)["customProperties"], json!({"timeout": "5"}));
        let sent = json!({"type": "Elsa.Delay", "customProperties.timeout": "5", "customProperties": 7});
        assert_eq!(through(for_storage, &sent)["customProperties"], 7);
    }

    #[test]
    fn catches_are_edited_as_json() {
        let list = json!([{"on": ["22012"], "body": {"type": "WriteLine", "text": "x"}}]);
        let typed = |text: &str| {
            root(json!({"type": "Workflow.Try", "catch": {"expression": {"type": "Literal", "value": text}}}))
        };
        assert_eq!(
            through(for_storage, &typed(&list.to_string())),
            root(json!({"type": "Workflow.Try", "catch": list}))
        );
        assert_eq!(through(for_storage, &typed("[{")), root(json!({"type": "Workflow.Try", "catch": "[{"})));
        assert_eq!(through(for_storage, &typed("")), root(json!({"type": "Workflow.Try"})));
        let untouched = root(json!({"type": "Workflow.Try", "catch": list}));
        assert_eq!(through(for_editor, &untouched), untouched);
        assert_eq!(through(for_storage, &untouched), untouched);
    }

    #[test]
    fn json_text_is_shown_and_stays_what_it_was() {
        let input = |type_name: &str, expression: Value| json!({"typeName": type_name, "expression": expression});
        let document = |payload: Value| {
            root(json!({"type": "Elsa.RunTask", "payload": input("Object", payload),
                "candidates": input("ICollection<String>", json!({"type": "Object", "value": "[\"a\"]"})),
                "form": input("Object", json!({"type": "Object", "value": {"a": {"js": "1"}}})),
                "resultSchema": input("Object", json!({"type": "Json", "value": "true"})),
                "text": input("String", json!({"type": "Literal", "value": "\"was\""}))}))
        };
        let before = document(json!({"type": "Object", "value": "{\"a\": 1}"}));
        let open = document(json!({"type": "Json", "value": "{\"a\": 1}", "was": "Object"}));
        assert_eq!(through(for_editor, &before), open);
        assert_eq!(through(for_storage, &open), before);
        // An editor that changes the expression writes a new object.
        let changed = document(json!({"type": "Json", "value": "{\"a\": 2}"}));
        assert_eq!(through(for_storage, &changed), changed);
    }
}

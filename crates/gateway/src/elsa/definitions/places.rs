//! Replaces activity references in the database's error messages by the names on the canvas. The database refers to
//! activities by their path in the document, or by ids that Studio generated; users know the names.

use std::collections::HashMap;

use serde_json::Value;

use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::{json, parameters};

/// Rewrites a failure in this way. If the document cannot be read, the failure stays unchanged.
pub async fn named(app: &Gateway, caller: &Caller, definition: &str, failure: Failure) -> Failure {
    if failure.status.is_server_error() {
        return failure;
    }
    const DOCUMENT: &str = "SELECT d.document::pg_catalog.text AS document FROM workflow.definition_list d \
        WHERE d.definition_id OPERATOR(pg_catalog.=) $1 AND d.is_latest";
    let Ok(rows) = app.database.read(caller, DOCUMENT, parameters![definition]).await else { return failure };
    let text: Option<&str> = rows.first().and_then(|row| row.get("document"));
    match text.and_then(|text| json::read::<Value>(text.as_bytes()).ok()) {
        Some(document) => of_document(&document, failure),
        None => failure,
    }
}

fn of_document(document: &Value, failure: Failure) -> Failure {
    let mut by_id = HashMap::new();
    collect(document.get("root").unwrap_or(&Value::Null), &mut by_id);
    let replace = |text: &str| {
        let lines = text.lines().map(|line| without_ids(&without_pointer(document, line), &by_id));
        lines.collect::<Vec<_>>().join("\n")
    };
    Failure { message: replace(&failure.message), detail: failure.detail.as_deref().map(replace), ..failure }
}

/// The name of an activity on the canvas.
fn name(activity: &Value) -> Option<&str> {
    let names = [activity.pointer("/metadata/displayText"), activity.get("name"), activity.get("id")];
    names.into_iter().flatten().filter_map(Value::as_str).find(|name| !name.is_empty())
}

fn collect(value: &Value, by_id: &mut HashMap<String, String>) {
    match value {
        Value::Object(members) => {
            if let (Some(id), Some(name), true) =
                (members.get("id").and_then(Value::as_str), name(value), members.contains_key("type"))
            {
                by_id.insert(id.to_owned(), name.to_owned());
            }
            members.values().for_each(|member| collect(member, by_id));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, by_id)),
        _ => {}
    }
}

/// Replaces a path by the name of the innermost activity on it: `/root/activities/1/path: …` becomes `HttpEndpoint1,
/// path: …`.
fn without_pointer(document: &Value, line: &str) -> String {
    let Some((pointer, said)) = line.split_once(": ").filter(|(pointer, _)| pointer.starts_with("/root")) else {
        return line.to_owned();
    };
    let (mut value, mut found, mut at) = (document, None, 0);
    for segment in pointer.split_inclusive('/').skip(1) {
        let key = segment.trim_end_matches('/').replace("~1", "/").replace("~0", "~");
        let below = match value {
            Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
            other => other.get(&key),
        };
        let Some(below) = below else { break };
        value = below;
        at += segment.len();
        if value.get("type").is_some_and(Value::is_string)
            && let Some(name) = name(value)
        {
            found = Some((name, at));
        }
    }
    match found {
        Some((name, at)) => match pointer.get(at + 1..).unwrap_or_default() {
            "" => format!("{name}: {said}"),
            rest => format!("{name}, {rest}: {said}"),
        },
        None => line.to_owned(),
    }
}

/// Replaces quoted ids by quoted names.
fn without_ids(text: &str, by_id: &HashMap<String, String>) -> String {
    let parts = text.split('"').enumerate().map(|(at, part)| match by_id.get(part) {
        Some(name) if at % 2 == 1 => name.as_str(),
        _ => part,
    });
    parts.collect::<Vec<_>>().join("\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn activities_have_the_names_of_the_canvas() {
        let document = json!({"root": {"type": "Elsa.Flowchart", "id": "f", "activities": [
            {"type": "Elsa.WriteLine", "id": "a1", "name": "WriteLine1"},
            {"type": "Elsa.HttpEndpoint", "id": "e015720ae924fc73", "name": "HttpEndpoint1", "metadata": {"displayText": "Order"}},
            {"type": "Elsa.If", "id": "if", "then": {"type": "Elsa.Event", "id": "deep"}}]}});
        let said = |detail: &str| {
            let failure = Failure {
                detail: Some(detail.to_owned()),
                ..Failure::bad_request("trigger \"e015720ae924fc73\" is wrong")
            };
            let failure = of_document(&document, failure);
            (failure.message, failure.detail.unwrap())
        };
        let (message, detail) = said(
            "/root/activities/1/path: \"path\" is missing\n/root/activities/2/then: wrong\n/root/activities/0: \"a1\" is wrong",
        );
        assert_eq!(message, "trigger \"Order\" is wrong");
        assert_eq!(detail, "Order, path: \"path\" is missing\ndeep: wrong\nWriteLine1: \"WriteLine1\" is wrong");
        assert_eq!(said("/options/retention: wrong").1, "/options/retention: wrong");
    }
}

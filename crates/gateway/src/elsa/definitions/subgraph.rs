//! Parts of a definition selected by node id, including nodes inside the workflows that it uses.

use axum::extract::{Path, State};
use serde::Serialize;
use serde_json::{Value, json};

use super::activities;
use super::one::{Whole, by_version_id, text};
use super::query::Parameters;
use crate::caller::Caller;
use crate::elsa::catalogues::pascal_case;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::{self, JsonText, member};
use crate::parameters;

/// The node of the workflow itself.
const WORKFLOW: &str = "Workflow1";
/// Container types that do not appear as a segment of a path: Studio shows their content instead.
const PLAIN: [&str; 2] = ["Elsa.Workflow", "Elsa.Flowchart"];
/// Maximum nesting of workflows expanded for one answer.
const MAX_INSIDE: usize = 50;

/// A node in Elsa's format: its activity has its children as members.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActivityNode<'a> {
    node_id: &'a str,
    port: &'a str,
    activity: &'a Value,
    children: [(); 0],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PathSegment<'a> {
    activity_node_id: &'a str,
    activity_id: &'a str,
    activity_type: &'a str,
    port_name: &'a str,
    activity_name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Segments<'a> {
    child_node: ActivityNode<'a>,
    container: ActivityNode<'a>,
    path_segments: Vec<PathSegment<'a>>,
}

/// `GET /workflow-definitions/subgraph/{version_id}`. Without a node id, the whole workflow.
pub async fn subgraph(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Parameters,
) -> Result<JsonText, Failure> {
    let wanted = query.text("parentNodeId").unwrap_or(WORKFLOW);
    let mut graph = WorkflowGraph::open(by_version_id(&app, &caller, &id).await?)?;
    let mut path = graph.path(&app, &caller, wanted).await?;
    if let Some(step) = path.last()
        && graph.enter(&app, &caller, &step.pointer.clone()).await?
    {
        path = graph.walk(wanted);
    }
    let step = path.last().ok_or_else(|| Failure::not_found("activity", wanted))?;
    text(&graph.node(step))
}

/// `GET /workflow-definitions/subgraph/segments/{version_id}`
pub async fn segments(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Parameters,
) -> Result<JsonText, Failure> {
    let wanted = query.text("childNodeId").ok_or_else(|| Failure::bad_request("childNodeId is missing"))?;
    let mut graph = WorkflowGraph::open(by_version_id(&app, &caller, &id).await?)?;
    let path = graph.path(&app, &caller, wanted).await?;
    let (child, ancestors) = path.split_last().ok_or_else(|| Failure::not_found("activity", wanted))?;
    let mut path_segments = Vec::new();
    let mut container = ancestors.first().unwrap_or(child);
    for (at, step) in ancestors.iter().enumerate() {
        let activity = graph.activity(step);
        if PLAIN.contains(&json::text(activity, "type")) {
            continue;
        }
        container = step;
        path_segments.push(PathSegment {
            activity_node_id: json::text(activity, "nodeId"),
            activity_id: json::text(activity, "id"),
            activity_type: json::text(activity, "type"),
            port_name: path.get(at + 1).map_or("", |below| &below.port),
            activity_name: activity.get("name").and_then(Value::as_str).unwrap_or(json::text(activity, "type")),
        });
    }
    text(&Segments { child_node: graph.node(child), container: graph.node(container), path_segments })
}

/// One step on the path down to a node.
#[derive(Debug, Clone)]
struct PathStep {
    /// JSON Pointer to its activity.
    pointer: String,
    /// The port of its parent.
    port: String,
}

/// A definition, with the workflows that it uses where they have been expanded.
struct WorkflowGraph {
    workflow: Value,
    /// The version whose document begins at each pointer; later entries are nested deeper.
    documents: Vec<(String, String, i32)>,
}

impl WorkflowGraph {
    fn open(whole: Whole) -> Result<Self, Failure> {
        let mut document: Value = json::parse(whole.export.as_bytes())?;
        let mut root = document.get_mut("root").map(Value::take).unwrap_or_default();
        activities::show(&mut root);
        let workflow = json!({
            "id": WORKFLOW, "nodeId": WORKFLOW, "type": "Elsa.Workflow", "version": 1, "name": member(&document, "name"),
            "customProperties": {}, "metadata": {}, "root": root,
        });
        Ok(Self { workflow, documents: vec![(String::new(), whole.definition_id, whole.version)] })
    }

    /// The path to a node, which comes last. Workflows on the path are expanded.
    async fn path(&mut self, app: &Gateway, caller: &Caller, wanted: &str) -> Result<Vec<PathStep>, Failure> {
        loop {
            let path = self.walk(wanted);
            let Some(last) = path.last() else { return Ok(path) };
            if json::text(self.activity(last), "nodeId") == wanted {
                return Ok(path);
            }
            let pointer = last.pointer.clone();
            if !self.enter(app, caller, &pointer).await? {
                return Err(Failure::not_found("activity", wanted));
            }
        }
    }

    /// Follows the path towards a node as far as the expanded document goes.
    fn walk(&self, wanted: &str) -> Vec<PathStep> {
        let mut path = Vec::new();
        let root = PathStep { pointer: String::new(), port: "Root".into() };
        let mut next = Some(root).filter(|_| is_at(WORKFLOW, wanted));
        while let Some(step) = next {
            next = children(self.activity(&step), &step.pointer)
                .into_iter()
                .find(|below| is_at(json::text(self.activity(below), "nodeId"), wanted));
            path.push(step);
        }
        path
    }

    fn activity(&self, step: &PathStep) -> &Value {
        self.workflow.pointer(&step.pointer).unwrap_or(&Value::Null)
    }

    fn node<'a>(&'a self, step: &'a PathStep) -> ActivityNode<'a> {
        let activity = self.activity(step);
        ActivityNode { node_id: json::text(activity, "nodeId"), port: &step.port, activity, children: [] }
    }

    /// Expands the workflow that an activity uses. `false`: the activity uses none, or it is already expanded.
    async fn enter(&mut self, app: &Gateway, caller: &Caller, pointer: &str) -> Result<bool, Failure> {
        let Some(activity) = self.workflow.pointer(pointer).filter(|activity| activity.get("root").is_none()) else {
            return Ok(false);
        };
        if self.documents.len() > MAX_INSIDE {
            return Ok(false);
        }
        let inside = self.documents.iter().rev().find(|(begins, _, _)| pointer.starts_with(begins.as_str()));
        let Some((_, user, version)) = inside else { return Ok(false) };
        let rows = app
            .database
            .read(
                caller,
                "SELECT @wf.wf_export_version(u.version_id, true)::pg_catalog.text AS export, u.definition_id, u.version \
                 FROM workflow.definition_links l \
                 JOIN workflow.definition_list u ON u.definition_id OPERATOR(pg_catalog.=) l.uses \
                   AND u.version OPERATOR(pg_catalog.=) l.used_version \
                 WHERE l.definition_id OPERATOR(pg_catalog.=) $1 AND l.version OPERATOR(pg_catalog.=) $2 \
                   AND (u.definition_id OPERATOR(pg_catalog.=) $3 OR u.activity_type OPERATOR(pg_catalog.=) $4) LIMIT 1",
                parameters![
                    user.as_str(),
                    *version,
                    json::text(activity, "workflowDefinitionId"),
                    json::text(activity, "type")
                ],
            )
            .await?;
        let Some(row) = rows.first() else { return Ok(false) };
        let (export, used, used_version): (String, String, i32) =
            (row.get("export"), row.get("definition_id"), row.get("version"));
        let mut document: Value = json::parse(export.as_bytes())?;
        let mut root = document.get_mut("root").map(Value::take).unwrap_or_default();
        activities::show(&mut root);
        move_below(&mut root, json::text(activity, "nodeId"));
        if let Some(Value::Object(members)) = self.workflow.pointer_mut(pointer) {
            members.insert("root".into(), root);
        }
        self.documents.push((pointer.to_owned(), used, used_version));
        Ok(true)
    }
}

/// Whether the path to the wanted node passes through this node or ends at it.
fn is_at(node_id: &str, wanted: &str) -> bool {
    wanted.strip_prefix(node_id).is_some_and(|rest| !node_id.is_empty() && (rest.is_empty() || rest.starts_with(':')))
}

/// The child activities, wherever the members have them: single, in lists, and in parts such as the cases of a Switch,
/// whose ports have names of their own.
fn children(activity: &Value, pointer: &str) -> Vec<PathStep> {
    let mut found = Vec::new();
    let parent = json::text(activity, "nodeId");
    let mut work: Vec<(&Value, String, String)> = Vec::new();
    for (name, value) in activity.as_object().into_iter().flatten() {
        // A port is named after the member, in .NET's spelling.
        work.push((value, format!("{pointer}/{}", escaped(name)), pascal_case(name)));
    }
    while let Some((value, pointer, port)) = work.pop() {
        match value {
            Value::Object(members) => {
                let node_id = json::text(value, "nodeId");
                if members.contains_key("type") && node_id.len() > parent.len() && is_at(parent, node_id) {
                    found.push(PathStep { pointer, port });
                    continue;
                }
                let named = ["label", "name"].iter().map(|name| json::text(value, name)).find(|name| !name.is_empty());
                let port = named.map_or(port, str::to_owned);
                work.extend(
                    members.iter().map(|(name, value)| (value, format!("{pointer}/{}", escaped(name)), port.clone())),
                );
            }
            Value::Array(items) => {
                work.extend(items.iter().enumerate().map(|(at, item)| (item, format!("{pointer}/{at}"), port.clone())));
            }
            _ => {}
        }
    }
    found
}

/// Escapes a name for a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Prefixes the ids of a document's activities with the id of the node that contains them.
fn move_below(root: &mut Value, node_id: &str) {
    let mut work = vec![root];
    while let Some(value) = work.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(own)) = members.get_mut("nodeId") {
                    *own = format!("{node_id}:{own}");
                }
                work.extend(members.values_mut());
            }
            Value::Array(items) => work.extend(items),
            _ => {}
        }
    }
}

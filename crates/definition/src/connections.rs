//! Connections of a flowchart, in all spellings of Elsa's versions and in the short form.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::json::{Path, elements, entry, kind_of, member, text};
use super::outcomes::{DONE, Outcomes};
use super::outline::{Outline, RawActivity};
use super::problem::Problems;
use super::{flow_mode, members};
use workflow_core::NodeIx;
use workflow_core::activity::FlowRole;
use workflow_core::program::{Connection, FlowGraph, FlowMode, Member, MergeMode, Node};
use workflow_value::spelling::nearest;

/// Members of a connection that is an object.
const MEMBERS: [&str; 5] = ["source", "sourcePort", "target", "targetPort", "vertices"];

/// One connection, with the ids as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Edge<'d> {
    /// Id of the activity it leaves.
    pub source: &'d str,
    /// Outcome of the source that it follows.
    pub port: &'d str,
    /// Id of the activity it leads to.
    pub target: &'d str,
}

/// Reads the connections of a flowchart, its mode and the merge modes of its activities; `otherwise` is the mode of the
/// definition.
pub(super) fn read<'d>(outline: &Outline<'d>, ix: usize, otherwise: FlowMode, problems: &mut Problems) -> FlowGraph {
    let raw = &outline.activities[ix];
    let children = raw.children.iter().copied().map(NodeIx::at).collect();
    let Some(members) = raw.members() else {
        return FlowGraph::build(children, Vec::new()).with_modes(otherwise, |_| MergeMode::default());
    };
    let by_id: HashMap<&str, usize> =
        raw.children.iter().rev().map(|child| (outline.activities[*child].id.as_str(), *child)).collect();
    let above = Path::Activity(outline, ix);
    let mut connections = Vec::new();
    let mut seen = HashSet::new();
    let mut outcomes = Outcomes::default();
    for (step, value) in written(members, &above, problems) {
        let place = Path::Below(&above, &step);
        let Some(edge) = edge(value, &place, problems) else {
            continue;
        };
        if let (Value::Object(members), true) = (value, raw.is_short(outline)) {
            members::check(members, MEMBERS.into_iter(), std::iter::empty(), "a connection", &place, problems);
        }
        let ends = (find(edge.source, &by_id, &place, problems), find(edge.target, &by_id, &place, problems));
        let (Some(source), Some(target)) = ends else {
            continue;
        };
        outcomes.check(edge.port, outline, source, &place, problems);
        // A repeated connection would make a join wait for two arrivals of a single one.
        if !seen.insert(edge) {
            continue;
        }
        connections.push(Connection { source: NodeIx::at(source), port: edge.port.into(), target: NodeIx::at(target) });
    }
    for edge in restored(members) {
        let (Some(source), Some(target)) = (by_id.get(edge.source), by_id.get(edge.target)) else {
            continue;
        };
        if seen.insert(edge) {
            connections.push(Connection {
                source: NodeIx::at(*source),
                port: edge.port.into(),
                target: NodeIx::at(*target),
            });
        }
    }
    let mode = flow_mode::of_flowchart(members, otherwise, &above, problems);
    FlowGraph::build(children, connections).with_modes(mode, |child| {
        let child = child.0 as usize;
        let members = outline.activities.get(child).and_then(RawActivity::members);
        members.map_or_else(MergeMode::default, |members| {
            flow_mode::merge_mode(members, &Path::Activity(outline, child), problems)
        })
    })
}

/// Provides each flowchart with its activities, which follow it in the list.
pub(super) fn introduce_members(nodes: &mut [Node]) {
    let member = |node: &Node| Member {
        is_start: node.activity.descriptor().flow == FlowRole::Start,
        can_start_workflow: node.can_start_workflow,
        is_join_with_sql: node.uses_sql && node.activity.descriptor().flow == FlowRole::Join,
    };
    for ix in 0..nodes.len() {
        if let Some(mut flow) = nodes[ix].flow.take() {
            flow.learn(|inner| nodes.get(inner.0 as usize).map(member).unwrap_or_default());
            nodes[ix].flow = Some(flow);
        }
    }
}

/// The values of `connections`, each with its pointer.
fn written<'d>(members: &'d Map<String, Value>, above: &Path<'_>, problems: &mut Problems) -> Vec<(String, &'d Value)> {
    let Some((key, value)) = entry(members, "connections").filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    match (elements(value), value) {
        (Some((wrap, list)), _) => {
            list.iter().enumerate().map(|(at, value)| (format!("/{key}{wrap}/{at}"), value)).collect()
        }
        // A single connection without a list around it.
        (None, Value::Object(_)) => vec![(format!("/{key}"), value)],
        (None, other) => {
            let message = format!("\"connections\" must be an array, not {}", kind_of(other));
            problems.invalid(&above.key(key), message);
            Vec::new()
        }
    }
}

/// Connections that Elsa set aside while a type was unknown, and restores when the type is known again.
fn restored(members: &Map<String, Value>) -> Vec<Edge<'_>> {
    let kept = member(members, "customProperties")
        .and_then(Value::as_object)
        .and_then(|properties| member(properties, "notFoundConnections"))
        .and_then(elements);
    let (_, list) = kept.unwrap_or_default();
    list.iter().filter_map(|value| edge(value, &Path::Root, &mut Problems::default())).collect()
}

/// Reads one connection.
pub(super) fn edge<'d>(value: &'d Value, place: &Path<'_>, problems: &mut Problems) -> Option<Edge<'d>> {
    let edge = match value {
        Value::Array(list) => short(list),
        Value::Object(object) => long(object),
        _ => None,
    };
    if edge.is_none() {
        let message = "a connection must be [\"source\", \"target\"], [\"source\", \"outcome\", \"target\"] or \
                       an object with \"source\" and \"target\"";
        problems.invalid(place, message);
    }
    edge
}

fn short(list: &[Value]) -> Option<Edge<'_>> {
    let parts: Vec<&str> = list.iter().map(Value::as_str).collect::<Option<_>>()?;
    match parts[..] {
        [source, target] => Some(Edge { source, port: DONE, target }),
        [source, port, target] => Some(Edge { source, port: outcome(port), target }),
        _ => None,
    }
}

fn long(object: &Map<String, Value>) -> Option<Edge<'_>> {
    let (source, port) = end(object, "source", "sourcePort")?;
    let (target, _) = end(object, "target", "targetPort")?;
    Some(Edge { source, port: port.map_or(DONE, outcome), target })
}

/// One end: an object with activity and port, or only the id, with the port in a separate member.
fn end<'d>(object: &'d Map<String, Value>, name: &str, port: &str) -> Option<(&'d str, Option<&'d str>)> {
    match member(object, name)? {
        Value::String(id) => Some((id, text(object, port))),
        Value::Object(end) => Some((text(end, "activity")?, text(end, "port"))),
        _ => None,
    }
}

fn outcome(port: &str) -> &str {
    if port.is_empty() { DONE } else { port }
}

fn find(id: &str, by_id: &HashMap<&str, usize>, place: &Path<'_>, problems: &mut Problems) -> Option<usize> {
    let found = by_id.get(id).copied();
    if found.is_none() {
        let near = if by_id.len() <= 100 { nearest(id, by_id.keys().copied()) } else { None };
        let hint = near.map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default();
        problems.invalid(place, format!("the flowchart has no activity with id \"{id}\"{hint}"));
    }
    found
}

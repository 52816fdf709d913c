//! The ways in which a node contains others. No other module of the picture depends on them.

use workflow_core::NodeIx;
use workflow_core::activity::FlowRole;
use workflow_core::program::Node;
use workflow_core::retry::Cause;

/// Ports that run on events inside an activity; the flow itself continues after that activity.
const ASIDES: [(&str, &str); 2] = [("childCompleted", "each child"), ("childFaulted", "each fault")];

/// The list of parts from which the flow chooses.
const CASES: &str = "cases";

/// The label of the arrow into the body of a loop; `None` if the node is no loop.
pub(super) fn loop_of(node: &Node) -> Option<&'static str> {
    match node.activity.descriptor().flow {
        FlowRole::Loop(label) => Some(label),
        _ => None,
    }
}

/// Whether the flow can continue from the node in several ways.
pub(super) fn is_decision(node: &Node) -> bool {
    let descriptor = node.activity.descriptor();
    let chooses = |port: &&str| matches!(*port, "then" | "else" | "default");
    descriptor.parts.iter().any(|list| list.name == CASES)
        || descriptor.outcomes.contains(&"True")
        || descriptor.ports.iter().any(chooses)
}

/// Whether a branch with this label runs in parallel with the flow.
pub(super) fn is_aside(label: &str) -> bool {
    ASIDES.iter().any(|(_, aside)| *aside == label)
}

/// The label of the arrow into a catch: the faults that it handles.
fn catch(on: &[Cause]) -> String {
    let causes: Vec<&str> = on.iter().map(Cause::text).collect();
    if causes.is_empty() { "catch".to_owned() } else { format!("catch {}", causes.join(", ")) }
}

/// The branches of a node with the labels of the arrows into them. An empty branch is included if the flow
/// passes through it.
pub(super) fn branches(node: &Node) -> Vec<(String, Option<NodeIx>)> {
    let descriptor = node.activity.descriptor();
    let mut branches = Vec::new();
    for (list, parts) in descriptor.parts.iter().zip(&node.parts) {
        for part in parts {
            let texts: Vec<&str> = part.texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            // The flow passes through a case without an activity, but not through such a state or transition.
            let ports = part.ports.iter().filter(|child| child.is_some() || list.name == CASES);
            let label = if list.catches { catch(&part.on) } else { texts.join(" → ") };
            branches.extend(ports.map(|child| (label.clone(), *child)));
        }
    }
    for (name, child) in descriptor.ports.iter().zip(&node.ports) {
        let label = match *name {
            "then" => "True",
            "else" => "False",
            "default" => "Default",
            "body" => loop_of(node).unwrap_or_default(),
            other => ASIDES.iter().find(|(port, _)| port == &other).map_or(other, |(_, label)| label),
        };
        if child.is_some() || matches!(*name, "then" | "else" | "default") {
            branches.push((label.to_owned(), *child));
        }
    }
    branches.extend(node.children.iter().map(|child| (String::new(), Some(*child))));
    branches
}

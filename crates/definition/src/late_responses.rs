//! Responses to HTTP requests that come too late: warnings about new content, after all activities were read.
//!
//! A request is answered when its burst ends. So an activity that writes the response must not come after an activity
//! that waits. The analysis follows the activities as a run would, and remembers on each path the last activity that
//! waits. If several paths meet, one of them suffices for a warning, because a run that takes it faults.

use std::collections::{BTreeMap, HashMap};

use super::json::Path;
use super::outline::Outline;
use super::problem::Problems;
use workflow_core::NodeIx;
use workflow_core::activity::{FlowRole, WaitKind, short_name};
use workflow_core::program::{FlowGraph, Node, TRANSITIONS};
use workflow_expression::ExpressionKind;

const RESPONSE: &str = "Elsa.WriteHttpResponse";
const ENDPOINT: &str = "Elsa.HttpEndpoint";

/// Warns about each response that a run can reach from an activity that waits.
pub(super) fn warn(nodes: &[Node], outline: &Outline<'_>, problems: &mut Problems) {
    if !problems.is_new() || !nodes.iter().any(|node| node.type_name == RESPONSE) {
        return;
    }
    let mut walk = Walk { nodes, after: HashMap::new(), late: BTreeMap::new() };
    walk.node(NodeIx(0), None);
    for (response, waiting) in walk.late {
        let node = &nodes[waiting.0 as usize];
        let kind = short_name(&node.type_name);
        let message = format!(
            "the response is behind \"{}\" ({kind}), which waits: the HTTP request has been answered by then, and the activity faults",
            node.id
        );
        problems.warn(&Path::Activity(outline, response.0 as usize), message);
    }
}

struct Walk<'a> {
    nodes: &'a [Node],
    /// The result for each activity, by whether something has waited before it.
    after: HashMap<(NodeIx, bool), Option<NodeIx>>,
    /// Responses, each with the activity that waits before it.
    late: BTreeMap<NodeIx, NodeIx>,
}

impl Walk<'_> {
    /// The activity that waited last once `ix` has ended; `None` while a request can still be answered.
    fn node(&mut self, ix: NodeIx, before: Option<NodeIx>) -> Option<NodeIx> {
        if let Some(after) = self.after.get(&(ix, before.is_some())) {
            return *after;
        }
        let nodes = self.nodes;
        let node = &nodes[ix.0 as usize];
        let before = if node.runs_in_background { Some(ix) } else { before };
        let after = match node.type_name.as_str() {
            ENDPOINT => None,
            RESPONSE => {
                if let Some(waiting) = before {
                    self.late.entry(ix).or_insert(waiting);
                }
                before
            }
            _ if waits(node) => Some(ix),
            _ => self.inside(node, before),
        };
        self.after.insert((ix, before.is_some()), after);
        after
    }

    fn inside(&mut self, node: &Node, before: Option<NodeIx>) -> Option<NodeIx> {
        if let Some(flow) = &node.flow {
            return self.flowchart(flow, before);
        }
        if node.machine.is_some() {
            return self.machine(node, before);
        }
        match node.activity.descriptor().flow {
            FlowRole::Sequence => node.children.iter().fold(before, |before, child| self.node(*child, before)),
            // The second round starts where the first has ended.
            FlowRole::Loop(_) => {
                let once = self.branches(node, before);
                self.branches(node, once)
            }
            _ => self.branches(node, before),
        }
    }

    /// Each port and child separately. A run may take none of them.
    fn branches(&mut self, node: &Node, before: Option<NodeIx>) -> Option<NodeIx> {
        let parts = node.parts.iter().flatten().flat_map(|part| &part.ports).flatten();
        let branches: Vec<NodeIx> = node.ports.iter().flatten().chain(&node.children).chain(parts).copied().collect();
        let ends: Vec<Option<NodeIx>> = branches.into_iter().map(|branch| self.node(branch, before)).collect();
        ends.into_iter().flatten().next().or(before)
    }

    /// Follows the connections until a fixed point: what has waited once stays so.
    fn flowchart(&mut self, flow: &FlowGraph, before: Option<NodeIx>) -> Option<NodeIx> {
        let mut arrives: Vec<Option<NodeIx>> = vec![before; flow.len()];
        let mut open: Vec<usize> = (0..flow.len()).collect();
        let mut last = before;
        while let Some(at) = open.pop() {
            let after = self.node(flow.activity(at as u32), arrives[at]);
            last = last.or(after);
            let Some(waiting) = after else { continue };
            for edge in flow.edges().outbound(at as u32) {
                let target = flow.edges()[*edge as usize].target as usize;
                if arrives[target].is_none() {
                    arrives[target] = Some(waiting);
                    open.push(target);
                }
            }
        }
        last
    }

    /// A transition passes the request of its trigger on to its action, or not. The content of states may run after any
    /// of them, so it is not analysed.
    fn machine(&mut self, node: &Node, before: Option<NodeIx>) -> Option<NodeIx> {
        let mut last = before;
        for transition in node.part_list(TRANSITIONS) {
            let mut here = None;
            for step in transition.ports.iter().flatten() {
                here = self.node(*step, here);
            }
            last = last.or(here);
        }
        last
    }
}

/// Whether a burst ends at the activity. A trigger that starts the workflow does not wait.
fn waits(node: &Node) -> bool {
    let descriptor = node.activity.descriptor();
    let is_true = |name| {
        let input = descriptor.inputs.iter().position(|input| input.name == name);
        let value = input.and_then(|input| node.inputs.get(input)?.as_ref());
        value.is_some_and(|value| matches!(&value.kind, ExpressionKind::Literal(value) if value == true))
    };
    !node.can_start_workflow
        && match descriptor.waits {
            WaitKind::Always | WaitKind::ForTask => true,
            WaitKind::IfTrue(name) => is_true(name),
            WaitKind::Never | WaitKind::Perhaps => false,
        }
}

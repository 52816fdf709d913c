//! Finding the activities of a program by number, id and name.

use std::collections::HashMap;

use crate::activity::WaitKind;
use crate::node_ix::NodeIx;
use crate::program::{Node, Program};

impl Program {
    /// Returns the node with this index.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix.0 as usize]
    }

    /// Finds one of the definition's own nodes by its activity id.
    pub fn find(&self, activity_id: &str) -> Option<NodeIx> {
        self.by_id.get(activity_id).copied()
    }

    /// Whether the activity at this path asks for votes.
    pub fn asks_for_votes(&self, node_id: &str) -> bool {
        let node = self.nodes.iter().find(|node| node.node_id == node_id);
        node.is_some_and(|node| node.activity.descriptor().waits == WaitKind::ForVotes)
    }

    /// Whether those who are asked by a task of the activity at this path may assign it to others.
    pub fn is_reassignable(&self, node_id: &str) -> bool {
        let node = self.nodes.iter().find(|node| node.node_id == node_id);
        node.is_some_and(|node| node.activity.is_reassignable(&node.inputs))
    }

    /// The activity whose task had the result that a `Fault` inside it reports: the innermost one around it that opens
    /// a task for a worker.
    pub fn reported_call(&self, fault: &Node) -> Option<&Node> {
        let mut around = std::iter::successors(fault.parent, |ix| self.node(*ix).parent).map(|ix| self.node(ix));
        around.find(|node| node.activity.descriptor().waits == WaitKind::ForTask)
    }

    /// Marks the nodes whose id is ambiguous.
    pub fn mark_shared_ids(&mut self) {
        let mut first: HashMap<&str, usize> = HashMap::with_capacity(self.nodes.len());
        let mut shared = Vec::new();
        for (ix, node) in self.nodes.iter().enumerate() {
            if let Some(other) = first.insert(&node.id, ix) {
                shared.extend([other, ix]);
            }
        }
        for ix in shared {
            self.nodes[ix].shares_id = true;
        }
    }

    /// The definition's own nodes, without those of inlined workflows.
    pub fn own_nodes(&self) -> &[Node] {
        let end = self.nodes.partition_point(|node| node.inlined.is_none());
        self.nodes.get(..end).unwrap_or_default()
    }

    /// The definitions that contain a node, from the one that declares it to its outermost consumer, each with the
    /// index of its first node.
    pub fn around(&self, node: NodeIx) -> impl Iterator<Item = (&Program, NodeIx)> {
        let inlined = |node: NodeIx| self.node(node).inlined.and_then(|inlined| self.inlined.get(inlined as usize));
        let inlined = std::iter::successors(inlined(node), move |inner| inlined(inner.node));
        inlined.map(|inlined| (&*inlined.program, inlined.first)).chain(std::iter::once((self, NodeIx(0))))
    }

    /// Finds an activity by id or name from the point of view of a node: first in the definition that declares the
    /// node, then in its consumers.
    pub fn find_from(&self, node: NodeIx, activity: &str) -> Option<NodeIx> {
        self.around(node).find_map(|(program, first)| {
            let named = || {
                let at = program.own_nodes().iter().position(|node| node.name.as_deref() == Some(activity))?;
                u32::try_from(at).ok().map(NodeIx)
            };
            program.find(activity).or_else(named).map(|found| NodeIx(first.0 + found.0))
        })
    }
}

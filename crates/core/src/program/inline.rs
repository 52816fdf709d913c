//! Inlining a workflow: its nodes are appended to the nodes of its consumer.

use std::sync::Arc;

use crate::node_ix::NodeIx;
use crate::program::{Inlined, Node, Program};

impl Program {
    /// Inlines a workflow below the activity that uses it.
    pub fn inline(&mut self, at: NodeIx, child: Arc<Program>) {
        let first = NodeIx::at(self.nodes.len());
        let inlined = u32::try_from(self.inlined.len()).unwrap_or(u32::MAX);
        let Some(owner) = self.nodes.get_mut(at.0 as usize) else { return };
        if !child.nodes.is_empty() {
            owner.ports = vec![Some(first)];
        }
        let (path, depth) = (owner.node_id.clone(), owner.depth + 1);
        let moved = |ix: NodeIx| NodeIx(ix.0.saturating_add(first.0));
        let copy = |node: &Node| Node {
            node_id: format!("{path}:{}", node.node_id),
            parent: Some(node.parent.map_or(at, moved)),
            depth: node.depth.saturating_add(depth),
            // A trigger of the inlined workflow does not start its consumer.
            can_start_workflow: false,
            // The inlined workflow itself comes first, then the workflows that it inlines.
            inlined: Some(node.inlined.map_or(inlined, |inner| inner.saturating_add(inlined).saturating_add(1))),
            // The connections keep their order.
            ..node.renumbered(&moved, &|_| 0)
        };
        self.nodes.extend(child.nodes.iter().map(copy));
        let inner = child.inlined.iter().map(|inner| Inlined {
            node: moved(inner.node),
            first: moved(inner.first),
            program: Arc::clone(&inner.program),
        });
        self.inlined.push(Inlined { node: at, first, program: Arc::clone(&child) });
        self.inlined.extend(inner);
        self.uses_sql |= child.uses_sql;
        self.excludes_people |= child.excludes_people;
        self.notifies |= child.notifies;
        self.size = self.size.saturating_add(child.size);
    }
}

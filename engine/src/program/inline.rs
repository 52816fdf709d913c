//! A workflow inside another: its nodes, copied behind those that are there.
//!
//! Whatever names a node by its index is moved along. The patterns below name every field on purpose: who adds one
//! has to say what becomes of it here.

use std::sync::Arc;

use crate::node_ix::NodeIx;
use crate::program::{Inlined, Node, Part, Program};

impl Program {
    /// Puts a workflow below the activity that it is.
    pub(crate) fn inline(&mut self, at: NodeIx, child: Arc<Program>) {
        let first = NodeIx(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let inlined = u32::try_from(self.inlined.len()).unwrap_or(u32::MAX);
        let Some(owner) = self.nodes.get_mut(at.0 as usize) else { return };
        let copy = Copy { at, first, inlined, depth: owner.depth + 1, path: owner.node_id.clone() };
        if !child.nodes.is_empty() {
            owner.ports = vec![Some(first)];
        }
        let inner = child.inlined.iter().map(|inner| Inlined {
            node: copy.moved(inner.node),
            first: copy.moved(inner.first),
            program: Arc::clone(&inner.program),
        });
        let nodes: Vec<Node> = child.nodes.iter().map(|node| copy.node(node)).collect();
        self.inlined.push(Inlined { node: at, first, program: Arc::clone(&child) });
        self.inlined.extend(inner);
        self.nodes.extend(nodes);
        self.uses_sql |= child.uses_sql;
        self.size = self.size.saturating_add(child.size);
    }
}

/// Where the nodes of a program are copied to.
struct Copy {
    at: NodeIx,
    first: NodeIx,
    inlined: u32,
    depth: u32,
    path: String,
}

impl Copy {
    fn moved(&self, ix: NodeIx) -> NodeIx {
        NodeIx(ix.0.saturating_add(self.first.0))
    }

    fn node(&self, node: &Node) -> Node {
        let Node {
            id,
            node_id,
            name,
            type_name,
            parent,
            depth,
            activity,
            is_known,
            // What starts the used workflow does not start the one that uses it.
            can_start_workflow: _,
            terminal,
            variables,
            inputs,
            outputs,
            custom_inputs,
            custom_outputs,
            ports,
            children,
            runs_in_background,
            parts,
            machine,
            flow,
            variable,
            composite,
            inlined,
            uses_sql,
        } = node;
        Node {
            id: id.clone(),
            node_id: format!("{}:{node_id}", self.path),
            name: name.clone(),
            type_name: type_name.clone(),
            parent: Some(parent.map_or(self.at, |parent| self.moved(parent))),
            depth: depth.saturating_add(self.depth),
            activity: *activity,
            is_known: *is_known,
            can_start_workflow: false,
            terminal: *terminal,
            variables: variables.clone(),
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            custom_inputs: custom_inputs.clone(),
            custom_outputs: custom_outputs.clone(),
            ports: ports.iter().map(|port| port.map(|ix| self.moved(ix))).collect(),
            children: children.iter().map(|ix| self.moved(*ix)).collect(),
            runs_in_background: *runs_in_background,
            parts: parts.iter().map(|list| list.iter().map(|part| self.part(part)).collect()).collect(),
            machine: machine.clone(),
            flow: flow.as_ref().map(|flow| Box::new(flow.moved(self.first.0))),
            variable: variable.clone(),
            composite: composite.clone(),
            // The workflow itself comes first among what it inlines.
            inlined: Some(
                inlined.map_or(self.inlined, |inlined| inlined.saturating_add(self.inlined).saturating_add(1)),
            ),
            uses_sql: *uses_sql,
        }
    }

    fn part(&self, part: &Part) -> Part {
        let Part { texts, condition, ports } = part;
        Part {
            texts: texts.clone(),
            condition: condition.clone(),
            ports: ports.iter().map(|port| port.map(|ix| self.moved(ix))).collect(),
        }
    }
}

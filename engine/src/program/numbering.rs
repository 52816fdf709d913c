//! The numbers that stand for activities and connections in what is stored of an instance.
//!
//! A state names an activity by its [`NodeIx`], and what belongs to a flowchart by positions. Which those are follows from
//! the order in which a definition is read, and a later version of the engine may read in another one. So each version of
//! a definition is stored with its numbering, and whatever is compiled of it gets these numbers again
//! ([`Program::numbered`]). A state is read and written with the same numbers for good, and is never translated.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::node_ix::NodeIx;
use crate::program::{Connection, FlowGraph, Inlined, Node, Part, Program};

/// What the numbers of a program stand for.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbering {
    /// Each activity by its number: the number of the one that holds it, which is lower, and its id.
    activities: Vec<(Option<u32>, String)>,
    /// All connections: source, outcome, target. Those of one flowchart stand in their order.
    connections: Vec<(u32, String, u32)>,
}

/// An activity: the number of the one that holds it, and its id, which no other in that one has.
type Key<'a> = (Option<u32>, &'a str);

impl Program {
    /// The numbers that it has.
    pub fn numbering(&self) -> Numbering {
        Numbering {
            activities: self.keys().map(|(parent, id)| (parent, id.to_owned())).collect(),
            connections: self.connections().map(|(source, port, target)| (source, port.to_owned(), target)).collect(),
        }
    }

    /// The same program with the numbers of a numbering.
    ///
    /// # Errors
    /// What only one of the two has: the numbering is damaged, or the document is read as another program than it was.
    pub fn numbered(self, by: &Numbering) -> Result<Self, String> {
        if by.check(&self).is_ok() {
            return Ok(self);
        }
        let numbers = find_each(by.keys(), self.keys());
        if let Some((_, node)) = numbers.iter().zip(&self.nodes).find(|(number, _)| number.is_none()) {
            return Err(format!("activity \"{}\" has no number", node.node_id));
        }
        let to = |ix: NodeIx| numbers.get(ix.0 as usize).copied().flatten().unwrap_or(ix);
        let ranks: HashMap<_, usize> = by.connections().zip(0..).collect();
        let rank = |found: &Connection| {
            ranks.get(&(found.source.0, found.port.as_str(), found.target.0)).copied().unwrap_or(usize::MAX)
        };
        let mut nodes: Vec<_> = numbers.iter().zip(self.nodes.iter().map(|node| node.renumbered(&to, &rank))).collect();
        nodes.sort_by_key(|(number, _)| **number);
        let inlined = self.inlined.into_iter();
        let numbered = Self {
            nodes: nodes.into_iter().map(|(_, node)| node).collect(),
            by_id: self.by_id.into_iter().map(|(id, ix)| (id, to(ix))).collect(),
            inlined: inlined
                .map(|Inlined { node, first, program }| Inlined { node: to(node), first: to(first), program })
                .collect(),
            ..self
        };
        by.check(&numbered).map(|()| numbered)
    }

    /// The numbers of activities that are read of the same document, each by its key there. `None`: it has none like that.
    pub(crate) fn find_each<'a>(&self, wanted: impl Iterator<Item = Key<'a>>) -> Vec<Option<NodeIx>> {
        find_each(self.keys(), wanted)
    }

    fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        self.nodes.iter().map(|node| (node.parent.map(|parent| parent.0), node.id.as_str()))
    }

    fn connections(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        self.nodes.iter().filter_map(|node| node.flow.as_deref()).flat_map(FlowGraph::connections)
    }
}

impl Numbering {
    /// Compares it with the numbers of a program.
    fn check(&self, program: &Program) -> Result<(), String> {
        let mut found = program.keys();
        if let Some((number, (_, id))) = self.keys().enumerate().find(|(_, key)| found.next() != Some(*key)) {
            return Err(format!("activity \"{id}\" (number {number}) is not in the document"));
        }
        match found.next().is_none() && self.connections().eq(program.connections()) {
            true => Ok(()),
            false => Err("the connections are not those of the document".into()),
        }
    }

    fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        self.activities.iter().map(|(parent, id)| (*parent, id.as_str()))
    }

    fn connections(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        self.connections.iter().map(|(source, port, target)| (*source, port.as_str(), *target))
    }
}

/// Finds activities by their keys. What holds others stands before them in both.
fn find_each<'a, 'b>(
    known: impl Iterator<Item = Key<'a>>,
    wanted: impl Iterator<Item = Key<'b>>,
) -> Vec<Option<NodeIx>> {
    let known: HashMap<Key<'_>, NodeIx> = known.zip((0..).map(NodeIx)).collect();
    let mut found: Vec<Option<NodeIx>> = Vec::new();
    for (parent, id) in wanted {
        let above = match parent {
            Some(parent) => found.get(parent as usize).copied().flatten().map(|above| Some(above.0)),
            None => Some(None),
        };
        found.push(above.and_then(|above| known.get(&(above, id)).copied()));
    }
    found
}

impl Node {
    /// A copy for where nodes have other numbers, and connections stand in the order of `rank`. The pattern names every
    /// field on purpose: who adds one has to say what becomes of it here.
    pub(super) fn renumbered(&self, to: &dyn Fn(NodeIx) -> NodeIx, rank: &dyn Fn(&Connection) -> usize) -> Self {
        let Node {
            id,
            node_id,
            name,
            type_name,
            parent,
            depth,
            activity,
            is_known,
            can_start_workflow,
            runs_in_background,
            terminal,
            variables,
            inputs,
            outputs,
            custom_inputs,
            custom_outputs,
            ports,
            children,
            parts,
            machine,
            flow,
            variable,
            composite,
            inlined,
            uses_sql,
        } = self;
        let each = |ports: &[Option<NodeIx>]| ports.iter().map(|port| port.map(to)).collect();
        let part = |Part { texts, condition, ports }: &Part| Part {
            texts: texts.clone(),
            condition: condition.clone(),
            ports: each(ports),
        };
        Node {
            id: id.clone(),
            node_id: node_id.clone(),
            name: name.clone(),
            type_name: type_name.clone(),
            parent: parent.map(to),
            depth: *depth,
            activity: *activity,
            is_known: *is_known,
            can_start_workflow: *can_start_workflow,
            runs_in_background: *runs_in_background,
            terminal: *terminal,
            variables: variables.clone(),
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            custom_inputs: custom_inputs.clone(),
            custom_outputs: custom_outputs.clone(),
            ports: each(ports),
            children: children.iter().map(|ix| to(*ix)).collect(),
            parts: parts.iter().map(|list| list.iter().map(part).collect()).collect(),
            machine: machine.clone(),
            flow: flow.as_ref().map(|flow| Box::new(flow.renumbered(to, rank))),
            variable: variable.clone(),
            composite: composite.clone(),
            inlined: *inlined,
            uses_sql: *uses_sql,
        }
    }
}

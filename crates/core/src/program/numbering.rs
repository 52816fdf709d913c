//! The numbers of activities and connections in the stored state of an instance.
//!
//! A state identifies an activity by its [`NodeIx`], and a flowchart's activities and connections by positions. These
//! numbers follow the order in which the engine reads a definition, which may differ in a later version of the engine.
//! So each version of a definition is stored with its numbering, and its compiled program is renumbered accordingly
//! ([`Program::numbered`]). A state is always read and written with the same numbers; only a
//! [migration](crate::migration) to another version translates them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::node_ix::NodeIx;
use crate::program::{Connection, FlowGraph, Inlined, Node, Part, Program};

/// The meaning of a program's numbers.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbering {
    /// Each activity by its number: the number of its parent, which is lower, and its id.
    activities: Vec<(Option<u32>, String)>,
    /// All connections as source, outcome and target. Those of one flowchart are in their order.
    connections: Vec<(u32, String, u32)>,
}

/// Key of an activity: the number of its parent, and its id, which is unique among the parent's children.
type ActivityKey<'a> = (Option<u32>, &'a str);

impl Program {
    /// The meaning of this program's numbers, to be stored with its version.
    pub fn numbering(&self) -> Numbering {
        Numbering {
            activities: self.keys().map(|(parent, id)| (parent, id.to_owned())).collect(),
            connections: self.connections().map(|(source, port, target)| (source, port.to_owned(), target)).collect(),
        }
    }

    /// The same program with the numbers of a stored numbering.
    ///
    /// # Errors
    /// Names elements that only one of the two has. Then the numbering is damaged, or the engine reads the document as
    /// another program than before.
    pub fn numbered(self, by: &Numbering) -> Result<Self, String> {
        if by.check(&self).is_ok() {
            return Ok(self);
        }
        let numbers = find_each(by.keys(), self.keys());
        if let Some((_, node)) = numbers.iter().zip(&self.nodes).find(|(number, _)| number.is_none()) {
            return Err(format!("Activity \"{}\" has no number.", node.node_id));
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
            compensation: Default::default(),
            ..self
        };
        by.check(&numbered).map(|()| numbered)
    }

    /// The numbers in this program of activities of the same document, given by their keys. `None`: there is no such
    /// activity.
    pub fn find_each<'a>(&self, wanted: impl Iterator<Item = ActivityKey<'a>>) -> Vec<Option<NodeIx>> {
        find_each(self.keys(), wanted)
    }

    fn keys(&self) -> impl Iterator<Item = ActivityKey<'_>> {
        self.nodes.iter().map(|node| (node.parent.map(|parent| parent.0), node.id.as_str()))
    }

    fn connections(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        self.nodes.iter().filter_map(|node| node.flow.as_deref()).flat_map(FlowGraph::connections)
    }
}

impl Numbering {
    /// Compares the numbering with the numbers of a program.
    fn check(&self, program: &Program) -> Result<(), String> {
        let mut found = program.keys();
        if let Some((number, (_, id))) = self.keys().enumerate().find(|(_, key)| found.next() != Some(*key)) {
            return Err(format!("Activity \"{id}\" (number {number}) is not in the document."));
        }
        match found.next().is_none() && self.connections().eq(program.connections()) {
            true => Ok(()),
            false => Err("The connections are not those of the document.".into()),
        }
    }

    fn keys(&self) -> impl Iterator<Item = ActivityKey<'_>> {
        self.activities.iter().map(|(parent, id)| (*parent, id.as_str()))
    }

    fn connections(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        self.connections.iter().map(|(source, port, target)| (*source, port.as_str(), *target))
    }
}

/// Finds activities by their keys. In both lists a parent precedes its children.
fn find_each<'a, 'b>(
    known: impl Iterator<Item = ActivityKey<'a>>,
    wanted: impl Iterator<Item = ActivityKey<'b>>,
) -> Vec<Option<NodeIx>> {
    let known: HashMap<ActivityKey<'_>, NodeIx> = known.zip((0..).map(NodeIx)).collect();
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
    /// A copy with other node numbers, and with connections in the order of `rank`. The pattern deliberately lists
    /// every field, so that a new field does not compile until it is handled here.
    pub(super) fn renumbered(&self, to: &dyn Fn(NodeIx) -> NodeIx, rank: &dyn Fn(&Connection) -> usize) -> Self {
        let Node {
            id,
            shares_id,
            node_id,
            name,
            type_name,
            parent,
            depth,
            activity,
            is_known,
            can_start_workflow,
            runs_in_background,
            retry,
            timeout,
            start_timeout,
            notify,
            events,
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
        let part = |Part { texts, condition, ports, on, variable }: &Part| Part {
            texts: texts.clone(),
            condition: condition.clone(),
            ports: each(ports),
            on: on.clone(),
            variable: variable.clone(),
        };
        Node {
            id: id.clone(),
            shares_id: *shares_id,
            node_id: node_id.clone(),
            name: name.clone(),
            type_name: type_name.clone(),
            parent: parent.map(to),
            depth: *depth,
            activity: *activity,
            is_known: *is_known,
            can_start_workflow: *can_start_workflow,
            runs_in_background: *runs_in_background,
            retry: retry.clone(),
            timeout: *timeout,
            start_timeout: *start_timeout,
            notify: notify.clone(),
            events: *events,
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

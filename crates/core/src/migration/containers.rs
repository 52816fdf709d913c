//! Containers: converts the memory of an open container to the new version.

use crate::activity::FlowRole;
use crate::instance::Memory;
use crate::migration::Problem;
use crate::migration::executions::{Container, ExecutionMigration};
use crate::node_ix::NodeIx;
use crate::program::{Node, Part};

/// The position of an activity in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildPosition {
    /// At a port of the activity's descriptor.
    Port(usize),
    /// In the list of children.
    Child,
    /// At a port of a part, in one of the lists of parts.
    Part(usize, usize),
}

impl ExecutionMigration<'_> {
    /// Converts the memory of an open container. Returns the new tags of its open children.
    pub(super) fn migrate_container(&mut self, container: &Container<'_>, memory: &mut Memory) -> Vec<(u32, u32)> {
        let (old, new) = (self.of.old.node(container.old), self.of.new.node(container.new));
        if old.flow.is_some() {
            self.migrate_flow(container, memory);
            return Vec::new();
        }
        if old.machine.is_some() {
            return self.migrate_machine(container, memory);
        }
        self.check_positions(container, (old, new));
        if old.activity.descriptor().flow == FlowRole::Sequence {
            if let Memory::Count(position) = memory {
                *position = self.next_step((&old.children, &new.children), *position);
            }
        } else if !old.children.is_empty() && !container.children.is_empty() {
            self.warn_of_branches(container, (old, new));
        }
        Vec::new()
    }

    /// The position of the next step of a sequence: after the last step that was started and still exists.
    fn next_step(&self, (old, new): (&[NodeIx], &[NodeIx]), position: i64) -> i64 {
        let begun = usize::try_from(position).unwrap_or_default().min(old.len());
        let index = |step: &NodeIx| {
            let at = self.of.counterparts.at(*step)?;
            new.iter().position(|there| *there == at)
        };
        let last = old.iter().take(begun).rev().find_map(index);
        last.map_or(0, |last| i64::try_from(last).unwrap_or(i64::MAX).saturating_add(1))
    }

    /// Refuses open children that are at another port in the new version: the container would continue somewhere else.
    fn check_positions(&mut self, container: &Container<'_>, (old, new): (&Node, &Node)) {
        for child in container.children {
            let (was, is) = (position_in(old, child.old), position_in(new, child.new));
            if was.is_none() || is.is_none() || was == is {
                continue;
            }
            let node = self.of.old.node(child.old);
            let message = format!(
                "activity \"{}\" is open, and has another place inside \"{}\" in version {}",
                node.id, new.id, self.of.version
            );
            self.problems.push(Problem::error(&node.node_id, message));
        }
    }

    /// Warns of branches added to a container whose branches have already started.
    fn warn_of_branches(&mut self, container: &Container<'_>, (old, new): (&Node, &Node)) {
        let known: Vec<NodeIx> = old.children.iter().filter_map(|child| self.of.counterparts.at(*child)).collect();
        for added in new.children.iter().filter(|child| !known.contains(child)) {
            let (branch, version) = (&self.of.new.node(*added).id, self.of.version);
            let message = format!(
                "branch \"{branch}\" of version {version} does not run: the branches of \"{}\" have begun",
                old.id
            );
            self.problems.push(Problem::warning(&self.of.old.node(container.old).node_id, message));
        }
    }
}

/// The position of an activity in its parent.
fn position_in(parent: &Node, child: NodeIx) -> Option<ChildPosition> {
    let at = |ports: &[Option<NodeIx>]| ports.iter().position(|port| *port == Some(child));
    if let Some(port) = at(&parent.ports) {
        return Some(ChildPosition::Port(port));
    }
    if parent.children.contains(&child) {
        return Some(ChildPosition::Child);
    }
    let in_list = |parts: &Vec<Part>| parts.iter().find_map(|part| at(&part.ports));
    parent.parts.iter().enumerate().find_map(|(list, parts)| Some(ChildPosition::Part(list, in_list(parts)?)))
}

//! Properties of a program that follow from its activity types.

use crate::notification::computes_event;
use crate::program::Program;

impl Program {
    /// Whether every activity type was known when the program was compiled.
    pub fn knows_all_types(&self) -> bool {
        self.nodes.iter().all(|node| node.is_known)
    }

    /// Whether an activity acts outside the instance on its owner's behalf: it starts a child or publishes an event.
    /// Notices have the rights of the definition's owner, except for the event of a deadline that is computed.
    pub fn acts_for_owner(&self) -> bool {
        self.nodes.iter().any(|node| node.activity.descriptor().acts_for_owner || computes_event(node))
    }

    /// Names of the activity types that were unknown when the program was compiled, without duplicates and without
    /// those of inlined workflows.
    pub fn unknown_types(&self) -> Vec<&str> {
        let nodes = self.own_nodes().iter().filter(|node| !node.is_known);
        let mut names: Vec<&str> = nodes.map(|node| node.type_name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

//! What follows from the activity types of a program.

use crate::program::Program;

impl Program {
    /// Whether every activity type was known when it was compiled.
    pub fn knows_all_types(&self) -> bool {
        self.nodes.iter().all(|node| node.is_known)
    }

    /// Whether an activity of it does something outside in the name of the instance's owner: starts a child or sends an
    /// event.
    pub fn acts_for_owner(&self) -> bool {
        self.nodes.iter().any(|node| node.activity.descriptor().acts_for_owner)
    }

    /// Names of the definition's own activity types that were unknown when it was compiled, each once.
    pub fn unknown_types(&self) -> Vec<&str> {
        let nodes = self.own_nodes().iter().filter(|node| !node.is_known);
        let mut names: Vec<&str> = nodes.map(|node| node.type_name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

//! Which activity types a program knows.

use crate::activity::{catalogue, child};
use crate::program::Program;

impl Program {
    /// Whether every activity type was known when it was compiled.
    pub fn knows_all_types(&self) -> bool {
        let unknown = catalogue::NOT_FOUND.descriptor().type_name;
        self.nodes.iter().all(|node| node.activity.descriptor().type_name != unknown)
    }

    /// Whether an activity of it does something outside in the name of the instance's owner: starts a child or sends an
    /// event.
    pub fn speaks_for_owner(&self) -> bool {
        let speaks = |name| child::STARTERS.contains(&name) || name == "Elsa.PublishEvent";
        self.nodes.iter().any(|node| speaks(node.activity.descriptor().type_name))
    }

    /// Names of the definition's own activity types that were unknown when it was compiled, each once.
    pub fn unknown_types(&self) -> Vec<&str> {
        let unknown = catalogue::NOT_FOUND.descriptor().type_name;
        let nodes = self.own_nodes().iter().filter(|node| node.activity.descriptor().type_name == unknown);
        let mut names: Vec<&str> = nodes.map(|node| node.type_name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

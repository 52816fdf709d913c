//! Which activity types a program knows.

use crate::activity::catalogue;
use crate::program::Program;

impl Program {
    /// Whether every activity type was known when it was compiled.
    pub fn knows_all_types(&self) -> bool {
        let unknown = catalogue::NOT_FOUND.descriptor().type_name;
        self.nodes.iter().all(|node| node.activity.descriptor().type_name != unknown)
    }

    /// Names of the definition's own activity types that nobody knew when it was compiled, each once.
    pub fn unknown_types(&self) -> Vec<&str> {
        let unknown = catalogue::NOT_FOUND.descriptor().type_name;
        let nodes = self.own_nodes().iter().filter(|node| node.activity.descriptor().type_name == unknown);
        let mut names: Vec<&str> = nodes.map(|node| node.type_name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

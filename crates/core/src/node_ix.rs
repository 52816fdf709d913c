//! The index that names a node of a program.

use serde::{Deserialize, Serialize};

/// Index of a node in the [program](crate::program::Program::nodes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeIx(pub u32);

impl NodeIx {
    /// The index for a position; a program cannot hold more nodes than fit into `u32`.
    pub fn at(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }
}

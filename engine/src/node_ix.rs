//! What names a node of a program.

use serde::{Deserialize, Serialize};

/// Index of a node in the [program](crate::program::Program::nodes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeIx(pub u32);

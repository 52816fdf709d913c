//! Nodes: rows that move, the partitions of this node, and the routing guard.

pub mod moving;
pub mod partitions;
pub mod route;

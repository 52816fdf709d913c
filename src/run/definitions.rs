//! Definitions: storing, linking, publishing and retracting versions.

pub mod built_in;
pub mod link;
pub mod publish;

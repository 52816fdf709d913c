//! History: the journal, its use by explanations and diagrams, and the audit.

pub mod audit;
pub mod explained;
pub mod journal;

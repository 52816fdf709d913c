//! History: the journal, what explanations and pictures read of it, and the audit.

pub mod audit;
pub mod explained;
pub mod journal;

//! Rights: owners, event grants and invoker grants. Grants on definitions and tasks are with those subjects.

pub mod directory;
pub mod event_grants;
pub mod invoker_grants;
pub mod members;
pub mod owners;

//! Rights: owners, and the grants of events and invokers. Those of definitions and tasks are with these.

pub mod event_grants;
pub mod invoker_grants;
pub mod owners;

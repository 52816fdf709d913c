//! Repair: pausing, altering and migrating instances, and acts that wait for a session of the owner.

pub mod alter;
pub mod incidents;
pub mod migrate;
pub mod pause;
pub mod stored_act;

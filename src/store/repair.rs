//! Repair: incidents, pauses, compensation records, migrations, and the instances that a plan selects.

pub mod compensations;
pub mod incidents;
pub mod migration;
pub mod pauses;
pub mod selection;

//! Settings whose values are words.

use pgrx::guc::PostgresGucEnum;

/// Values of `workflow.on_fault`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum FaultHandling {
    /// A fault becomes an incident.
    #[name = c"store"]
    Store,
    /// A fault is an error of the call.
    #[name = c"raise"]
    Raise,
}

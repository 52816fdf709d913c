//! Enum settings.

use pgrx::guc::PostgresGucEnum;

use workflow_engine::host::LogLevel;

/// Values of `workflow.log_min_level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
#[allow(missing_docs)]
pub enum LogThreshold {
    #[name = c"trace"]
    Trace,
    #[name = c"debug"]
    Debug,
    #[name = c"information"]
    Information,
    #[name = c"warning"]
    Warning,
    #[name = c"error"]
    Error,
    #[name = c"critical"]
    Critical,
    #[name = c"off"]
    Off,
}

impl LogThreshold {
    /// Whether an entry of this level is logged.
    pub fn admits(self, level: LogLevel) -> bool {
        level as u8 >= self as u8
    }
}

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

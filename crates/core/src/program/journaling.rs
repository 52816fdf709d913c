//! The journal settings of a program.

use chrono::TimeDelta;

use crate::journal::Level;

/// What is written to the journal of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journaling {
    /// Which events are written.
    pub level: Level,
    /// Which rows are kept while the instance runs; `None`: all of them.
    pub keep: Option<Keep>,
    /// Whether the inputs and outputs of activities are written.
    pub values: bool,
}

/// Which journal rows of a run are kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Keep {
    /// This number of latest rows.
    Rows(u32),
    /// Rows up to this age.
    For(TimeDelta),
}

//! What the journal keeps of a run.

use chrono::TimeDelta;

use crate::journal::Level;

/// What the journal keeps of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journaling {
    /// Which events are written.
    pub level: Level,
    /// Which of the rows are kept while the instance runs; `None`: all of them.
    pub keep: Option<Keep>,
    /// Whether the inputs and outputs of activities are written.
    pub values: bool,
}

/// Which rows of the journal of a run are kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Keep {
    /// So many, the latest.
    Rows(u32),
    /// Those that are not older.
    For(TimeDelta),
}

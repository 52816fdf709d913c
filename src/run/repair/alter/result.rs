//! The results of a plan, one for each selected instance.

use uuid::Uuid;

/// The result for one instance.
#[derive(Debug)]
pub struct AlterationResult {
    /// Id of an instance that the plan selects or names.
    pub instance: Uuid,
    /// What the plan did to it.
    pub outcome: AlterationOutcome,
    /// Why it was rejected.
    pub problems: Vec<String>,
}

/// What a plan did to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterationOutcome {
    /// All alterations were made.
    Altered,
    /// A session of the instance's owner will apply them.
    Kept,
    /// None was made.
    Refused,
    /// Another session has locked the instance. None was made.
    Busy,
}

impl AlterationOutcome {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Altered => "Altered",
            Self::Kept => "Kept",
            Self::Refused => "Refused",
            Self::Busy => "Busy",
        }
    }
}

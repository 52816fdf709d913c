//! What a plan says of each instance that it selects.

use uuid::Uuid;

/// What became of an instance.
#[derive(Debug)]
pub struct AlterationResult {
    /// Id of an instance that the plan selects or names.
    pub instance: Uuid,
    /// What the plan did to it.
    pub outcome: AlterationOutcome,
    /// Why it was refused.
    pub problems: Vec<String>,
}

/// What a plan did to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterationOutcome {
    /// All alterations were made.
    Altered,
    /// A session of the instance's owner makes them.
    Kept,
    /// None was made.
    Refused,
    /// Another session holds the instance. None was made.
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

//! Bounds of a burst.

use crate::expression::ScriptLimits;

/// Bounds of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls of activities in one burst.
    pub max_steps: u64,
    /// Nesting of activities.
    pub max_nesting: u32,
    /// Whether faults are followed by further attempts, where a policy says so.
    pub retries: bool,
    /// Bounds of scripts.
    pub script: ScriptLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_steps: 1_000_000, max_nesting: 500, retries: true, script: ScriptLimits::default() }
    }
}

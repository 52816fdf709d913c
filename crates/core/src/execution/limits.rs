//! Limits of a burst.

use workflow_expression::ScriptLimits;

/// The limits that the host sets for a burst.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of activity calls in one burst.
    pub max_steps: u64,
    /// Maximum nesting of activities; a deeper one faults.
    pub max_nesting: u32,
    /// Whether retry policies are followed.
    pub retries: bool,
    /// Limits for one evaluation of a script or template.
    pub script: ScriptLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_steps: 1_000_000, max_nesting: 500, retries: true, script: ScriptLimits::default() }
    }
}

//! Bounds of a burst.

use workflow_expression::ScriptLimits;

/// What the host lets one burst take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls of activities in one burst.
    pub max_steps: u64,
    /// How deep activities may be nested; a deeper one faults.
    pub max_nesting: u32,
    /// Whether faults are followed by further attempts, where a policy says so.
    pub retries: bool,
    /// What one evaluation of a script or template may take.
    pub script: ScriptLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_steps: 1_000_000, max_nesting: 500, retries: true, script: ScriptLimits::default() }
    }
}

//! Limits of scripts and templates.

use std::time::Duration;

/// The limits of one script.
#[derive(Clone, Copy, Debug)]
pub struct ScriptLimits {
    /// Time of one evaluation, including its compilation and the conversion of its result.
    pub time: Duration,
    /// Bytes of memory of the runtime.
    pub memory: usize,
    /// Bytes of C stack, counted from the call. They must fit into the rest of the thread's stack: PostgreSQL keeps 512
    /// kB beyond `max_stack_depth`, so the default is safe wherever a backend may call.
    pub stack: usize,
    /// Whether the script should stop because the query is cancelled. Called often; must not unwind.
    pub interrupted: fn() -> bool,
}

impl ScriptLimits {
    /// These limits, with at most as much memory as `spare` still allows.
    #[must_use]
    pub fn within(self, spare: fn() -> usize) -> Self {
        Self { memory: self.memory.min(spare()), ..self }
    }
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(5), memory: 64 << 20, stack: 384 << 10, interrupted: || false }
    }
}

impl PartialEq for ScriptLimits {
    fn eq(&self, other: &Self) -> bool {
        self.time == other.time
            && self.memory == other.memory
            && self.stack == other.stack
            && std::ptr::fn_addr_eq(self.interrupted, other.interrupted)
    }
}

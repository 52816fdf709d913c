//! Bounds of scripts and templates.

use std::time::Duration;

/// What a script may use.
#[derive(Clone, Copy, Debug)]
pub struct ScriptLimits {
    /// Time of one evaluation, its compilation and the conversion of its result included.
    pub time: Duration,
    /// Bytes of memory of the runtime.
    pub memory: usize,
    /// Bytes of C stack, counted from the call. Must fit into what the thread has left: PostgreSQL keeps
    /// 512 kB beyond `max_stack_depth`, so the default is safe wherever a backend may call.
    pub stack: usize,
    /// Whether the script should stop because the query is cancelled. Called often; must not unwind.
    pub interrupted: fn() -> bool,
}

impl ScriptLimits {
    /// These limits, with no more memory than `spare` still allows.
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

//! A time limit shared by the scripts of several bursts.
//!
//! A stimulus may start bursts of roles that its sender does not know. Each of their scripts has its own time limit,
//! but there may be any number of scripts, so their total time is limited as well. A script that exceeds only the
//! shared time causes no fault: the host ends the burst, and the owner's session runs it later.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::Scope;
use super::ScriptLimits;
use workflow_value::fault::Fault;

/// Time that scripts share while it is in force. A clone shares the same time.
#[derive(Clone, Debug)]
pub struct SharedTime(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    left: Cell<Duration>,
    /// When the running script started.
    since: Cell<Option<Instant>>,
    is_short: Cell<bool>,
}

thread_local! {
    static IN_FORCE: RefCell<Option<SharedTime>> = const { RefCell::new(None) };
}

impl SharedTime {
    /// A shared time of this length, completely unused.
    pub fn of(time: Duration) -> Self {
        Self(Rc::new(Inner { left: Cell::new(time), since: Cell::new(None), is_short: Cell::new(false) }))
    }

    /// The shared time in force in this thread: that of the burst whose SQL made the call.
    pub fn in_force() -> Option<Self> {
        IN_FORCE.with_borrow(Clone::clone)
    }

    /// Puts this time in force for one burst, until the guard is dropped (also by unwinding).
    pub fn begin(&self) -> InForce {
        self.0.is_short.set(false);
        InForce(IN_FORCE.replace(Some(self.clone())))
    }

    /// Whether a script of the last burst needed more than the time left. Calling this resets the answer.
    pub fn was_short(&self) -> bool {
        self.0.is_short.replace(false)
    }

    fn left(&self) -> Duration {
        let used = self.0.since.get().map_or(Duration::ZERO, |since| since.elapsed());
        self.0.left.get().saturating_sub(used)
    }
}

/// Keeps shared time in force until it is dropped, which restores the one in force before.
#[derive(Debug)]
pub struct InForce(Option<SharedTime>);

impl Drop for InForce {
    fn drop(&mut self) {
        IN_FORCE.replace(self.0.take());
    }
}

/// Whether the burst has to end because one of its scripts needed more than the time left. The scope calls this in
/// [`check_interrupts`](crate::Scope::check_interrupts).
pub fn is_short() -> bool {
    IN_FORCE.with_borrow(|time| time.as_ref().is_some_and(|time| time.0.is_short.get()))
}

/// The run of one script. When it ends, its time is subtracted from the shared time.
pub(super) struct Turn {
    time: Option<SharedTime>,
    is_outer: bool,
    is_shortened: bool,
}

impl Turn {
    /// Begins a run, and shortens the script's own time to what is left.
    ///
    /// # Errors
    /// 54000 if nothing is left and the host does not end the burst.
    pub(super) fn begin(limits: &mut ScriptLimits, scope: &mut dyn Scope) -> Result<Self, Fault> {
        let Some(time) = SharedTime::in_force() else {
            return Ok(Self { time: None, is_outer: false, is_shortened: false });
        };
        let left = time.left();
        let is_outer = time.0.since.get().is_none();
        let is_shortened = left < limits.time;
        if left.is_zero() {
            return Err(ended(&time, scope));
        }
        limits.time = limits.time.min(left);
        if is_outer {
            time.0.since.set(Some(Instant::now()));
        }
        Ok(Self { time: Some(time), is_outer, is_shortened })
    }

    /// The fault of a script, or another fault if the shared time ended it before its own limit did.
    pub(super) fn fault_of(&self, fault: Fault, scope: &mut dyn Scope) -> Fault {
        match &self.time {
            Some(time) if self.is_shortened && fault.sqlstate == "54000" && time.left().is_zero() => ended(time, scope),
            _ => fault,
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let (Some(time), true) = (&self.time, self.is_outer) {
            time.0.left.set(time.left());
            time.0.since.set(None);
        }
    }
}

fn ended(time: &SharedTime, scope: &mut dyn Scope) -> Fault {
    time.0.is_short.set(true);
    scope.check_interrupts();
    Fault::new("54000", "the time that scripts of this call share is over")
}

#[cfg(test)]
mod tests;

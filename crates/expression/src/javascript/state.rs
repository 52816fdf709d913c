//! The state of the running evaluation: its deadline, why it was stopped, and the failure of a host call.
//!
//! The state is thread-local, because QuickJS passes no context to its callbacks. Evaluations nest when a host call
//! runs SQL that evaluates a script, so the state of the outer evaluation is saved during the inner one.

use std::any::Any;
use std::cell::{Cell, RefCell};

use coarsetime::Instant;

use crate::ScriptLimits;
use workflow_value::fault::Fault;

/// Why the interpreter was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The script exceeded its time limit.
    Time,
    /// The memory is used up.
    Memory,
    /// PostgreSQL has asked the query to end.
    Interrupt,
    /// A host call unwound.
    Panic,
}

/// The state of an outer evaluation.
pub(super) struct Saved {
    deadline: Option<Instant>,
    interrupted: fn() -> bool,
    stop: Option<Stop>,
    fault: Option<Fault>,
    panic: Option<Box<dyn Any + Send>>,
    poisoned: bool,
    run: u32,
    holds_objects: bool,
}

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    static INTERRUPTED: Cell<fn() -> bool> = const { Cell::new(never) };
    static STOP: Cell<Option<Stop>> = const { Cell::new(None) };
    static POISONED: Cell<bool> = const { Cell::new(false) };
    static RUNS: Cell<u32> = const { Cell::new(0) };
    static RUN: Cell<u32> = const { Cell::new(0) };
    static HOLDS_OBJECTS: Cell<bool> = const { Cell::new(false) };
    static FAULT: RefCell<Option<Fault>> = const { RefCell::new(None) };
    static PANIC: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

fn never() -> bool {
    false
}

/// Begins an evaluation: its time starts now.
pub(super) fn enter(limits: &ScriptLimits) -> Saved {
    RUNS.set(RUNS.get().wrapping_add(1));
    Saved {
        run: RUN.replace(RUNS.get()),
        holds_objects: HOLDS_OBJECTS.replace(false),
        deadline: DEADLINE.replace(Instant::now().checked_add(limits.time.into())),
        interrupted: INTERRUPTED.replace(limits.interrupted),
        stop: STOP.replace(None),
        fault: FAULT.take(),
        panic: PANIC.take(),
        poisoned: POISONED.replace(false),
    }
}

/// The number of the evaluation. From now on it holds objects of variables, whose changes must be written back.
pub(super) fn hold_objects() -> u32 {
    HOLDS_OBJECTS.set(true);
    RUN.get()
}

/// Whether the evaluation holds objects of variables.
pub(super) fn holds_objects() -> bool {
    HOLDS_OBJECTS.get()
}

/// Whether the evaluation has requested more memory than its limit.
pub(super) fn is_poisoned() -> bool {
    POISONED.get()
}

/// Ends an evaluation. Returns whether it was stopped or poisoned the runtime.
pub(super) fn restore(saved: Saved) -> bool {
    RUN.set(saved.run);
    HOLDS_OBJECTS.set(saved.holds_objects);
    DEADLINE.set(saved.deadline);
    INTERRUPTED.set(saved.interrupted);
    FAULT.replace(saved.fault);
    PANIC.set(saved.panic);
    let poisoned = POISONED.replace(saved.poisoned);
    STOP.replace(saved.stop).is_some() || poisoned
}

/// Whether to stop. The interpreter asks when the clock has moved, the allocator after each amount of memory allocated,
/// and functions of the host ask too. Once the answer is yes, it stays yes until the evaluation ends.
pub(super) fn poll() -> bool {
    if is_interrupted() {
        return true;
    }
    if DEADLINE.get().is_some_and(|deadline| Instant::now() >= deadline) {
        STOP.set(Some(Stop::Time));
        return true;
    }
    false
}

/// The same without a check of the clock.
pub(super) fn is_interrupted() -> bool {
    if STOP.get().is_none() && (INTERRUPTED.get())() {
        STOP.set(Some(Stop::Interrupt));
    }
    STOP.get().is_some()
}

/// Stops the evaluation because its memory is used up.
pub(super) fn run_out() {
    if STOP.get().is_none() {
        STOP.set(Some(Stop::Memory));
    }
}

/// Why the evaluation was stopped, if it was.
pub(super) fn stopped() -> Option<Stop> {
    STOP.get()
}

/// Records that the runtime must not be used again.
pub(super) fn poison() {
    POISONED.set(true);
}

/// Keeps the fault of a host call, which travels through the script as an exception.
pub(super) fn set_fault(fault: Fault) {
    FAULT.replace(Some(fault));
}

/// Takes the kept fault if the exception that left the script was created from it.
pub(super) fn take_fault(message: &str) -> Option<Fault> {
    FAULT.take().filter(|fault| fault.message == message)
}

/// Keeps the panic of a host call and stops the script, which must not catch it.
pub(super) fn set_panic(payload: Box<dyn Any + Send>) {
    PANIC.set(Some(payload));
    STOP.set(Some(Stop::Panic));
}

/// Takes the kept panic.
pub(super) fn take_panic() -> Option<Box<dyn Any + Send>> {
    PANIC.take()
}

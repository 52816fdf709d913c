//! JavaScript expressions, run by QuickJS inside the backend.
//!
//! Each backend thread keeps one runtime. Scripts of different roles share it, so every built-in object is frozen: an
//! evaluation must not see anything of an earlier one. A script is compiled once and kept in a cache of limited size.
//! Time, memory and stack are limited, and a query cancel stops a script.
//!
//! What a script can reach is listed in the prelude (`prelude.js`): the functions of Elsa that make sense
//! in a database, and no clock (`Date` starts at the burst's instant), no I/O, no modules, no code from text.
//!
//! Numbers are JavaScript's: integers beyond 2^53 lose digits when they are passed to a script, and so do decimals that
//! a double cannot represent. A script that only reads a variable or an input returns its value unchanged.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use serde_json::Value;

use super::shared_time::Turn;
use super::{Scope, ScriptLimits};
use workflow_value::fault::Fault;

mod compile;
mod engine;
mod failure;
mod globals;
#[expect(unsafe_code, reason = "an allocator is handed raw memory; nothing else here is")]
mod memory;
mod mentions;
mod names;
mod plain;
mod prelude;
mod scan;
mod state;
mod values;

use engine::Engine;
use failure::Failure;
pub use mentions::mentioned;
pub use names::pascal;

thread_local! {
    // Never dropped: a backend ends by exit(), where freeing a JavaScript heap would only cost time.
    static ENGINE: ManuallyDrop<Cell<Option<Box<Engine>>>> = const { ManuallyDrop::new(Cell::new(None)) };
}

/// Evaluates a script: an expression, statements whose last value is the result, or statements with `return`.
///
/// # Errors
/// 38000 for an error that the script throws, 42601 for text that is no JavaScript, 54000 beyond the time and memory
/// limits, 54001 for too deep recursion, 22P05 for NUL in a string, and faults of the scope's own methods.
pub fn evaluate(source: &str, scope: &mut dyn Scope) -> Result<Value, Fault> {
    let mut limits = scope.script_limits();
    let turn = Turn::begin(&mut limits, scope)?;
    let outcome = with_engine(limits, |engine| engine.evaluate(source, &limits, scope));
    outcome.map_err(|failure| match failure {
        Failure::Fault(fault) => turn.fault_of(*fault, scope),
        Failure::Interrupted => {
            scope.check_interrupts();
            Fault::new("57014", "canceling JavaScript due to user request")
        }
        Failure::Panic(payload) => resume_unwind(payload),
    })
}

/// Checks the syntax of a script without running it.
///
/// # Errors
/// A message with the mistake and its position.
pub fn check(source: &str) -> Result<(), String> {
    let limits = ScriptLimits::default();
    with_engine(limits, |engine| engine.check(source, &limits)).map_err(|failure| match failure {
        // QuickJS does not name the word that it cannot parse outside of an async function.
        Failure::Fault(fault) if has_word(source, "await") => format!("{} ({})", fault.message, failure::NO_WAITING),
        Failure::Fault(fault) => fault.message,
        Failure::Interrupted => "interrupted".to_owned(),
        Failure::Panic(payload) => resume_unwind(payload),
    })
}

/// The first call in a script to a name outside the engine (such as `fetch`) that no script has.
pub fn calls_outside(source: &str) -> Option<(&'static str, &'static str)> {
    let called = |name: &&&str| {
        source.match_indices(**name).any(|(at, _)| {
            let is_apart = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
            source[..at].chars().next_back().is_none_or(is_apart)
                && source[at + name.len()..].trim_start().starts_with('(')
        })
    };
    let found = ["fetch", "require", "setTimeout", "setInterval"].iter().find(called)?;
    let is_own = source.contains(&format!("function {found}")) || source.contains(&format!("{found} ="));
    if is_own { None } else { failure::advice(found).map(|hint| (*found, hint)) }
}

fn has_word(source: &str, word: &str) -> bool {
    source.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).any(|found| found == word)
}

/// Whether the global object has this name, so that every script can use it.
pub fn is_global(name: &str) -> bool {
    with_engine(ScriptLimits::default(), |engine| Ok(engine.knows(name))).unwrap_or(true)
}

/// Takes this thread's engine, or creates one, and puts it back if it is still usable.
///
/// While the engine is in use, the slot is empty: SQL that the scope runs may evaluate scripts, which get an engine of
/// their own.
fn with_engine<R>(limits: ScriptLimits, work: impl FnOnce(&mut Engine) -> Result<R, Failure>) -> Result<R, Failure> {
    let mut engine = match ENGINE.with(|slot| slot.take()) {
        Some(engine) => engine,
        None => Box::new(Engine::new(&limits)?),
    };
    let saved = state::enter(&limits);
    // A panic of a scope's method arrives as a value. Any other panic is caught, so that the state is restored.
    let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut engine)));
    let is_unsound = state::restore(saved);
    match outcome {
        Ok(outcome) => {
            if !is_unsound {
                ENGINE.with(|slot| slot.set(Some(engine)));
            }
            outcome
        }
        Err(payload) => Err(Failure::Panic(payload)),
    }
}

#[cfg(test)]
mod memory_tests;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod types_tests;

//! Subtransactions: PL/pgSQL's exception block, in Rust.
//!
//! A subtransaction is rolled back before its error propagates: otherwise an outer handler would roll back the wrong
//! one.

use pgrx::pg_sys;

use crate::pg::error::{PgError, catch};
use crate::pg::raw;

/// An open internal subtransaction. The caller must end it; dropping it does not.
#[derive(Debug)]
#[must_use]
pub struct Subtransaction {
    context: pg_sys::MemoryContext,
    owner: pg_sys::ResourceOwner,
}

impl Subtransaction {
    /// Begins one.
    pub fn begin() -> Self {
        // SAFETY: as exec_stmt_block in pl_exec.c: the caller's memory context stays current.
        unsafe {
            let open = Self { context: pg_sys::CurrentMemoryContext, owner: pg_sys::CurrentResourceOwner };
            pg_sys::BeginInternalSubTransaction(std::ptr::null());
            pg_sys::MemoryContextSwitchTo(open.context);
            open
        }
    }

    /// Keeps its effects.
    pub fn release(self) {
        // SAFETY: the innermost open subtransaction is this one.
        unsafe {
            pg_sys::ReleaseCurrentSubTransaction();
            pg_sys::MemoryContextSwitchTo(self.context);
            pg_sys::CurrentResourceOwner = self.owner;
        }
    }

    /// Undoes its effects.
    pub fn roll_back(self) {
        // SAFETY: as above; also right after a caught error, before anything else of PostgreSQL runs.
        unsafe {
            pg_sys::MemoryContextSwitchTo(self.context);
            pg_sys::RollbackAndReleaseCurrentSubTransaction();
            pg_sys::MemoryContextSwitchTo(self.context);
            pg_sys::CurrentResourceOwner = self.owner;
        }
    }
}

/// The number of the innermost subtransaction that is open. Numbers grow within a transaction, whose own is the first.
pub fn current() -> u32 {
    // SAFETY: reads the transaction's state.
    unsafe { raw::GetCurrentSubTransactionId() }
}

/// Runs `body` in a subtransaction. An error of any class rolls the subtransaction back and is returned.
pub fn subtransaction<R>(body: impl FnOnce() -> R) -> Result<R, PgError> {
    subtransaction_if(body, |_| true)
}

/// The same; a result that `is_kept` rejects is rolled back as well.
pub fn subtransaction_if<R>(body: impl FnOnce() -> R, is_kept: impl FnOnce(&R) -> bool) -> Result<R, PgError> {
    let open = Subtransaction::begin();
    let outcome = catch(body);
    match &outcome {
        Ok(result) if is_kept(result) => open.release(),
        _ => open.roll_back(),
    }
    outcome
}

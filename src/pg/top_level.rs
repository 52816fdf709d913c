//! Statements at the top level of a worker's session, for those that cannot run inside a transaction block.

use std::ffi::CString;

use pgrx::pg_sys;

use crate::pg::entry::keeping;
use crate::pg::error::PgError;
use crate::pg::parse::c_text;
use crate::pg::version;

/// Runs the statements of a text, each as if a client had sent it alone, and returns how many rows the last one
/// processed. Stops at the first error; statements that committed before remain.
///
/// # Errors
/// Any error of a statement; those of [`c_text`]; 25001 if the text left a transaction block open.
pub fn run(command: &str) -> Result<u64, PgError> {
    let text = c_text(command)?;
    // The parse trees outlive the transactions, and must be freed even if one of these fails.
    // SAFETY: a context of this process, deleted below once nothing uses it.
    let context = unsafe {
        pg_sys::AllocSetContextCreateInternal(
            pg_sys::TopMemoryContext,
            c"workflow command".as_ptr(),
            pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
        )
    };
    let outcome = keeping(|| {
        // SAFETY: see `run_all`.
        let rows = unsafe { run_all(&text, context) };
        // SAFETY: reads the state of the transaction.
        if unsafe { pg_sys::IsTransactionBlock() } {
            return Err(PgError::new("25001", "a scheduled command left a transaction block open"));
        }
        Ok(rows)
    });
    // SAFETY: right after the error, whatever it left open. After that no transaction uses the context.
    unsafe {
        if outcome.is_err() {
            pg_sys::AbortOutOfAnyTransaction();
        }
        pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
        pg_sys::MemoryContextDelete(context);
    }
    outcome
}

/// # Safety
/// Between two transactions of a worker; the context stays until they are over.
unsafe fn run_all(text: &CString, context: pg_sys::MemoryContext) -> u64 {
    // SAFETY: the sequence of exec_simple_query in postgres.c.
    unsafe {
        start_transaction(context);
        let statements = pg_sys::pg_parse_query(text.as_ptr());
        pg_sys::CommitTransactionCommand();
        let count = if statements.is_null() { 0 } else { (*statements).length };
        let mut rows = 0;
        for i in 0..count {
            let statement = (*(*statements).elements.add(i as usize)).ptr_value.cast::<pg_sys::RawStmt>();
            start_transaction(context);
            rows = run_one(statement, text);
            pg_sys::CommitTransactionCommand();
        }
        rows
    }
}

unsafe fn start_transaction(context: pg_sys::MemoryContext) {
    // SAFETY: between two transactions, or inside a block that the command opened.
    unsafe {
        pg_sys::SetCurrentStatementStartTimestamp();
        pg_sys::StartTransactionCommand();
        pg_sys::MemoryContextSwitchTo(context);
    }
}

unsafe fn run_one(statement: *mut pg_sys::RawStmt, text: &CString) -> u64 {
    // SAFETY: as `run_all`; the portal is dropped, or goes with the aborted transaction.
    unsafe {
        let needs_snapshot = pg_sys::analyze_requires_snapshot(statement);
        if needs_snapshot {
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        }
        let none = std::ptr::null_mut();
        let analyzed = pg_sys::pg_analyze_and_rewrite_fixedparams(statement, text.as_ptr(), std::ptr::null(), 0, none);
        let options = pg_sys::CURSOR_OPT_PARALLEL_OK as i32;
        let planned = pg_sys::pg_plan_queries(analyzed, text.as_ptr(), options, std::ptr::null_mut());
        if needs_snapshot {
            pg_sys::PopActiveSnapshot();
        }
        let tag = pg_sys::CreateCommandTag((*statement).stmt);
        let portal = pg_sys::CreatePortal(c"".as_ptr(), true, true);
        (*portal).visible = false;
        pg_sys::PortalDefineQuery(portal, std::ptr::null(), text.as_ptr(), tag, planned, std::ptr::null_mut());
        pg_sys::PortalStart(portal, std::ptr::null_mut(), 0, std::ptr::null_mut());
        let receiver = pg_sys::CreateDestReceiver(pg_sys::CommandDest::DestNone);
        let mut completion = pg_sys::QueryCompletion::default();
        version::run_portal(portal, receiver, &mut completion);
        pg_sys::PortalDrop(portal, false);
        completion.nprocessed
    }
}

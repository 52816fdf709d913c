//! Rejects triggers on our tables that rows written without a plan do not support.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::pg::error::{PgError, throw};

/// Rejects a row trigger with transition tables (0A000). PostgreSQL's executor fills them only under a plan; here the
/// trigger function would fail because its transition table does not exist.
///
/// # Safety
/// An open table and its triggers, if it has any.
pub(super) unsafe fn refuse_transition_tables(triggers: *const pg_sys::TriggerDesc, table: pg_sys::Relation) {
    // SAFETY: as promised; the triggers are as many as said, and names are C strings.
    unsafe {
        if triggers.is_null() {
            return;
        }
        let all = std::slice::from_raw_parts((*triggers).triggers, (*triggers).numtriggers as usize);
        let is_refused = |trigger: &&pg_sys::Trigger| {
            u32::from(trigger.tgtype as u16) & pg_sys::TRIGGER_TYPE_ROW != 0
                && trigger.tgenabled as u8 != pg_sys::TRIGGER_DISABLED
                && !(trigger.tgoldtable.is_null() && trigger.tgnewtable.is_null())
        };
        let Some(trigger) = all.iter().find(is_refused) else { return };
        let name = CStr::from_ptr(trigger.tgname).to_string_lossy();
        let table = name_of(table);
        throw(
            PgError::new(
                "0A000",
                format!(
                    "row trigger \"{name}\" on \"workflow.{table}\" has transition tables, which calls do not fill"
                ),
            )
            .hint("Its function finds the row in OLD and NEW."),
        );
    }
}

/// Raises an error if a trigger has suppressed a row of a call (27000): the call's other rows would refer to a missing
/// row.
///
/// # Safety
/// An open table.
pub(super) unsafe fn refuse_suppression(table: pg_sys::Relation, is_done: bool) {
    if is_done {
        return;
    }
    // SAFETY: as promised.
    throw(suppressed(&unsafe { name_of(table) }));
}

/// The error for a table whose trigger has suppressed a row of a call.
pub fn suppressed(table: &str) -> PgError {
    PgError::new("27000", format!("trigger on \"workflow.{table}\" suppressed a row of a workflow call"))
        .detail("A BEFORE ROW trigger returned NULL.")
        .hint("Let its function return NEW, or OLD on DELETE. To refuse the call, let it raise an error.")
}

unsafe fn name_of(table: pg_sys::Relation) -> String {
    // SAFETY: an open table; names are C strings.
    unsafe { CStr::from_ptr((*(*table).rd_rel).relname.data.as_ptr()).to_string_lossy().into_owned() }
}

/// Whether the row at this TID still exists after this command's own changes.
pub(super) unsafe fn is_there(relation: pg_sys::Relation, tid: pg_sys::ItemPointerData) -> bool {
    // SAFETY: an open table; the page is pinned only if the row is there, and released here.
    unsafe {
        let mut tuple = pg_sys::HeapTupleData { t_self: tid, ..Default::default() };
        let mut buffer = 0;
        let is_there = pg_sys::heap_fetch(relation, &raw mut pg_sys::SnapshotSelfData, &mut tuple, &mut buffer, false);
        if is_there {
            pg_sys::ReleaseBuffer(buffer);
        }
        is_there
    }
}

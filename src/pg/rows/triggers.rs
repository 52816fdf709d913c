//! What triggers on our tables cannot have.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::pg::error::{PgError, unwind};

/// Refuses a row trigger with transition tables (0A000). A plan collects them; PostgreSQL's functions for rows written
/// without one do not, and the trigger's function would be told that its table does not exist.
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
        unwind(
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

/// Ends a call whose row a trigger has suppressed (27000): what it wrote beside it would be without it.
///
/// # Safety
/// An open table.
pub(super) unsafe fn refuse_suppression(table: pg_sys::Relation, is_done: bool) {
    if is_done {
        return;
    }
    // SAFETY: as promised.
    let table = unsafe { name_of(table) };
    unwind(
        PgError::new("27000", format!("a trigger on \"workflow.{table}\" has suppressed a row of a call"))
            .detail("A BEFORE ROW trigger returned NULL.")
            .hint("Let its function return NEW, or OLD where it fires on DELETE. To refuse the call let it raise an error."),
    );
}

unsafe fn name_of(table: pg_sys::Relation) -> String {
    // SAFETY: an open table; names are C strings.
    unsafe { CStr::from_ptr((*(*table).rd_rel).relname.data.as_ptr()).to_string_lossy().into_owned() }
}

//! Deleting rows.

use pgrx::pg_sys;

use super::{Columns, Writer, WrittenRows, WrittenTable, lock, triggers};
use crate::pg::spi::{Arg, Row};
use crate::pg::version;

/// A condition on the version of a row that would be deleted.
type Check<'a> = Option<&'a mut dyn FnMut(&mut Row<'_>) -> bool>;

impl Writer {
    /// Deletes the row with this key, if there is one.
    pub fn delete(&mut self, columns: &'static Columns, key: Arg<'_>) {
        self.delete_checked(columns, key, None);
    }

    /// Deletes the row if the version that would be deleted passes a check. Another transaction may have written it
    /// since the caller read the row. `false`: it did not pass, and stays.
    pub fn delete_if(
        &mut self,
        columns: &'static Columns,
        key: Arg<'_>,
        mut check: impl FnMut(&mut Row<'_>) -> bool,
    ) -> bool {
        self.delete_checked(columns, key, Some(&mut check))
    }

    fn delete_checked(&mut self, columns: &'static Columns, key: Arg<'_>, mut check: Check<'_>) -> bool {
        let _within = self.within();
        let table = self.open(columns, WrittenRows::HeapOnly);
        let mut passes = true;
        // SAFETY: both callers pass a tuple that is pinned while this runs.
        let mut is_wanted = |tuple| unsafe {
            passes = check.as_mut().is_none_or(|check| lock::deform(table.relation, columns, tuple, check));
            passes
        };
        if table.has_triggers() {
            let mode = pg_sys::LockTupleMode::LockTupleExclusive;
            self.with_locked_row(table, columns, key, mode, |writer, tuple| {
                if is_wanted(tuple) {
                    writer.delete_with_triggers(table, tuple);
                }
            });
            return passes;
        }
        // SAFETY: the tuple is pinned; a failure is filled where it is one.
        self.with_row(table, columns, key, |_, tuple| unsafe {
            if !is_wanted(tuple) {
                return pg_sys::TM_Result::TM_Ok;
            }
            pg_sys::CheckCmdReplicaIdentity(table.relation, pg_sys::CmdType::CMD_DELETE);
            let mut failure = std::mem::zeroed::<pg_sys::TM_FailureData>();
            let (tid, command) = (&raw mut (*tuple).t_self, pg_sys::GetCurrentCommandId(true));
            pg_sys::heap_delete(table.relation, tid, command, std::ptr::null_mut(), true, &mut failure, false)
        });
        passes
    }

    fn delete_with_triggers(&mut self, table: WrittenTable, tuple: pg_sys::HeapTuple) {
        // SAFETY: the tuple is pinned while this runs.
        unsafe {
            let old = self.slot(table, &pg_sys::TTSOpsVirtual);
            (*old).tts_tid = (*tuple).t_self;
            let mut recheck = version::recheck(self.estate);
            pg_sys::ExecSimpleRelationDelete(table.info, self.estate, &mut recheck, old);
            pg_sys::EvalPlanQualEnd(&mut recheck);
            let can_stay = (*(*table.info).ri_TrigDesc).trig_delete_before_row;
            let is_gone = !can_stay || !triggers::is_there(table.relation, (*tuple).t_self);
            triggers::refuse_suppression(table.relation, is_gone);
        }
    }
}

//! The writer of rows, as one command.

use pgrx::pg_sys::ffi::pg_guard_ffi_boundary;
use pgrx::pg_sys::{self, Oid};

use super::indexes::Covered;
use super::{Columns, Wait, fill, find, key_scan, lock, tids, triggers};
use crate::pg::raw;
use crate::pg::spi::Arg;
use crate::pg::varlena::ShortTexts;
use crate::pg::version::{self, Entries};

mod delete;
mod open;

use open::OpenTable;

/// Writes rows as one command, which does not see its own changes.
///
/// Functions of PostgreSQL that follow each other are called behind one guard (`pg_guard_ffi_boundary`), which costs more
/// than many of them. An error of PostgreSQL leaves the closure, which owns nothing.
pub struct Writer {
    estate: *mut pg_sys::EState,
    open: Vec<OpenTable>,
    /// The indexes that the next row needs: here because of its memory only.
    wanted: Vec<(Oid, Covered)>,
}

#[derive(Clone, Copy)]
struct WrittenTable {
    relation: pg_sys::Relation,
    info: *mut pg_sys::ResultRelInfo,
}

impl WrittenTable {
    fn has_triggers(self) -> bool {
        // SAFETY: an open table.
        unsafe { !(*self.info).ri_TrigDesc.is_null() }
    }

    /// Whether PostgreSQL's own function must update it: it has triggers, stored generated columns or a partition
    /// constraint.
    fn asks_for_more(self) -> bool {
        // SAFETY: an open table.
        let (kind, rules) = unsafe { (&*(*self.relation).rd_rel, (*(*self.relation).rd_att).constr.as_ref()) };
        self.has_triggers() || kind.relispartition || rules.is_some_and(|rules| rules.has_generated_stored)
    }
}

/// The rows that the command is about to write into a table.
#[derive(Clone, Copy)]
enum WrittenRows<'a> {
    /// Rows that need no index entry, as far as is known yet.
    HeapOnly,
    /// A row with these values.
    Of(&'a [Arg<'a>]),
    /// Rows whose values are not known here: all indexes must be opened.
    Any,
}

/// Restores the memory context that was current before, when dropped.
struct Within(pg_sys::MemoryContext);

impl Within {
    /// Makes a context the current one.
    fn enter(context: pg_sys::MemoryContext) -> Self {
        // SAFETY: a global of the backend's only thread.
        unsafe {
            let before = Self(pg_sys::CurrentMemoryContext);
            pg_sys::CurrentMemoryContext = context;
            before
        }
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        // SAFETY: the caller's context, which outlives this guard.
        unsafe { pg_sys::CurrentMemoryContext = self.0 };
    }
}

impl Writer {
    pub(super) fn begin() -> Self {
        // SAFETY: the executor's state has a memory context of its own, which also holds all that this command
        // allocates. Its snapshot sees all commands before this one.
        let estate = unsafe {
            pg_guard_ffi_boundary(|| {
                raw::PreventCommandIfReadOnly(c"INSERT".as_ptr());
                raw::PreventCommandIfParallelMode(c"INSERT".as_ptr());
                raw::CommandCounterIncrement();
                let estate = raw::CreateExecutorState();
                (*estate).es_snapshot = raw::RegisterSnapshot(raw::GetTransactionSnapshot());
                // Row locks that the executor takes for a trigger see the earlier changes of this transaction.
                (*estate).es_output_cid = raw::GetCurrentCommandId(true);
                raw::AfterTriggerBeginQuery();
                estate
            })
        };
        Self { estate, open: Vec::new(), wanted: Vec::new() }
    }

    /// Inserts a row. Columns that are not named become NULL, not their default.
    pub fn insert(&mut self, columns: &'static Columns, values: &[Arg<'_>]) {
        let _within = self.within();
        let table = self.open(columns, WrittenRows::Of(values));
        // SAFETY: an open table with the indexes that the row goes into; the slot has its columns.
        unsafe {
            let slot = self.slot_to_insert(table);
            let count = (*(*slot).tts_tupleDescriptor).natts as usize;
            std::slice::from_raw_parts_mut((*slot).tts_isnull, count).fill(true);
            let (within_row, row) = self.within_row();
            let mut texts = ShortTexts::new();
            fill(slot, &columns.numbers(), values.iter().map(|value| Some(*value)), &mut texts);
            drop(within_row);
            pg_guard_ffi_boundary(|| {
                raw::ExecStoreVirtualTuple(slot);
                raw::ExecSimpleRelationInsert(table.info, self.estate, slot);
                // The slot keeps the TID only.
                raw::MemoryContextReset(row);
            });
            triggers::refuse_suppression(table.relation, is_written(slot));
            if let Some(id) = values.first().and_then(|key| tids::id(columns, *key)) {
                tids::remember(table.relation, id, (*slot).tts_tid);
            }
        }
    }

    /// Updates the row whose key is the first value, if there is one. A column whose value is `None` keeps its datum,
    /// toasted or not.
    pub fn update(&mut self, columns: &'static Columns, values: &[Option<Arg<'_>>]) {
        let [Some(key), values @ ..] = values else { unreachable!("a row is found by its key") };
        let _within = self.within();
        let table = self.open(columns, WrittenRows::HeapOnly);
        if table.asks_for_more() {
            self.with_locked_row(
                table,
                columns,
                *key,
                pg_sys::LockTupleMode::LockTupleNoKeyExclusive,
                // SAFETY: the tuple is pinned while this runs.
                |writer, old| unsafe { writer.replace(columns, table, old, values) },
            );
            return;
        }
        self.with_row(table, columns, *key, |writer, old| {
            // SAFETY: as above. Most new versions are heap-only, and opening all indexes costs more than the update.
            unsafe {
                let new = writer.new_version(columns, table, old, values);
                if !(*(*table.relation).rd_att).constr.is_null() {
                    pg_sys::ExecConstraints(table.info, new, writer.estate);
                }
                let (result, entries) = version::update_row(table.relation, (*old).t_self, new);
                if result == pg_sys::TM_Result::TM_Ok && entries != Entries::None {
                    writer.open(columns, WrittenRows::Any);
                    version::insert_index_entries(table.info, new, writer.estate, entries);
                }
                if let Some(id) = tids::id(columns, *key).filter(|_| result == pg_sys::TM_Result::TM_Ok) {
                    tids::remember(table.relation, id, (*new).tts_tid);
                }
                result
            }
        });
    }

    /// Writes a new version of a locked row, firing triggers and computing generated columns.
    unsafe fn replace(
        &mut self,
        columns: &'static Columns,
        table: WrittenTable,
        row: pg_sys::HeapTuple,
        values: &[Option<Arg<'_>>],
    ) {
        // SAFETY: an open table and a pinned row of it.
        unsafe {
            let new = self.new_version(columns, table, row, values);
            let numbers = columns.numbers().to_vec();
            let changed = numbers[1..].iter().zip(values).filter(|(_, value)| value.is_some());
            version::say_updated(self.estate, table.info, changed.map(|(number, _)| *number));
            let old = self.slot(table, &pg_sys::TTSOpsVirtual);
            (*old).tts_tid = (*row).t_self;
            self.open(columns, WrittenRows::Any);
            let mut recheck = version::recheck(self.estate);
            pg_sys::ExecSimpleRelationUpdate(table.info, self.estate, &mut recheck, old, new);
            pg_sys::EvalPlanQualEnd(&mut recheck);
            triggers::refuse_suppression(table.relation, is_written(new));
        }
    }

    /// A slot with the new version of a row. Values that do not change point into the old version.
    unsafe fn new_version(
        &self,
        columns: &'static Columns,
        table: WrittenTable,
        old: pg_sys::HeapTuple,
        values: &[Option<Arg<'_>>],
    ) -> *mut pg_sys::TupleTableSlot {
        // SAFETY: an open table and a pinned row of it; the slot has its columns.
        unsafe {
            let new = self.slot(table, &pg_sys::TTSOpsHeapTuple);
            let descriptor = (*new).tts_tupleDescriptor;
            pg_sys::heap_deform_tuple(old, descriptor, (*new).tts_values, (*new).tts_isnull);
            let mut texts = ShortTexts::new();
            fill(new, &columns.numbers()[1..], values.iter().copied(), &mut texts);
            let tuple = pg_sys::heap_form_tuple(descriptor, (*new).tts_values, (*new).tts_isnull);
            // The slot takes this over; constraints and indexes look at it there.
            (*tuple).t_tableOid = (*table.relation).rd_id;
            pg_sys::ExecStoreHeapTuple(tuple, new, true);
            new
        }
    }

    /// Whether this command sees no row in the table of these columns.
    pub fn is_empty(&mut self, columns: &'static Columns) -> bool {
        let _within = self.within();
        // SAFETY: a scan of a table by its primary key; both are opened and ended here.
        unsafe {
            let table = columns.open(pg_sys::AccessShareLock);
            // A serializable transaction must scan, so that a predicate lock records what it did not find.
            let has_pages = pg_sys::XactIsoLevel == pg_sys::XACT_SERIALIZABLE as i32
                || pg_sys::RelationGetNumberOfBlocksInFork(table, pg_sys::ForkNumber::MAIN_FORKNUM) > 0;
            let is_empty = !has_pages || {
                let scan = key_scan(table, columns, &[], (*self.estate).es_snapshot);
                let found = pg_sys::systable_getnext(scan);
                pg_sys::systable_endscan(scan);
                found.is_null()
            };
            pg_sys::table_close(table, pg_sys::NoLock as i32);
            is_empty
        }
    }

    /// Ends the command: fires AFTER triggers, and makes its changes visible to later commands.
    pub(super) fn end(self) {
        // SAFETY: everything that `begin` and `open` made, in the reverse order. The locks stay.
        unsafe {
            let within = self.within();
            let (estate, tables) = (self.estate, self.open.as_slice());
            pg_guard_ffi_boundary(|| {
                raw::AfterTriggerEndQuery(estate);
                // Closes the indexes of our tables, and relations that triggers have opened.
                raw::ExecCloseResultRelations(estate);
                for open in tables {
                    raw::table_close(open.table.relation, pg_sys::NoLock as i32);
                }
                raw::ExecResetTupleTable((*estate).es_tupleTable, false);
                raw::UnregisterSnapshot((*estate).es_snapshot);
            });
            drop(within);
            pg_guard_ffi_boundary(|| {
                raw::FreeExecutorState(estate);
                raw::CommandCounterIncrement();
            });
        }
    }

    /// Makes the command's memory context current while the guard lives. Between calls the caller's own is current.
    fn within(&self) -> Within {
        // SAFETY: the state lives as long as this.
        Within::enter(unsafe { (*self.estate).es_query_cxt })
    }

    /// Makes the memory of a row current while the guard lives. It is also returned, to be reset after the row.
    fn within_row(&self) -> (Within, pg_sys::MemoryContext) {
        // SAFETY: the state lives as long as this.
        unsafe {
            let mut context = (*self.estate).es_per_tuple_exprcontext;
            if context.is_null() {
                context = pg_sys::MakePerTupleExprContext(self.estate);
            }
            let memory = (*context).ecxt_per_tuple_memory;
            (Within::enter(memory), memory)
        }
    }

    /// The table, opened once per command, with the indexes that need entries for these rows.
    fn open(&mut self, columns: &'static Columns, rows: WrittenRows<'_>) -> WrittenTable {
        let id = columns.find();
        let known = self.open.iter().position(|open| open.id == id);
        let at = known.unwrap_or_else(|| {
            // SAFETY: gives an open table or raises; zeroed memory of that size is what InitResultRelInfo fills.
            unsafe {
                let relation = columns.open(pg_sys::RowExclusiveLock);
                let (id, estate) = ((*relation).rd_id, self.estate);
                let info = pg_guard_ffi_boundary(|| {
                    let info = raw::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast::<pg_sys::ResultRelInfo>();
                    raw::InitResultRelInfo(info, relation, 0, std::ptr::null_mut(), 0);
                    (*estate).es_opened_result_relations =
                        raw::lappend((*estate).es_opened_result_relations, info.cast());
                    info
                });
                triggers::refuse_transition_tables((*info).ri_TrigDesc, relation);
                self.open.push(OpenTable {
                    id,
                    table: WrittenTable { relation, info },
                    indexes: Vec::new(),
                    inserted: std::ptr::null_mut(),
                });
            }
            self.open.len() - 1
        });
        let open = &mut self.open[at];
        columns.resolve(open.table.relation);
        // SAFETY: an open table, locked for writing.
        unsafe {
            let values = match rows {
                WrittenRows::HeapOnly => return open.table,
                // A BEFORE trigger may change the values.
                WrittenRows::Of(values) if (*open.table.info).ri_TrigDesc.is_null() => Some(values),
                WrittenRows::Of(_) | WrittenRows::Any => None,
            };
            columns.indexes_for(open.table.relation, values, &mut self.wanted);
            open.add_indexes(&self.wanted);
            open.set_predicates(&self.wanted);
        }
        open.table
    }

    /// An empty slot for rows of this table; freed with the executor's state.
    unsafe fn slot(&self, table: WrittenTable, kind: *const pg_sys::TupleTableSlotOps) -> *mut pg_sys::TupleTableSlot {
        // SAFETY: the table is open for longer than the slot lives.
        unsafe { pg_sys::ExecInitExtraTupleSlot(self.estate, (*table.relation).rd_att, kind) }
    }

    /// The slot of rows to insert into this table, without a row.
    unsafe fn slot_to_insert(&mut self, table: WrittenTable) -> *mut pg_sys::TupleTableSlot {
        // SAFETY: the table is open, so it is among these. A slot's own functions are always set.
        unsafe {
            let at = self.open.iter().position(|open| open.table.info == table.info).expect("the table is open");
            let slot = self.open[at].inserted;
            if slot.is_null() {
                self.open[at].inserted = self.slot(table, &pg_sys::TTSOpsVirtual);
                return self.open[at].inserted;
            }
            (*(*slot).tts_ops).clear.expect("every kind of slot has it")(slot);
            slot
        }
    }

    /// Finds a row by its key, locks it, and calls `body` while it is pinned. The lock comes first because PostgreSQL's
    /// functions for simple relations need a plan to recheck a row after they waited for another transaction.
    fn with_locked_row(
        &mut self,
        table: WrittenTable,
        columns: &'static Columns,
        key: Arg<'_>,
        mode: pg_sys::LockTupleMode::Type,
        body: impl FnOnce(&mut Self, pg_sys::HeapTuple),
    ) {
        let Some((mut tuple, buffer)) = lock::row(table.relation, columns, key, mode, Wait::Block) else { return };
        // SAFETY: a trigger of this command may have written the row; it is pinned until it is released here.
        unsafe {
            (*self.estate).es_output_cid = pg_sys::GetCurrentCommandId(true);
            body(self, &mut tuple);
            pg_sys::ReleaseBuffer(buffer);
        }
    }

    /// Finds a row by its key and writes it while it is pinned. If another transaction is changing the row, `write`
    /// waits for it, and the loop looks the row up again. It takes no row lock first, which would add a WAL record.
    fn with_row(
        &mut self,
        table: WrittenTable,
        columns: &'static Columns,
        key: Arg<'_>,
        mut write: impl FnMut(&mut Self, pg_sys::HeapTuple) -> pg_sys::TM_Result::Type,
    ) {
        // SAFETY: an open table, and the command's snapshot, which the loop may replace.
        unsafe {
            let mut is_current = (*(*self.estate).es_snapshot).curcid == pg_sys::GetCurrentCommandId(false);
            loop {
                if !is_current {
                    // A trigger of this command, or another transaction, has written.
                    pg_sys::UnregisterSnapshot((*self.estate).es_snapshot);
                    (*self.estate).es_snapshot = pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot());
                }
                let snapshot = (*self.estate).es_snapshot;
                let result = find(table.relation, columns, key, snapshot, |tuple| write(self, tuple));
                match result {
                    None | Some(pg_sys::TM_Result::TM_Ok) => return,
                    Some(other) => lock::check_retry(other),
                }
                is_current = false;
            }
        }
    }
}

/// Whether the row of a slot was written: only then does the slot have a TID.
unsafe fn is_written(slot: *const pg_sys::TupleTableSlot) -> bool {
    // SAFETY: a slot of the running command.
    unsafe { (*slot).tts_tid.ip_posid != 0 }
}

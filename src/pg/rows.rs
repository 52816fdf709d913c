//! Rows read, locked and written by key, without a plan.
//!
//! What a burst writes is known to the column: which table, which key, which values. Of a statement that writes a row
//! of ours PostgreSQL's executor spends two thirds on setting itself up. Here are its own functions for simple
//! relations, the ones with which a logical replication worker applies changes: they keep indexes, constraints and row
//! triggers (with the owner's rights and our search path, as under any statement of ours), and check replica identity.
//! Statement triggers and rules do not fire, as they do not in such a worker.
//!
//! Nobody else may write the rows that are changed here: their instance is locked. A row that somebody has changed
//! all the same is an error, never overwritten.

use std::cell::RefCell;
use std::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::error::{PgError, unwind};
use crate::pg::role::{self, OwnerRights};
use crate::pg::spi::{Arg, Type};
use crate::pg::version::{self, SearchPath};

mod lock;

pub use lock::{Wait, lock, lock_table, read};

/// Columns of a table that are written together. Declare it as a `static`.
pub struct Columns {
    table: &'static CStr,
    columns: &'static [(&'static CStr, Type)],
    place: RefCell<Place>,
}

/// Where the columns are, in the table that was looked at last: the extension may be dropped and made again.
struct Place {
    table: Oid,
    numbers: Vec<i16>,
}

// SAFETY: a backend has one thread; pgrx panics when another calls PostgreSQL.
unsafe impl Sync for Columns {}

impl Columns {
    /// Declares columns of a table in the schema `workflow`. Where rows are found by their key, that comes first: one
    /// uuid, the primary key.
    pub const fn of(table: &'static CStr, columns: &'static [(&'static CStr, Type)]) -> Self {
        Self { table, columns, place: RefCell::new(Place { table: pg_sys::InvalidOid, numbers: Vec::new() }) }
    }

    /// Finds the columns in an open table, unless they are where they were before. Their types must be those declared:
    /// what is written is not converted.
    fn settle(&self, id: Oid, table: pg_sys::Relation) {
        // SAFETY: the attributes of an open table's descriptor, which are as many as it says.
        let attributes = unsafe {
            let descriptor = (*table).rd_att;
            (*descriptor).attrs.as_slice((*descriptor).natts as usize)
        };
        let fits = |number: i16, kind: Type| {
            let found = usize::try_from(number - 1).ok().and_then(|at| attributes.get(at));
            found.is_some_and(|attribute| attribute.atttypid == kind.oid())
        };
        let mut place = self.place.borrow_mut();
        let mut known = place.numbers.iter().zip(self.columns);
        if place.table == id && known.all(|(number, (_, kind))| fits(*number, *kind)) {
            return;
        }
        let number = |(name, kind): &(&CStr, Type)| {
            // SAFETY: takes a C string, looks in the catalog.
            let number = unsafe { pg_sys::get_attnum(id, name.as_ptr()) };
            if !fits(number, *kind) {
                let (table, name) = (self.table.to_string_lossy(), name.to_string_lossy());
                unwind(PgError::new("XX000", format!("workflow.{table}.{name} is not the column it should be")));
            }
            number
        };
        let numbers = self.columns.iter().map(number).collect();
        *place = Place { table: id, numbers };
    }
}

/// The types of columns, for a statement that has them as its parameters.
pub const fn types<const N: usize>(columns: &[(&CStr, Type); N]) -> [Type; N] {
    let mut types = [Type::Uuid; N];
    let mut i = 0;
    while i < N {
        types[i] = columns[i].1;
        i += 1;
    }
    types
}

/// Writes rows, as one command: it does not see what it has written itself.
pub struct Writer {
    estate: *mut pg_sys::EState,
    schema: Oid,
    open: Vec<Open>,
}

/// A table that is being written.
#[derive(Clone, Copy)]
struct Open {
    id: Oid,
    table: pg_sys::Relation,
    info: *mut pg_sys::ResultRelInfo,
    has_indexes: bool,
}

/// The memory context that was current, and is again when this is gone.
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
        // SAFETY: the context of the caller, who is still there.
        unsafe { pg_sys::CurrentMemoryContext = self.0 };
    }
}

/// Runs one command that writes rows. An error leaves it to the end of the (sub)transaction to clean up.
pub fn write<R>(body: impl FnOnce(&mut Writer) -> R) -> R {
    let user = OwnerRights::take();
    let path = SearchPath::push();
    let mut writer = Writer::begin();
    let written = body(&mut writer);
    writer.end();
    path.pop();
    user.give_back();
    written
}

impl Writer {
    fn begin() -> Self {
        // SAFETY: the executor's state lives in a context of its own, which everything that is made for this command
        // goes with. Its snapshot sees all commands before this one.
        unsafe {
            pg_sys::PreventCommandIfReadOnly(c"INSERT".as_ptr());
            pg_sys::PreventCommandIfParallelMode(c"INSERT".as_ptr());
            pg_sys::CommandCounterIncrement();
            let estate = pg_sys::CreateExecutorState();
            let _within = Within::enter((*estate).es_query_cxt);
            (*estate).es_snapshot = pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot());
            pg_sys::AfterTriggerBeginQuery();
            Self { estate, schema: role::schema(), open: Vec::new() }
        }
    }

    /// Inserts a row. Columns that are not named are NULL, whatever their default is.
    pub fn insert(&mut self, columns: &'static Columns, values: &[Arg<'_>]) {
        let _within = self.within();
        let open = self.open(columns, true);
        // SAFETY: an open table with its indexes; the slot has its columns.
        unsafe {
            let slot = self.slot(open.table, &pg_sys::TTSOpsVirtual);
            let count = (*(*slot).tts_tupleDescriptor).natts as usize;
            std::slice::from_raw_parts_mut((*slot).tts_isnull, count).fill(true);
            fill(slot, &columns.place.borrow().numbers, values.iter().map(|value| Some(*value)));
            pg_sys::ExecStoreVirtualTuple(slot);
            pg_sys::ExecSimpleRelationInsert(open.info, self.estate, slot);
        }
    }

    /// Changes the row with this key, if there is one. What is `None` stays as it is, also in its toasted form.
    pub fn update(&mut self, columns: &'static Columns, key: Arg<'_>, values: &[Option<Arg<'_>>]) {
        let _within = self.within();
        let open = self.open(columns, false);
        self.with_row(open, columns, key, |writer, old| {
            // SAFETY: the tuple is pinned while this runs, and the new one is made of values that point into it.
            unsafe {
                let new = writer.slot(open.table, &pg_sys::TTSOpsHeapTuple);
                let descriptor = (*new).tts_tupleDescriptor;
                pg_sys::heap_deform_tuple(old, descriptor, (*new).tts_values, (*new).tts_isnull);
                fill(new, &columns.place.borrow().numbers[1..], values.iter().copied());
                let tuple = pg_sys::heap_form_tuple(descriptor, (*new).tts_values, (*new).tts_isnull);
                pg_sys::ExecStoreHeapTuple(tuple, new, true);
                writer.replace(columns, open, (*old).t_self, new);
            }
        });
    }

    /// Writes a new version of a row. Most are heap-only: they need no index, and opening all of a table costs more
    /// than the update. Where triggers could turn the update into something else, that is not tried.
    unsafe fn replace(
        &mut self,
        columns: &'static Columns,
        open: Open,
        place: pg_sys::ItemPointerData,
        new: *mut pg_sys::TupleTableSlot,
    ) {
        // SAFETY: an open table, the place of a row of it, and a slot that holds its tuple.
        unsafe {
            let old = self.slot(open.table, &pg_sys::TTSOpsVirtual);
            (*old).tts_tid = place;
            let is_tried = version::HEAP_ONLY_LEAVES_INDEXES && (*open.info).ri_TrigDesc.is_null() && !open.has_indexes;
            if !is_tried {
                self.open(columns, true);
            }
            let mut recheck = version::recheck(self.estate);
            pg_sys::ExecSimpleRelationUpdate(open.info, self.estate, &mut recheck, old, new);
            pg_sys::EvalPlanQualEnd(&mut recheck);
            if !is_tried {
                return;
            }
            let tuple = (*new.cast::<pg_sys::HeapTupleTableSlot>()).tuple;
            if u32::from((*(*tuple).t_data).t_infomask2) & pg_sys::HEAP_ONLY_TUPLE == 0 {
                self.open(columns, true);
                version::insert_index_entries(open.info, new, self.estate);
            }
        }
    }

    /// Deletes the row with this key, if there is one.
    pub fn delete(&mut self, columns: &'static Columns, key: Arg<'_>) {
        let _within = self.within();
        let open = self.open(columns, false);
        self.with_row(open, columns, key, |writer, tuple| {
            // SAFETY: as above.
            unsafe {
                let old = writer.slot(open.table, &pg_sys::TTSOpsVirtual);
                (*old).tts_tid = (*tuple).t_self;
                let mut recheck = version::recheck(writer.estate);
                pg_sys::ExecSimpleRelationDelete(open.info, writer.estate, &mut recheck, old);
                pg_sys::EvalPlanQualEnd(&mut recheck);
            }
        });
    }

    /// Whether a table of these columns has any row that this command sees.
    pub fn is_empty(&mut self, columns: &'static Columns) -> bool {
        let _within = self.within();
        let id = find(columns, self.schema);
        // SAFETY: a scan of a table by its primary key; both are opened and ended here.
        unsafe {
            let table = pg_sys::table_open(id, pg_sys::AccessShareLock as i32);
            let index = pg_sys::RelationGetPrimaryKeyIndex(table);
            let scan =
                pg_sys::systable_beginscan(table, index, true, (*self.estate).es_snapshot, 0, std::ptr::null_mut());
            let is_empty = pg_sys::systable_getnext(scan).is_null();
            pg_sys::systable_endscan(scan);
            pg_sys::table_close(table, pg_sys::NoLock as i32);
            is_empty
        }
    }

    /// Ends the command: triggers that wait for its end run, and later commands see what it wrote.
    fn end(self) {
        // SAFETY: everything that `begin` and `open` made, in the reverse order. The locks stay.
        unsafe {
            let within = self.within();
            pg_sys::AfterTriggerEndQuery(self.estate);
            // The indexes of our tables, and what triggers have opened.
            pg_sys::ExecCloseResultRelations(self.estate);
            for open in &self.open {
                pg_sys::table_close(open.table, pg_sys::NoLock as i32);
            }
            pg_sys::ExecResetTupleTable((*self.estate).es_tupleTable, false);
            pg_sys::UnregisterSnapshot((*self.estate).es_snapshot);
            drop(within);
            pg_sys::FreeExecutorState(self.estate);
            pg_sys::CommandCounterIncrement();
        }
    }

    /// The command's own memory, current while the guard lives. What the caller does in between has its own.
    fn within(&self) -> Within {
        // SAFETY: the state lives as long as this.
        Within::enter(unsafe { (*self.estate).es_query_cxt })
    }

    /// The table, opened once for the command.
    fn open(&mut self, columns: &'static Columns, with_indexes: bool) -> Open {
        let id = find(columns, self.schema);
        let known = self.open.iter().position(|open| open.id == id);
        let at = known.unwrap_or_else(|| {
            // SAFETY: gives an open table or raises; zeroed memory of that size is what InitResultRelInfo fills.
            unsafe {
                let table = pg_sys::table_open(id, pg_sys::RowExclusiveLock as i32);
                let info = pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast::<pg_sys::ResultRelInfo>();
                pg_sys::InitResultRelInfo(info, table, 0, std::ptr::null_mut(), 0);
                let opened = &mut (*self.estate).es_opened_result_relations;
                *opened = pg_sys::lappend(*opened, info.cast());
                self.open.push(Open { id, table, info, has_indexes: false });
            }
            self.open.len() - 1
        });
        let open = &mut self.open[at];
        columns.settle(id, open.table);
        if with_indexes && !open.has_indexes {
            // SAFETY: an open table; its indexes are closed by `end`.
            unsafe { pg_sys::ExecOpenIndices(open.info, false) };
            open.has_indexes = true;
        }
        *open
    }

    /// An empty slot for rows of this table; it goes with the executor's state.
    unsafe fn slot(
        &self,
        table: pg_sys::Relation,
        kind: *const pg_sys::TupleTableSlotOps,
    ) -> *mut pg_sys::TupleTableSlot {
        // SAFETY: the table is open for longer than the slot lives.
        unsafe { pg_sys::ExecInitExtraTupleSlot(self.estate, (*table).rd_att, kind) }
    }

    /// Finds a row by its key and does something with it while it is pinned.
    fn with_row(
        &mut self,
        open: Open,
        columns: &'static Columns,
        key: Arg<'_>,
        body: impl FnOnce(&mut Self, pg_sys::HeapTuple),
    ) {
        // SAFETY: a scan of an open table, ended here.
        unsafe {
            let scan = key_scan(open.table, columns, key, (*self.estate).es_snapshot);
            let tuple = pg_sys::systable_getnext(scan);
            if !tuple.is_null() {
                body(self, tuple);
            }
            pg_sys::systable_endscan(scan);
        }
    }
}

/// The table's oid, by name: it may have been dropped and made again.
fn find(columns: &Columns, schema: Oid) -> Oid {
    // SAFETY: takes a C string, looks in the catalog.
    unsafe { pg_sys::get_relname_relid(columns.table.as_ptr(), schema) }
}

/// A scan for the row whose primary key, the first of the columns, has this value.
unsafe fn key_scan(
    table: pg_sys::Relation,
    columns: &Columns,
    key: Arg<'_>,
    snapshot: pg_sys::Snapshot,
) -> pg_sys::SysScanDesc {
    let number = columns.place.borrow().numbers[0];
    // SAFETY: an open table; the scan copies the key.
    unsafe {
        let mut wanted = pg_sys::ScanKeyData::default();
        let strategy = pg_sys::BTEqualStrategyNumber as u16;
        let value = key.datum().unwrap_or(Datum::null());
        pg_sys::ScanKeyInit(&mut wanted, number, strategy, pg_sys::F_UUID_EQ.into(), value);
        let index = pg_sys::RelationGetPrimaryKeyIndex(table);
        pg_sys::systable_beginscan(table, index, true, snapshot, 1, &mut wanted)
    }
}

/// Puts values into a slot.
unsafe fn fill<'a>(
    slot: *mut pg_sys::TupleTableSlot,
    numbers: &[i16],
    values: impl ExactSizeIterator<Item = Option<Arg<'a>>>,
) {
    debug_assert_eq!(numbers.len(), values.len());
    for (number, value) in numbers.iter().zip(values) {
        let Some(value) = value else { continue };
        let datum = value.datum();
        let at = *number as usize - 1;
        // SAFETY: the numbers are those of the slot's table.
        unsafe {
            *(*slot).tts_isnull.add(at) = datum.is_none();
            *(*slot).tts_values.add(at) = datum.unwrap_or(Datum::null());
        }
    }
}

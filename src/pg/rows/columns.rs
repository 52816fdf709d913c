//! The columns of a table that are read or written together, and their resolved positions.

use std::cell::RefCell;
use std::ffi::CStr;
use std::ptr;

use pgrx::pg_sys::ffi::pg_guard_ffi_boundary;
use pgrx::pg_sys::{self, Oid};

use super::indexes::{self, Covered, Index};
use crate::pg::error::{PgError, throw};
use crate::pg::spi::{Arg, ColumnRef, Table};
use crate::pg::{catalog, raw, version};

/// Columns of a table that are read or written together. Declare it as a `static`.
pub struct Columns {
    table: &'static CStr,
    index: Option<&'static CStr>,
    columns: &'static [ColumnRef],
    resolved: RefCell<Resolved>,
}

/// The resolved table, columns and indexes, each with the generation of the catalog for which they are valid: the
/// extension may be dropped and created again.
struct Resolved {
    /// Generation in which the table was found by its name.
    table_at: u64,
    table: Oid,
    /// Generation in which its columns were resolved.
    columns_at: u64,
    numbers: Vec<i16>,
    /// The index for key lookups; invalid if the table has no such index that scans may rely on.
    key: Oid,
    /// Whether the first column alone is the primary key.
    is_primary: bool,
    /// Generation in which its indexes were read.
    indexes_at: u64,
    indexes: Vec<Index>,
}

// SAFETY: a backend has one thread; pgrx panics when another calls PostgreSQL.
unsafe impl Sync for Columns {}

impl Columns {
    /// Declares the columns of a record. For lookups by key the first column must be the primary key.
    pub const fn of(table: &Table, columns: &'static [ColumnRef]) -> Self {
        Self::with(table, None, columns)
    }

    /// Declares the columns of a record whose rows are looked up by `index`. The index's columns come first.
    pub const fn by(index: &'static CStr, table: &Table, columns: &'static [ColumnRef]) -> Self {
        Self::with(table, Some(index), columns)
    }

    const fn with(table: &Table, index: Option<&'static CStr>, columns: &'static [ColumnRef]) -> Self {
        let resolved = Resolved {
            table_at: 0,
            table: pg_sys::InvalidOid,
            columns_at: 0,
            numbers: Vec::new(),
            key: pg_sys::InvalidOid,
            is_primary: false,
            indexes_at: 0,
            indexes: Vec::new(),
        };
        Self { table: table.name, index, columns, resolved: RefCell::new(resolved) }
    }

    /// Opens the table. The caller must close it. Its lock stays until the (sub)transaction ends.
    pub(super) fn open(&self, lock: u32) -> pg_sys::Relation {
        // SAFETY: the table exists, since it still has the name after it was locked. During the wait for the lock
        // another table may have got the name; then the loop tries again. An error of PostgreSQL leaves the closure,
        // which owns nothing.
        unsafe {
            let table = loop {
                let (id, generation) = (self.find(), catalog::generation());
                let table = pg_guard_ffi_boundary(|| {
                    raw::LockRelationOid(id, lock as i32);
                    // The lock has processed invalidations. If there were none, the name is still that of this table.
                    match catalog::generation() == generation {
                        true => raw::table_open(id, pg_sys::NoLock as i32),
                        false => ptr::null_mut(),
                    }
                });
                if !table.is_null() {
                    break table;
                }
                if self.find() == id {
                    break pg_sys::table_open(id, pg_sys::NoLock as i32);
                }
                pg_sys::UnlockRelationOid(id, lock as i32);
            };
            self.resolve(table);
            table
        }
    }

    /// The table's oid, as of the invalidation messages that this session has processed.
    pub(super) fn find(&self) -> Oid {
        let generation = catalog::generation();
        let mut resolved = self.resolved.borrow_mut();
        if resolved.table_at != generation {
            // SAFETY: takes a C string, looks in the catalog.
            let table = unsafe { pg_sys::get_relname_relid(self.table.as_ptr(), catalog::schema()) };
            if table == pg_sys::InvalidOid {
                let name = self.table.to_string_lossy();
                throw(PgError::new("42P01", format!("relation \"workflow.{name}\" does not exist")));
            }
            resolved.table = table;
            (resolved.table_at, resolved.columns_at) = (generation, 0);
        }
        resolved.table
    }

    /// Resolves the columns in the open table, unless they are resolved for this generation. Their types must be those
    /// declared: the writer does not convert values.
    pub(super) fn resolve(&self, table: pg_sys::Relation) {
        let generation = catalog::generation();
        let mut resolved = self.resolved.borrow_mut();
        if resolved.columns_at == generation {
            return;
        }
        // SAFETY: an open table, and the attributes of its descriptor, which are as many as it says.
        let (id, kind, attributes) =
            unsafe { ((*table).rd_id, &*(*table).rd_rel, version::attributes((*table).rd_att)) };
        if kind.relkind as u8 != pg_sys::RELKIND_RELATION || kind.relam != pg_sys::HEAP_TABLE_AM_OID {
            let name = self.table.to_string_lossy();
            throw(PgError::new("0A000", format!("\"workflow.{name}\" is not an ordinary heap table")).hint(
                "Its rows are locked and written in place: partitions and other access methods are not supported.",
            ));
        }
        // The relcache entry has the names; get_attnum would search the syscache for each of them.
        let number = |(name, kind): &ColumnRef| {
            let is_it = |attribute: &&pg_sys::FormData_pg_attribute| {
                // SAFETY: a name is a C string in an array that has room for its end.
                !attribute.attisdropped && unsafe { CStr::from_ptr(attribute.attname.data.as_ptr()) } == *name
            };
            let Some(attribute) = attributes.iter().find(is_it).filter(|found| found.atttypid == kind.oid()) else {
                let (table, name) = (self.table.to_string_lossy(), name.to_string_lossy());
                throw(PgError::new(
                    "XX000",
                    format!(
                        "column \"{name}\" of relation \"workflow.{table}\" does not exist or has an unexpected type"
                    ),
                ));
            };
            attribute.attnum
        };
        resolved.numbers = self.columns.iter().map(number).collect();
        // SAFETY: an open table.
        resolved.key = unsafe {
            match self.index {
                None => version::primary_key(table),
                Some(name) => trusted(pg_sys::get_relname_relid(name.as_ptr(), catalog::schema()), id),
            }
        };
        let first = resolved.numbers.first().filter(|_| self.index.is_none() && resolved.key != pg_sys::InvalidOid);
        // SAFETY: an open table.
        resolved.is_primary = first.is_some_and(|first| unsafe { is_primary_key(table, *first) });
        resolved.columns_at = generation;
    }

    /// Names and types of the columns.
    pub(super) fn declared(&self) -> &'static [ColumnRef] {
        self.columns
    }

    /// The attribute numbers of the columns, in the order of declaration.
    pub(super) fn numbers(&self) -> std::cell::Ref<'_, [i16]> {
        std::cell::Ref::map(self.resolved.borrow(), |resolved| resolved.numbers.as_slice())
    }

    /// Whether the first column alone is the primary key, by which rows are looked up.
    pub(super) fn has_primary_key(&self) -> bool {
        self.resolved.borrow().is_primary
    }

    /// The index for key lookups; invalid if they must scan the table.
    pub(super) fn key(&self) -> Oid {
        self.resolved.borrow().key
    }

    /// Collects the indexes that get an entry for a row with these values, or may get one; all indexes if `values` is
    /// `None`.
    ///
    /// # Safety
    /// The table is open, and locked so that a new index would wait.
    pub(super) unsafe fn indexes_for(
        &self,
        table: pg_sys::Relation,
        values: Option<&[Arg<'_>]>,
        wanted: &mut Vec<(Oid, Covered)>,
    ) {
        let generation = catalog::generation();
        if self.resolved.borrow().indexes_at != generation {
            let numbers = self.numbers().to_vec();
            // SAFETY: as promised.
            let indexes = unsafe { indexes::of(table, &numbers) };
            let mut resolved = self.resolved.borrow_mut();
            (resolved.indexes, resolved.indexes_at) = (indexes, generation);
        }
        let resolved = self.resolved.borrow();
        let covered = |index: &Index| values.map_or(Covered::Perhaps, |values| index.covers(values));
        let covering = resolved.indexes.iter().map(|index| (index.id, covered(index)));
        wanted.clear();
        wanted.extend(covering.filter(|(_, covered)| *covered != Covered::No));
    }
}

/// Returns `index` if it belongs to this table, is valid and covers the rows of every snapshot; else the invalid oid.
unsafe fn trusted(index: Oid, table: Oid) -> Oid {
    if index == pg_sys::InvalidOid {
        return index;
    }
    let lock = pg_sys::AccessShareLock as i32;
    // SAFETY: gives an open index or nothing; it is closed after a look at its row in the catalog.
    unsafe {
        let open = pg_sys::try_relation_open(index, lock);
        if open.is_null() {
            return pg_sys::InvalidOid;
        }
        let row = (*open).rd_index;
        let is_trusted = !row.is_null() && (*row).indrelid == table && (*row).indisvalid && !(*row).indcheckxmin;
        pg_sys::relation_close(open, lock);
        if is_trusted { index } else { pg_sys::InvalidOid }
    }
}

/// Whether the primary key of an open table is this column alone.
unsafe fn is_primary_key(table: pg_sys::Relation, number: i16) -> bool {
    // SAFETY: as promised; the set is a copy.
    unsafe {
        let kind = pg_sys::IndexAttrBitmapKind::INDEX_ATTR_BITMAP_PRIMARY_KEY;
        let set = pg_sys::RelationGetIndexAttrBitmap(table, kind);
        let mut member = 0;
        let is_single = pg_sys::bms_get_singleton_member(set, &mut member);
        pg_sys::bms_free(set);
        is_single && member == i32::from(number) - pg_sys::FirstLowInvalidHeapAttributeNumber
    }
}

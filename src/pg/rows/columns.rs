//! Which columns of which table are read or written, and where they are.

use std::cell::RefCell;
use std::ffi::CStr;

use pgrx::pg_sys::{self, Oid};

use super::indexes::{self, Index};
use crate::pg::error::{PgError, unwind};
use crate::pg::spi::{Arg, ColumnRef, Table};
use crate::pg::{catalog, version};

/// Columns of a table that are read or written together. Declare it as a `static`.
pub struct Columns {
    table: &'static CStr,
    index: Option<&'static CStr>,
    columns: &'static [ColumnRef],
    place: RefCell<Place>,
}

/// Where the columns are, as it was in a generation of the catalog: the extension may be dropped and made again.
struct Place {
    /// When the table was found, by its name.
    found: u64,
    table: Oid,
    /// When its columns were.
    resolved: u64,
    numbers: Vec<i16>,
    /// The index by whose columns rows are found; none, where there is none that may be trusted.
    key: Oid,
    /// When its indexes were.
    indexed: u64,
    indexes: Vec<Index>,
}

// SAFETY: a backend has one thread; pgrx panics when another calls PostgreSQL.
unsafe impl Sync for Columns {}

impl Columns {
    /// Declares the columns of a record. Where rows are found by their key, that comes first: one column, the primary key.
    pub const fn of(table: &Table, columns: &'static [ColumnRef]) -> Self {
        Self::with(table, None, columns)
    }

    /// Declares the columns of a record of a table whose rows are found by the columns of an index, which come first.
    pub const fn by(index: &'static CStr, table: &Table, columns: &'static [ColumnRef]) -> Self {
        Self::with(table, Some(index), columns)
    }

    const fn with(table: &Table, index: Option<&'static CStr>, columns: &'static [ColumnRef]) -> Self {
        let place = Place {
            found: 0,
            table: pg_sys::InvalidOid,
            resolved: 0,
            numbers: Vec::new(),
            key: pg_sys::InvalidOid,
            indexed: 0,
            indexes: Vec::new(),
        };
        Self { table: table.name, index, columns, place: RefCell::new(place) }
    }

    /// Opens the table, which must be closed. Its lock stays until the (sub)transaction ends.
    pub(super) fn open(&self, lock: u32) -> pg_sys::Relation {
        // SAFETY: the table that has the name now that it is locked is there. While its lock was waited for another one
        // may have got the name.
        unsafe {
            let table = loop {
                let id = self.find();
                pg_sys::LockRelationOid(id, lock as i32);
                if self.find() == id {
                    break pg_sys::table_open(id, pg_sys::NoLock as i32);
                }
                pg_sys::UnlockRelationOid(id, lock as i32);
            };
            self.resolve(table);
            table
        }
    }

    /// The table's oid, as it was last heard of.
    pub(super) fn find(&self) -> Oid {
        let generation = catalog::generation();
        let mut place = self.place.borrow_mut();
        if place.found != generation {
            // SAFETY: takes a C string, looks in the catalog.
            let table = unsafe { pg_sys::get_relname_relid(self.table.as_ptr(), catalog::schema()) };
            if table == pg_sys::InvalidOid {
                let name = self.table.to_string_lossy();
                unwind(PgError::new("42P01", format!("relation \"workflow.{name}\" does not exist")));
            }
            place.table = table;
            (place.found, place.resolved) = (generation, 0);
        }
        place.table
    }

    /// Finds the columns in the open table, unless they are where they were. Their types must be those declared: what is
    /// written is not converted.
    pub(super) fn resolve(&self, table: pg_sys::Relation) {
        let generation = catalog::generation();
        let mut place = self.place.borrow_mut();
        if place.resolved == generation {
            return;
        }
        // SAFETY: an open table, and the attributes of its descriptor, which are as many as it says.
        let (id, kind, attributes) =
            unsafe { ((*table).rd_id, &*(*table).rd_rel, version::attributes((*table).rd_att)) };
        if kind.relkind as u8 != pg_sys::RELKIND_RELATION || kind.relam != pg_sys::HEAP_TABLE_AM_OID {
            let name = self.table.to_string_lossy();
            unwind(
                PgError::new("0A000", format!("\"workflow.{name}\" is not a plain table of access method heap")).hint(
                    "Its rows are locked and written in place: partitions and other access methods are not supported.",
                ),
            );
        }
        // The open table knows the names already; the catalog would be asked for each of them.
        let number = |(name, kind): &ColumnRef| {
            let is_it = |attribute: &&pg_sys::FormData_pg_attribute| {
                // SAFETY: a name is a C string in an array that has room for its end.
                !attribute.attisdropped && unsafe { CStr::from_ptr(attribute.attname.data.as_ptr()) } == *name
            };
            let Some(attribute) = attributes.iter().find(is_it).filter(|found| found.atttypid == kind.oid()) else {
                let (table, name) = (self.table.to_string_lossy(), name.to_string_lossy());
                unwind(PgError::new("XX000", format!("workflow.{table}.{name} is not the column it should be")));
            };
            attribute.attnum
        };
        place.numbers = self.columns.iter().map(number).collect();
        // SAFETY: an open table.
        place.key = unsafe {
            match self.index {
                None => version::primary_key(table),
                Some(name) => trusted(pg_sys::get_relname_relid(name.as_ptr(), catalog::schema()), id),
            }
        };
        place.resolved = generation;
    }

    /// The numbers of the columns in the table, in their order here.
    pub(super) fn numbers(&self) -> std::cell::Ref<'_, [i16]> {
        std::cell::Ref::map(self.place.borrow(), |place| place.numbers.as_slice())
    }

    /// The index by whose columns rows are found; invalid, where the table itself must be read.
    pub(super) fn key(&self) -> Oid {
        self.place.borrow().key
    }

    /// The indexes of the table that a row of these values goes into; all of them, where there are no values.
    ///
    /// # Safety
    /// The table is open, and locked so that a new index would wait.
    pub(super) unsafe fn indexes_for(&self, table: pg_sys::Relation, values: Option<&[Arg<'_>]>) -> Vec<Oid> {
        let generation = catalog::generation();
        if self.place.borrow().indexed != generation {
            let numbers = self.numbers().to_vec();
            // SAFETY: as promised. Reading the catalog may find that it has changed.
            let indexes = unsafe { indexes::of(table, &numbers) };
            let mut place = self.place.borrow_mut();
            (place.indexes, place.indexed) = (indexes, generation);
        }
        let place = self.place.borrow();
        let wanted = place.indexes.iter().filter(|index| values.is_none_or(|values| index.has(values)));
        wanted.map(|index| index.id).collect()
    }
}

/// An index of this table that has all its rows for every snapshot, or none.
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

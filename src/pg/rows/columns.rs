//! Which columns of which table are read or written, and where they are.

use std::cell::RefCell;
use std::ffi::CStr;

use pgrx::pg_sys::{self, Oid};

use super::indexes::{self, Index};
use crate::pg::error::{PgError, unwind};
use crate::pg::spi::{Arg, Type};
use crate::pg::{catalog, role};

/// Columns of a table that are read or written together. Declare it as a `static`.
pub struct Columns {
    table: &'static CStr,
    index: Option<&'static CStr>,
    columns: &'static [(&'static CStr, Type)],
    place: RefCell<Place>,
}

/// Where the columns are, as it was in a generation of the catalog: the extension may be dropped and made again.
struct Place {
    /// When the table was found, by its name.
    found: u64,
    table: Oid,
    /// When its columns were.
    settled: u64,
    numbers: Vec<i16>,
    /// The index by whose columns rows are found.
    key: Oid,
    /// When its indexes were.
    indexed: u64,
    indexes: Vec<Index>,
}

// SAFETY: a backend has one thread; pgrx panics when another calls PostgreSQL.
unsafe impl Sync for Columns {}

impl Columns {
    /// Declares columns of a table in the schema `workflow`. Where rows are found by their key, that comes first: one
    /// uuid, the primary key.
    pub const fn of(table: &'static CStr, columns: &'static [(&'static CStr, Type)]) -> Self {
        Self::with(table, None, columns)
    }

    /// Declares columns of a table whose rows are found by the columns of a unique index, which come first.
    pub const fn by(index: &'static CStr, table: &'static CStr, columns: &'static [(&'static CStr, Type)]) -> Self {
        Self::with(table, Some(index), columns)
    }

    const fn with(
        table: &'static CStr,
        index: Option<&'static CStr>,
        columns: &'static [(&'static CStr, Type)],
    ) -> Self {
        let place = Place {
            found: 0,
            table: pg_sys::InvalidOid,
            settled: 0,
            numbers: Vec::new(),
            key: pg_sys::InvalidOid,
            indexed: 0,
            indexes: Vec::new(),
        };
        Self { table, index, columns, place: RefCell::new(place) }
    }

    /// The table's oid.
    pub(super) fn find(&self) -> Oid {
        let generation = catalog::generation();
        let mut place = self.place.borrow_mut();
        if place.found != generation {
            // SAFETY: takes a C string, looks in the catalog.
            place.table = unsafe { pg_sys::get_relname_relid(self.table.as_ptr(), role::schema()) };
            (place.found, place.settled) = (generation, 0);
        }
        place.table
    }

    /// Finds the columns in the table that [`find`](Self::find) found, now that it is open. Their types must be those
    /// declared: what is written is not converted.
    pub(super) fn settle(&self, table: pg_sys::Relation) {
        let generation = catalog::generation();
        let mut place = self.place.borrow_mut();
        if place.settled == generation {
            return;
        }
        // SAFETY: an open table, and the attributes of its descriptor, which are as many as it says.
        let (id, attributes) = unsafe {
            let descriptor = (*table).rd_att;
            ((*table).rd_id, (*descriptor).attrs.as_slice((*descriptor).natts as usize))
        };
        let number = |(name, kind): &(&CStr, Type)| {
            // SAFETY: takes a C string, looks in the catalog.
            let number = unsafe { pg_sys::get_attnum(id, name.as_ptr()) };
            let found = usize::try_from(number - 1).ok().and_then(|at| attributes.get(at));
            if found.is_none_or(|attribute| attribute.atttypid != kind.oid()) {
                self.refuse(name, "is not the column it should be");
            }
            number
        };
        place.numbers = self.columns.iter().map(number).collect();
        place.key = match self.index {
            // SAFETY: an open table.
            None => unsafe { pg_sys::RelationGetPrimaryKeyIndex(table) },
            // SAFETY: takes a C string, looks in the catalog.
            Some(name) => unsafe { pg_sys::get_relname_relid(name.as_ptr(), role::schema()) },
        };
        if place.key == pg_sys::InvalidOid {
            self.refuse(self.index.unwrap_or(c"id"), "has no index any more");
        }
        place.settled = generation;
    }

    fn refuse(&self, name: &CStr, what: &str) -> ! {
        let (table, name) = (self.table.to_string_lossy(), name.to_string_lossy());
        unwind(PgError::new("XX000", format!("workflow.{table}.{name} {what}")))
    }

    /// The numbers of the columns in the table, in their order here.
    pub(super) fn numbers(&self) -> std::cell::Ref<'_, [i16]> {
        std::cell::Ref::map(self.place.borrow(), |place| place.numbers.as_slice())
    }

    /// The index by whose columns rows are found.
    pub(super) fn key(&self) -> Oid {
        self.place.borrow().key
    }

    /// The indexes of the table that a row of these values goes into; all of them, where there are no values.
    ///
    /// # Safety
    /// The table is open, and locked so that a new index would wait.
    pub(super) unsafe fn indexes_for(&self, table: pg_sys::Relation, values: Option<&[Arg<'_>]>) -> Vec<Oid> {
        let generation = catalog::generation();
        let mut place = self.place.borrow_mut();
        if place.indexed != generation {
            // SAFETY: as promised.
            place.indexes = unsafe { indexes::of(table, &place.numbers) };
            place.indexed = generation;
        }
        let wanted = place.indexes.iter().filter(|index| values.is_none_or(|values| index.has(values)));
        wanted.map(|index| index.id).collect()
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

//! The extension in the catalog, and generation numbers that invalidate cached catalog look-ups.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int};

use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::error::{PgError, throw};
use crate::pg::state::BACKEND;

/// What this process has read of the catalog.
pub(super) struct Known {
    /// 0: not asked yet.
    generation: Cell<u64>,
    definitions: Cell<Definitions>,
    /// Tables of the schema `workflow` that were found, and the generation in which they were.
    tables: RefCell<(u64, Vec<(&'static CStr, Oid)>)>,
    extension: Cell<Extension>,
}

impl Known {
    pub(super) const fn nothing() -> Self {
        Self {
            generation: Cell::new(0),
            definitions: Cell::new(Definitions { schema: Oid::INVALID, table: Oid::INVALID, changes: 0 }),
            tables: RefCell::new((0, Vec::new())),
            extension: Cell::new(Extension { generation: 0, schema: Oid::INVALID, owner: Oid::INVALID }),
        }
    }
}

fn known() -> &'static Known {
    &BACKEND.catalog
}

/// The table `workflow.definitions`, and the number of invalidations that this session has processed for it.
#[derive(Clone, Copy)]
struct Definitions {
    schema: Oid,
    table: Oid,
    changes: u64,
}

fn definitions() -> Definitions {
    let (schema, known) = (schema(), known().definitions.get());
    if known.schema == schema {
        return known;
    }
    // SAFETY: takes a C string, looks in the catalog.
    let table = unsafe { pg_sys::get_relname_relid(c"definitions".as_ptr(), schema) };
    let found = Definitions { schema, table, changes: known.changes + 1 };
    self::known().definitions.set(found);
    found
}

/// A number that changes after a transaction that called [`definitions_changed`] has committed.
pub fn definitions_generation() -> u64 {
    // SAFETY: processes the invalidation messages of other sessions, as any table lock does.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    definitions().changes
}

/// Invalidates what sessions have cached about definitions, such as their owners and the registered types that they may
/// use. Other sessions get the message when this transaction commits, this session at its next command.
pub fn definitions_changed() {
    // SAFETY: takes the oid of a table; the schema was locked by the session that wrote in it.
    unsafe { pg_sys::CacheInvalidateRelcacheByRelid(definitions().table) };
}

/// A number that changes when this session processes an invalidation of a schema, a table, an index or a type, sent by
/// itself or by another session: at the latest when it locks the table.
pub fn generation() -> u64 {
    if known().generation.get() == 0 {
        watch();
    }
    known().generation.get()
}

fn watch() {
    let schemas = pg_sys::SysCacheIdentifier::NAMESPACENAME as c_int;
    let types = pg_sys::SysCacheIdentifier::TYPEOID as c_int;
    // SAFETY: functions that stay for the life of the backend, as the library does.
    unsafe {
        pg_sys::CacheRegisterSyscacheCallback(schemas, Some(row_changed), Datum::null());
        pg_sys::CacheRegisterSyscacheCallback(types, Some(row_changed), Datum::null());
        pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), Datum::null());
    }
    known().generation.set(1);
}

/// Called by PostgreSQL. A change of any schema or type advances the generation.
unsafe extern "C-unwind" fn row_changed(_argument: Datum, _cache: c_int, _hash: u32) {
    known().generation.set(known().generation.get() + 1);
}

/// Called by PostgreSQL.
unsafe extern "C-unwind" fn relation_changed(_argument: Datum, relation: Oid) {
    known().generation.set(known().generation.get() + 1);
    let table = known().definitions.get();
    // The invalid oid means all relations.
    if relation == table.table || relation == Oid::INVALID {
        known().definitions.set(Definitions { changes: table.changes + 1, ..table });
    }
}

/// A table of the schema `workflow`, if it exists.
pub fn table(name: &'static CStr) -> Option<Oid> {
    let (schema, generation) = (schema(), generation());
    let (found_in, tables) = &mut *known().tables.borrow_mut();
    if *found_in != generation {
        tables.clear();
        *found_in = generation;
    }
    if let Some((_, table)) = tables.iter().find(|(found, _)| *found == name) {
        return Some(*table);
    }
    // SAFETY: takes a C string, looks in the catalog.
    let table = unsafe { pg_sys::get_relname_relid(name.as_ptr(), schema) };
    let is_there = table != Oid::INVALID;
    tables.extend(is_there.then_some((name, table)));
    is_there.then_some(table)
}

/// The extension's oid, if it is installed in this database. Call it in a transaction.
pub fn extension() -> Option<Oid> {
    // SAFETY: takes a C string, looks in the catalog.
    let oid = unsafe { pg_sys::get_extension_oid(c"workflow".as_ptr(), true) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// The schema `workflow`. An error (55000) if it does not exist: then the extension is not installed.
pub fn schema() -> Oid {
    installed().schema
}

/// The owner of the extension: the owner of its schema.
pub fn extension_owner() -> Oid {
    installed().owner
}

/// The schema `workflow` and its owner, as they were in a generation of the catalog.
#[derive(Clone, Copy)]
struct Extension {
    generation: u64,
    schema: Oid,
    owner: Oid,
}

fn installed() -> Extension {
    let generation = generation();
    let extension = known().extension.get();
    if extension.generation == generation {
        return extension;
    }
    // SAFETY: takes a C string, looks in the catalog.
    let schema = unsafe { pg_sys::get_namespace_oid(c"workflow".as_ptr(), true) };
    if schema == pg_sys::InvalidOid {
        throw(
            PgError::new("55000", "extension \"workflow\" is not installed in this database")
                .hint("Run CREATE EXTENSION workflow."),
        );
    }
    let found = Extension { generation, schema, owner: owner_of(schema) };
    known().extension.set(found);
    found
}

fn owner_of(schema: Oid) -> Oid {
    let key = pg_sys::Datum::from(schema);
    // SAFETY: a catalog look-up through the syscache, released after reading.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::NAMESPACEOID as i32, key);
        if tuple.is_null() {
            throw(PgError::new("XX000", "schema \"workflow\" does not exist"));
        }
        let owner = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_namespace>()).nspowner;
        pg_sys::ReleaseSysCache(tuple);
        owner
    }
}

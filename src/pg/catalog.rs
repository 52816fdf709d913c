//! The extension in the catalog, and generation numbers that invalidate cached catalog look-ups.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int};

use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::error::{PgError, unwind};

thread_local! {
    /// 0: not asked yet.
    static GENERATION: Cell<u64> = const { Cell::new(0) };
}

/// The table `workflow.definitions`, and the number of invalidations that this session has processed for it.
#[derive(Clone, Copy)]
struct Definitions {
    schema: Oid,
    table: Oid,
    changes: u64,
}

thread_local! {
    static DEFINITIONS: Cell<Definitions> =
        const { Cell::new(Definitions { schema: Oid::INVALID, table: Oid::INVALID, changes: 0 }) };
}

fn definitions() -> Definitions {
    let (schema, known) = (schema(), DEFINITIONS.get());
    if known.schema == schema {
        return known;
    }
    // SAFETY: takes a C string, looks in the catalog.
    let table = unsafe { pg_sys::get_relname_relid(c"definitions".as_ptr(), schema) };
    let found = Definitions { schema, table, changes: known.changes + 1 };
    DEFINITIONS.set(found);
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
    if GENERATION.get() == 0 {
        watch();
    }
    GENERATION.get()
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
    GENERATION.set(1);
}

/// Called by PostgreSQL. A change of any schema or type advances the generation.
unsafe extern "C-unwind" fn row_changed(_argument: Datum, _cache: c_int, _hash: u32) {
    GENERATION.set(GENERATION.get() + 1);
}

/// Called by PostgreSQL.
unsafe extern "C-unwind" fn relation_changed(_argument: Datum, relation: Oid) {
    GENERATION.set(GENERATION.get() + 1);
    let known = DEFINITIONS.get();
    // The invalid oid means all relations.
    if relation == known.table || relation == Oid::INVALID {
        DEFINITIONS.set(Definitions { changes: known.changes + 1, ..known });
    }
}

thread_local! {
    /// Tables of the schema `workflow` that were found, and the generation in which they were.
    static TABLES: RefCell<(u64, Vec<(&'static CStr, Oid)>)> = const { RefCell::new((0, Vec::new())) };
}

/// A table of the schema `workflow`, if it exists.
pub fn table(name: &'static CStr) -> Option<Oid> {
    let (schema, generation) = (schema(), generation());
    TABLES.with_borrow_mut(|(found_in, tables)| {
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
    })
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

thread_local! {
    static EXTENSION: Cell<Extension> =
        const { Cell::new(Extension { generation: 0, schema: Oid::INVALID, owner: Oid::INVALID }) };
}

fn installed() -> Extension {
    let generation = generation();
    let known = EXTENSION.get();
    if known.generation == generation {
        return known;
    }
    // SAFETY: takes a C string, looks in the catalog.
    let schema = unsafe { pg_sys::get_namespace_oid(c"workflow".as_ptr(), true) };
    if schema == pg_sys::InvalidOid {
        unwind(
            PgError::new("55000", "extension \"workflow\" is not installed in this database")
                .hint("Run CREATE EXTENSION workflow."),
        );
    }
    let found = Extension { generation, schema, owner: owner_of(schema) };
    EXTENSION.set(found);
    found
}

fn owner_of(schema: Oid) -> Oid {
    let key = pg_sys::Datum::from(schema);
    // SAFETY: a catalog look-up through the syscache, released after reading.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::NAMESPACEOID as i32, key);
        if tuple.is_null() {
            unwind(PgError::new("XX000", "schema \"workflow\" does not exist"));
        }
        let owner = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_namespace>()).nspowner;
        pg_sys::ReleaseSysCache(tuple);
        owner
    }
}

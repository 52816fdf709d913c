//! Whether what was looked up in the catalog still holds.

use std::cell::Cell;
use std::ffi::c_int;

use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::role;

thread_local! {
    /// 0: not asked yet.
    static GENERATION: Cell<u64> = const { Cell::new(0) };
}

/// The table `workflow.definitions`, and how often anything about it has changed.
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
    let (schema, known) = (role::schema(), DEFINITIONS.get());
    if known.schema == schema {
        return known;
    }
    // SAFETY: takes a C string, looks in the catalog.
    let table = unsafe { pg_sys::get_relname_relid(c"definitions".as_ptr(), schema) };
    let found = Definitions { schema, table, changes: known.changes + 1 };
    DEFINITIONS.set(found);
    found
}

/// A number that is another one once a transaction has committed that said [`definitions_changed`].
pub fn definitions_generation() -> u64 {
    // SAFETY: what other sessions said is taken in, as with any lock of a table.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    definitions().changes
}

/// Says to all sessions that something about definitions is not what they may have kept: whose they are, or which
/// registered types they may use. They hear of it when this transaction commits, this session at its next command.
pub fn definitions_changed() {
    // SAFETY: takes the oid of a table; the schema was locked by the session that wrote in it.
    unsafe { pg_sys::CacheInvalidateRelcacheByRelid(definitions().table) };
}

/// A number that is another one after a schema, a table, an index or a type may have changed, here or in another
/// session, and this one has been told: at the latest when it gets a lock on the table.
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

/// Called by PostgreSQL; which schema or type is not asked.
unsafe extern "C-unwind" fn row_changed(_argument: Datum, _cache: c_int, _hash: u32) {
    GENERATION.set(GENERATION.get() + 1);
}

/// Called by PostgreSQL.
unsafe extern "C-unwind" fn relation_changed(_argument: Datum, relation: Oid) {
    GENERATION.set(GENERATION.get() + 1);
    let known = DEFINITIONS.get();
    // None means all of them.
    if relation == known.table || relation == Oid::INVALID {
        DEFINITIONS.set(Definitions { changes: known.changes + 1, ..known });
    }
}

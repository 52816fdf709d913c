//! Whether what was looked up in the catalog still holds.

use std::cell::Cell;
use std::ffi::c_int;

use pgrx::pg_sys::{self, Datum, Oid};

thread_local! {
    /// 0: nobody has asked yet.
    static GENERATION: Cell<u64> = const { Cell::new(0) };
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

/// Called by PostgreSQL; which table or index is not asked.
unsafe extern "C-unwind" fn relation_changed(_argument: Datum, _relation: Oid) {
    GENERATION.set(GENERATION.get() + 1);
}

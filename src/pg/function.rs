//! Catalog look-ups of users' functions.

use std::ffi::CString;

use pgrx::pg_sys::{self, Oid};

use crate::pg::version;

/// The owner of the function `name(jsonb)`, if it exists. The name is qualified and quoted.
pub fn owner(name: &str) -> Option<Oid> {
    let name = CString::new(name).ok()?;
    // SAFETY: takes a C string and one type, looks in the catalog; the row is released after reading.
    unsafe {
        let names = version::qualified_name(&name);
        let function = pg_sys::LookupFuncName(names, 1, &pg_sys::JSONBOID, true);
        if function == pg_sys::InvalidOid {
            return None;
        }
        let key = pg_sys::Datum::from(function);
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as i32, key);
        if tuple.is_null() {
            return None;
        }
        let owner = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_proc>()).proowner;
        pg_sys::ReleaseSysCache(tuple);
        Some(owner)
    }
}

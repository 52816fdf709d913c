//! Heavyweight locks on things that have no row yet, or more than one.
//!
//! Their class is a table of the extension. No SQL takes a lock of such a class, as it takes advisory locks of any key:
//! only a call of ours does, which asks for rights first or ends with an error that releases it.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::pg::catalog;

/// Holds `key` and the last 16 bits of `sub`, of the class of a table in the schema `workflow`, alone until the
/// (sub)transaction ends.
pub fn lock(table: &CStr, key: u32, sub: i32) {
    // SAFETY: takes a C string and looks in the catalog; takes numbers and waits, to which an interrupt is an ERROR.
    unsafe {
        let class = pg_sys::get_relname_relid(table.as_ptr(), catalog::schema());
        pg_sys::LockDatabaseObject(class, key.into(), sub as u16, pg_sys::ExclusiveLock as i32);
    }
}

/// A hash of a text, for such a key: FNV-1a.
pub fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

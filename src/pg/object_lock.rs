//! Heavyweight locks on objects that have no row yet, or several rows.
//!
//! Their class is a table of the extension. SQL can take advisory locks of any key, but no lock of such a class. Only
//! calls of the extension take one, and they check the caller's rights first or fail with an error that releases it.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::pg::catalog;

/// Locks `key` and the low 16 bits of `sub` exclusively until [`unlock`] or the end of the (sub)transaction. The class
/// is a table in the schema `workflow`.
pub fn lock(table: &'static CStr, key: u32, sub: i32) {
    acquire(table, key, sub, pg_sys::ExclusiveLock, true);
}

/// Takes the same lock, if no other transaction holds it.
pub fn try_lock(table: &'static CStr, key: u32, sub: i32) -> bool {
    acquire(table, key, sub, pg_sys::ExclusiveLock, false)
}

/// Takes the lock in shared mode.
pub fn share(table: &'static CStr, key: u32, sub: i32) {
    acquire(table, key, sub, pg_sys::ShareLock, true);
}

/// Takes the lock in shared mode, if no other transaction holds it exclusively.
pub fn try_share(table: &'static CStr, key: u32, sub: i32) -> bool {
    acquire(table, key, sub, pg_sys::ShareLock, false)
}

/// Releases a lock that [`lock`] took in the same (sub)transaction, before that ends.
pub fn unlock(table: &'static CStr, key: u32, sub: i32) {
    // SAFETY: takes numbers. Of a lock that is not held it warns.
    unsafe { pg_sys::LockRelease(&tag(table, key, sub), pg_sys::ExclusiveLock as i32, false) };
}

/// Takes a lock as LockDatabaseObject does, and processes the invalidations of sessions that held it before.
fn acquire(table: &'static CStr, key: u32, sub: i32, mode: u32, waits: bool) -> bool {
    // SAFETY: takes a C string and numbers, and raises or may wait, to which an interrupt is an ERROR.
    unsafe {
        // A standby has no such locks. The error would say so, and not that the call writes.
        pg_sys::PreventCommandDuringRecovery(c"a workflow call".as_ptr());
        let result = pg_sys::LockAcquire(&tag(table, key, sub), mode as i32, false, !waits);
        if result == pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL {
            return false;
        }
        pg_sys::AcceptInvalidationMessages();
    }
    true
}

fn tag(table: &'static CStr, key: u32, sub: i32) -> pg_sys::LOCKTAG {
    pg_sys::LOCKTAG {
        // SAFETY: a global of the backend's only thread.
        locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
        locktag_field2: catalog::table(table).unwrap_or_default().to_u32(),
        locktag_field3: key,
        locktag_field4: sub as u16,
        locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
        locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
    }
}

/// A hash of a text, for such a key.
pub fn hash(text: &str) -> u32 {
    hash_of(&[text])
}

/// A hash of several texts, each terminated: FNV-1a.
pub fn hash_of(texts: &[&str]) -> u32 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

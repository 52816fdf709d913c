//! Which physical cluster this is, and which transactions run in it.

use pgrx::pg_sys;

/// The number that initdb gave this cluster; a dump that is restored elsewhere meets another one.
pub fn system_identifier() -> i64 {
    // SAFETY: reads the control file's copy in memory.
    unsafe { pg_sys::GetSystemIdentifier() }.cast_signed()
}

/// The release of PostgreSQL whose headers this was compiled with.
pub fn compiled_for() -> &'static str {
    pg_sys::PG_VERSION.to_str().unwrap_or_default()
}

/// The id that the next transaction will be given. (A snapshot knows only the one after the last that has ended.)
pub fn next_transaction() -> u64 {
    // SAFETY: reads shared memory.
    unsafe { pg_sys::ReadNextFullTransactionId() }.value
}

/// Whether all have ended that were running when this was the next id, and every snapshot of this database is newer:
/// nobody is left who writes without having seen what was committed before that.
pub fn have_ended(horizon: u64) -> bool {
    let next = next_transaction();
    // SAFETY: look in the process array; the list is the memory context's to free. Ids without their epoch are within
    // half their range of the next one.
    unsafe {
        let oldest = pg_sys::GetOldestActiveTransactionId().into_inner();
        let age = u64::from((next as u32).wrapping_sub(oldest));
        if next - age < horizon {
            return false;
        }
        let mut count = 0;
        let limit = pg_sys::TransactionId::from((horizon as u32).wrapping_sub(1));
        let vacuum = (pg_sys::PROC_IS_AUTOVACUUM | pg_sys::PROC_IN_VACUUM) as i32;
        pg_sys::GetCurrentVirtualXIDs(limit, true, false, vacuum, &mut count);
        count == 0
    }
}

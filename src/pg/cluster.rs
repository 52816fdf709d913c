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

/// The lowest id of a transaction that was still running when this transaction took the oldest of its snapshots: what
/// those before it wrote, this one has seen. There must be a snapshot.
pub fn oldest_unseen() -> u32 {
    // SAFETY: a global of the backend's only thread.
    unsafe { pg_sys::TransactionXmin }.into_inner()
}

/// Whether a transaction comes before another one, whose epoch is known. It began within half the range of ids of now.
pub fn is_before(transaction: u32, other: u64) -> bool {
    let is_before = transaction.wrapping_sub(other as u32).cast_signed() < 0;
    // The other one may be so old that its number comes round again.
    is_before && {
        let next = next_transaction();
        next - u64::from((next as u32).wrapping_sub(transaction)) < other
    }
}

//! The identity of the physical cluster, and its transaction ids.

use pgrx::pg_sys;

/// The system identifier that initdb gave this cluster. It differs in another cluster into which a dump is restored.
pub fn system_identifier() -> i64 {
    // SAFETY: reads the control file's copy in memory.
    unsafe { pg_sys::GetSystemIdentifier() }.cast_signed()
}

/// The release of PostgreSQL whose headers this was compiled with.
pub fn compiled_for() -> &'static str {
    pg_sys::PG_VERSION.to_str().unwrap_or_default()
}

/// The xid that PostgreSQL assigns next. (A snapshot's xmax is only the xid after the last completed one.)
pub fn next_transaction() -> u64 {
    // SAFETY: reads shared memory.
    unsafe { pg_sys::ReadNextFullTransactionId() }.value
}

/// The xid of this session's transaction, if it has one; also available while the transaction is ending.
pub fn my_transaction() -> Option<u32> {
    // SAFETY: reads the transaction's state.
    Some(unsafe { pg_sys::GetTopTransactionIdIfAny() }.into_inner()).filter(|id| *id != 0)
}

/// The same with its epoch.
pub fn my_full_transaction() -> Option<u64> {
    // SAFETY: reads the transaction's state.
    Some(unsafe { pg_sys::GetTopFullTransactionIdIfAny() }.value).filter(|id| *id != 0)
}

/// Assigns an xid to this session's transaction, if it has none. A read-only transaction, and so any transaction on a
/// standby, stays without one: its writes would fail anyway.
pub fn assign_transaction() {
    // SAFETY: reads and changes the transaction's state. `refuse_parallel` has refused calls in parallel operations.
    unsafe {
        if !pg_sys::XactReadOnly {
            pg_sys::GetTopTransactionId();
        }
    }
}

/// The top-level xid of a running transaction, given that xid or one of its subtransactions.
pub fn running(transaction: u32) -> Option<u32> {
    let transaction = transaction.into();
    // SAFETY: reads shared memory, and for a part of a transaction a page of pg_subtrans.
    unsafe {
        let runs = pg_sys::TransactionIdIsInProgress(transaction);
        runs.then(|| pg_sys::SubTransGetTopmostTransaction(transaction).into_inner())
    }
}

/// Whether an xid belongs to this session's transaction, or to a subtransaction that has not been rolled back.
pub fn is_mine(transaction: u32) -> bool {
    // SAFETY: reads the transaction's state.
    unsafe { pg_sys::TransactionIdIsCurrentTransactionId(transaction.into()) }
}

/// Waits until the transaction or subtransaction of another session with this xid has ended.
pub fn wait_for(transaction: u32) {
    let (table, row, operation) = (std::ptr::null_mut(), std::ptr::null_mut(), pg_sys::XLTW_Oper::XLTW_None);
    // SAFETY: takes an xid; the table and the row are for an error's context, which there is none of. An interrupt is
    // an ERROR.
    unsafe { pg_sys::XactLockTableWait(transaction.into(), table, row, operation) };
}

/// The lowest xid that was still running when this transaction took its oldest snapshot. This transaction sees all
/// committed transactions with a lower xid. Requires a snapshot.
pub fn oldest_unseen() -> u32 {
    // SAFETY: a global of the backend's only thread.
    unsafe { pg_sys::TransactionXmin }.into_inner()
}

/// The lowest xid that was running when the current snapshot was taken; that of this transaction if it is the oldest.
/// There must be a snapshot.
pub fn oldest_running() -> u32 {
    // SAFETY: each statement that calls a function has pushed a snapshot.
    unsafe { (*pg_sys::GetActiveSnapshot()).xmin }.into_inner()
}

/// An xid with its epoch: all transactions with a lower one have ended, and all snapshots in use see that. Transactions
/// of other databases and replication slots count as well.
pub fn oldest_needed() -> u64 {
    // SAFETY: reads shared memory. No table means the tables that all databases share.
    let oldest = unsafe { pg_sys::GetOldestNonRemovableTransactionId(std::ptr::null_mut()) }.into_inner();
    let next = next_transaction();
    next - u64::from((next as u32).wrapping_sub(oldest))
}

/// Whether `transaction`, an xid without epoch, precedes `other`, an xid with epoch. `transaction` must be within half
/// the range of xids of the next xid.
pub fn is_before(transaction: u32, other: u64) -> bool {
    let is_before = transaction.wrapping_sub(other as u32).cast_signed() < 0;
    // `other` may be so old that its low 32 bits have wrapped around, so compare with the epoch.
    is_before && {
        let next = next_transaction();
        next - u64::from((next as u32).wrapping_sub(transaction)) < other
    }
}

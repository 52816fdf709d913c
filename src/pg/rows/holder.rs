//! Which transactions hold or change a row, determined without locking it.

use std::ffi::c_int;

use pgrx::pg_sys;

use super::lock::{deform, in_table};
use super::{Columns, find, key_scan};
use crate::pg::cluster;
use crate::pg::spi::{Arg, Row};

/// The transactions that block a lock `FOR NO KEY UPDATE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// No transaction.
    None,
    /// These running transactions or subtransactions of other sessions, as the row's xmax names them.
    Transactions(Vec<u32>),
    /// The row is gone, or another transaction has just changed it.
    Changed,
}

/// Determines what blocks locking the row with this key.
pub fn holder(columns: &'static Columns, key: Arg<'_>) -> Holder {
    in_table(columns, pg_sys::AccessShareLock, |table| {
        // SAFETY: the snapshot keeps the row's version until the end. The buffer is locked while its tuple is read, as
        // HeapTupleSatisfiesUpdate demands, and given back.
        unsafe {
            let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot());
            let mut held = Holder::Changed;
            if let Some(tid) = find(table, columns, key, snapshot, |tuple| (*tuple).t_self) {
                let mut tuple = pg_sys::HeapTupleData { t_self: tid, ..Default::default() };
                let mut buffer = pg_sys::InvalidBuffer as pg_sys::Buffer;
                if pg_sys::heap_fetch(table, snapshot, &mut tuple, &mut buffer, false) {
                    pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as _);
                    let command = pg_sys::GetCurrentCommandId(false);
                    let state = pg_sys::HeapTupleSatisfiesUpdate(&mut tuple, command, buffer);
                    let (mask, xmax) = ((*tuple.t_data).t_infomask.into(), raw_xmax(tuple.t_data));
                    pg_sys::UnlockReleaseBuffer(buffer);
                    held = match state {
                        pg_sys::TM_Result::TM_Ok | pg_sys::TM_Result::TM_SelfModified => Holder::None,
                        pg_sys::TM_Result::TM_BeingModified => of_lock(mask, xmax),
                        _ => Holder::Changed,
                    };
                }
            }
            pg_sys::UnregisterSnapshot(snapshot);
            held
        }
    })
}

/// The transaction of another session that is inserting a row with this key (the leading columns), if there is one.
pub fn inserting(columns: &'static Columns, key: &[Arg<'_>]) -> Option<u32> {
    first_now(columns, key, |_, _, inserting, _| inserting)
}

/// Reads the row with this key (the leading columns) in its newest state, whatever this transaction's snapshot sees.
/// `read` returns whether it is the wanted row. `Err` is a transaction of another session that is inserting or deleting
/// such a row.
pub fn read_now_by<T>(
    columns: &'static Columns,
    key: &[Arg<'_>],
    mut read: impl FnMut(&mut Row<'_>) -> Option<T>,
) -> Result<Option<T>, u32> {
    let mut found = None;
    let changing = first_now(columns, key, |table, tuple, inserting, deleting| {
        let changing = inserting.or(deleting);
        if changing.is_none() && found.is_none() {
            // SAFETY: the scan's table and the tuple at which it is.
            found = unsafe { deform(table, columns, tuple, &mut read) };
        }
        changing
    });
    changing.map_or(Ok(found), Err)
}

/// Calls `visit` for each row with this key that is committed or this transaction's own, and for rows that other
/// transactions are inserting or deleting, with these transactions, until it returns a value.
fn first_now<T>(
    columns: &'static Columns,
    key: &[Arg<'_>],
    mut visit: impl FnMut(pg_sys::Relation, pg_sys::HeapTuple, Option<u32>, Option<u32>) -> Option<T>,
) -> Option<T> {
    let xid = |xid: pg_sys::TransactionId| (xid != pg_sys::InvalidTransactionId).then(|| xid.into_inner());
    in_table(columns, pg_sys::AccessShareLock, |table| {
        let mut dirty =
            pg_sys::SnapshotData { snapshot_type: pg_sys::SnapshotType::SNAPSHOT_DIRTY, ..Default::default() };
        // SAFETY: a snapshot that sees what is not committed needs no more than its kind. Each look at a tuple says in
        // it which transactions are inserting and deleting the tuple. It lives longer than the scan. A tuple is pinned
        // until the next one.
        unsafe {
            let scan = key_scan(table, columns, key, &raw mut dirty);
            let mut found = None;
            while found.is_none() {
                let tuple = pg_sys::systable_getnext(scan);
                if tuple.is_null() {
                    break;
                }
                found = visit(table, tuple, xid(dirty.xmin), xid(dirty.xmax));
            }
            pg_sys::systable_endscan(scan);
            found
        }
    })
}

unsafe fn raw_xmax(header: pg_sys::HeapTupleHeader) -> pg_sys::TransactionId {
    // SAFETY: a tuple of a heap has the fields of one.
    unsafe { (*header).t_choice.t_heap.t_xmax }
}

/// The running transactions whose lock or change of a row blocks ours.
unsafe fn of_lock(mask: u32, xmax: pg_sys::TransactionId) -> Holder {
    let mut running = Vec::new();
    if mask & pg_sys::HEAP_XMAX_IS_MULTI == 0 {
        // A lock FOR KEY SHARE does not conflict with changes of other columns.
        let is_key = mask & pg_sys::HEAP_LOCK_MASK == pg_sys::HEAP_XMAX_KEYSHR_LOCK;
        running.extend((!is_key).then(|| xmax.into_inner()));
    } else {
        let mut members = std::ptr::null_mut();
        // SAFETY: gives an array of as many members, in memory of the transaction.
        let members = unsafe {
            let is_lock = mask & pg_sys::HEAP_XMAX_LOCK_ONLY != 0;
            let count: c_int = pg_sys::GetMultiXactIdMembers(xmax, &mut members, false, is_lock);
            if count > 0 { std::slice::from_raw_parts(members, count as usize) } else { &[] }
        };
        let in_the_way = members.iter().filter(|of| of.status != pg_sys::MultiXactStatus::MultiXactStatusForKeyShare);
        running.extend(in_the_way.map(|of| of.xid.into_inner()));
    }
    running.retain(|transaction| cluster::running(*transaction).is_some());
    if running.is_empty() { Holder::None } else { Holder::Transactions(running) }
}

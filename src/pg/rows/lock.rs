//! Rows read and locked by key, without a plan.

use std::collections::BTreeSet;

use pgrx::pg_sys::{self, Datum};

use super::{Columns, find, key_scan, scan_above};
use crate::pg::error::{PgError, throw};
use crate::pg::spi::{Arg, Row, Types};

/// How to handle a row that another transaction has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Wait for that transaction.
    Block,
    /// Treat the row as missing. A row that has been changed since the snapshot is a serialization failure all the same
    /// (see [`lock`]).
    Skip,
}

/// Reads the row with this key, if there is one.
pub fn read<T>(columns: &'static Columns, key: Arg<'_>, read: impl FnOnce(&mut Row<'_>) -> T) -> Option<T> {
    in_table(columns, pg_sys::AccessShareLock, |table| {
        // SAFETY: an open table. The tuple is pinned while it is read, and the snapshot sees the session's own changes.
        unsafe {
            let snapshot = registered(pg_sys::GetTransactionSnapshot);
            let found = find(table, columns, key, snapshot, |tuple| deform(table, columns, tuple, read));
            pg_sys::UnregisterSnapshot(snapshot);
            found
        }
    })
}

/// A registered snapshot that includes this session's own writes.
unsafe fn registered(take: unsafe fn() -> pg_sys::Snapshot) -> pg_sys::Snapshot {
    // SAFETY: in a transaction.
    unsafe {
        pg_sys::CommandCounterIncrement();
        pg_sys::RegisterSnapshot(take())
    }
}

/// Reads the rows with this key (the leading columns) until `read` returns a value. With `ignore_system_indexes` the
/// scan does not use the index, so it also returns rows outside a partial index's predicate.
pub fn read_by<T>(
    columns: &'static Columns,
    key: &[Arg<'_>],
    read: impl FnMut(&mut Row<'_>) -> Option<T>,
) -> Option<T> {
    scan_by(columns, key, false, read)
}

/// The same with the newest committed rows, at any isolation level.
pub fn read_newest_by<T>(
    columns: &'static Columns,
    key: &[Arg<'_>],
    read: impl FnMut(&mut Row<'_>) -> Option<T>,
) -> Option<T> {
    scan_by(columns, key, true, read)
}

fn scan_by<T>(
    columns: &'static Columns,
    key: &[Arg<'_>],
    is_newest: bool,
    mut read: impl FnMut(&mut Row<'_>) -> Option<T>,
) -> Option<T> {
    in_table(columns, pg_sys::AccessShareLock, |table| {
        // SAFETY: a tuple is pinned until the next one or the scan's end. The snapshot sees the session's own changes.
        unsafe {
            let snapshot =
                registered(if is_newest { pg_sys::GetLatestSnapshot } else { pg_sys::GetTransactionSnapshot });
            let scan = key_scan(table, columns, key, snapshot);
            let mut found = None;
            while found.is_none() {
                let tuple = pg_sys::systable_getnext(scan);
                if tuple.is_null() {
                    break;
                }
                found = deform(table, columns, tuple, &mut read);
            }
            pg_sys::systable_endscan(scan);
            pg_sys::UnregisterSnapshot(snapshot);
            found
        }
    })
}

/// The distinct values of the first column, an integer, in order. Costs one index descent per value, however many rows
/// have it.
pub fn distinct(columns: &'static Columns) -> Vec<i32> {
    let mut values = BTreeSet::new();
    in_table(columns, pg_sys::AccessShareLock, |table| {
        // SAFETY: as above; the column is an integer that is not null.
        unsafe {
            let snapshot = registered(pg_sys::GetTransactionSnapshot);
            let number = i32::from(columns.numbers()[0]);
            loop {
                let least: Option<i32> = values.last().copied();
                let least: Vec<Arg<'_>> = least.into_iter().map(Arg::Integer).collect();
                let scan = scan_above(table, columns, &least, snapshot);
                // Without the index the scan returns rows in no order.
                let is_ordered = !(*scan).irel.is_null();
                let before = values.len();
                loop {
                    let tuple = pg_sys::systable_getnext(scan);
                    if tuple.is_null() {
                        break;
                    }
                    let mut is_null = false;
                    let value = pg_sys::heap_getattr(tuple, number, (*table).rd_att, &mut is_null);
                    values.insert(value.value() as i32);
                    if is_ordered {
                        break;
                    }
                }
                pg_sys::systable_endscan(scan);
                if !is_ordered || values.len() == before {
                    break;
                }
            }
            pg_sys::UnregisterSnapshot(snapshot);
        }
    });
    values.into_iter().collect()
}

/// Locks the row with this key and reads it, if there is one: `SELECT … FOR NO KEY UPDATE`.
///
/// If another transaction changed the row during the wait for its lock, looks the new version up by the key, which
/// never changes. Above READ COMMITTED that is a serialization failure (40001).
pub fn lock<T>(columns: &'static Columns, key: Arg<'_>, wait: Wait, read: impl FnOnce(&mut Row<'_>) -> T) -> Option<T> {
    in_table(columns, pg_sys::RowShareLock, |table| {
        // SAFETY: takes a C string, raises. The row's snapshot sees the session's own changes, as in any statement.
        unsafe {
            pg_sys::PreventCommandIfReadOnly(c"SELECT FOR NO KEY UPDATE".as_ptr());
            pg_sys::PreventCommandIfParallelMode(c"SELECT FOR NO KEY UPDATE".as_ptr());
            pg_sys::CommandCounterIncrement();
        }
        let (mut tuple, buffer) = row(table, columns, key, pg_sys::LockTupleMode::LockTupleNoKeyExclusive, wait)?;
        // SAFETY: the buffer is pinned until its tuple has been read.
        unsafe {
            let found = deform(table, columns, &mut tuple, read);
            pg_sys::ReleaseBuffer(buffer);
            Some(found)
        }
    })
}

/// Locks the row with this key, if there is one, and returns it pinned. Looks the row up again if another transaction
/// changed it meanwhile.
pub(super) fn row(
    table: pg_sys::Relation,
    columns: &'static Columns,
    key: Arg<'_>,
    mode: pg_sys::LockTupleMode::Type,
    wait: Wait,
) -> Option<(pg_sys::HeapTupleData, pg_sys::Buffer)> {
    loop {
        match attempt(table, columns, key, mode, wait) {
            LockAttempt::Locked { tuple, buffer } => return Some((tuple, buffer)),
            LockAttempt::Missing => return None,
            LockAttempt::Changed => {}
        }
    }
}

/// Takes the table lock that [`lock`] takes, until the transaction ends.
pub fn lock_table(columns: &'static Columns) {
    in_table(columns, pg_sys::RowShareLock, |_| ());
}

enum LockAttempt {
    Locked { tuple: pg_sys::HeapTupleData, buffer: pg_sys::Buffer },
    Missing,
    Changed,
}

/// Finds the version of the row that a new snapshot sees, and locks it.
fn attempt(
    table: pg_sys::Relation,
    columns: &'static Columns,
    key: Arg<'_>,
    mode: pg_sys::LockTupleMode::Type,
    wait: Wait,
) -> LockAttempt {
    let policy = match wait {
        Wait::Block => pg_sys::LockWaitPolicy::LockWaitBlock,
        Wait::Skip => pg_sys::LockWaitPolicy::LockWaitSkip,
    };
    // SAFETY: the scan ends before heap_lock_tuple waits, but the snapshot stays registered until then: it keeps VACUUM
    // and pruning from removing the row's version and reusing its line pointer. heap_lock_tuple fills the tuple and
    // pins its buffer.
    unsafe {
        let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot());
        let Some(tid) = find(table, columns, key, snapshot, |tuple| (*tuple).t_self) else {
            pg_sys::UnregisterSnapshot(snapshot);
            return LockAttempt::Missing;
        };
        let mut tuple = pg_sys::HeapTupleData { t_self: tid, ..Default::default() };
        let mut buffer = pg_sys::InvalidBuffer as pg_sys::Buffer;
        let mut failure = std::mem::zeroed::<pg_sys::TM_FailureData>();
        let command = pg_sys::GetCurrentCommandId(true);
        let result = pg_sys::heap_lock_tuple(table, &mut tuple, command, mode, policy, true, &mut buffer, &mut failure);
        pg_sys::UnregisterSnapshot(snapshot);
        if result == pg_sys::TM_Result::TM_Ok {
            return LockAttempt::Locked { tuple, buffer };
        }
        pg_sys::ReleaseBuffer(buffer);
        if result == pg_sys::TM_Result::TM_WouldBlock {
            return LockAttempt::Missing;
        }
        check_retry(result);
        LockAttempt::Changed
    }
}

/// Returns if another transaction has changed the row and the caller must look it up again. Above READ COMMITTED that
/// is a serialization failure (40001).
pub(super) fn check_retry(result: pg_sys::TM_Result::Type) {
    if !matches!(result, pg_sys::TM_Result::TM_Updated | pg_sys::TM_Result::TM_Deleted) {
        throw(PgError::new("XX000", format!("locking or writing a row ended with result {result}")));
    }
    // SAFETY: reads the transaction's state.
    if unsafe { pg_sys::XactIsoLevel } >= pg_sys::XACT_REPEATABLE_READ as i32 {
        throw(PgError::new("40001", "could not serialize access due to concurrent update"));
    }
}

/// Runs `body` on the open table, and keeps the table lock.
pub(super) fn in_table<T>(columns: &'static Columns, lock: u32, body: impl FnOnce(pg_sys::Relation) -> T) -> T {
    let table = columns.open(lock);
    let result = body(table);
    // SAFETY: opened above.
    unsafe { pg_sys::table_close(table, pg_sys::NoLock as i32) };
    result
}

/// Reads the columns of a tuple in their declared order.
pub(super) unsafe fn deform<T>(
    table: pg_sys::Relation,
    columns: &'static Columns,
    tuple: pg_sys::HeapTuple,
    read: impl FnOnce(&mut Row<'_>) -> T,
) -> T {
    // SAFETY: the arrays have room for the table's columns, and the numbers are columns of it.
    unsafe {
        let descriptor = (*table).rd_att;
        let numbers = columns.numbers();
        with_room((*descriptor).natts as usize, |all, all_nulls| {
            pg_sys::heap_deform_tuple(tuple, descriptor, all.as_mut_ptr(), all_nulls.as_mut_ptr());
            with_room(numbers.len(), |values, nulls| {
                for (at, number) in numbers.iter().map(|number| *number as usize - 1).enumerate() {
                    (values[at], nulls[at]) = (all[number], all_nulls[number]);
                }
                drop(numbers);
                read(&mut Row::new(Types::Table(columns.declared()), values, nulls))
            })
        })
    }
}

/// Provides space for the values of a row: on the stack for up to `FEW` columns. Our tables have fewer, unless a user
/// has added some.
fn with_room<T>(count: usize, body: impl FnOnce(&mut [Datum], &mut [bool]) -> T) -> T {
    const FEW: usize = 64;
    match count {
        ..=FEW => body(&mut [Datum::null(); FEW][..count], &mut [false; FEW][..count]),
        _ => body(&mut vec![Datum::null(); count], &mut vec![false; count]),
    }
}

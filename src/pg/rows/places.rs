//! A cache of the places (TIDs) of rows that this transaction has found.
//!
//! A call reads, locks and writes the same row. Without the cache each step would descend the index of its key. A place
//! is a hint: `recall` checks the key of the row that is there now.

use std::cell::Cell;

use pgrx::pg_sys::{self, Datum, ItemPointerData, Oid};
use uuid::Uuid;

use super::Columns;
use crate::pg::spi::Arg;
use crate::pg::{catalog, version};

/// Capacity of the cache: a call locks an instance and a bookmark, and reads few other rows.
const ROWS: usize = 4;

#[derive(Clone, Copy)]
struct Found {
    since: Since,
    table: Oid,
    key: Uuid,
    place: ItemPointerData,
}

/// The validity of a place. It holds while the table lock under which it was found lasts, until the end of the
/// (sub)transaction, and while the table keeps its file, within a generation of the catalog.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Since {
    transaction: u32,
    subtransaction: u32,
    generation: u64,
}

impl Since {
    fn now() -> Self {
        Self {
            transaction: version::local_transaction(),
            // SAFETY: reads the backend's state.
            subtransaction: unsafe { pg_sys::GetCurrentSubTransactionId() },
            generation: catalog::generation(),
        }
    }
}

thread_local! {
    static FOUND: Cell<[Option<Found>; ROWS]> = const { Cell::new([None; ROWS]) };
}

/// Remembers the place of a row, whose table is locked until the (sub)transaction ends. Not in a table whose file this
/// transaction created: it may truncate that file in place, without an invalidation message.
///
/// # Safety
/// An open table.
pub(super) unsafe fn remember(table: pg_sys::Relation, key: Arg<'_>, place: ItemPointerData) {
    let Arg::Uuid(key) = key else { return };
    // SAFETY: as promised.
    let (table, is_new) = unsafe { ((*table).rd_id, version::has_new_file(table)) };
    if is_new {
        return;
    }
    let mut found = FOUND.get();
    let known = found.iter().position(|entry| entry.is_some_and(|entry| entry.table == table && entry.key == *key));
    found[..=known.unwrap_or(ROWS - 1)].rotate_right(1);
    found[0] = Some(Found { since: Since::now(), table, key: *key, place });
    FOUND.set(found);
}

/// Returns a row from its remembered place, pinned, if this snapshot sees it there.
///
/// # Safety
/// An open table with the columns, whose first one is its primary key.
pub(super) unsafe fn recall(
    table: pg_sys::Relation,
    columns: &Columns,
    key: Arg<'_>,
    snapshot: pg_sys::Snapshot,
) -> Option<(pg_sys::HeapTupleData, pg_sys::Buffer)> {
    let Arg::Uuid(key) = key else { return None };
    let now = Since::now();
    // SAFETY: an open table.
    let id = unsafe { (*table).rd_id };
    let is_it = |found: &Found| found.since == now && found.table == id && found.key == *key;
    let found = FOUND.get().into_iter().flatten().find(is_it)?;
    let mut tuple = pg_sys::HeapTupleData { t_self: found.place, ..Default::default() };
    let mut buffer = pg_sys::InvalidBuffer as pg_sys::Buffer;
    // SAFETY: the table cannot shrink while this transaction holds its lock, so the place is inside it; another row may
    // be there by now. heap_fetch pins the buffer if it returns true. A primary key is never null.
    unsafe {
        if !pg_sys::heap_fetch(table, snapshot, &mut tuple, &mut buffer, false) {
            return None;
        }
        let number = i32::from(columns.numbers()[0]);
        let value: Datum = pg_sys::nocachegetattr(&mut tuple, number, (*table).rd_att);
        if *value.cast_mut_ptr::<[u8; 16]>() == *key.as_bytes() {
            return Some((tuple, buffer));
        }
        pg_sys::ReleaseBuffer(buffer);
        None
    }
}

//! TIDs of rows that were written, or found by their primary key.
//!
//! A resume reads its bookmark, locks the instance, reads the bookmark again, deletes it and updates the instance. The
//! next resume in the same transaction finds what this one has written. A cached TID saves the index descent of each
//! later look-up. It is only a hint: the row there counts only if the snapshot sees it and it has the key, and at most
//! one row has both. Without it an approval takes 12 % longer by events and 11 % longer by tasks if calls share a
//! transaction; otherwise no difference is measurable (docs/internals/performance.md).
//!
//! Reading at a cached TID is safe because its page exists. The call that found or wrote the row has locked the table,
//! and the lock lasts until the (sub)transaction ends, when all TIDs are dropped. If this session itself rewrites the
//! table, that is an invalidation.

use pgrx::pg_sys::{self, Oid};
use uuid::Uuid;

use super::Columns;
use crate::pg::catalog;
use crate::pg::spi::{Arg, Column};
use crate::pg::state::TRANSACTION;

#[derive(Clone, Copy)]
struct KnownTid {
    table: Oid,
    /// The generation of the catalog in which the row was found.
    generation: u64,
    key: Uuid,
    row: pg_sys::ItemPointerData,
}

/// The last few TIDs. An approval in two steps has five rows: the instance, and a bookmark and a task for each step.
pub(in crate::pg) struct KnownTids {
    known: [Option<KnownTid>; 8],
    /// Position of the TID that is replaced next.
    oldest: usize,
}

impl KnownTids {
    pub(in crate::pg) const NONE: Self = Self { known: [None; 8], oldest: 0 };
}

/// Drops all TIDs, because table locks may have been released.
pub(in crate::pg) fn forget() {
    TRANSACTION.borrow_mut().tids = KnownTids::NONE;
}

/// The id by which these columns find a row, if it is the primary key.
pub(super) fn id(columns: &Columns, key: Arg<'_>) -> Option<Uuid> {
    match key {
        Arg::Uuid(id) if columns.has_primary_key() => Some(*id),
        _ => None,
    }
}

/// Caches the TID of the row with this key.
pub(super) fn remember(table: pg_sys::Relation, key: Uuid, row: pg_sys::ItemPointerData) {
    // SAFETY: an open table.
    let tid = KnownTid { table: unsafe { (*table).rd_id }, generation: catalog::generation(), key, row };
    let tids = &mut TRANSACTION.borrow_mut().tids;
    let same = |known: &Option<KnownTid>| known.is_some_and(|known| known.table == tid.table && known.key == key);
    let at = tids.known.iter().position(same).unwrap_or_else(|| {
        let oldest = tids.oldest;
        tids.oldest = (oldest + 1) % tids.known.len();
        oldest
    });
    tids.known[at] = Some(tid);
}

/// The row with this key, if its TID is cached and the snapshot sees the row there; with a pinned buffer, which the
/// caller has to release.
///
/// # Safety
/// An open table that is locked, and a registered snapshot.
pub(super) unsafe fn fetch(
    table: pg_sys::Relation,
    columns: &Columns,
    key: Uuid,
    snapshot: pg_sys::Snapshot,
) -> Option<(pg_sys::HeapTupleData, pg_sys::Buffer)> {
    // SAFETY: as promised; the page of a known TID exists. The primary key is never NULL.
    unsafe {
        let (id, generation) = ((*table).rd_id, catalog::generation());
        let is_it = |known: &&KnownTid| known.table == id && known.key == key && known.generation == generation;
        let row = TRANSACTION.borrow().tids.known.iter().flatten().find(is_it).map(|known| known.row)?;
        let mut tuple = pg_sys::HeapTupleData { t_self: row, ..Default::default() };
        let mut buffer = pg_sys::InvalidBuffer as pg_sys::Buffer;
        if !pg_sys::heap_fetch(table, snapshot, &mut tuple, &mut buffer, false) {
            return None;
        }
        let (number, mut is_null) = (i32::from(columns.numbers()[0]), false);
        let found = Uuid::read(pg_sys::heap_getattr(&mut tuple, number, (*table).rd_att, &mut is_null));
        if found == key {
            return Some((tuple, buffer));
        }
        pg_sys::ReleaseBuffer(buffer);
        None
    }
}

//! Rows read, locked and written by key, without a plan.
//!
//! A burst knows the table, the key and the values of each row that it writes, so it needs no plan. PostgreSQL's
//! executor spends two thirds of such a statement on its own set-up. This module calls the executor's functions for
//! simple relations, with which a logical replication worker applies changes. They maintain indexes, check constraints
//! and replica identity, and fire row triggers (with the owner's rights and our search path, as under any statement of
//! ours). Statement triggers and rules do not fire, as in such a worker.
//!
//! The burst has locked the instance, so no other call writes these rows, with three exceptions: claims and heartbeats
//! change the bookmark of a task, and failed fires count their attempts in a bookmark. If one of these, or a manual
//! change, has locked a row, the writer waits for it and looks the row up again, so it never overwrites a version that
//! it has not seen.

use pgrx::pg_sys::{self, Datum};

use crate::pg::role::OwnerRights;
use crate::pg::spi::Arg;
use crate::pg::varlena::ShortTexts;
use crate::pg::version::{self, OwnSearchPath};

mod columns;
mod holder;
mod indexes;
mod lock;
mod tids;
mod triggers;
mod writer;

pub use columns::Columns;
pub use holder::{Holder, holder, inserting, read_now_by};
pub use lock::{Wait, distinct, lock, lock_table, read, read_by, read_newest_by};
pub(super) use tids::{KnownTids, forget as forget_tids};
pub use triggers::suppressed;
pub use writer::Writer;

/// Runs one command that writes rows. After an error the end of the (sub)transaction cleans up.
pub fn write<R>(body: impl FnOnce(&mut Writer) -> R) -> R {
    let user = OwnerRights::take();
    let path = OwnSearchPath::push();
    let mut writer = Writer::begin();
    let written = body(&mut writer);
    writer.end();
    path.pop();
    user.give_back();
    written
}

/// Calls `body` with the row that has this key and that this snapshot sees, while its buffer is pinned.
unsafe fn find<T>(
    table: pg_sys::Relation,
    columns: &'static Columns,
    key: Arg<'_>,
    snapshot: pg_sys::Snapshot,
    body: impl FnOnce(pg_sys::HeapTuple) -> T,
) -> Option<T> {
    // SAFETY: an open table; the row is released, or the scan ended, here.
    unsafe {
        let id = tids::id(columns, key);
        if let Some((mut tuple, buffer)) = id.and_then(|id| tids::fetch(table, columns, id, snapshot)) {
            let done = body(&mut tuple);
            pg_sys::ReleaseBuffer(buffer);
            return Some(done);
        }
        let scan = key_scan(table, columns, &[key], snapshot);
        let found = pg_sys::systable_getnext(scan);
        let done = (!found.is_null()).then(|| {
            id.inspect(|id| tids::remember(table, *id, (*found).t_self));
            body(found)
        });
        pg_sys::systable_endscan(scan);
        done
    }
}

/// Begins a scan for the rows whose key, the first columns, has these values.
unsafe fn key_scan(
    table: pg_sys::Relation,
    columns: &Columns,
    key: &[Arg<'_>],
    snapshot: pg_sys::Snapshot,
) -> pg_sys::SysScanDesc {
    // SAFETY: as promised.
    unsafe { scan(table, columns, pg_sys::BTEqualStrategyNumber, equality, key, snapshot) }
}

/// Begins a scan for the rows whose first column, an integer, is greater than this value.
unsafe fn scan_above(
    table: pg_sys::Relation,
    columns: &Columns,
    least: &[Arg<'_>],
    snapshot: pg_sys::Snapshot,
) -> pg_sys::SysScanDesc {
    // SAFETY: as promised.
    unsafe { scan(table, columns, pg_sys::BTGreaterStrategyNumber, |_| pg_sys::F_INT4GT, least, snapshot) }
}

unsafe fn scan(
    table: pg_sys::Relation,
    columns: &Columns,
    strategy: u32,
    function: fn(Arg<'_>) -> u32,
    key: &[Arg<'_>],
    snapshot: pg_sys::Snapshot,
) -> pg_sys::SysScanDesc {
    let mut wanted = [pg_sys::ScanKeyData::default(); MAX_KEY];
    // SAFETY: an open table, in which the numbers are columns; the scan copies the keys.
    unsafe {
        let attributes = version::attributes((*table).rd_att);
        for ((wanted, number), value) in wanted.iter_mut().zip(columns.numbers().iter()).zip(key) {
            let datum = value.datum().unwrap_or(Datum::null());
            pg_sys::ScanKeyInit(wanted, *number, strategy as u16, function(*value).into(), datum);
            wanted.sk_collation = attributes[*number as usize - 1].attcollation;
        }
        let index = columns.key();
        let by_index = index != pg_sys::InvalidOid;
        pg_sys::systable_beginscan(table, index, by_index, snapshot, key.len() as i32, wanted.as_mut_ptr())
    }
}

/// The maximum number of columns of a key.
const MAX_KEY: usize = 3;

/// The function of the `=` operator for a value's type.
fn equality(value: Arg<'_>) -> u32 {
    match value {
        Arg::Uuid(_) => pg_sys::F_UUID_EQ,
        Arg::Text(_) => pg_sys::F_TEXTEQ,
        Arg::Integer(_) => pg_sys::F_INT4EQ,
        Arg::BigInt(_) => pg_sys::F_INT8EQ,
        Arg::Oid(_) => pg_sys::F_OIDEQ,
        other => unreachable!("rows are not found by {other:?}"),
    }
}

/// Puts values into a slot. `texts` must live as long as they are used.
unsafe fn fill<'a>(
    slot: *mut pg_sys::TupleTableSlot,
    numbers: &[i16],
    values: impl ExactSizeIterator<Item = Option<Arg<'a>>>,
    texts: &mut ShortTexts,
) {
    debug_assert_eq!(numbers.len(), values.len());
    for (number, value) in numbers.iter().zip(values) {
        let Some(value) = value else { continue };
        let datum = value.datum_in(texts);
        let at = *number as usize - 1;
        // SAFETY: the numbers are those of the slot's table.
        unsafe {
            *(*slot).tts_isnull.add(at) = datum.is_none();
            *(*slot).tts_values.add(at) = datum.unwrap_or(Datum::null());
        }
    }
}

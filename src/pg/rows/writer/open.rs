//! A table that a command writes, with its indexes that get entries.

use pgrx::pg_sys::ffi::pg_guard_ffi_boundary;
use pgrx::pg_sys::{self, Oid};

use super::WrittenTable;
use crate::pg::raw;
use crate::pg::rows::indexes::Covered;

/// A table that the command writes.
pub(super) struct OpenTable {
    pub id: Oid,
    pub table: WrittenTable,
    /// Its open indexes, with their predicates.
    pub indexes: Vec<(Oid, *mut pg_sys::List)>,
    /// The slot of rows to insert, once there was one.
    pub inserted: *mut pg_sys::TupleTableSlot,
}

impl OpenTable {
    /// Opens indexes as ExecOpenIndices does, except those already open. The end of the command closes them.
    pub unsafe fn add_indexes(&mut self, wanted: &[(Oid, Covered)]) {
        let missing = wanted.iter().filter(|(index, _)| !is_open(&self.indexes, *index)).count();
        if missing > 0 {
            let (info, indexes) = (self.table.info, &mut self.indexes);
            // So that the list does not grow where PostgreSQL may raise an error.
            indexes.reserve(missing);
            // SAFETY: as the caller's. An error leaves the closure, which owns nothing.
            unsafe { pg_guard_ffi_boundary(|| open_indexes(info, indexes, wanted, missing)) };
        }
    }

    /// Removes the predicates that the next row is known to meet, since preparing a predicate costs more than an entry.
    /// Every other open index gets its predicate back, even if it was open without one for the previous row.
    pub unsafe fn set_predicates(&self, wanted: &[(Oid, Covered)]) {
        for (at, (index, predicate)) in self.indexes.iter().enumerate() {
            let is_met = wanted.contains(&(*index, Covered::Yes));
            // SAFETY: the array has an element for each open index.
            unsafe {
                let info = *(*self.table.info).ri_IndexRelationInfo.add(at);
                (*info).ii_Predicate = if is_met { std::ptr::null_mut() } else { *predicate };
            }
        }
    }
}

fn is_open(indexes: &[(Oid, *mut pg_sys::List)], wanted: Oid) -> bool {
    indexes.iter().any(|(index, _)| *index == wanted)
}

/// Opens those of the wanted indexes that are not open. `missing` says how many these are; the list has room for them.
///
/// # Safety
/// A table that the running command has opened, and its open indexes. The command's memory context is the current one.
/// An error of PostgreSQL leaves this frame, which owns nothing.
unsafe fn open_indexes(
    info: *mut pg_sys::ResultRelInfo,
    indexes: &mut Vec<(Oid, *mut pg_sys::List)>,
    wanted: &[(Oid, Covered)],
    missing: usize,
) {
    let (before, count) = (indexes.len(), indexes.len() + missing);
    // SAFETY: arrays in the command's memory with room for all; the old arrays have as many elements as are open.
    unsafe {
        let relations = raw::palloc(count * size_of::<pg_sys::Relation>()).cast::<pg_sys::Relation>();
        let infos = raw::palloc(count * size_of::<*mut pg_sys::IndexInfo>()).cast::<*mut pg_sys::IndexInfo>();
        if before > 0 {
            relations.copy_from_nonoverlapping((*info).ri_IndexRelationDescs, before);
            infos.copy_from_nonoverlapping((*info).ri_IndexRelationInfo, before);
        }
        (*info).ri_IndexRelationDescs = relations;
        (*info).ri_IndexRelationInfo = infos;
        for (index, _) in wanted {
            if is_open(indexes, *index) {
                continue;
            }
            let at = indexes.len();
            let relation = raw::index_open(*index, pg_sys::RowExclusiveLock as i32);
            *relations.add(at) = relation;
            *infos.add(at) = raw::BuildIndexInfo(relation);
            indexes.push((*index, (**infos.add(at)).ii_Predicate));
            (*info).ri_NumIndices = indexes.len() as i32;
        }
    }
}

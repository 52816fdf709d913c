//! A table that a command writes, with its indexes that get entries.

use pgrx::pg_sys::{self, Oid};

use super::WrittenTable;
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
        let is_open = |index: Oid| self.indexes.iter().any(|(open, _)| *open == index);
        let missing: Vec<Oid> = wanted.iter().map(|(index, _)| *index).filter(|index| !is_open(*index)).collect();
        if missing.is_empty() {
            return;
        }
        let (before, count) = (self.indexes.len(), self.indexes.len() + missing.len());
        // SAFETY: arrays in the command's memory with room for all; the old arrays have as many elements as are open.
        unsafe {
            let info = self.table.info;
            let relations = pg_sys::palloc(count * size_of::<pg_sys::Relation>()).cast::<pg_sys::Relation>();
            let infos = pg_sys::palloc(count * size_of::<*mut pg_sys::IndexInfo>()).cast::<*mut pg_sys::IndexInfo>();
            if before > 0 {
                relations.copy_from_nonoverlapping((*info).ri_IndexRelationDescs, before);
                infos.copy_from_nonoverlapping((*info).ri_IndexRelationInfo, before);
            }
            (*info).ri_IndexRelationDescs = relations;
            (*info).ri_IndexRelationInfo = infos;
            for index in missing {
                let at = self.indexes.len();
                let relation = pg_sys::index_open(index, pg_sys::RowExclusiveLock as i32);
                *relations.add(at) = relation;
                *infos.add(at) = pg_sys::BuildIndexInfo(relation);
                self.indexes.push((index, (**infos.add(at)).ii_Predicate));
                (*info).ri_NumIndices = self.indexes.len() as i32;
            }
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

//! New versions of rows, written without a plan.

use pgrx::pg_sys;

#[cfg(feature = "pg15")]
use super::attributes;

/// The state for PostgreSQL's recheck of a concurrently changed row (EvalPlanQual), without a plan.
///
/// # Safety
/// The state of a running command.
pub unsafe fn recheck(estate: *mut pg_sys::EState) -> pg_sys::EPQState {
    let mut recheck = pg_sys::EPQState::default();
    let none = std::ptr::null_mut();
    // SAFETY: fills the structure.
    #[cfg(feature = "pg15")]
    unsafe {
        pg_sys::EvalPlanQualInit(&mut recheck, estate, none, std::ptr::null_mut(), -1);
    }
    // SAFETY: as above.
    #[cfg(not(feature = "pg15"))]
    unsafe {
        pg_sys::EvalPlanQualInit(&mut recheck, estate, none, std::ptr::null_mut(), -1, std::ptr::null_mut());
    }
    recheck
}

/// Tells the executor which columns of a table an update changes. This decides which column triggers fire, and which
/// generated columns are recomputed.
///
/// # Safety
/// A table that is open in the running command, whose memory context is the current one, and numbers of columns of it.
pub unsafe fn say_updated(
    estate: *mut pg_sys::EState,
    table: *mut pg_sys::ResultRelInfo,
    columns: impl Iterator<Item = i16>,
) {
    // SAFETY: nodes of zeroed memory, which stay as long as the command.
    unsafe {
        let relation = (*table).ri_RelationDesc;
        let entry = node::<pg_sys::RangeTblEntry>(pg_sys::NodeTag::T_RangeTblEntry);
        (*entry).rtekind = pg_sys::RTEKind::RTE_RELATION;
        (*entry).relid = (*relation).rd_id;
        (*entry).relkind = (*(*relation).rd_rel).relkind;
        (*entry).rellockmode = pg_sys::RowExclusiveLock as i32;
        let updated = set_of(columns);
        #[cfg(feature = "pg15")]
        {
            (*entry).updatedCols = updated;
            (*entry).extraUpdatedCols = set_of(generated(relation).into_iter());
        }
        #[cfg(not(feature = "pg15"))]
        {
            let permissions = node::<pg_sys::RTEPermissionInfo>(pg_sys::NodeTag::T_RTEPermissionInfo);
            (*permissions).relid = (*relation).rd_id;
            (*permissions).updatedCols = updated;
            (*estate).es_rteperminfos = pg_sys::lappend((*estate).es_rteperminfos, permissions.cast());
            (*entry).perminfoindex = (*(*estate).es_rteperminfos).length as pg_sys::Index;
        }
        (*estate).es_range_table = pg_sys::lappend((*estate).es_range_table, entry.cast());
        (*estate).es_range_table_size = (*(*estate).es_range_table).length as pg_sys::Index;
        (*table).ri_RangeTableIndex = (*estate).es_range_table_size;
    }
}

/// The generated columns of a table.
#[cfg(feature = "pg15")]
unsafe fn generated(relation: pg_sys::Relation) -> Vec<i16> {
    // SAFETY: the attributes of an open table's descriptor, which are as many as it says.
    let attributes = unsafe { attributes((*relation).rd_att) };
    attributes.iter().filter(|attribute| attribute.attgenerated != 0).map(|attribute| attribute.attnum).collect()
}

/// A set of columns in PostgreSQL's form.
unsafe fn set_of(columns: impl Iterator<Item = i16>) -> *mut pg_sys::Bitmapset {
    columns.fold(std::ptr::null_mut(), |set, number| {
        // SAFETY: numbers of columns are greater than those of system columns.
        unsafe { pg_sys::bms_add_member(set, i32::from(number) - pg_sys::FirstLowInvalidHeapAttributeNumber) }
    })
}

/// An empty node in the current memory context.
unsafe fn node<T>(tag: pg_sys::NodeTag) -> *mut T {
    // SAFETY: a node begins with its tag.
    unsafe {
        let node = pg_sys::palloc0(size_of::<T>()).cast::<T>();
        *node.cast::<pg_sys::NodeTag>() = tag;
        node
    }
}

/// The index entries that a new version of a row needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// None: it is heap-only.
    None,
    /// Those of summarizing indexes (BRIN), although the version is heap-only. Never before PostgreSQL 16.
    #[cfg_attr(
        feature = "pg15",
        expect(dead_code, reason = "a BRIN index on a changed column prevents heap-only rows")
    )]
    Summarizing,
    /// Those of all indexes.
    All,
}

/// Writes a new version of the row at a TID, unless another transaction has changed the row; waits for a transaction
/// that is changing it. Stores the TID of the new version in the slot.
///
/// # Safety
/// An open table of access method heap, a slot that holds the new version, whose memory context is the current one.
pub unsafe fn update_row(
    table: pg_sys::Relation,
    mut tid: pg_sys::ItemPointerData,
    new: *mut pg_sys::TupleTableSlot,
) -> (pg_sys::TM_Result::Type, Entries) {
    let none = std::ptr::null_mut();
    // SAFETY: as promised; what the function fills is there. A slot of this kind holds its tuple.
    unsafe {
        pg_sys::CheckCmdReplicaIdentity(table, pg_sys::CmdType::CMD_UPDATE);
        let tuple = (*new.cast::<pg_sys::HeapTupleTableSlot>()).tuple;
        let mut failure = std::mem::zeroed::<pg_sys::TM_FailureData>();
        let mut mode = pg_sys::LockTupleMode::LockTupleNoKeyExclusive;
        let command = pg_sys::GetCurrentCommandId(true);
        #[cfg(feature = "pg15")]
        let result = pg_sys::heap_update(table, &mut tid, tuple, command, none, true, &mut failure, &mut mode);
        #[cfg(not(feature = "pg15"))]
        let mut entries = pg_sys::TU_UpdateIndexes::TU_None;
        #[cfg(not(feature = "pg15"))]
        let result =
            pg_sys::heap_update(table, &mut tid, tuple, command, none, true, &mut failure, &mut mode, &mut entries);
        (*new).tts_tid = (*tuple).t_self;
        #[cfg(feature = "pg15")]
        let entries = match u32::from((*(*tuple).t_data).t_infomask2) & pg_sys::HEAP_ONLY_TUPLE {
            0 => Entries::All,
            _ => Entries::None,
        };
        #[cfg(not(feature = "pg15"))]
        let entries = match entries {
            pg_sys::TU_UpdateIndexes::TU_None => Entries::None,
            pg_sys::TU_UpdateIndexes::TU_Summarizing => Entries::Summarizing,
            _ => Entries::All,
        };
        (result, entries)
    }
}

/// Inserts the index entries of a new version of a row.
///
/// # Safety
/// A table with its indexes open, and a slot that holds a stored row of it.
pub unsafe fn insert_index_entries(
    table: *mut pg_sys::ResultRelInfo,
    row: *mut pg_sys::TupleTableSlot,
    estate: *mut pg_sys::EState,
    entries: Entries,
) {
    let none = std::ptr::null_mut();
    // SAFETY: as above; no index of ours is deferrable, so there is nothing to check again.
    #[cfg(feature = "pg15")]
    unsafe {
        let _ = entries;
        pg_sys::ExecInsertIndexTuples(table, row, estate, true, false, none, std::ptr::null_mut());
    }
    // SAFETY: as above.
    #[cfg(not(feature = "pg15"))]
    unsafe {
        let only = entries == Entries::Summarizing;
        pg_sys::ExecInsertIndexTuples(table, row, estate, true, false, none, std::ptr::null_mut(), only);
    }
}

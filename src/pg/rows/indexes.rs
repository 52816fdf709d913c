//! The indexes of a table that get an entry for a new row.
//!
//! Opening an index and preparing its predicate costs more than testing the row. So the writer does not open a partial
//! index whose predicate requires a value, or a certain text, in a column where the row has another. If the row meets
//! the predicate, PostgreSQL need not test it again. Without this an approval takes 18 % longer by events and 10 % longer
//! by tasks if calls share a transaction, otherwise 4.7 % and 3.7 % (docs/internals/performance.md).

use std::ffi::c_int;
use std::ptr;

use pgrx::pg_sys::{self, Oid};

use crate::pg::spi::{Arg, Column};
use crate::pg::version;

/// An index of a table, with the rows that it covers.
#[derive(Debug)]
pub(super) struct Index {
    /// Oid in `pg_class`, by which it is opened.
    pub id: Oid,
    rows: CoveredRows,
}

/// Whether an index covers a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Covered {
    No,
    /// Possibly: PostgreSQL has to test the predicate.
    Perhaps,
    Yes,
}

impl Covered {
    fn when(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// The rows that an index covers. A column is identified by its position among the written columns.
#[derive(Debug, PartialEq, Eq)]
enum CoveredRows {
    /// All rows, or the predicate is not understood.
    All,
    /// No row that this record writes.
    None,
    /// Rows with a value in this column.
    Having(usize),
    /// Rows with this text in this column.
    With(usize, Vec<u8>),
    /// Rows with another text in this column.
    Without(usize, Vec<u8>),
}

impl Index {
    /// Whether a row with these values needs an entry in the index.
    pub fn covers(&self, values: &[Arg<'_>]) -> Covered {
        match &self.rows {
            CoveredRows::All => Covered::Perhaps,
            CoveredRows::None => Covered::No,
            CoveredRows::Having(at) => Covered::when(!matches!(values[*at], Arg::Null)),
            CoveredRows::With(at, text) => compare(&values[*at], |value| value == text),
            CoveredRows::Without(at, text) => compare(&values[*at], |value| value != text),
        }
    }
}

fn compare(value: &Arg<'_>, passes: impl FnOnce(&[u8]) -> bool) -> Covered {
    match value {
        Arg::Null => Covered::No,
        Arg::Text(value) => Covered::when(passes(value.as_bytes())),
        _ => Covered::Perhaps,
    }
}

/// The indexes of an open table, for rows in which only the columns with these numbers may have a value.
///
/// # Safety
/// A table on which the caller holds a lock that a new index would wait for.
pub(super) unsafe fn of(table: pg_sys::Relation, numbers: &[i16]) -> Vec<Index> {
    let mut indexes = Vec::new();
    // SAFETY: a copied list of oids, whose indexes live as long as the table is locked; the nodes of a predicate are
    // copied into the current memory context.
    unsafe {
        let list = pg_sys::RelationGetIndexList(table);
        let count = if list.is_null() { 0 } else { (*list).length as usize };
        for i in 0..count {
            let id = (*(*list).elements.add(i)).oid_value;
            let predicate = predicate(id);
            let rows = if predicate.is_null() { CoveredRows::All } else { rows_of(predicate, table, numbers) };
            indexes.push(Index { id, rows });
        }
        pg_sys::list_free(list);
    }
    indexes
}

/// The stored predicate of an index, or null. Does not open the index.
unsafe fn predicate(index: Oid) -> *mut pg_sys::Node {
    // SAFETY: a row of the catalog, which is released when its text has been copied.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::INDEXRELID as c_int;
        let row = pg_sys::SearchSysCache1(cache, index.into());
        if row.is_null() {
            return ptr::null_mut();
        }
        let mut is_null = true;
        let text = pg_sys::SysCacheGetAttr(cache, row, pg_sys::Anum_pg_index_indpred as i16, &mut is_null);
        let text = (!is_null).then(|| pg_sys::text_to_cstring(text.cast_mut_ptr()));
        pg_sys::ReleaseSysCache(row);
        text.map_or(ptr::null_mut(), |text| pg_sys::stringToNode(text).cast())
    }
}

/// The rows that a predicate selects. Understands `column IS NOT NULL`, `column = text`, `column <> text` and
/// `column IS NOT DISTINCT FROM text`.
unsafe fn rows_of(node: *mut pg_sys::Node, table: pg_sys::Relation, numbers: &[i16]) -> CoveredRows {
    // SAFETY: an expression, which the tags of its nodes tell apart.
    unsafe {
        match (*node).type_ {
            pg_sys::NodeTag::T_NullTest => {
                let test = node.cast::<pg_sys::NullTest>();
                if (*test).nulltesttype != pg_sys::NullTestType::IS_NOT_NULL || (*test).argisrow {
                    return CoveredRows::All;
                }
                let at = position((*test).arg.cast(), table, numbers);
                at.map_or(CoveredRows::All, |at| at.map_or(CoveredRows::None, CoveredRows::Having))
            }
            pg_sys::NodeTag::T_BoolExpr => {
                let not = node.cast::<pg_sys::BoolExpr>();
                if (*not).boolop != pg_sys::BoolExprType::NOT_EXPR {
                    return CoveredRows::All;
                }
                let inside = (*(*(*not).args).elements).ptr_value.cast::<pg_sys::Node>();
                let is_distinct = (*inside).type_ == pg_sys::NodeTag::T_DistinctExpr;
                is_distinct.then(|| compared_text(inside, table, numbers)).flatten().unwrap_or(CoveredRows::All)
            }
            pg_sys::NodeTag::T_OpExpr => compared_text(node, table, numbers).unwrap_or(CoveredRows::All),
            _ => CoveredRows::All,
        }
    }
}

/// The rows that `column = text` or `column <> text` selects. Also handles the operand of NOT in
/// `NOT (column IS DISTINCT FROM text)`, whose operator is `=`.
unsafe fn compared_text(node: *mut pg_sys::Node, table: pg_sys::Relation, numbers: &[i16]) -> Option<CoveredRows> {
    // SAFETY: as above; a constant that is not null has a value of its type.
    unsafe {
        let comparison = node.cast::<pg_sys::OpExpr>();
        let equal = Oid::from(pg_sys::TextEqualOperator);
        let select = match (*comparison).opno {
            operator if operator == equal => CoveredRows::With,
            operator if operator == pg_sys::get_negator(equal) => CoveredRows::Without,
            _ => return None,
        };
        let arguments = (*(*comparison).args).elements;
        let constant = (*arguments.add(1)).ptr_value.cast::<pg_sys::Const>();
        let is_text = (*constant).xpr.type_ == pg_sys::NodeTag::T_Const
            && (*constant).consttype == pg_sys::TEXTOID
            && !(*constant).constisnull;
        // Under a nondeterministic collation texts with different bytes can be equal.
        if !is_text || !pg_sys::get_collation_isdeterministic((*comparison).inputcollid) {
            return None;
        }
        let at = position((*arguments).ptr_value.cast(), table, numbers)?;
        Some(at.map_or(CoveredRows::None, |at| select(at, Vec::<u8>::read((*constant).constvalue))))
    }
}

/// The position of a column among the written ones. `Some(None)`: the column is not written, so it is NULL in every
/// row. `None`: the node is not a plain column, or the column is generated.
unsafe fn position(node: *mut pg_sys::Node, table: pg_sys::Relation, numbers: &[i16]) -> Option<Option<usize>> {
    // SAFETY: as above; a column's number is one of the table's descriptor, or a system column's.
    unsafe {
        if (*node).type_ != pg_sys::NodeTag::T_Var {
            return None;
        }
        let number = (*node.cast::<pg_sys::Var>()).varattno;
        let attributes = version::attributes((*table).rd_att);
        let attribute = attributes.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        if attribute.attgenerated != 0 {
            return None;
        }
        Some(numbers.iter().position(|written| *written == number))
    }
}

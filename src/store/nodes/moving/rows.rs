//! The rows of each table, packed and imported.

use std::collections::BTreeSet;

use uuid::Uuid;
use workflow_engine::bundle::{Cell, Table as Packed, Unreadable};
use workflow_engine::execution::ForPeople;
use workflow_engine::journal::{self, Act};
use workflow_engine::value::parse_json;

use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, JsonText, Row, Statement, Table, Tid, Timestamp, Type};
use crate::pg::{PgError, interrupt, memory};
use crate::store::instances::{bookmarks, search_attributes};
use crate::store::rights::owners;
use crate::store::tables::{
    BOOKMARK_QUEUE, BOOKMARKS, COMPENSATIONS, DEAD_LETTERS, EXECUTION_LOG, HTTP_REQUESTS, INCIDENTS, INSTANCES,
    MESSAGES, PAUSES, TASKS, TRIGGERS,
};

/// A table whose rows move, and the statements that find them.
struct MovedTable {
    table: &'static Table,
    columns: Columns,
    /// Reads the rows, each with its TID.
    read: Statement,
    /// Deletes these rows.
    delete: Statement,
    /// Deletes the rows with these TIDs.
    delete_at: Statement,
}

/// Declares a table whose rows `$where` selects; `$1` are ids of instances, or correlation ids. Reading locks the rows,
/// so that none is changed or removed before the transaction ends.
///
/// The rows have no order. Two exports differ anyway, by the ids of their sets; and reading dead letters in the order
/// of their ids, without an index for those that move, would read all of them through the primary key.
macro_rules! moved {
    ($table:ident, $name:literal, $type:ident, $where:expr) => {
        MovedTable {
            table: &$table,
            columns: Columns::of(&$table, $table.columns),
            read: Statement::reading(
                $table.columns,
                concat!("SELECT b.ctid, {b} FROM workflow.", $name, " b WHERE ", $where, " FOR UPDATE OF b"),
                &[Type::$type],
            ),
            delete: Statement::new(concat!("DELETE FROM workflow.", $name, " b WHERE ", $where), &[Type::$type]),
            delete_at: Statement::new(
                concat!("DELETE FROM workflow.", $name, " b WHERE b.ctid = ANY ($1)"),
                &[Type::TidArray],
            ),
        }
    };
}

/// Rows that name a bookmark of an instance, or an execution that created one, but not their instance or key.
macro_rules! of_bookmarks {
    () => {
        "b.instance_id IS NULL AND b.correlation_id IS NULL \
         AND (b.bookmark_id IN (SELECT m.id FROM workflow.bookmarks m WHERE m.instance_id = ANY ($1)) \
              OR b.bookmark_id IS NULL AND b.activity_instance_id IN ( \
                  SELECT m.activity_instance_id FROM workflow.bookmarks m WHERE m.instance_id = ANY ($1)))"
    };
}

// A stimulus that expires becomes a dead letter. It is read in only one of the two tables, because reading locks its
// row in the first.
static OF_INSTANCES: [MovedTable; 12] = [
    moved!(INSTANCES, "instances", UuidArray, "b.id = ANY ($1)"),
    moved!(BOOKMARKS, "bookmarks", UuidArray, "b.instance_id = ANY ($1)"),
    moved!(TASKS, "tasks", UuidArray, "b.instance_id = ANY ($1)"),
    moved!(INCIDENTS, "incidents", UuidArray, "b.instance_id = ANY ($1)"),
    moved!(COMPENSATIONS, "compensations", UuidArray, "b.instance_id = ANY ($1)"),
    moved!(PAUSES, "pauses", UuidArray, "b.instance_id = ANY ($1)"),
    moved!(HTTP_REQUESTS, "http_requests", UuidArray, "b.instance_id = ANY ($1)"),
    moved!(EXECUTION_LOG, "execution_log", UuidArray, "b.instance_id = ANY ($1)"),
    moved!(BOOKMARK_QUEUE, "bookmark_queue", UuidArray, "b.instance_id = ANY ($1) AND b.deferred_for IS NULL"),
    moved!(DEAD_LETTERS, "dead_letters", UuidArray, "b.instance_id = ANY ($1)"),
    moved!(BOOKMARK_QUEUE, "bookmark_queue", UuidArray, of_bookmarks!()),
    moved!(DEAD_LETTERS, "dead_letters", UuidArray, of_bookmarks!()),
];
static OF_KEYS: [MovedTable; 4] = [
    moved!(BOOKMARK_QUEUE, "bookmark_queue", TextArray, "b.correlation_id = ANY ($1) AND b.instance_id IS NULL"),
    moved!(DEAD_LETTERS, "dead_letters", TextArray, "b.correlation_id = ANY ($1) AND b.instance_id IS NULL"),
    moved!(MESSAGES, "messages", TextArray, "b.key = ANY ($1)"),
    moved!(TRIGGERS, "triggers", TextArray, "b.correlation_id = ANY ($1) AND b.schedule_name IS NOT NULL"),
];

/// Rows that move together.
#[derive(Clone, Copy, Debug)]
pub enum MovedRows<'a> {
    /// The rows of instances.
    Instances(&'a [Uuid]),
    /// The rows of correlation ids that belong to no instance.
    Keys(&'a [String]),
}

impl<'a> MovedRows<'a> {
    fn tables(self) -> (&'static [MovedTable], Arg<'a>) {
        match self {
            Self::Instances(ids) => (&OF_INSTANCES, Arg::Uuids(ids)),
            Self::Keys(keys) => (&OF_KEYS, Arg::Texts(keys)),
        }
    }

    /// Reads and locks the rows.
    pub fn pack(self) -> Contents {
        let (tables, which) = self.tables();
        let mut contents = Contents::default();
        for moved in tables {
            moved.pack(which, &mut contents);
        }
        contents
    }

    /// Deletes the rows, and returns how many each table had. No workflow and no session is notified.
    pub fn delete(self) -> Vec<u64> {
        let (tables, which) = self.tables();
        // The row of the instance is deleted last, as everywhere.
        self.delete_search_attributes();
        let mut counts: Vec<u64> = tables.iter().rev().map(|moved| moved.delete.run(&[which])).collect();
        counts.reverse();
        counts
    }

    /// The other node computes these values again, so they are not packed.
    fn delete_search_attributes(self) {
        if let Self::Instances(ids) = self {
            search_attributes::delete(ids);
        }
    }

    /// Deletes exactly the rows in these contents.
    ///
    /// # Errors
    /// 27000 if a trigger prevents a deletion, 40001 if another row has been added by now.
    pub fn remove(self, packed: &[&Contents]) -> Result<(), PgError> {
        let (tables, which) = self.tables();
        self.delete_search_attributes();
        for (i, moved) in tables.iter().enumerate().rev() {
            for tids in packed.iter().map(|contents| &contents.tids[i]) {
                interrupt::check();
                if moved.delete_at.run(&[Arg::Tids(tids)]) != tids.len() as u64 {
                    return Err(rows::suppressed(&moved.table.name.to_string_lossy()));
                }
            }
            if moved.delete.run(&[which]) > 0 {
                return Err(arrived());
            }
        }
        Ok(())
    }
}

/// The error if something arrived for keys that are leaving.
pub fn arrived() -> PgError {
    PgError::new("40001", "could not export instances due to concurrent update")
        .detail("Something was started or sent for them after they were read.")
        .hint("Repeat the transaction, and keep calls for what moves away with workflow.route_check.")
}

/// Rows that were read.
#[derive(Default)]
pub struct Contents {
    /// The rows of each table that has some.
    pub tables: Vec<Packed>,
    /// Owners and definition versions that they name, which must exist on the other node.
    pub references: References,
    /// TIDs of the rows of each table. They do not change, since the rows are locked.
    tids: Vec<Vec<Tid>>,
}

/// The references of rows.
#[derive(Debug, Default)]
pub struct References {
    /// Owners, by their numbers.
    pub owners: BTreeSet<i32>,
    /// Definition versions, by the ids that they have on this node.
    pub versions: BTreeSet<Uuid>,
}

impl References {
    fn add(&mut self, column: &[u8], cell: &Cell<'_>) {
        match (column, cell) {
            (
                b"owner" | b"sender" | b"callback_owner" | b"paused_by" | b"definition_owner" | b"instance_owner",
                Cell::Integer(owner),
            ) => {
                self.owners.insert(*owner);
            }
            (b"started_by" | b"completed_by" | b"login" | b"made_by" | b"made_login", Cell::Integer(role)) => {
                self.record_actor(*role);
            }
            (b"events", Cell::Bytea(events)) => {
                if let Ok(Some(Act { by, .. })) = journal::decode_act(events) {
                    [Some(by.role), by.login].into_iter().flatten().for_each(|id| self.record_actor(id.cast_signed()));
                }
            }
            (b"metadata", Cell::Jsonb(metadata)) => {
                let metadata = parse_json(metadata).unwrap_or_default();
                bookmarks::login_in(&metadata).into_iter().for_each(|id| self.record_actor(id.cast_signed()));
            }
            (b"assignee" | b"completed_for", Cell::Text(entry)) => self.owners.extend(named_role(entry)),
            (b"candidates", Cell::Jsonb(entries)) => {
                let entries: Vec<String> = serde_json::from_str(entries).unwrap_or_default();
                self.owners.extend(entries.iter().filter_map(|entry| named_role(entry)));
            }
            (b"definition_version_id", Cell::Uuid(version)) => {
                self.versions.insert(*version);
            }
            _ => {}
        }
    }
}

impl References {
    /// A role that has acted. A dropped one need not exist on the other node.
    fn record_actor(&mut self, id: i32) {
        if !self.owners.contains(&id) && owners::by_id(id).role().is_some() {
            self.owners.insert(id);
        }
    }
}

/// The owner of an assignee or candidate that is no label.
fn named_role(entry: &str) -> Option<i32> {
    entry.strip_prefix(ForPeople::ROLE)?.parse().ok()
}

impl MovedTable {
    fn pack(&'static self, which: Arg<'_>, contents: &mut Contents) {
        let name = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
        let columns = self.table.columns;
        let mut packed = Packed::new(name(self.table.name), columns.iter().map(|(column, _)| name(column)).collect());
        let tids = self.read.rows(&[which], |row| {
            interrupt::check();
            let tid = row.get();
            for (column, kind) in columns {
                read(row, *kind, |cell| {
                    contents.references.add(column.to_bytes(), &cell);
                    let more = packed.growth(&cell);
                    if more > 0 {
                        memory::room(packed.size() + more);
                    }
                    packed.push(cell);
                });
            }
            tid
        });
        if !tids.is_empty() {
            contents.tables.push(packed);
        }
        contents.tids.push(tids);
    }
}

/// Reads the next column of a row.
fn read(row: &mut Row<'_>, kind: Type, body: impl FnOnce(Cell<'_>)) {
    match kind {
        Type::Uuid => body(row.maybe().map_or(Cell::Null, Cell::Uuid)),
        Type::Text => body(row.maybe::<String>().as_deref().map_or(Cell::Null, Cell::Text)),
        Type::Integer => body(row.maybe().map_or(Cell::Null, Cell::Integer)),
        Type::BigInt => body(row.maybe().map_or(Cell::Null, Cell::BigInt)),
        Type::Boolean => body(row.maybe().map_or(Cell::Null, Cell::Boolean)),
        Type::Bytea => body(row.maybe::<Vec<u8>>().as_deref().map_or(Cell::Null, Cell::Bytea)),
        Type::Jsonb => body(row.maybe().as_ref().map_or(Cell::Null, |JsonText(text)| Cell::Jsonb(text))),
        Type::Timestamp => body(row.maybe().map_or(Cell::Null, |Timestamp(at)| Cell::Timestamp(at))),
        other => unreachable!("no column that moves has type {other:?}"),
    }
}

/// The table with this name, if its rows move and it has these columns.
fn moved(packed: &Packed) -> Option<&'static MovedTable> {
    let mut tables = OF_INSTANCES.iter().chain(&OF_KEYS);
    let moved = tables.find(|moved| moved.table.name.to_bytes() == packed.name.as_bytes())?;
    let names = moved.table.columns.iter().map(|(name, _)| name.to_bytes());
    names.eq(packed.columns.iter().map(|name| name.as_bytes())).then_some(moved)
}

/// Whether the rows belong to a table that moves, with the columns that it has here.
pub fn is_known(packed: &Packed) -> bool {
    moved(packed).is_some()
}

/// Inserts rows that another node has packed, with the values that `fit` assigns. After an error the caller rolls back.
///
/// # Errors
/// A table that does not move, a value that is invalid for its column, and the errors of `fit`.
pub fn unpack(
    packed: &Packed,
    mut fit: impl FnMut(&mut [Cell<'_>]) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let moved = moved(packed).ok_or(Unreadable::Damaged)?;
    rows::write(|writer| {
        for row in packed.rows() {
            interrupt::check();
            let mut row = row?;
            fit(&mut row)?;
            let kinds = moved.table.columns.iter().map(|(_, kind)| *kind);
            let values: Vec<Arg<'_>> =
                kinds.zip(&row).map(|(kind, cell)| value(kind, cell)).collect::<Result<_, _>>()?;
            writer.insert(&moved.columns, &values);
        }
        Ok(())
    })
}

/// A value for a column of this type.
fn value<'a>(kind: Type, cell: &'a Cell<'_>) -> Result<Arg<'a>, Unreadable> {
    let has_end = |text: &str| text.contains('\0');
    match (kind, cell) {
        (_, Cell::Null) => Ok(Arg::Null),
        (Type::Uuid, Cell::Uuid(id)) => Ok(Arg::Uuid(id)),
        (Type::Text, Cell::Text(text)) if !has_end(text) => Ok(Arg::Text(text)),
        (Type::Integer, Cell::Integer(number)) => Ok(Arg::Integer(*number)),
        (Type::BigInt, Cell::BigInt(number)) => Ok(Arg::BigInt(*number)),
        (Type::Boolean, Cell::Boolean(value)) => Ok(Arg::Boolean(*value)),
        (Type::Bytea, Cell::Bytea(bytes)) => Ok(Arg::Bytea(bytes)),
        (Type::Jsonb, Cell::Jsonb(text)) if !has_end(text) => Ok(Arg::JsonText(text)),
        (Type::Timestamp, Cell::Timestamp(at)) if Timestamp(*at).is_valid() => Ok(Arg::Timestamp(Timestamp(*at))),
        _ => Err(Unreadable::Damaged),
    }
}

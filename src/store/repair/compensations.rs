//! Compensation records: the effects of completed and interrupted executions that are to be compensated, confirmed or
//! cancelled.
//!
//! The burst that adds or handles a record holds the lock of its instance.

use uuid::Uuid;
use workflow_engine::NodeIx;
use workflow_engine::fault::Error;
use workflow_engine::instance::compensation::{Record, RecordFilter, decode_kept, encode_kept};
use workflow_engine::program::Program;

use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type, written};
use crate::store::tables::COMPENSATIONS;

written! {
    struct New<'a> of COMPENSATIONS {
        instance_id: &'a Uuid,
        holder: i64,
        number: i64,
        created_at: Timestamp,
        activity_id: &'a str,
        node_id: &'a str,
        kept: &'a [u8],
    }
}
static INSERT: Statement = Statement::insert(&COMPENSATIONS, New::COLUMNS, "", &[]);
static MOVE: Statement = Statement::new(
    "UPDATE workflow.compensations SET holder = $3 WHERE instance_id = $1 AND holder = $2",
    &[Type::Uuid, Type::BigInt, Type::BigInt],
);
static FIND: [Statement; 2] = [
    Statement::new(
        "SELECT number, holder, kept FROM workflow.compensations WHERE instance_id = $1 AND holder = $2 \
         ORDER BY number LIMIT 1",
        &[Type::Uuid, Type::BigInt],
    ),
    Statement::new(
        "SELECT number, holder, kept FROM workflow.compensations WHERE instance_id = $1 AND holder = $2 \
         ORDER BY number DESC LIMIT 1",
        &[Type::Uuid, Type::BigInt],
    ),
];
static FIND_OF: [Statement; 2] = [
    Statement::new(
        "SELECT number, holder, kept FROM workflow.compensations WHERE instance_id = $1 AND holder = $2 AND node_id = $3 \
         ORDER BY number LIMIT 1",
        &[Type::Uuid, Type::BigInt, Type::Text],
    ),
    Statement::new(
        "SELECT number, holder, kept FROM workflow.compensations WHERE instance_id = $1 AND holder = $2 AND node_id = $3 \
         ORDER BY number DESC LIMIT 1",
        &[Type::Uuid, Type::BigInt, Type::Text],
    ),
];
static LIST: Statement = Statement::new(
    "SELECT c.kept, count(*) OVER () FROM workflow.compensations c WHERE c.instance_id = $1 ORDER BY c.number DESC LIMIT $2",
    &[Type::Uuid, Type::BigInt],
);
static ALL: Statement = Statement::new(
    "SELECT number, holder, kept FROM workflow.compensations WHERE instance_id = $1 ORDER BY number",
    &[Type::Uuid],
);
static REPLACE: Statement = Statement::new(
    "UPDATE workflow.compensations SET activity_id = $3, node_id = $4, kept = $5 WHERE instance_id = $1 AND number = $2",
    &[Type::Uuid, Type::BigInt, Type::Text, Type::Text, Type::Bytea],
);
static DELETE: Statement = Statement::new(
    "DELETE FROM workflow.compensations WHERE instance_id = $1 AND number = $2",
    &[Type::Uuid, Type::BigInt],
);
static DELETE_ALL: Statement =
    Statement::new("DELETE FROM workflow.compensations WHERE instance_id = $1", &[Type::Uuid]);

/// Adds a record of an instance.
pub fn insert(program: &Program, instance: &Uuid, record: &Record, now: Timestamp) {
    let node = program.node(record.kept.node);
    let kept = encode_kept(&record.kept);
    let new = New {
        instance_id: instance,
        holder: record.holder.into(),
        number: record.number.into(),
        created_at: now,
        activity_id: &node.id,
        node_id: &node.node_id,
        kept: &kept,
    };
    INSERT.run(&new.values());
}

/// Moves the records of one holder to another, and returns their number.
pub fn give(instance: &Uuid, from: u32, to: u32) -> u64 {
    MOVE.run(&[Arg::Uuid(instance), Arg::BigInt(from.into()), Arg::BigInt(to.into())])
}

/// The first record that matches.
///
/// # Errors
/// Its snapshot cannot be decoded.
pub fn find(program: &Program, instance: &Uuid, wanted: RecordFilter) -> Result<Option<Record>, Error> {
    let holder = [Arg::Uuid(instance), Arg::BigInt(wanted.holder.into())];
    let order = usize::from(wanted.newest);
    let found = match wanted.node {
        None => FIND[order].first(&holder, read),
        Some(node) => {
            let [instance, holder] = holder;
            FIND_OF[order].first(&[instance, holder, Arg::Text(&program.node(node).node_id)], read)
        }
    };
    let Some((number, holder, kept)) = found else { return Ok(None) };
    Ok(Some(Record { number: number_of(number)?, holder: number_of(holder)?, kept: checked(program, &kept)? }))
}

fn read(row: &mut Row<'_>) -> (i64, i64, Vec<u8>) {
    (row.get(), row.get(), row.get())
}

fn number_of(stored: i64) -> Result<u32, Error> {
    u32::try_from(stored).map_err(|_| Error::CorruptState(format!("A record has the number {stored}.")))
}

/// The snapshot in a record, if the program has the activities that it names.
fn checked(program: &Program, bytes: &[u8]) -> Result<workflow_engine::instance::compensation::RecordSnapshot, Error> {
    let kept = decode_kept(bytes)?;
    let mut named = kept.outputs.iter().map(|(node, _)| *node).chain([kept.node]);
    match named.all(|node| (node.0 as usize) < program.nodes.len()) {
        true => Ok(kept),
        false => Err(Error::CorruptState("A record names an activity that does not exist.".to_owned())),
    }
}

/// The activities of the newest records of an instance, and the total number of records.
///
/// # Errors
/// A snapshot cannot be decoded.
pub fn list(program: &Program, instance: &Uuid, at_most: usize) -> Result<(Vec<NodeIx>, u64), Error> {
    let args = [Arg::Uuid(instance), Arg::BigInt(i64::try_from(at_most).unwrap_or(i64::MAX))];
    let rows: Vec<(Vec<u8>, i64)> = LIST.rows(&args, |row| (row.get(), row.get()));
    let all = rows.first().map_or(0, |(_, all)| all.unsigned_abs());
    let nodes: Result<Vec<NodeIx>, Error> =
        rows.iter().map(|(kept, _)| checked(program, kept).map(|kept| kept.node)).collect();
    Ok((nodes?, all))
}

/// All records of an instance, oldest first.
///
/// # Errors
/// A snapshot cannot be decoded.
pub fn all(program: &Program, instance: &Uuid) -> Result<Vec<Record>, Error> {
    let rows = ALL.rows(&[Arg::Uuid(instance)], read);
    let record = |(number, holder, kept): (i64, i64, Vec<u8>)| {
        Ok(Record { number: number_of(number)?, holder: number_of(holder)?, kept: checked(program, &kept)? })
    };
    rows.into_iter().map(record).collect()
}

/// Writes the snapshot of a record, encoded for this program.
pub fn replace(program: &Program, instance: &Uuid, record: &Record) {
    let node = program.node(record.kept.node);
    let kept = encode_kept(&record.kept);
    let number = Arg::BigInt(record.number.into());
    REPLACE.run(&[Arg::Uuid(instance), number, Arg::Text(&node.id), Arg::Text(&node.node_id), Arg::Bytea(&kept)]);
}

/// Removes a record.
pub fn delete(instance: &Uuid, number: u32) {
    DELETE.run(&[Arg::Uuid(instance), Arg::BigInt(number.into())]);
}

/// Removes all records of an instance.
pub fn delete_all(instance: &Uuid) {
    DELETE_ALL.run(&[Arg::Uuid(instance)]);
}

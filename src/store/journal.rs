//! The journal: one row per burst, its events packed.

use chrono::{DateTime, Utc};
use uuid::Uuid;
use workflow_engine::journal::{self, Event, EventKind};

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::batch::{Batch, Part};

/// Events that one row holds at the most.
const EVENTS_PER_ROW: usize = 1000;

static PART: Part = Part {
    name: "logged",
    sql: "INSERT INTO workflow.execution_log (instance_id, seq, created_at, events) SELECT ?, ?, ?, ? FROM {decides}",
    types: &[Type::Uuid, Type::Integer, Type::Timestamp, Type::Bytea],
    decides: false,
};
static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.execution_log (instance_id, seq, created_at, events) VALUES ($1, $2, $3, $4)",
    &[Type::Uuid, Type::Integer, Type::Timestamp, Type::Bytea],
);

/// Adds the first row of a burst's events.
pub fn push<'a>(batch: &mut Batch<'a>, instance: &'a Uuid, seq: u32, packed: &'a [u8], now: Timestamp) {
    batch.push(&PART, &[Arg::Uuid(instance), Arg::Integer(seq as i32), Arg::Timestamp(now), Arg::Bytea(packed)]);
}

/// The events that the first row holds, packed, and those that are left.
pub fn split(events: &[Event]) -> (Vec<u8>, &[Event]) {
    let (first, rest) = events.split_at(events.len().min(EVENTS_PER_ROW));
    (journal::encode(first), rest)
}

/// Writes the events of a burst from row `seq` on.
pub fn append(instance: Uuid, seq: u32, events: &[Event], now: Timestamp) {
    for (next, chunk) in (seq..).zip(events.chunks(EVENTS_PER_ROW)) {
        INSERT.run(&[
            Arg::Uuid(&instance),
            Arg::Integer(next as i32),
            Arg::Timestamp(now),
            Arg::Bytea(&journal::encode(chunk)),
        ]);
    }
}

/// How many rows that many events take.
pub fn rows_for(events: usize) -> u32 {
    events.div_ceil(EVENTS_PER_ROW) as u32
}

static AT: Statement = Statement::new(
    "SELECT instance_id, seq, events FROM workflow.execution_log WHERE created_at >= $1 AND created_at < $2",
    &[Type::Timestamp, Type::Timestamp],
);
static AFTER: Statement = Statement::new(
    "SELECT created_at, events FROM workflow.execution_log WHERE instance_id = $1 AND seq >= $2 ORDER BY seq",
    &[Type::Uuid, Type::Integer],
);

/// What became of a bookmark that is not there: when it was used up or removed, if the journal knows it.
///
/// The id says to the millisecond in which burst it was made, and that burst's row says for which instance.
pub fn end_of_bookmark(id: Uuid) -> Option<(DateTime<Utc>, EventKind)> {
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    let from = DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)?;
    let until = from + chrono::TimeDelta::milliseconds(1);
    let made = AT
        .rows(&[Arg::Timestamp(from.into()), Arg::Timestamp(until.into())], |row| {
            let instance: Uuid = row.get();
            let seq: i32 = row.get();
            let events: Vec<u8> = row.get();
            mentions(&events, id, |kind| kind == EventKind::BookmarkCreated).map(|_| (instance, seq))
        })
        .into_iter()
        .flatten()
        .next();
    let (instance, seq) = made?;
    let ended = |kind| {
        matches!(
            kind,
            EventKind::Resumed | EventKind::Canceled | EventKind::WorkflowResumed | EventKind::WorkflowCancelled
        )
    };
    AFTER
        .rows(&[Arg::Uuid(&instance), Arg::Integer(seq)], |row| {
            let at: Timestamp = row.get();
            let events: Vec<u8> = row.get();
            mentions(&events, id, ended).map(|kind| (at.into(), kind))
        })
        .into_iter()
        .flatten()
        .next_back()
        .or_else(|| {
            AFTER
                .rows(&[Arg::Uuid(&instance), Arg::Integer(seq)], |row| row.get::<Timestamp>())
                .pop()
                .map(|at| (at.into(), EventKind::Canceled))
        })
}

fn mentions(events: &[u8], bookmark: Uuid, wanted: impl Fn(EventKind) -> bool) -> Option<EventKind> {
    let events = journal::decode(events).ok()?;
    events.iter().find(|event| event.bookmark_id == Some(bookmark) && wanted(event.kind)).map(|event| event.kind)
}

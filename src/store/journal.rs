//! The journal: one row per burst, its events packed.

use chrono::{DateTime, Utc};
use uuid::Uuid;
use workflow_engine::journal::{self, Event, EventKind};

use crate::pg::rows::{Columns, Writer};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};

/// Events that one row holds at the most.
const EVENTS_PER_ROW: usize = 1000;

static ROW: Columns = Columns::of(
    c"execution_log",
    &[
        (c"instance_id", Type::Uuid),
        (c"seq", Type::Integer),
        (c"created_at", Type::Timestamp),
        (c"events", Type::Bytea),
    ],
);

/// Writes the events of a burst from row `seq` on.
pub fn append(writer: &mut Writer, instance: &Uuid, seq: u32, events: &[Event], now: Timestamp) {
    for (next, chunk) in (seq..).zip(events.chunks(EVENTS_PER_ROW)) {
        let packed = journal::encode(chunk);
        let values = [Arg::Uuid(instance), Arg::Integer(next as i32), Arg::Timestamp(now), Arg::Bytea(&packed)];
        writer.insert(&ROW, &values);
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

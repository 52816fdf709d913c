//! The journal: one row per burst, its events packed.

use chrono::{DateTime, Utc};
use uuid::Uuid;
use workflow_engine::journal::{self, Event, EventKind};

use crate::pg::rows::{Columns, Writer};
use crate::pg::spi::{Arg, Statement, Timestamp, Type, written};
use crate::pg::{interrupt, memory};
use crate::store::tables::EXECUTION_LOG;

/// Events that one row holds at the most.
const EVENTS_PER_ROW: usize = 1000;

written! {
    struct New<'a> of EXECUTION_LOG {
        instance_id: &'a Uuid,
        seq: i32,
        created_at: Timestamp,
        events: &'a [u8],
    }
}
static ROW: Columns = Columns::of(&EXECUTION_LOG, New::COLUMNS);

/// Writes the events of a burst from row `seq` on.
pub fn append(writer: &mut Writer, instance: &Uuid, seq: u32, events: &[Event], now: Timestamp) {
    for (next, chunk) in (seq..).zip(events.chunks(EVENTS_PER_ROW)) {
        let row = journal::Row::of(chunk);
        let packed = row.encode(memory::room_to_pack(|| row.size()));
        let new = New { instance_id: instance, seq: next as i32, created_at: now, events: &packed };
        writer.insert(&ROW, &new.values());
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

/// How a bookmark ended.
#[derive(Debug)]
pub struct End {
    /// Its instance.
    pub instance: Uuid,
    /// When.
    pub at: DateTime<Utc>,
    /// How.
    pub how: How,
}

/// In which way a bookmark ended.
#[derive(Debug)]
pub enum How {
    /// It was resumed.
    Resumed,
    /// Its activity was cancelled, in a burst in which this other activity was resumed.
    Cancelled {
        /// Id of the other activity.
        by: Option<String>,
    },
    /// Its instance was cancelled.
    InstanceCancelled {
        /// The reason that was given.
        reason: Option<String>,
    },
    /// The journal does not say.
    Removed,
}

impl How {
    /// The same without what ended it.
    pub fn without_cause(&self) -> Self {
        match self {
            Self::Resumed => Self::Resumed,
            Self::Cancelled { .. } => Self::Cancelled { by: None },
            Self::InstanceCancelled { .. } => Self::InstanceCancelled { reason: None },
            Self::Removed => Self::Removed,
        }
    }
}

/// What became of a bookmark that is not there: when it was used up or removed, if the journal knows it.
///
/// The id says to the millisecond in which burst it was made, and that burst's row says for which instance.
pub fn end_of_bookmark(id: Uuid) -> Option<End> {
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    let from = DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)?;
    let until = from + chrono::TimeDelta::milliseconds(1);
    let made = AT
        .rows(&[Arg::Timestamp(from.into()), Arg::Timestamp(until.into())], |row| {
            let instance: Uuid = row.get();
            let seq: i32 = row.get();
            let events: Vec<u8> = row.get();
            execution_of(&events, id).map(|execution| (instance, seq, execution))
        })
        .into_iter()
        .flatten()
        .next();
    let (instance, seq, execution) = made?;
    let later = AFTER.rows(&[Arg::Uuid(&instance), Arg::Integer(seq)], |row| {
        let at: Timestamp = row.get();
        let events: Vec<u8> = row.get();
        (at.into(), how(&events, id, execution))
    });
    let last = later.last().map(|(at, _)| *at);
    let end = later.into_iter().filter_map(|(at, how)| how.map(|how| (at, how))).next_back();
    let (at, how) = end.or_else(|| last.map(|at| (at, How::Removed)))?;
    Some(End { instance, at, how })
}

/// The execution that made a bookmark in these events, if one did.
fn execution_of(events: &[u8], bookmark: Uuid) -> Option<Option<u32>> {
    let events = journal::decode(events);
    // One that is too large to be read is not one that says nothing.
    interrupt::check();
    let events = events.ok()?;
    let made = |event: &&Event| event.kind == EventKind::BookmarkCreated && event.bookmark_id == Some(bookmark);
    events.iter().find(made).map(|event| event.execution)
}

/// How these events end a bookmark of an execution, if they do.
fn how(events: &[u8], bookmark: Uuid, execution: Option<u32>) -> Option<How> {
    let events = journal::decode(events).ok()?;
    let is_resume = |event: &&Event| matches!(event.kind, EventKind::Resumed | EventKind::WorkflowResumed);
    if events.iter().filter(is_resume).any(|event| event.bookmark_id == Some(bookmark)) {
        return Some(How::Resumed);
    }
    if let Some(event) = events.iter().find(|event| event.kind == EventKind::WorkflowCancelled) {
        let reason = event.data.as_ref().and_then(|data| data.0.as_str()).map(ToOwned::to_owned);
        return Some(How::InstanceCancelled { reason });
    }
    let is_end = |event: &Event| event.kind == EventKind::Canceled && event.execution == execution;
    let end = events.iter().position(is_end)?;
    let by = events[..end].iter().rev().find(is_resume).map(|event| event.activity_id.clone());
    Some(How::Cancelled { by: by.filter(|by| !by.is_empty()) })
}

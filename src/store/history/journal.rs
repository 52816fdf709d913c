//! The journal: one row per burst, its events packed.

use chrono::{DateTime, Utc};
use uuid::Uuid;
use workflow_engine::instance::Instance;
use workflow_engine::journal::{self, Act, Event, EventKind};
use workflow_plan::{EVENTS_PER_ROW, Trim, journal_rows};

use crate::pg::rows::{Columns, Writer};
use crate::pg::spi::{Arg, Statement, Timestamp, Type, written};
use crate::pg::{interrupt, memory};
use crate::store::history::audit;
use crate::store::tables::EXECUTION_LOG;

written! {
    struct New<'a> of EXECUTION_LOG {
        instance_id: &'a Uuid,
        seq: i32,
        created_at: Timestamp,
        events: &'a [u8],
    }
}
static ROW: Columns = Columns::of(&EXECUTION_LOG, New::COLUMNS);

/// Writes the events of a burst from row `seq` on. The first row contains the act, and is written for an act without
/// events as well.
pub fn append(writer: &mut Writer, instance: &Uuid, seq: u32, act: Option<&Act>, events: &[Event], now: Timestamp) {
    let without_events = [&events[..0]].into_iter().filter(|_| act.is_some() && events.is_empty());
    for (next, chunk) in (seq..).zip(events.chunks(EVENTS_PER_ROW).chain(without_events)) {
        let row = journal::Row::of(act.filter(|_| next == seq), chunk);
        let packed = row.encode(memory::room_to_pack(|| row.size()));
        let new = New { instance_id: instance, seq: next as i32, created_at: now, events: &packed };
        writer.insert(&ROW, &new.values());
    }
}

static SINCE: Statement = Statement::new(
    "SELECT min(seq) FROM workflow.execution_log \
     WHERE instance_id = $1 AND seq >= $2 AND seq < $3 AND created_at >= $4",
    &[Type::Uuid, Type::Integer, Type::Integer, Type::Timestamp],
);
static REMOVE: Statement = Statement::new(
    "DELETE FROM workflow.execution_log WHERE instance_id = $1 AND seq >= $2 AND seq < $3",
    &[Type::Uuid, Type::Integer, Type::Integer],
);

/// The first row from `from` to before `to` that was written at or after an instant. Times need not be ordered like the
/// rows: the clock may have been set back.
fn first_since(instance: &Uuid, from: u32, to: u32, at: Timestamp) -> Option<u32> {
    let args = [Arg::Uuid(instance), Arg::Integer(from as i32), Arg::Integer(to as i32), Arg::Timestamp(at)];
    SINCE.first(&args, |row| row.maybe::<i32>()).flatten().map(|seq| seq as u32)
}

/// Removes the rows from `from` to before `to`, and copies their acts to the audit. The index scan begins at `from`, so
/// it skips no dead entries of rows removed before.
fn remove(instance: &Uuid, from: u32, to: u32) {
    audit::keep_rows(instance, from, to);
    REMOVE.run(&[Arg::Uuid(instance), Arg::Integer(from as i32), Arg::Integer(to as i32)]);
}

/// Removes journal rows that need not be kept from a locked instance whose state counts them. The caller stores the
/// state.
pub fn trim(instance: &mut Instance, rows: Trim) {
    let Trim { from, to, until } = rows;
    let first_kept = until.and_then(|until| first_since(&instance.id, from, to, until.into()));
    let to = first_kept.unwrap_or(to);
    if to > from {
        remove(&instance.id, from, to);
        instance.state.first_journal = to;
    }
}

/// Reserves rows for this number of events, or for an act without events, in a locked instance whose state counts them.
/// Returns the number of the first row. The caller stores the state.
pub fn take_rows(instance: &mut Instance, act: Option<&Act>, events: usize) -> u32 {
    let next = &mut instance.state.next_journal;
    let first = *next;
    *next += journal_rows(act.is_some(), events);
    first
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
    /// The instance that waited at it.
    pub instance: Uuid,
    /// Time of the journal row that records it, or of the instance's last row if none does.
    pub at: DateTime<Utc>,
    /// The cause according to the events of that row.
    pub how: How,
}

/// The ways in which a bookmark can end.
#[derive(Debug)]
pub enum How {
    /// A resume used it.
    Resumed,
    /// It belongs to a task whose last attempt failed.
    GivenUp,
    /// A burst that resumed another activity cancelled the bookmark's activity.
    Cancelled {
        /// Id of the resumed activity.
        by: Option<String>,
    },
    /// A call cancelled its instance.
    InstanceCancelled {
        /// The caller's reason.
        reason: Option<String>,
    },
    /// Not recorded in the journal.
    Removed,
}

impl How {
    /// The same without the activity or the reason, which a caller who may only resume must not see.
    pub fn without_cause(&self) -> Self {
        match self {
            Self::Resumed => Self::Resumed,
            Self::GivenUp => Self::GivenUp,
            Self::Cancelled { .. } => Self::Cancelled { by: None },
            Self::InstanceCancelled { .. } => Self::InstanceCancelled { reason: None },
            Self::Removed => Self::Removed,
        }
    }
}

/// Finds in the journal how and when a bookmark that no longer exists ended.
///
/// The time in the bookmark's id leads to the journal rows of that millisecond. The row with the event that created the
/// bookmark names its instance.
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

/// The execution that created the bookmark, if these events contain its creation.
fn execution_of(events: &[u8], bookmark: Uuid) -> Option<Option<u32>> {
    let events = journal::decode(events);
    // If decoding failed for lack of memory, end the call instead of treating the row as if the bookmark were not in
    // it.
    interrupt::check();
    let events = events.ok()?;
    let made = |event: &&Event| event.kind == EventKind::BookmarkCreated && event.bookmark_id == Some(bookmark);
    events.iter().find(made).map(|event| event.execution)
}

/// How the bookmark of an execution ends in these events, if it does.
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

//! The two phases of a burst that change its own rows: what it ended is cleared, and then the rest is written.

use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::execution::{Delta, NewTask};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::Act;

use crate::clock;
use crate::pg::error::unwind;
use crate::pg::rows::{self, Writer};
use crate::pg::spi::Timestamp;
use crate::run::Session;
use crate::run::repair::incidents;
use crate::run::tasks::limits;
use crate::store::events::queue;
use crate::store::history::journal;
use crate::store::instances::InstanceRow;
use crate::store::instances::bookmarks::{self, BookmarkKind};
use crate::store::rights::owners::Owner;
use crate::store::tasks::Answer;
use crate::store::tasks::assignments::Assignment;
use crate::store::tasks::leases::Lease;
use crate::store::{instances, tasks};

/// Whether the instance's row exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// Not yet: it is inserted when the burst has ended.
    New {
        /// Whether its id or activation key may be taken.
        may_be_taken: bool,
    },
    /// Locked by this transaction.
    Stored,
}

/// How a burst ended.
#[derive(Debug, PartialEq, Eq)]
pub enum BurstEnd {
    /// What it changed is in the tables. What it set off is still to be done, as follow-ups of the call.
    Saved,
    /// Not saved: the id or activation key of a new instance is taken. Nothing is left of the instance.
    Taken,
    /// Not saved: the burst turned away the request that it served. The caller undoes what the burst did.
    TurnedAway,
}

/// A bookmark that is being used up.
#[derive(Clone, Copy)]
pub struct Consumed<'a> {
    /// The bookmark as it was read under the lock of its instance.
    pub bookmark: &'a Bookmark,
    /// What it waits for.
    pub kind: BookmarkKind,
    /// How workers stand to its task, if it has one.
    pub lease: &'a Lease,
    /// Whether its row is locked.
    pub is_locked: bool,
    /// How its task ends then.
    pub answer: Answer<'a>,
    /// Whether it is resumed because it was due.
    pub by_time: bool,
    /// Whether its row is gone already. Otherwise the save takes the row if it has `auto_burn`, and leaves any other.
    pub is_taken: bool,
}

/// The stored row before the burst.
pub struct RowBefore {
    /// The key by which it excluded other instances; `None`: it excluded none.
    pub activation_key: Option<String>,
    /// Bookmarks that are stored for it.
    pub bookmarks: u32,
    /// Whether it ever had an incident.
    pub faulted: bool,
    /// Executions that were faulted, if it ever had an incident.
    pub faults: Vec<Uuid>,
    /// Whether the instance was faulted, so that none of its bookmarks was fired.
    pub was_held: bool,
}

impl RowBefore {
    /// What is to be remembered of a row.
    pub fn of(row: &InstanceRow) -> Self {
        let instance = &row.instance;
        let faulted = instance.incident_count > 0;
        Self {
            activation_key: row.activation_key.clone(),
            bookmarks: instance.state.bookmarks(),
            faulted,
            faults: if faulted { incidents::faulted_executions(instance) } else { Vec::new() },
            was_held: instance.sub_status == SubStatus::Faulted,
        }
    }
}

/// *Clear*: removes what the burst ended. This comes before new rows are written, because an execution that ran again may have
/// new bookmarks. The resumed bookmark is taken first then.
pub fn clear<'a>(
    session: &Session,
    row: &InstanceRow,
    before: &RowBefore,
    delta: &Delta,
    mut resumed: Option<Consumed<'a>>,
) -> Option<Consumed<'a>> {
    let instance = &row.instance;
    if let Some(taking) = resumed.filter(|taking| taking.kind == BookmarkKind::Lease) {
        tasks::fail_of(&taking.bookmark.activity_instance_id, &instance.id, session.timestamp());
    }
    let own = resumed.map(|taking| taking.bookmark.id);
    let burned: Vec<Uuid> = delta.burned.iter().copied().filter(|id| Some(*id) != own).collect();
    // If the only stored bookmark is the one that the resume uses up, there is nothing to clear.
    let others = before.bookmarks > u32::from(resumed.is_some_and(|taking| taking.bookmark.auto_burn));
    let all = delta.clear_all && others;
    let correlates = delta.changed.correlation_id && others;
    if !all && !correlates && burned.is_empty() && delta.cleared.is_empty() {
        return resumed;
    }
    if let Some(taking) = &mut resumed
        && taking.bookmark.auto_burn
        && !taking.is_taken
        && !delta.keep_resumed
    {
        rows::write(|writer| bookmarks::take(writer, taking.bookmark, taking.is_locked, session.timestamp()));
        taking.is_taken = true;
    }
    // Before the rows of the leases are gone.
    limits::note_ends_of(instance.id);
    let mut unused = if burned.is_empty() { Vec::new() } else { bookmarks::delete(&burned) };
    if all {
        unused.extend(bookmarks::delete_all(instance.id, own));
    } else if !delta.cleared.is_empty() {
        unused.extend(bookmarks::delete_of_activities(instance.id, &delta.cleared, own));
    }
    if !unused.is_empty() {
        tasks::cancel_answered(&unused);
    }
    if correlates {
        bookmarks::correlate(instance.id, instance.correlation_id.as_deref());
        tasks::correlate(instance.id, instance.correlation_id.as_deref());
    }
    tasks::close_orphans(instance.id, own, session.timestamp());
    resumed
}

/// What the journal records of a burst beside its events.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    /// What someone did.
    pub act: Option<&'a Act>,
    /// The number of the first row.
    pub seq: u32,
}

/// *Write*: the instance, its bookmarks, tasks and journal row, as one command. Says whether anything is in the queue.
/// `None`: nothing was written, because the id or activation key is taken. `owner` is that of the definition.
pub fn write(
    row: &InstanceRow,
    owner: &Owner,
    state: RowState,
    before: &RowBefore,
    delta: &Delta,
    resumed: Option<Consumed<'_>>,
    Recorded { act, seq }: Recorded<'_>,
    now: Timestamp,
) -> Option<bool> {
    if state == (RowState::New { may_be_taken: true }) && !instances::insert_unless_taken(row, now) {
        return None;
    }
    let opened: Vec<Lease> = delta.tasks.iter().map(unclaimed).collect();
    Some(rows::write(|writer| {
        write_instance(writer, row, state, before, delta, now);
        write_bookmarks(writer, row, owner, delta, &opened, now);
        write_resumed(writer, row, owner, delta, resumed, now);
        let has_queue = queue::has_any(writer);
        write_tasks(writer, row, delta, resumed, act, now);
        journal::append(writer, &row.instance.id, seq, act, &delta.events, now);
        has_queue
    }))
}

/// Writes the instance, unless it has been inserted already.
fn write_instance(
    writer: &mut Writer,
    row: &InstanceRow,
    state: RowState,
    before: &RowBefore,
    delta: &Delta,
    now: Timestamp,
) {
    match state {
        RowState::New { may_be_taken: true } => {}
        RowState::New { may_be_taken: false } => instances::insert(writer, row, now),
        RowState::Stored => {
            // A schedule shows how long its runs took, so the end of a run is read from the clock.
            let ended = if row.schedule_id.is_some() { clock::now().into() } else { now };
            instances::update(writer, row, &delta.changed, before.activation_key.as_deref(), ended);
        }
    }
}

/// Writes the new bookmarks of the instance. `opened` has the leases of its new tasks.
fn write_bookmarks(
    writer: &mut Writer,
    row: &InstanceRow,
    definition_owner: &Owner,
    delta: &Delta,
    opened: &[Lease],
    now: Timestamp,
) {
    // Both are in the order in which they were made.
    let mut tasks = delta.tasks.iter().zip(opened).peekable();
    let other = Lease::default();
    for bookmark in &delta.created {
        let task = tasks.next_if(|(task, _)| task.bookmark_id == bookmark.id);
        let lease = task.map_or(&other, |(_, lease)| lease);
        bookmarks::insert(writer, bookmark, lease, row, Some(definition_owner), now);
    }
    debug_assert!(tasks.next().is_none(), "each task has a bookmark");
}

/// A task that workers may claim at once.
fn unclaimed(task: &NewTask) -> Lease {
    // A role may have been dropped since the activity asked for it.
    let assignment = task.for_people.as_ref().map(|given| Assignment::of(given).unwrap_or_else(|error| unwind(error)));
    Lease {
        priority: task.priority,
        attempt: i32::try_from(task.attempts).unwrap_or(i32::MAX),
        assignment: assignment.flatten(),
        ..Lease::default()
    }
}

/// Uses the resumed bookmark up, or inserts it again if its activity faulted.
fn write_resumed(
    writer: &mut Writer,
    row: &InstanceRow,
    definition_owner: &Owner,
    delta: &Delta,
    resumed: Option<Consumed<'_>>,
    now: Timestamp,
) {
    let Some(Consumed { bookmark, lease, is_locked, is_taken, .. }) = resumed else { return };
    match (delta.keep_resumed, is_taken) {
        (false, false) if bookmark.auto_burn => bookmarks::take(writer, bookmark, is_locked, now),
        (true, true) if is_locked => {
            bookmarks::insert(writer, bookmark, lease, row, Some(definition_owner), now);
        }
        // A worker may have claimed the task since it was read, and given it back: an older token must not count again.
        (true, true) => {
            let given_back = Lease { token: None, until: None, worker: None, ..lease.clone() };
            bookmarks::insert(writer, bookmark, &given_back, row, Some(definition_owner), now);
        }
        _ => {}
    }
}

/// Closes the resumed task and opens the new ones.
fn write_tasks(
    writer: &mut Writer,
    row: &InstanceRow,
    delta: &Delta,
    resumed: Option<Consumed<'_>>,
    act: Option<&Act>,
    now: Timestamp,
) {
    if let Some(taking) = resumed.filter(|taking| taking.kind.is_task() && !delta.keep_resumed) {
        let by = act.map(|act| &act.by);
        tasks::close(writer, &taking.bookmark.id, taking.lease, taking.answer, by, now);
        limits::note_end(bookmarks::task_name(taking.bookmark), taking.lease);
    }
    let instance = &row.instance;
    for task in &delta.tasks {
        tasks::insert(writer, task, &instance.id, instance.correlation_id.as_deref(), now);
    }
}

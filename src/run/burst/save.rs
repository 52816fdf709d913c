//! The two phases of a burst that change its own rows: what it ended is cleared, and then the rest is written.

use uuid::Uuid;
use workflow_engine::execution::{Delta, NewTask};
use workflow_engine::journal::Act;
use workflow_plan::{Entry, Plan, Resumed, ResumedRow};

use crate::clock;
use crate::pg::error::throw;
use crate::pg::rows::{self, Writer};
use crate::pg::spi::Timestamp;
use crate::run::CallContext;
use crate::run::tasks::limits;
use crate::store::events::queue;
use crate::store::history::journal;
use crate::store::instances::InstanceRow;
use crate::store::instances::bookmarks;
use crate::store::rights::owners::Owner;
use crate::store::tasks::assignments::Assignment;
use crate::store::tasks::leases::Lease;
use crate::store::tasks::{Answer, Answerer};
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
    /// The bookmark, and how it is resumed.
    pub resumed: Resumed<'a>,
    /// How workers stand to its task, if it has one.
    pub lease: &'a Lease,
    /// How its task ends then.
    pub answer: Answer<'a>,
    /// The absent person in whose place a substitute has answered, as rows name people.
    pub in_place_of: Option<&'a str>,
}

/// *Clear*: removes what the burst ended. This comes before new rows are written, because an execution that ran again may have
/// new bookmarks. The resumed bookmark is taken first then.
pub fn clear(context: &CallContext, row: &InstanceRow, plan: &Plan, delta: &Delta, resumed: Option<Resumed<'_>>) {
    let (instance, now) = (&row.instance, context.timestamp());
    if let (true, Some(ended)) = (plan.uses(Entry::LeaseEnd), resumed) {
        tasks::fail_of(&ended.bookmark.activity_instance_id, &instance.id, now);
    }
    if plan.uses(Entry::RaisedTasks) {
        delta.raised_tasks.iter().for_each(tasks::raise);
    }
    let (ends_others, correlates) = (plan.uses(Entry::EndedBookmarks), plan.uses(Entry::Correlation));
    if !ends_others && !correlates {
        return;
    }
    if let (ResumedRow::DeletedFirst, Some(resumed)) = (plan.resumed, resumed) {
        rows::write(|writer| bookmarks::take(writer, resumed.bookmark, resumed.is_locked, now));
    }
    // Before the rows of the leases are gone.
    limits::wake_waiters_of(instance.id);
    let own = resumed.map(|resumed| resumed.bookmark.id);
    delta.ended_tasks.iter().for_each(|ended| tasks::end(ended, now));
    if ends_others {
        delete_ended(instance.id, plan, delta, own);
    }
    if correlates {
        bookmarks::correlate(instance.id, instance.correlation_id.as_deref());
        tasks::correlate(instance.id, instance.correlation_id.as_deref());
    }
    tasks::close_orphans(instance.id, own, now);
}

/// Deletes the bookmarks that the burst ended, and marks tasks whose stored answers were among them. `own` is resumed.
fn delete_ended(instance: Uuid, plan: &Plan, delta: &Delta, own: Option<Uuid>) {
    let mut unused = if plan.burned.is_empty() { Vec::new() } else { bookmarks::delete(&plan.burned) };
    if plan.clears_all {
        unused.extend(bookmarks::delete_all(instance, own));
    } else if !delta.cleared.is_empty() {
        unused.extend(bookmarks::delete_of_activities(instance, &delta.cleared, own));
    }
    if !unused.is_empty() {
        tasks::cancel_answered(instance, &unused);
    }
}

/// *Write*: the instance, its bookmarks, tasks and journal row, as one command. Says whether anything is in the queue.
/// `None`: nothing was written, because the id or activation key is taken. `owner` is that of the definition.
pub fn write(
    row: &InstanceRow,
    owner: &Owner,
    state: RowState,
    plan: &Plan,
    delta: &Delta,
    consumed: Option<Consumed<'_>>,
    act: Option<&Act>,
    now: Timestamp,
) -> Option<bool> {
    if state == (RowState::New { may_be_taken: true }) && !instances::insert_unless_taken(row, now) {
        return None;
    }
    let opened: Vec<Lease> = delta.tasks.iter().map(unclaimed).collect();
    Some(rows::write(|writer| {
        write_instance(writer, row, state, plan, delta, now);
        write_bookmarks(writer, row, owner, delta, &opened, now);
        write_resumed(writer, row, owner, plan.resumed, consumed, now);
        let has_queue = queue::has_any(writer);
        write_tasks(writer, row, plan, delta, consumed, act, now);
        journal::append(writer, &row.instance.id, plan.journal.start, act, &delta.events, now);
        has_queue
    }))
}

/// Writes the instance, unless it has been inserted already.
fn write_instance(writer: &mut Writer, row: &InstanceRow, state: RowState, plan: &Plan, delta: &Delta, now: Timestamp) {
    match state {
        RowState::New { may_be_taken: true } => {}
        RowState::New { may_be_taken: false } => instances::insert(writer, row, now),
        RowState::Stored => {
            // A schedule shows how long its runs took, so the end of a run is read from the clock.
            let ended = if row.schedule_id.is_some() { clock::now().into() } else { now };
            instances::update(writer, row, &delta.changed, plan.uses(Entry::ActivationKey), ended);
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
    let assignment = task.for_people.as_ref().map(|given| Assignment::of(given).unwrap_or_else(|error| throw(error)));
    Lease {
        priority: task.priority,
        attempt: i32::try_from(task.attempts).unwrap_or(i32::MAX),
        assignment: assignment.flatten(),
        ..Lease::default()
    }
}

/// Deletes the resumed bookmark, or inserts it again if its activity faulted.
fn write_resumed(
    writer: &mut Writer,
    row: &InstanceRow,
    definition_owner: &Owner,
    change: ResumedRow,
    consumed: Option<Consumed<'_>>,
    now: Timestamp,
) {
    let Some(Consumed { resumed: Resumed { bookmark, is_locked, .. }, lease, .. }) = consumed else { return };
    match change {
        ResumedRow::Deleted => bookmarks::take(writer, bookmark, is_locked, now),
        ResumedRow::Restored => bookmarks::insert(writer, bookmark, lease, row, Some(definition_owner), now),
        ResumedRow::RestoredUnclaimed => {
            let unclaimed = Lease { token: None, until: None, worker: None, ..lease.clone() };
            bookmarks::insert(writer, bookmark, &unclaimed, row, Some(definition_owner), now);
        }
        ResumedRow::DeletedFirst | ResumedRow::Stays => {}
    }
}

/// Closes the resumed task and opens the new ones.
fn write_tasks(
    writer: &mut Writer,
    row: &InstanceRow,
    plan: &Plan,
    delta: &Delta,
    consumed: Option<Consumed<'_>>,
    act: Option<&Act>,
    now: Timestamp,
) {
    if let (true, Some(Consumed { resumed, lease, answer, in_place_of })) = (plan.uses(Entry::TaskEnd), consumed) {
        let who = Answerer { by: act.map(|act| &act.by), in_place_of };
        tasks::close(writer, resumed.bookmark, lease, answer, who, now);
        limits::wake_waiters(bookmarks::task_name(resumed.bookmark), lease);
    }
    let instance = &row.instance;
    for task in &delta.tasks {
        tasks::insert(writer, task, &instance.id, instance.correlation_id.as_deref(), now);
    }
}

//! What a burst changed, into the tables.

use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::execution::{Delta, activity_instance_id};
use workflow_engine::instance::{ActivityStatus, Instance, Status, SubStatus, codec};

use crate::program::Compiled;
use crate::run::burst::{Before, RowState, Taking, stored_bookmarks};
use crate::run::{Session, activation_key};
use crate::store::batch::{Batch, Written};
use crate::store::instances::InstanceRow;
use crate::store::{bookmarks, incidents, instances, journal, schedules, tasks};
use crate::{clock, guc};

/// Saves what a burst changed and says whether anything is in the queue. `None`: nothing was saved.
pub fn save(
    session: &mut Session,
    row: &mut InstanceRow,
    compiled: &Compiled,
    state: RowState,
    before: &Before,
    delta: &Delta,
    resumed: Option<Taking<'_>>,
) -> Option<bool> {
    let seq = row.instance.state.next_journal;
    row.instance.state.next_journal += journal::rows_for(delta.events.len());
    row.activation_key = match row.instance.sub_status {
        SubStatus::Pending | SubStatus::Executing | SubStatus::Suspended => {
            activation_key(&compiled.program, row.instance.correlation_id.as_deref())
        }
        SubStatus::Finished | SubStatus::Faulted | SubStatus::Cancelled => None,
    };
    let resumed = clear(session, row, before, delta, resumed);
    let written = write(session, row, state, before, delta, &delta.created, resumed, seq);
    if !written.is_done {
        return None;
    }
    save_incidents(session, row, before, delta);
    if let Some(schedule) = row.schedule_id
        && row.instance.sub_status.status() == Status::Finished
    {
        schedules::ended(schedule, session.timestamp());
    }
    let all_new = stored_bookmarks(&row.instance) as usize == delta.created.len();
    row.open = all_new.then(|| delta.created.clone());
    Some(written.has_queue)
}

/// Removes what the burst ended. That comes before new rows: an execution that runs again may have made new
/// bookmarks. The resumed bookmark is taken first then.
fn clear<'a>(
    session: &Session,
    row: &InstanceRow,
    before: &Before,
    delta: &Delta,
    mut resumed: Option<Taking<'a>>,
) -> Option<Taking<'a>> {
    let instance = &row.instance;
    let own = resumed.map(|taking| taking.bookmark.id);
    let burned: Vec<Uuid> = delta.burned.iter().copied().filter(|id| Some(*id) != own).collect();
    // Where nothing else waited, there is nothing to clear.
    let others = before.bookmarks > u32::from(resumed.is_some());
    let all = delta.clear_all && others;
    let correlates = delta.changed.correlation_id && others;
    if !all && !correlates && burned.is_empty() && delta.cleared.is_empty() {
        return resumed;
    }
    if let Some(taking) = resumed.as_mut().filter(|taking| !taking.is_taken && !delta.keep_resumed) {
        if taking.bookmark.auto_burn {
            bookmarks::take(taking.bookmark.id);
        }
        taking.is_taken = true;
    }
    if !burned.is_empty() {
        bookmarks::delete(&burned);
    }
    if all {
        bookmarks::delete_all(instance.id);
    } else if !delta.cleared.is_empty() {
        bookmarks::delete_of_activities(instance.id, &delta.cleared);
    }
    if correlates {
        bookmarks::correlate(instance.id, instance.correlation_id.as_deref());
        tasks::correlate(instance.id, instance.correlation_id.as_deref());
    }
    tasks::close_orphans(instance.id, own, session.timestamp());
    resumed
}

/// Writes the instance, its journal and what is new: in one statement, unless there is too much of it.
#[allow(clippy::too_many_arguments)]
fn write(
    session: &Session,
    row: &InstanceRow,
    state: RowState,
    before: &Before,
    delta: &Delta,
    created: &[Bookmark],
    resumed: Option<Taking<'_>>,
    seq: u32,
) -> Written {
    let now = session.timestamp();
    let instance = &row.instance;
    let correlation_id = instance.correlation_id.as_deref();
    let packed_state = codec::encode_state(&instance.state);
    let (packed_events, more_events) = journal::split(&delta.events);
    let mut batch = Batch::default();
    if let Some(taking) = resumed.filter(|taking| taking.bookmark.auto_burn && !delta.keep_resumed && !taking.is_taken)
    {
        bookmarks::push_take(&mut batch, &taking.bookmark.id);
    }
    match state {
        RowState::New { may_be_taken } => {
            instances::push_insert(&mut batch, row, &packed_state, now, may_be_taken);
        }
        RowState::Stored => {
            let key = before.activation_key.as_deref();
            // How long a run took is what schedules are asked for.
            let ended = if row.schedule_id.is_some() { clock::now().into() } else { now };
            instances::push_update(&mut batch, row, &packed_state, &delta.changed, key, ended);
        }
    }
    journal::push(&mut batch, &instance.id, seq, &packed_events, now);
    if let Some(taking) = resumed.filter(|taking| is_task(taking.bookmark) && !delta.keep_resumed) {
        tasks::push_complete(&mut batch, &taking.bookmark.id, taking.input, now);
    }
    let fit = |pushed: &bool| *pushed;
    let bookmarks_in = created
        .iter()
        .map(|bookmark| bookmarks::push_insert(&mut batch, bookmark, &instance.id, correlation_id, now))
        .take_while(fit)
        .count();
    let tasks_in = delta
        .tasks
        .iter()
        .map(|task| tasks::push_insert(&mut batch, task, &instance.id, correlation_id, now))
        .take_while(fit)
        .count();
    let written = batch.run();
    if written.is_done {
        for bookmark in &created[bookmarks_in..] {
            bookmarks::insert(bookmark, &instance.id, correlation_id, now);
        }
        for task in &delta.tasks[tasks_in..] {
            tasks::insert(task, &instance.id, correlation_id, now);
        }
        journal::append(instance.id, seq + 1, more_events, now);
        if let Some(taking) =
            resumed.filter(|taking| taking.is_taken && taking.bookmark.auto_burn && delta.keep_resumed)
        {
            bookmarks::insert(taking.bookmark, &instance.id, correlation_id, now);
        }
        if guc::notify_tasks() {
            delta.tasks.iter().for_each(|task| tasks::announce(&task.name));
        }
    }
    written
}

/// One that is put off has opened no task yet: its bookmark has another name.
fn is_task(bookmark: &Bookmark) -> bool {
    bookmark.activity_type == "Elsa.RunTask" && bookmark.name == bookmark.activity_type && bookmark.auto_burn
}

fn save_incidents(session: &mut Session, row: &InstanceRow, before: &Before, delta: &Delta) {
    let now = session.timestamp();
    if before.faulted {
        // One that was retried and faulted again has a new incident.
        let again: Vec<Uuid> = delta.incidents.iter().map(|incident| incident.activity_instance_id).collect();
        let mut still = faulted_executions(&row.instance);
        still.retain(|execution| !again.contains(execution));
        incidents::resolve(row.instance.id, &still, now);
    }
    for incident in &delta.incidents {
        let id = session.new_id();
        incidents::insert(id, row.instance.id, incident, now);
    }
}

fn faulted_executions(instance: &Instance) -> Vec<Uuid> {
    let contexts = instance.state.contexts.iter();
    contexts
        .filter(|(_, context)| context.status == ActivityStatus::Faulted)
        .map(|(sequence, _)| activity_instance_id(instance.id, *sequence))
        .collect()
}

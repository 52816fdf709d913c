//! One burst and all it leaves behind.

use uuid::Uuid;
use workflow_engine::execution::{Delta, activity_instance_id};
use workflow_engine::instance::{ActivityStatus, Instance, SubStatus};
use workflow_engine::{Bookmark, Error, Host, Limits, Program};

use crate::host::SpiHost;
use crate::pg::error::{catch, unwind};
use crate::pg::{PgError, user_sql};
use crate::program::Compiled;
use crate::run::{Publisher, Session, Work, activation_key, running, warn_faulted};
use crate::store::instances::InstanceRow;
use crate::store::{bookmarks, incidents, instances, journal, queue, tasks};
use crate::{access, error, guc};

/// Whether a fault is stored or given to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// It becomes an incident, and a WARNING.
    Store,
    /// It is raised as it was; nothing of the call is kept.
    Raise,
}

/// Whether the instance's row is there.
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
pub enum Ended {
    /// Saved.
    Saved,
    /// Not saved, and nothing of it is left: the id or activation key of a new instance is taken.
    Taken,
}

/// A burst to be run.
pub struct Burst<'a> {
    /// The instance, locked or new.
    pub row: &'a mut InstanceRow,
    /// Its definition.
    pub compiled: &'a Compiled,
    /// Whether the row is there.
    pub state: RowState,
    /// What a fault does.
    pub on_fault: OnFault,
    /// The bookmark that was taken for this burst.
    pub resumed: Option<&'a Bookmark>,
}

struct Before {
    activation_key: Option<String>,
    bookmarks: u32,
    faulted: bool,
}

/// Runs a burst and saves what it changed.
pub fn run(
    session: &mut Session,
    burst: Burst<'_>,
    body: impl FnOnce(&Program, &mut Instance, &mut dyn Host, &Limits) -> Result<Delta, Error>,
) -> Result<Ended, PgError> {
    session.count_burst()?;
    let Burst { row, compiled, state, on_fault, resumed } = burst;
    let id = row.instance.id;
    let before = Before {
        activation_key: row.activation_key.clone(),
        bookmarks: stored_bookmarks(&row.instance),
        faulted: row.instance.incident_count > 0,
    };
    let mut host = SpiHost::new(session.now, id, compiled);
    let outcome = {
        let _mark = running::Mark::set(id);
        catch(|| body(&compiled.program, &mut row.instance, &mut host, &session.limits))
    };
    let delta = match outcome {
        Ok(Ok(delta)) => delta,
        Ok(Err(failed)) => {
            host.abandon();
            return Err(error::burst(failed, id));
        }
        Err(caught) => {
            host.abandon();
            unwind(caught);
        }
    };
    if let (OnFault::Raise, Some(incident)) = (on_fault, delta.incidents.first()) {
        return Err(host.original(&incident.fault));
    }
    if !save(session, row, compiled, state, &before, &delta, resumed) {
        return Ok(Ended::Taken);
    }
    if row.instance.sub_status == SubStatus::Faulted
        && let Some(incident) = delta.incidents.last()
    {
        warn_faulted(id, &incident.activity_id, &host.original(&incident.fault));
    }
    collect_work(session, row, compiled, &before, delta);
    Ok(Ended::Saved)
}

/// Bookmarks that are stored for an instance, as its contexts count them.
pub fn stored_bookmarks(instance: &Instance) -> u32 {
    instance.state.contexts.values().map(|context| context.bookmarks).sum()
}

fn save(
    session: &mut Session,
    row: &mut InstanceRow,
    compiled: &Compiled,
    state: RowState,
    before: &Before,
    delta: &Delta,
    resumed: Option<&Bookmark>,
) -> bool {
    let now = session.timestamp();
    let id = row.instance.id;
    let seq = row.instance.state.next_journal;
    row.instance.state.next_journal += journal::rows_for(delta.events.len());
    row.activation_key = match row.instance.sub_status {
        SubStatus::Pending | SubStatus::Executing | SubStatus::Suspended => {
            activation_key(&compiled.program, row.instance.correlation_id.as_deref())
        }
        SubStatus::Finished | SubStatus::Faulted | SubStatus::Cancelled => None,
    };
    match state {
        RowState::New { may_be_taken } => {
            if !instances::insert(row, now, may_be_taken) {
                return false;
            }
        }
        RowState::Stored => instances::update(row, &delta.changed, before.activation_key.as_deref(), now),
    }
    save_bookmarks(session, row, before, delta, resumed);
    save_incidents(session, row, before, delta);
    journal::append(id, seq, &delta.events, now);
    true
}

fn save_bookmarks(session: &Session, row: &InstanceRow, before: &Before, delta: &Delta, resumed: Option<&Bookmark>) {
    let now = session.timestamp();
    let instance = &row.instance;
    let correlation_id = instance.correlation_id.as_deref();
    let burned: Vec<Uuid> = delta.burned.iter().copied().filter(|id| Some(*id) != resumed.map(|taken| taken.id)).collect();
    if !burned.is_empty() {
        bookmarks::delete(&burned);
    }
    // Where nothing else waited, there is nothing to clear.
    let others = before.bookmarks > u32::from(resumed.is_some());
    if delta.clear_all && others {
        bookmarks::delete_all(instance.id);
    } else if !delta.cleared.is_empty() {
        bookmarks::delete_of_activities(instance.id, &delta.cleared);
    }
    if delta.changed.correlation_id && others {
        bookmarks::correlate(instance.id, correlation_id);
        tasks::correlate(instance.id, correlation_id);
    }
    if let (true, Some(taken)) = (delta.keep_resumed, resumed.filter(|taken| taken.auto_burn)) {
        bookmarks::insert(taken, instance.id, correlation_id, now);
        tasks::reopen(taken.id);
    }
    for bookmark in &delta.created {
        match &bookmark.callback {
            None => bookmarks::insert(bookmark, instance.id, correlation_id, now),
            Some(callback) => {
                // The name as the search path finds it now; a resume may come under another one.
                let callback = user_sql::resolve_function(callback).unwrap_or_else(|| callback.clone());
                let bookmark = Bookmark { callback: Some(callback), ..bookmark.clone() };
                bookmarks::insert(&bookmark, instance.id, correlation_id, now);
            }
        }
    }
    for task in &delta.tasks {
        tasks::insert(task, instance.id, correlation_id, now);
        if guc::notify_tasks() {
            tasks::announce(&task.name);
        }
    }
    if (delta.clear_all && others) || !delta.cleared.is_empty() || !burned.is_empty() {
        tasks::close_orphans(instance.id, now);
    }
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

/// What the burst set off: queued stimuli that its bookmarks meet, deferred ones, published ones.
fn collect_work(session: &mut Session, row: &InstanceRow, compiled: &Compiled, before: &Before, delta: Delta) {
    let instance = &row.instance;
    let is_held = instance.sub_status == SubStatus::Faulted;
    // A new correlation id matches other stimuli, and while the instance was faulted they were held.
    if !is_held && (delta.changed.correlation_id || before.faulted) {
        for stored in bookmarks::of_instance(instance.id) {
            meet(session, &stored.bookmark, row, compiled);
        }
    } else if !is_held {
        for bookmark in &delta.created {
            meet(session, bookmark, row, compiled);
        }
    }
    if running::may_have_deferred() {
        let deferred = queue::take_deferred(instance.id);
        session.work.extend(deferred.into_iter().map(|item| Work::Item(Box::new(item))));
    }
    let publisher = Publisher { instance: instance.id, owner: row.owner.clone() };
    let stimuli = delta.stimuli.into_iter();
    let stimuli = stimuli.map(|stimulus| Work::Published(Box::new(stimulus), publisher.clone()));
    session.work.extend(stimuli);
}

/// Asks the queue whether somebody already wanted this bookmark. Items are met oldest first, one a bookmark.
fn meet(session: &mut Session, bookmark: &Bookmark, row: &InstanceRow, compiled: &Compiled) {
    if queue::is_empty() {
        return;
    }
    let shapes = queue::shapes();
    let (id, correlation_id) = (row.instance.id, row.instance.correlation_id.as_deref());
    let mut skip = Vec::new();
    while let Some(item) = queue::oldest_for(bookmark, id, correlation_id, &shapes, session.timestamp(), &skip) {
        // A sender without the right to resume is passed over; what somebody else holds, they deliver.
        let may = item.sender.role().is_some_and(|sender| access::may_resume(sender, row, compiled));
        if may && queue::take(item.id) {
            session.work.push_back(Work::Item(Box::new(item)));
            return;
        }
        skip.push(item.id);
    }
}

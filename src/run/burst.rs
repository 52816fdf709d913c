//! Running one burst, and saving all that it leaves behind.

use workflow_engine::execution::Delta;
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::journal::{Act, EventKind};
use workflow_engine::{Error, Host, Limits, Program};

use crate::access::{Operation, instance};
use crate::compiled::Compiled;
use crate::pg::PgError;
use crate::pg::error::{catch, unwind};
use crate::pg::spi::Timestamp;
use crate::run::burst::host::SpiHost;
use crate::run::burst::save::{BurstEnd, Consumed, RowBefore, RowState};
use crate::run::call::notices::tell_how_to_fire;
use crate::run::call::session::FollowUp;
use crate::run::call::{isolated, running};
use crate::run::events::{deliver, queued};
use crate::run::history::acts;
use crate::run::instances::create::forget_deferred;
use crate::run::instances::{abandoned, children, continued};
use crate::run::repair::incidents;
use crate::run::{Session, http};
use crate::store::events::{matching, queue};
use crate::store::instances::InstanceRow;
use crate::{error, wake};

pub mod consume;
pub mod host;
pub mod save;

/// Whether a fault is stored or given to the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFault {
    /// It becomes an incident, and a WARNING.
    #[default]
    Store,
    /// It is raised as the original error; nothing of the call is kept.
    Raise,
}

/// A burst to be run.
pub struct StoredBurst<'a> {
    /// The instance, locked or new.
    pub row: &'a mut InstanceRow,
    /// The definition version that the row names, ready to run.
    pub compiled: &'a Compiled,
    /// Whether the row exists.
    pub state: RowState,
    /// What a fault does.
    pub on_fault: OnFault,
    /// The bookmark that the burst resumes.
    pub resumed: Option<Consumed<'a>>,
    /// What someone did, which the burst records; `None`: the engine runs it.
    pub act: Option<Act>,
}

/// Runs a burst and saves what it changed.
pub fn run(
    session: &mut Session,
    burst: StoredBurst<'_>,
    body: impl FnOnce(&Program, &mut Instance, &mut dyn Host, &Limits) -> Result<Delta, Error>,
) -> Result<BurstEnd, PgError> {
    session.count_burst()?;
    let StoredBurst { row, compiled, state, on_fault, resumed, mut act } = burst;
    if let Some(act) = act.as_ref().filter(|act| acts::needs_actor(act, resumed.as_ref())) {
        acts::require_actor(&act.by, compiled)?;
    }
    let id = row.instance.id;
    let before = RowBefore::of(row);
    let mut host = SpiHost::new(session.now, id, &row.owner, compiled);
    let settings = isolated::enter_settings(session, &row.owner, compiled);
    if !session.has_caller() || settings.are_servers() {
        host = host.without_caller();
    }
    let request = session.http.request_for(id);
    let is_served = request.is_some();
    if let Some(request) = request {
        host = host.serving(request, &row.owner);
    }
    let outcome = {
        let limits = settings.limits(session);
        let _mark = running::Mark::set(id);
        catch(|| body(&compiled.program, &mut row.instance, &mut host, &limits))
    };
    settings.leave();
    let mut delta = match outcome {
        Ok(Ok(delta)) => delta,
        Ok(Err(failed)) => {
            host.abandon();
            let error = error::burst(failed, id);
            return Err(if instance::allows(Operation::Read, row, compiled) {
                error
            } else {
                PgError { detail: None, ..error }
            });
        }
        Err(caught) => {
            host.abandon();
            unwind(caught);
        }
    };
    if is_served && !http::note_answer(session, id, &mut delta) {
        return Ok(BurstEnd::TurnedAway);
    }
    if let (OnFault::Raise, Some(incident)) = (on_fault, delta.incidents.first()) {
        return Err(incidents::raised(row, compiled, host.original(&incident.fault)));
    }
    let abandoned = abandoned::children(session, id, &delta, resumed);
    let saved = {
        // Row triggers on the tables see the instance half written, so they count as inside its burst.
        let _mark = running::Mark::set(id);
        save::save(session, row, compiled, state, &before, &delta, resumed, act.as_mut())
    };
    let Some(has_queue) = saved else {
        forget_deferred(id);
        return Ok(BurstEnd::Taken);
    };
    if let Some(next) = delta.continuation.take() {
        continued::create(session, row, compiled, *next, has_queue)?;
    }
    // The caller of a burst in which no activity ran knows what it has altered.
    let has_run = delta.events.iter().any(|event| event.kind != EventKind::Altered);
    if row.instance.sub_status == SubStatus::Faulted && has_run {
        incidents::warn(row, compiled, &host, &delta);
    }
    session.follow_ups.extend(abandoned.into_iter().map(|child| FollowUp::Cancel(child, row.owner.clone())));
    collect_work(session, row, compiled, &before, delta, has_queue)?;
    Ok(BurstEnd::Saved)
}

/// Collects what the burst set off: queued stimuli that match its bookmarks, deferred ones, a report, children, and
/// published stimuli.
fn collect_work(
    session: &mut Session,
    row: &mut InstanceRow,
    compiled: &Compiled,
    before: &RowBefore,
    delta: Delta,
    has_queue: bool,
) -> Result<(), PgError> {
    if delta.created.iter().any(|bookmark| bookmark.due_at.is_some()) {
        tell_how_to_fire();
    }
    let instance = &row.instance;
    if before.was_held && instance.sub_status != SubStatus::Faulted {
        // Workers passed over the bookmarks that came due while the instance was faulted.
        wake::note_due(Timestamp(i64::MIN));
    }
    let is_held = instance.sub_status == SubStatus::Faulted || row.paused_at.is_some() || !has_queue;
    // A new correlation id matches other stimuli; and stimuli for a faulted or paused instance stay in the queue.
    if !is_held && (delta.changed.correlation_id || before.faulted) {
        for stored in matching::of_instance(instance.id) {
            queued::meet(session, &stored.bookmark, row)?;
        }
    } else if !is_held {
        for bookmark in &delta.created {
            queued::meet(session, bookmark, row)?;
        }
    }
    if running::may_have_deferred() {
        let deferred = queue::take_deferred(instance.id);
        session.follow_ups.extend(deferred.into_iter().map(|item| FollowUp::Item(Box::new(item))));
    }
    children::note_end(session, row)?;
    if !delta.children.is_empty() || !delta.stimuli.is_empty() {
        deliver::collect_published(session, row, compiled, delta.children, delta.stimuli);
    }
    let all_new = row.instance.state.bookmarks() as usize == delta.created.len();
    row.open = all_new.then_some(delta.created);
    Ok(())
}

//! Running one burst, and saving all that it leaves behind.

use uuid::Uuid;
use workflow_engine::child::NewChild;
use workflow_engine::execution::{Delta, Published};
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::journal::{Act, ActKind, EventKind};
use workflow_engine::{Bookmark, Error, Host, Limits, Program};

use crate::access::hearing::{Hearing, Verdict};
use crate::access::{Operation, instance};
use crate::compiled::Compiled;
use crate::pg::PgError;
use crate::pg::error::{catch, unwind, warning};
use crate::pg::spi::Timestamp;
use crate::run::Session;
use crate::run::burst::host::SpiHost;
use crate::run::burst::save::{BurstEnd, Consumed, RowBefore, RowState};
use crate::run::call::notices::{tell_how_to_fire, warn_faulted};
use crate::run::call::session::{FollowUp, Publisher, RequestFault};
use crate::run::call::{isolated, running};
use crate::run::history::acts;
use crate::run::instances::create::forget_deferred;
use crate::run::instances::{abandoned, children, continued};
use crate::store::events::queue::WantedBookmark;
use crate::store::events::{matching, queue};
use crate::store::instances;
use crate::store::instances::InstanceRow;
use crate::store::repair::incidents;
use crate::store::rights::owners::Owner;
use crate::{error, wake};

pub mod consume;
pub mod host;
pub mod save;
pub mod trim;

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
    if let Some(act) = act.as_ref().filter(|act| needs_actor(act, resumed.as_ref())) {
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
            return Err(if may_read(row, compiled) { error } else { PgError { detail: None, ..error } });
        }
        Err(caught) => {
            host.abandon();
            unwind(caught);
        }
    };
    if is_served && !note_answer(session, id, &mut delta) {
        return Ok(BurstEnd::TurnedAway);
    }
    if let (OnFault::Raise, Some(incident)) = (on_fault, delta.incidents.first()) {
        return Err(if may_read(row, compiled) {
            host.original(&incident.fault)
        } else if instance::allows(Operation::SeeOutcome, row, compiled) {
            let PgError { sqlstate, message, .. } = host.original(&incident.fault);
            PgError::new(&sqlstate, message)
        } else {
            faulted_somewhere(id)
        });
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
        warn_of_fault(row, compiled, &host, &delta);
    }
    session.follow_ups.extend(abandoned.into_iter().map(|child| FollowUp::Cancel(child, row.owner.clone())));
    collect_work(session, row, compiled, &before, delta, has_queue)?;
    Ok(BurstEnd::Saved)
}

/// Notes what a burst answered to its request. `false`: it turned the request away.
fn note_answer(session: &mut Session, id: Uuid, delta: &mut Delta) -> bool {
    let exchange = &mut session.http;
    exchange.response = delta.response.take();
    exchange.refusal = delta.refusal.take();
    if let (None, Some(incident)) = (&exchange.fault, delta.incidents.first()) {
        exchange.fault = Some(RequestFault {
            instance_id: id,
            activity_id: incident.activity_id.clone(),
            message: incident.fault.message.clone(),
        });
    }
    exchange.refusal.is_none()
}

fn may_read(row: &InstanceRow, compiled: &Compiled) -> bool {
    instance::allows(Operation::Read, row, compiled)
}

/// The error for a role that may not read the instance. It says that the instance faulted, not why: the original error,
/// its SQLSTATE included, can quote whatever the owner may read.
fn faulted_somewhere(id: Uuid) -> PgError {
    PgError::new("38000", format!("workflow instance {id} faulted"))
        .detail("Only roles that may read the instance are told the reason.")
}

/// Warns that the burst left the instance faulted.
fn warn_of_fault(row: &InstanceRow, compiled: &Compiled, host: &SpiHost<'_>, delta: &Delta) {
    let (id, for_good) = (row.instance.id, row.instance.has_failed());
    let warned = PgError::new("01000", format!("workflow instance {id} is faulted"));
    if !may_read(row, compiled) {
        let is_told = instance::allows(Operation::SeeOutcome, row, compiled);
        let cause = delta.incidents.last().filter(|_| is_told).map(|incident| host.original(&incident.fault));
        let detail = cause.map(|cause| format!("{} (SQLSTATE {}).", cause.message, cause.sqlstate));
        warning(PgError { detail, ..warned });
    } else if let Some(incident) = delta.incidents.last() {
        warn_faulted(id, &incident.activity_id, &host.original(&incident.fault), for_good);
    } else if let Some(incident) = incidents::open(id).last() {
        // The burst went well, but an activity that faulted before is still to be retried, or has ended the run.
        let text = |key: &str| incident[key].as_str().unwrap_or_default().to_owned();
        let error = PgError::new(&text("sqlstate"), text("message"));
        warn_faulted(id, &text("activity_id"), &error, for_good);
    }
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
            meet(session, &stored.bookmark, row)?;
        }
    } else if !is_held {
        for bookmark in &delta.created {
            meet(session, bookmark, row)?;
        }
    }
    if running::may_have_deferred() {
        let deferred = queue::take_deferred(instance.id);
        session.follow_ups.extend(deferred.into_iter().map(|item| FollowUp::Item(Box::new(item))));
    }
    children::note_end(session, row)?;
    if !delta.children.is_empty() || !delta.stimuli.is_empty() {
        collect_published(session, row, compiled, delta.children, delta.stimuli);
    }
    let all_new = row.instance.state.bookmarks() as usize == delta.created.len();
    row.open = all_new.then_some(delta.created);
    Ok(())
}

/// Collects the children and the stimuli that the burst has published.
fn collect_published(
    session: &mut Session,
    row: &InstanceRow,
    compiled: &Compiled,
    children: Vec<NewChild>,
    stimuli: Vec<Published>,
) {
    let publisher = Publisher { instance: row.instance.id, owner: row.owner.clone(), starter: row.starter.clone() };
    let new = children.into_iter();
    session.follow_ups.extend(new.map(|child| FollowUp::Child(Box::new(child), publisher.clone())));
    // A `definer` publishes with the rights of the owner of the definition, as if its SQL had called wf_publish_event:
    // a role that starts it lends it no rights. What the event starts has the starter of this instance all the same.
    let publisher = match compiled.row.definer {
        true => Publisher { owner: compiled.row.owner.clone(), ..publisher },
        false => publisher,
    };
    // An event that an instance sends to itself comes from its definition: the starter needs no right to resume it.
    let to_itself = Publisher { owner: compiled.row.owner.clone(), ..publisher.clone() };
    let stimuli = stimuli.into_iter().map(|stimulus| {
        let publisher = if stimulus.local { &to_itself } else { &publisher };
        FollowUp::Published(Box::new(stimulus), publisher.clone())
    });
    session.follow_ups.extend(stimuli);
}

/// Whether an act needs an actor where the definition requires one. A start has been asked for it. An event is sent to
/// all that may receive it, so its sender need not know of that; a stimulus for a task answers it.
fn needs_actor(act: &Act, resumed: Option<&Consumed<'_>>) -> bool {
    match act.kind {
        ActKind::Start => false,
        ActKind::Send => resumed.is_some_and(|taken| taken.kind.is_task()),
        _ => true,
    }
}

/// Takes from the queue what wants the bookmarks of an instance that has been paused.
pub fn meet_all(session: &mut Session, id: Uuid) -> Result<(), PgError> {
    let Some(row) = instances::get(id).filter(|row| row.instance.sub_status != SubStatus::Faulted) else {
        return Ok(());
    };
    for stored in matching::of_instance(id) {
        meet(session, &stored.bookmark, &row)?;
    }
    Ok(())
}

/// Takes from the queue the oldest stimulus that wants this bookmark. A bookmark takes one item.
fn meet(session: &mut Session, bookmark: &Bookmark, row: &InstanceRow) -> Result<(), PgError> {
    let shapes = queue::shapes();
    let correlation_id = row.instance.correlation_id.as_deref();
    let wanted = WantedBookmark { bookmark, instance: row.instance.id, correlation_id };
    let mut skip = Vec::new();
    loop {
        // Pass over items whose sender may not resume the instance or answer the task, or has not admitted its owner.
        let is_heard = |sender: &Owner, names_target| -> Result<bool, PgError> {
            let mut hearing = Hearing::of(sender, names_target);
            let verdict = hearing.resumes_at(bookmark, row.instance.id, row.definition_version_id, &row.owner)?;
            Ok(verdict == Verdict::Heard)
        };
        let found = queue::oldest_for(wanted, &shapes, session.timestamp(), Uuid::nil(), &skip, is_heard)?;
        let Some(item) = found else { return Ok(()) };
        if queue::take(item.id) {
            session.follow_ups.push_back(FollowUp::Item(Box::new(item)));
            return Ok(());
        }
        // Another session has taken the item and may roll back, so a scheduler must look at it.
        wake::note_queued(item.id);
        skip.push(item.id);
    }
}

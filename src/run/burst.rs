//! One burst on one page: what the core computes, and the phases that store it.
//!
//! Each phase is a list of direct calls, and a call is in the file of the subject that it belongs to. Its condition is a
//! bit of the program, the row, the delta or the call, so a burst passes by what it does not use. A call changes rows,
//! follow-ups and wake-ups only; those that may end the burst are in [`answer`]. The order of the calls is that of locks
//! and of follow-ups, which `regress/whole/burst_trace` prints.

use std::rc::Rc;

use uuid::Uuid;
use workflow_engine::execution::Delta;
use workflow_engine::http::Request;
use workflow_engine::instance::{Instance, Status, SubStatus};
use workflow_engine::journal::{Act, EventKind};
use workflow_engine::{Error, Host, Limits, Program};

use crate::access::{Operation, instance};
use crate::compiled::Compiled;
use crate::pg::error::{catch, unwind};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, memory};
use crate::run::burst::host::SpiHost;
use crate::run::burst::save::{BurstEnd, Consumed, Recorded, RowBefore, RowState};
use crate::run::call::notices::tell_how_to_fire;
use crate::run::call::session::FollowUp;
use crate::run::call::{isolated, running};
use crate::run::events::{deliver, queued};
use crate::run::history::{acts, trim};
use crate::run::instances::activation::key_after;
use crate::run::instances::create::forget_deferred;
use crate::run::instances::{abandoned, admission, children, continued};
use crate::run::repair::incidents;
use crate::run::tasks::limits;
use crate::run::timers::due_bookmark;
use crate::run::{Session, http};
use crate::store::history::journal;
use crate::store::instances::InstanceRow;
use crate::store::maintenance::identity;
use crate::store::repair::pauses;
use crate::store::tasks;
use crate::store::timers::schedules;
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
    let before = RowBefore::of(row);
    let request = session.http.request_for(row.instance.id);
    let is_served = request.is_some();
    let (mut delta, host) = compute(session, row, compiled, request, body)?;
    if !answer(session, row, compiled, &mut delta, &host, is_served, on_fault)? {
        return Ok(BurstEnd::TurnedAway);
    }
    let abandoned = read(session, row, &delta, resumed);
    let has_queue = {
        // Row triggers on the tables see the instance half written, so they count as inside its burst.
        let _mark = running::Mark::set(row.instance.id);
        let seq = prepare(session, row, compiled, &before, &delta, resumed, act.as_mut());
        let resumed = save::clear(session, row, &before, &delta, resumed);
        let (record, now) = (Recorded { act: act.as_ref(), seq }, session.timestamp());
        let written = save::write(row, &compiled.row.owner, state, &before, &delta, resumed, record, now);
        if written.is_some() {
            stored(session, row, compiled, &before, &delta, resumed);
        }
        written
    };
    let Some(has_queue) = has_queue else {
        forget_deferred(row.instance.id);
        return Ok(BurstEnd::Taken);
    };
    follow_up(session, row, compiled, &before, delta, &host, abandoned, has_queue)?;
    Ok(BurstEnd::Saved)
}

/// *Compute*: the core runs the instance in memory. The host runs SQL of users, and owns its subtransactions.
fn compute<'a>(
    session: &mut Session,
    row: &mut InstanceRow,
    compiled: &'a Compiled,
    request: Option<Rc<Request>>,
    body: impl FnOnce(&Program, &mut Instance, &mut dyn Host, &Limits) -> Result<Delta, Error>,
) -> Result<(Delta, SpiHost<'a>), PgError> {
    let id = row.instance.id;
    let mut host = SpiHost::new(session, id, &row.owner, compiled);
    let settings = isolated::enter_settings(session, &row.owner, compiled);
    if !session.has_caller() || settings.are_servers() {
        host = host.without_caller();
    }
    if let Some(request) = request {
        host = host.serving(request, &row.owner);
    }
    let outcome = {
        let limits = settings.limits(session);
        let _mark = running::Mark::set(id);
        catch(|| body(&compiled.program, &mut row.instance, &mut host, &limits))
    };
    settings.leave();
    match outcome {
        Ok(Ok(delta)) => Ok((delta, host)),
        Ok(Err(failed)) => {
            host.abandon();
            let error = error::burst(failed, id);
            let may_read = instance::allows(Operation::Read, row, compiled);
            Err(if may_read { error } else { PgError { detail: None, ..error } })
        }
        Err(caught) => {
            host.abandon();
            unwind(caught);
        }
    }
}

/// *Answer*: what may end the burst before anything is stored. `false`: it turned its request away.
fn answer(
    session: &mut Session,
    row: &InstanceRow,
    compiled: &Compiled,
    delta: &mut Delta,
    host: &SpiHost<'_>,
    is_served: bool,
    on_fault: OnFault,
) -> Result<bool, PgError> {
    if is_served && !http::note_answer(session, row.instance.id, delta) {
        return Ok(false);
    }
    if let (OnFault::Raise, Some(incident)) = (on_fault, delta.incidents.first()) {
        return Err(incidents::raised(row, compiled, host.original(&incident.fault)));
    }
    Ok(true)
}

/// *Read*: what has to be found while the bookmarks from before the burst are stored.
fn read(session: &mut Session, row: &InstanceRow, delta: &Delta, resumed: Option<Consumed<'_>>) -> Vec<Uuid> {
    match delta.abandoned.is_empty() {
        true => Vec::new(),
        false => abandoned::children(session, row.instance.id, delta, resumed),
    }
}

/// *Prepare*: what the row of the instance contains, before it is packed. Returns the number of the first journal row.
fn prepare(
    session: &Session,
    row: &mut InstanceRow,
    compiled: &Compiled,
    before: &RowBefore,
    delta: &Delta,
    resumed: Option<Consumed<'_>>,
    mut act: Option<&mut Act>,
) -> u32 {
    memory::room_to_save();
    if let Some(act) = act.as_deref_mut() {
        acts::name_subject(act, delta, resumed);
    }
    let seq = journal::take_rows(&mut row.instance, act.as_deref(), delta.events.len());
    row.activation_key = key_after(row, compiled, before);
    let journal = &compiled.program.options.journal;
    if journal.keep.is_some() {
        trim::trim(session, &row.instance.id, &mut row.instance.state, journal, seq);
    }
    seq
}

/// *Stored*: what other tables are told of the rows that were written, under the lock of the instance.
fn stored(
    session: &mut Session,
    row: &InstanceRow,
    compiled: &Compiled,
    before: &RowBefore,
    delta: &Delta,
    resumed: Option<Consumed<'_>>,
) {
    let opens_tasks = !delta.tasks.is_empty();
    if opens_tasks {
        limits::note_opened(&delta.tasks, compiled.row.owner.id);
    }
    if resumed.is_some_and(|taking| taking.by_time) {
        due_bookmark::clear_due(row, delta, resumed);
    }
    if row.paused_at.is_some() {
        pauses::hold_if_paused(&row.instance, row.paused_at, row.instance.has_ended(), session.timestamp());
    }
    if opens_tasks {
        // A copy of this database must not give out the same tasks.
        identity::claim();
    }
    if opens_tasks && guc::notify_tasks() {
        tasks::announce();
    }
    if before.faulted || !delta.incidents.is_empty() {
        incidents::save(session, row, before, delta);
    }
    if compiled.program.options.max_concurrency.is_some() {
        admission::note_end(&row.instance, compiled);
    }
    if let Some(schedule) = row.schedule_id
        && row.instance.sub_status.status() == Status::Finished
    {
        schedules::ended(schedule, session.timestamp());
    }
}

/// *Follow-ups*: what the burst set off, in the order in which the call runs it. The instance does not count as running
/// any more, and each of these may fail.
fn follow_up(
    session: &mut Session,
    row: &mut InstanceRow,
    compiled: &Compiled,
    before: &RowBefore,
    mut delta: Delta,
    host: &SpiHost<'_>,
    abandoned: Vec<Uuid>,
    has_queue: bool,
) -> Result<(), PgError> {
    // Before the report to the parent, which hears of the end of the successor only.
    if let Some(next) = delta.continuation.take() {
        continued::create(session, row, compiled, *next, has_queue)?;
    }
    let is_faulted = row.instance.sub_status == SubStatus::Faulted;
    // The caller of a burst in which no activity ran knows what it has altered.
    if is_faulted && delta.events.iter().any(|event| event.kind != EventKind::Altered) {
        incidents::warn(row, compiled, host, &delta);
    }
    session.follow_ups.extend(abandoned.into_iter().map(|child| FollowUp::Cancel(child, row.owner.clone())));
    if delta.created.iter().any(|bookmark| bookmark.due_at.is_some()) {
        tell_how_to_fire();
    }
    if before.was_held && !is_faulted {
        // Workers passed over the bookmarks that came due while the instance was faulted.
        wake::note_due(Timestamp(i64::MIN));
    }
    // Stimuli for a faulted or paused instance stay in the queue.
    if has_queue && !is_faulted && row.paused_at.is_none() {
        queued::meet_new(session, row, before, &delta)?;
    }
    if running::may_have_deferred() {
        queued::take_deferred(session, row.instance.id);
    }
    if row.parent.is_some() {
        children::note_end(session, row)?;
    }
    if !delta.children.is_empty() || !delta.stimuli.is_empty() {
        deliver::collect_published(session, row, compiled, delta.children, delta.stimuli);
    }
    let all_new = row.instance.state.bookmarks() as usize == delta.created.len();
    row.open = all_new.then_some(delta.created);
    Ok(())
}

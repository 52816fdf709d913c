//! One burst on one page: what the core computes, and the phases that store it.
//!
//! The crate `plan` decides what is stored ([`Plan`]). Each phase is a list of direct calls, and a call is in the file of
//! the subject that it belongs to. An optional one has an [`Entry`] in the plan, so a burst passes by what it does not
//! use. A call changes rows, follow-ups and wake-ups only; those that may end the burst are in [`answer`]. The order of
//! the calls is that of locks and of follow-ups, which `regress/whole/burst_trace` prints.

use std::rc::Rc;
use std::time::Instant;

use uuid::Uuid;
use workflow_engine::execution::Delta;
use workflow_engine::http::Request;
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::journal::Act;
use workflow_engine::{Error, Host, Limits, Program};
use workflow_plan::{Before, Entry, Outcome, Plan, Resumed};

use crate::access::{Operation, instance};
use crate::compiled::Compiled;
use crate::pg::error::{catch, throw};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, memory};
use crate::run::burst::host::SpiHost;
use crate::run::burst::save::{BurstEnd, Consumed, RowState};
use crate::run::call::context::FollowUp;
use crate::run::call::notices::notice_no_worker;
use crate::run::call::{isolated, running};
use crate::run::events::{deliver, queued};
use crate::run::history::acts;
use crate::run::http::waiting;
use crate::run::instances::create::forget_deferred;
use crate::run::instances::{abandoned, children, continuation};
use crate::run::repair::incidents;
use crate::run::tasks::limits;
use crate::run::{CallContext, http};
use crate::store::history::journal;
use crate::store::instances::{InstanceRow, search_attributes};
use crate::store::maintenance::identity;
use crate::store::repair::pauses;
use crate::store::tasks;
use crate::store::timers::{due, schedules};
use crate::wake::{CountOf, HistogramOf};
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
    pub consumed: Option<Consumed<'a>>,
    /// What someone did, which the burst records; `None`: the engine runs it.
    pub act: Option<Act>,
}

/// Runs a burst and saves what it changed.
pub fn run(
    context: &mut CallContext,
    burst: StoredBurst<'_>,
    body: impl FnOnce(&Program, &mut Instance, &mut dyn Host, &Limits) -> Result<Delta, Error>,
) -> Result<BurstEnd, PgError> {
    let began = Instant::now();
    context.count_burst()?;
    let StoredBurst { row, compiled, state, on_fault, consumed, mut act } = burst;
    let resumed = consumed.map(|consumed| consumed.resumed);
    if let Some(act) = act.as_ref().filter(|act| acts::needs_actor(act, resumed)) {
        acts::require_actor(&act.by, compiled)?;
    }
    let before = Before::of(&row.instance, row.activation_key.as_deref());
    let status_before = row.instance.sub_status;
    let request = context.http.request_for(row.instance.id);
    let is_served = request.is_some();
    let has_requests = row.instance.state.has_requests();
    let open_requests = row.instance.state.open_requests(&compiled.program);
    let searched_by = compiled.program.search_values(&row.instance);
    let in_place_of = consumed.and_then(|consumed| consumed.in_place_of);
    let (mut delta, host) = compute(context, row, compiled, request, (act.as_ref(), in_place_of), body)?;
    let plan = decide(Outcome {
        definition_owner: compiled.row.owner.id,
        resumed,
        act: act.as_ref(),
        is_served,
        has_requests,
        open_requests: &open_requests,
        searched_by: &searched_by,
        raises_faults: on_fault == OnFault::Raise,
        is_paused: row.paused_at.is_some(),
        is_scheduled: row.schedule_id.is_some(),
        has_waiting_parent: row.parent.is_some_and(|parent| parent.bookmark.is_some()),
        ..Outcome::new(&compiled.program, &before, &row.instance, &delta, context.now)
    })?;
    if !answer(context, row, compiled, &plan, &mut delta, &host)? {
        return Ok(BurstEnd::TurnedAway);
    }
    let abandoned = read(context, row, &plan, &delta, resumed);
    let has_queue = {
        // Row triggers on the tables see the instance half written, so they count as inside its burst.
        let _running = running::RunningGuard::burst(row.instance.id);
        prepare(row, &plan, act.as_mut());
        save::clear(context, row, &plan, &delta, resumed);
        let (owner, now) = (&compiled.row.owner, context.timestamp());
        let written = save::write(row, owner, state, &plan, &delta, consumed, act.as_ref(), now);
        if written.is_some() {
            stored(context, row, compiled, &plan, &delta, resumed);
        }
        written
    };
    let Some(has_queue) = has_queue else {
        forget_deferred(row.instance.id);
        return Ok(BurstEnd::Taken);
    };
    let definition = &compiled.program.definition_id;
    count(definition, status_before, &row.instance, resumed.is_some(), delta.incidents.len());
    let took = i64::try_from(began.elapsed().as_micros()).unwrap_or(i64::MAX);
    wake::observe(HistogramOf::Bursts, definition, took);
    follow_up(context, row, compiled, &plan, delta, &host, abandoned, has_queue)?;
    Ok(BurstEnd::Saved)
}

/// Counts what the burst did, for `wf_metrics`. A new instance is pending, or executing if its row was stored first.
fn count(definition: &str, before: SubStatus, instance: &Instance, has_resumed: bool, incidents: usize) {
    let after = instance.sub_status;
    let is_first = matches!(before, SubStatus::Pending | SubStatus::Executing);
    let becomes = |status: SubStatus| after == status && before != status;
    let counts = [
        (CountOf::Started, is_first && !matches!(after, SubStatus::Pending | SubStatus::Cancelled)),
        (CountOf::Resumed, has_resumed && !is_first),
        (CountOf::Finished, becomes(SubStatus::Finished)),
        (CountOf::Faulted, becomes(SubStatus::Faulted)),
        (CountOf::Cancelled, becomes(SubStatus::Cancelled)),
    ];
    counts.into_iter().filter(|(_, is_counted)| *is_counted).for_each(|(what, _)| wake::count(what, definition, 1));
    wake::count(CountOf::Incidents, definition, incidents);
}

/// *Compute*: the core runs the instance in memory. The host runs SQL of users, and owns its subtransactions.
fn compute<'a>(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &'a Compiled,
    request: Option<Rc<Request>>,
    (act, in_place_of): (Option<&Act>, Option<&str>),
    body: impl FnOnce(&Program, &mut Instance, &mut dyn Host, &Limits) -> Result<Delta, Error>,
) -> Result<(Delta, SpiHost<'a>), PgError> {
    let id = row.instance.id;
    let mut host = SpiHost::new(context, id, &row.owner, compiled);
    let settings = isolated::enter_settings(context, &row.owner, compiled);
    if !context.has_caller() || settings.are_servers() {
        host = host.without_caller();
    }
    if compiled.program.excludes_people || compiled.program.notifies {
        host = host.with_people(row, act, in_place_of);
    }
    if let Some(request) = request {
        host = host.serving(request, &row.owner);
    }
    let outcome = {
        let limits = settings.limits(context);
        let _running = running::RunningGuard::burst(id);
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
            throw(caught);
        }
    }
}

/// Decides what is stored of a burst. In builds with debug assertions a setting removes an entry, for
/// `tests/scenarios/instances/burst_entries.py`.
fn decide(outcome: Outcome<'_>) -> Result<Plan, PgError> {
    let plan = Plan::new(&outcome);
    #[cfg(debug_assertions)]
    if let Some(name) = guc::without_entry() {
        let removed = Entry::ALL.into_iter().find(|entry| format!("{entry:?}") == name);
        return removed.map(|entry| plan.without(entry)).ok_or_else(|| {
            let names = Entry::ALL.map(|entry| format!("{entry:?}")).join(", ");
            PgError::new("22023", format!("a burst has no entry \"{name}\""))
                .detail(format!("The entries are {names}."))
        });
    }
    Ok(plan)
}

/// *Answer*: what may end the burst before anything is stored. `false`: it turned its request away.
fn answer(
    context: &mut CallContext,
    row: &InstanceRow,
    compiled: &Compiled,
    plan: &Plan,
    delta: &mut Delta,
    host: &SpiHost<'_>,
) -> Result<bool, PgError> {
    if plan.uses(Entry::Response) && !http::record_response(context, row.instance.id, delta) {
        return Ok(false);
    }
    if let (true, Some(incident)) = (plan.uses(Entry::Raise), delta.incidents.first()) {
        return Err(incidents::raised(row, compiled, host.original(&incident.fault)));
    }
    Ok(true)
}

/// *Read*: what has to be found while the bookmarks from before the burst are stored.
fn read(
    context: &mut CallContext,
    row: &InstanceRow,
    plan: &Plan,
    delta: &Delta,
    resumed: Option<Resumed<'_>>,
) -> Vec<Uuid> {
    match plan.uses(Entry::Abandoned) {
        true => abandoned::children(context, row.instance.id, delta, resumed),
        false => Vec::new(),
    }
}

/// *Prepare*: what the row of the instance contains, before it is packed.
fn prepare(row: &mut InstanceRow, plan: &Plan, act: Option<&mut Act>) {
    memory::room_to_save();
    if let (true, Some(act)) = (plan.uses(Entry::Subject), act) {
        act.subject = plan.subject;
    }
    row.instance.state.next_journal = plan.journal.end;
    if plan.uses(Entry::ActivationKey) {
        row.activation_key.clone_from(&plan.activation_key);
    }
    if let (true, Some(rows)) = (plan.uses(Entry::Trim), plan.trim) {
        journal::trim(&mut row.instance, rows);
    }
}

/// *Stored*: what other tables are told of the rows that were written, under the lock of the instance.
fn stored(
    context: &mut CallContext,
    row: &InstanceRow,
    compiled: &Compiled,
    plan: &Plan,
    delta: &Delta,
    resumed: Option<Resumed<'_>>,
) {
    if plan.uses(Entry::Lanes) {
        limits::assign_opened(&delta.tasks, compiled.row.owner.id);
    }
    if let (true, Some(fired)) = (plan.uses(Entry::FiredTimer), resumed) {
        due::clear(fired.bookmark.id);
    }
    if plan.uses(Entry::Pause) {
        pauses::hold_if_paused(&row.instance, row.paused_at, row.instance.has_ended(), context.timestamp());
    }
    if plan.uses(Entry::Identity) {
        // A copy of this database must not give out the same tasks.
        identity::claim();
    }
    if plan.uses(Entry::Notify) && guc::notify_tasks() {
        tasks::announce();
    }
    if plan.uses(Entry::Incidents) {
        incidents::save(context, row.instance.id, &delta.incidents, &plan.resolved);
    }
    if plan.uses(Entry::SearchAttributes) {
        search_attributes::save(&row.instance, &compiled.program);
    }
    if plan.uses(Entry::Admission) {
        // There may be room for another instance.
        wake::report_pending_starts(true);
    }
    if plan.uses(Entry::WaitingRequest) {
        waiting::respond(row, compiled, delta, context.timestamp());
    }
    if let (true, Some(schedule)) = (plan.uses(Entry::Schedule), row.schedule_id) {
        schedules::ended(schedule, context.timestamp());
    }
}

/// *Follow-ups*: what the burst set off, in the order in which the call runs it. The instance does not count as running
/// any more, and each of these may fail.
fn follow_up(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    plan: &Plan,
    mut delta: Delta,
    host: &SpiHost<'_>,
    abandoned: Vec<Uuid>,
    has_queue: bool,
) -> Result<(), PgError> {
    if let (true, Some(next)) = (plan.uses(Entry::Successor), delta.continuation.take()) {
        continuation::create(context, row, compiled, *next, has_queue)?;
    }
    if plan.uses(Entry::Warning) {
        incidents::warn(row, compiled, host, &delta);
    }
    context.follow_ups.extend(abandoned.into_iter().map(|child| FollowUp::Cancel(child, row.owner.clone())));
    if plan.uses(Entry::TimerNotice) {
        notice_no_worker();
    }
    if plan.uses(Entry::RetryWakeup) {
        // Workers passed over the bookmarks that came due while the instance was faulted.
        wake::report_due(Timestamp(i64::MIN));
    }
    if plan.uses(Entry::Queue) && has_queue {
        queued::meet_new(context, row, &delta, plan.meets_all)?;
    }
    if plan.uses(Entry::Deferred) && running::may_have_deferred() {
        queued::take_deferred(context, row.instance.id);
    }
    if plan.uses(Entry::Report) {
        children::report_end(context, row)?;
    }
    if plan.uses(Entry::Sent) {
        deliver::collect_published(context, row, compiled, delta.children, delta.stimuli);
    }
    let all_new = row.instance.state.bookmarks() as usize == delta.created.len();
    row.open = all_new.then_some(delta.created);
    Ok(())
}

//! Named schedules: `wf_schedule`, and changing, running and removing them.
//!
//! A named schedule is a trigger that belongs to a role. It always starts a workflow. A command is run by a built-in
//! definition, whose instances belong to the schedule's owner, so it runs only in a session of that owner.

use pgrx::pg_sys::Oid;
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::journal::Identity;
use workflow_engine::stimulus;
use workflow_engine::value::indexed::{MAX_INDEXED, check_indexed};

use crate::access;
use crate::compiled;
use crate::error;
use crate::pg::error::notice;
use crate::pg::{PgError, role};
use crate::run::CallContext;
use crate::run::history::acts;
use crate::run::instances::cancel;
use crate::run::timers::scheduled::{self, ScheduledWorkflow};
use crate::store::definitions;
use crate::store::nodes::route;
use crate::store::rights::owners;
use crate::store::timers::named_schedules::{self, FixedColumns, ScheduleColumns};
use crate::store::timers::schedules::Timed;

mod job;
mod settings;

use crate::run::call::notices::notice_no_worker;
use job::Job;
pub use job::JobRequest;
use settings::Applied;
pub use settings::Settings;

/// Stimulus name of named schedules. No stimulus sent by a session matches it.
const STIMULUS: &str = "Workflow.Schedule";

/// Creates a schedule of the current role, or changes its schedule of that name. Returns its id, which never changes.
pub fn put(context: &mut CallContext, name: &str, settings: &Settings, request: &JobRequest) -> Result<Uuid, PgError> {
    if name.trim().is_empty() {
        return Err(PgError::new("22023", "argument \"name\" must not be empty"));
    }
    check_indexed("name of the schedule", name, MAX_INDEXED).map_err(|fault| error::fault(&fault))?;
    let owner = owners::current_id();
    let known = named_schedules::lock(owner, name);
    let id = known.as_ref().map_or_else(|| context.new_id(), |known| known.trigger.id);
    let job = resolve(context, request, None)?;
    let schedule = settings.apply(context, known.as_ref())?;
    let encoded = schedule.encode();
    let (columns, maker) = (columns(&job, &schedule, &encoded), maker(context, &job)?);
    if known.is_some() {
        named_schedules::update(&id, &columns);
        named_schedules::set_maker(id, &maker);
    } else {
        let hash = stimulus::hash(STIMULUS, None, Some(&id.to_string()));
        let created_at = context.timestamp();
        let fixed = FixedColumns { id, stimulus: STIMULUS, hash, owner, name, maker: &maker, created_at };
        if !named_schedules::insert(&fixed, &columns) {
            return Err(PgError::new(
                "40001",
                format!("schedule \"{name}\" was made by another session at the same time"),
            )
            .hint("Try again."));
        }
    }
    warn_without_login(role::current());
    notice_no_worker();
    Ok(id)
}

/// Sends a NOTICE if a role may not log in: background workers run a schedule's SQL in a session of its owner.
fn warn_without_login(who: Oid) {
    if !role::can_connect(who) {
        notice(
            PgError::new("00000", format!("role \"{}\" may not log in", role::name(who).unwrap_or_default()))
                .detail("Its schedules run with restricted rights, and its commands at top level do not run at all.")
                .hint("ALTER ROLE … LOGIN lets workers open sessions of the role."),
        );
    }
}

/// Changes the given settings of a schedule, and returns its id and that of its owner.
pub fn alter(
    context: &mut CallContext,
    name: &str,
    settings: &Settings,
    request: &JobRequest,
) -> Result<(Uuid, i32), PgError> {
    let known = find(context, name)?;
    let job = resolve(context, request, Some(&known))?;
    let schedule = settings.apply(context, Some(&known))?;
    let encoded = schedule.encode();
    named_schedules::update(&known.trigger.id, &columns(&job, &schedule, &encoded));
    if !matches!(request, JobRequest::Same) {
        named_schedules::set_maker(known.trigger.id, &maker(context, &job)?);
    }
    Ok((known.trigger.id, owner_id(&known)))
}

/// The maker of a schedule is the caller, who becomes the starter of its runs.
fn maker(context: &CallContext, job: &Job) -> Result<Identity, PgError> {
    let by = context.identity()?;
    if let Some(row) = definitions::published(&job.definition_id) {
        acts::require_actor(&by, &*compiled::of_version(row.id)?)?;
    }
    Ok(by)
}

/// Resolves what a schedule starts. The key has to belong to this node.
fn resolve(context: &mut CallContext, request: &JobRequest, known: Option<&Timed>) -> Result<Job, PgError> {
    let job = request.resolve(context, known)?;
    route::require_start(&job.definition_id, job.correlation_id.as_deref(), None)?;
    Ok(job)
}

fn columns<'a>(job: &'a Job, schedule: &Applied, encoded: &'a Value) -> ScheduleColumns<'a> {
    ScheduleColumns {
        definition_id: &job.definition_id,
        version_id: &job.version_id,
        version: job.version,
        schedule: encoded,
        input: &job.input,
        correlation_id: job.correlation_id.as_deref(),
        active: schedule.active,
        next_fire_at: schedule.next.next_fire_at,
        scheduled_at: schedule.next.scheduled_at,
    }
}

/// Removes a schedule. Started runs continue; pending ones are cancelled, so that no backlog remains. Returns the id of
/// its owner; `None`: it does not exist.
pub fn remove(context: &mut CallContext, name: &str) -> Result<Option<i32>, PgError> {
    let known = match find(context, name) {
        Ok(known) => known,
        Err(error) if error.sqlstate == "42704" => return Ok(None),
        Err(error) => return Err(error),
    };
    named_schedules::delete(known.trigger.id);
    for run in named_schedules::lock_pending_runs(known.trigger.id) {
        match cancel::cancel(context, run, Some("its schedule was removed"), false) {
            Err(error) if error.aborts_transaction() => return Err(error),
            // A pending run that cannot be read, for example, remains.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(Some(owner_id(&known)))
}

/// Starts a run now, outside the schedule, whatever its overlap policy is. Returns the instance, whose start is due,
/// and the id of the schedule's owner.
pub fn run_now(context: &mut CallContext, name: &str) -> Result<(Uuid, i32), PgError> {
    let known = find(context, name)?;
    let workflow = ScheduledWorkflow::of(&known)?;
    let Some(instance) = scheduled::create(context, &known, &workflow, context.timestamp())? else {
        return Err(PgError::new(
            "23505",
            format!(
                "activation strategy of workflow definition \"{}\" allows no further instance",
                known.definition_id
            ),
        ));
    };
    named_schedules::started(known.trigger.id, instance);
    notice_no_worker();
    Ok((instance, owner_id(&known)))
}

/// Assigns a schedule to another role. Its runs keep their owner. Returns the id of the former owner; `None`: it
/// already belongs to that role.
pub fn set_owner(context: &CallContext, name: &str, new: Oid) -> Result<Option<i32>, PgError> {
    let known = find(context, name).map_err(|error| match error.sqlstate.as_str() {
        "42704" if !named_schedules::all(name).is_empty() => {
            PgError::new("42501", format!("must be owner of schedule \"{name}\""))
        }
        _ => error,
    })?;
    let owner = known.named.as_ref().and_then(|(_, owner)| owner.role());
    if owner == Some(new) {
        return Ok(None);
    }
    access::require_may_become(new)?;
    let id = owners::id_of(new);
    if named_schedules::lock(id, name).is_some() {
        let new = role::name(new).unwrap_or_default();
        return Err(PgError::new("42710", format!("role \"{new}\" already has a schedule \"{name}\"")));
    }
    named_schedules::set_owner(known.trigger.id, id);
    named_schedules::set_maker(known.trigger.id, &context.identity()?);
    warn_without_login(new);
    Ok(Some(owner_id(&known)))
}

/// The id of the owner of a named schedule.
fn owner_id(schedule: &Timed) -> i32 {
    schedule.named.as_ref().map_or_else(owners::current_id, |(_, owner)| owner.id)
}

/// Locks a schedule by name: the current role's own, else the only one of a role whose rights it has.
fn find(context: &CallContext, name: &str) -> Result<Timed, PgError> {
    let gone = || PgError::new("42704", format!("schedule \"{name}\" does not exist"));
    if let Some(own) = named_schedules::lock(owners::id_of(context.caller), name) {
        return Ok(own);
    }
    let mut others = named_schedules::all(name);
    others.retain(|other| other.named.as_ref().is_some_and(|(_, owner)| access::is_member(context.caller, owner)));
    match others.as_slice() {
        [] => Err(gone()),
        [one] => one.named.as_ref().and_then(|(_, owner)| named_schedules::lock(owner.id, name)).ok_or_else(gone),
        several => {
            let owners =
                several.iter().filter_map(|one| one.named.as_ref()).map(|(_, owner)| format!("\"{}\"", owner.title()));
            Err(PgError::new("42725", format!("schedule name \"{name}\" is not unique"))
                .detail(format!("Schedules of this name belong to {}.", owners.collect::<Vec<_>>().join(", ")))
                .hint("Take the role of the owner with SET ROLE."))
        }
    }
}

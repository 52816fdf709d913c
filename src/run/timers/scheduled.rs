//! What a timer trigger starts: which version, as whom, with which input.

use std::rc::Rc;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::calendar::When;

use crate::access::{self, Privilege};
use crate::compiled::{self, Compiled};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json};
use crate::run::CallContext;
use crate::run::instances::start::{self, Scheduled};
use crate::run::instances::version;
use crate::run::timers::timing;
use crate::store::definitions;
use crate::store::rights::owners::Owner;
use crate::store::timers::schedules::{self, COMMANDS, Timed};

/// The input member with the scheduled instant, in every run of a schedule.
const SCHEDULED_AT: &str = "ScheduledAt";
/// The input member that Elsa's timers provide in addition to the interval.
const START_AT: &str = "StartAt";

/// The workflow that a timer trigger starts.
#[derive(Debug)]
pub struct ScheduledWorkflow {
    /// The definition version that its instances run.
    pub compiled: Rc<Compiled>,
    /// The role to which its instances will belong.
    pub owner: Owner,
}

impl ScheduledWorkflow {
    /// The currently published version for a named schedule; the version in the index for a trigger of a definition.
    pub fn of(timed: &Timed) -> Result<Self, PgError> {
        let (version, owner) = match &timed.named {
            Some((_, owner)) => (published(timed, owner)?, Some(owner.clone())),
            None => (timed.trigger.definition_version_id, None),
        };
        let compiled = compiled::of_version(version)?;
        let owner = owner.unwrap_or_else(|| compiled.row.owner.clone());
        match owner.role() {
            Some(_) => Ok(Self { compiled, owner }),
            None => Err(PgError::new(
                "42704",
                format!("role \"{}\", the owner of the schedule, does not exist", owner.title()),
            )),
        }
    }
}

fn published(timed: &Timed, owner: &Owner) -> Result<Uuid, PgError> {
    let id = &timed.definition_id;
    let Some(row) = version::undeleted(|| Ok(definitions::published(id)))? else {
        return Err(PgError::new("55000", format!("workflow definition \"{id}\" is not published")));
    };
    let may_start = id == COMMANDS || owner.role().is_none_or(|role| access::may(role, Privilege::Start, &row));
    if !may_start {
        return Err(PgError::new(
            "42501",
            format!("role \"{}\" may not start workflow definition \"{id}\"", owner.title()),
        ));
    }
    if timed.trigger.definition_version_id != row.id {
        schedules::resolved(timed.trigger.id, row.id, row.version);
    }
    Ok(row.id)
}

/// Creates an instance whose start is due. `None`: an activation strategy rejected it.
pub fn create(
    context: &mut CallContext,
    timed: &Timed,
    workflow: &ScheduledWorkflow,
    at: Timestamp,
) -> Result<Option<Uuid>, PgError> {
    let at = DateTime::<Utc>::from(at);
    let new = Scheduled {
        trigger: &timed.trigger,
        owner: workflow.owner.clone(),
        correlation_id: timed.correlation_id.clone(),
        name: timed.named.as_ref().map(|(name, _)| name.clone()),
        input: input(timed, at),
        by: timed.maker.clone(),
        at,
    };
    start::start_scheduled(context, &workflow.compiled, new)
}

/// The input of a run: the schedule's own input or, as in Elsa, the payload of the trigger; and the instant.
fn input(timed: &Timed, at: DateTime<Utc>) -> Map<String, Value> {
    let mut input = match (&timed.input, &timed.trigger.payload) {
        (Some(input), _) => json::copy_members(input),
        (None, Some(Value::Object(payload))) => json::copy_members(payload),
        (None, _) => Map::new(),
    };
    input.insert(SCHEDULED_AT.into(), instant(at));
    if let Some(first) = first_of_timer(timed) {
        input.insert(START_AT.into(), instant(first));
    }
    input
}

/// The first instant of a timer in a definition. It is not part of the payload, which must not change when the
/// definition is published again.
fn first_of_timer(timed: &Timed) -> Option<DateTime<Utc>> {
    let schedule = timing::decode(&timed.schedule).ok().filter(|_| timed.named.is_none())?;
    let When::Every { start, .. } = schedule.when else { return None };
    let zone = timing::zone_of(&schedule).ok()?;
    schedule.first_after(start, &*zone)
}

fn instant(at: DateTime<Utc>) -> Value {
    Value::String(at.to_rfc3339_opts(SecondsFormat::AutoSi, false))
}

/// Records in the journal that a fire was skipped because the previous run is still active.
pub fn record_overlap(context: &mut CallContext, timed: &Timed, at: Timestamp, running: Uuid) {
    let at = instant(at.into());
    let data = json!({
        "definition_id": timed.definition_id,
        "running_instance_id": running,
        "schedule_id": timed.trigger.id,
        "scheduled_at": at,
    });
    let id = context.new_id();
    start::journal_refusal(context, id, &timed.trigger, data);
}

/// A schedule in messages.
pub fn title(timed: &Timed) -> String {
    match &timed.named {
        Some((name, _)) => format!("schedule \"{name}\""),
        None => format!("trigger \"{}\" of workflow definition \"{}\"", timed.trigger.activity_id, timed.definition_id),
    }
}

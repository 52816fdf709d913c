//! `wf_schedule` and the other functions for named schedules.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use serde_json::{Value, json};
use workflow_engine::calendar::{Interval, Schedule};
use workflow_engine::instance::check_correlation_id;

use crate::api::object;
use crate::clock;
use crate::error;
use crate::pg::spi::Timestamp;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned};
use crate::run::CallContext;
use crate::run::history::acts;
use crate::run::timers::schedule::{self, JobRequest, Settings};
use crate::run::timers::timing;
use crate::store::rights::owners;

sql_functions! {
    wf_schedule(name: Text, schedule: Text, command: Text, timezone: Text, misfire: Text, misfire_cap: Integer, overlap: Text, jitter: Interval, active: Boolean, top_level: Boolean, retry: Boolean) => put_command;
    wf_schedule_workflow(name: Text, schedule: Text, definition: Text, input: Jsonb, correlation_id: Text, timezone: Text, misfire: Text, misfire_cap: Integer, overlap: Text, jitter: Interval, active: Boolean) => put_workflow;
    wf_alter_schedule(name: Text, schedule: Text, command: Text, active: Boolean, timezone: Text, misfire: Text, misfire_cap: Integer, overlap: Text, jitter: Interval, input: Jsonb, top_level: Boolean, retry: Boolean) => alter;
    wf_unschedule(name: Text) => remove;
    wf_schedule_run_now(name: Text) => run_now;
    wf_cron_preview_json(expression: Text, n: Integer, timezone: Text, after: Timestamptz) => preview;
}

/// Years that a preview covers: those that RFC 3339 can write.
const YEARS: RangeInclusive<i32> = 1..=9999;

/// Instants that one preview may ask for.
const MAX_PREVIEW: i32 = 10_000;

fn put_command(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required("name")?;
    let settings = whole(call)?;
    let request = JobRequest::Command {
        command: Some(call.required("command")?),
        top_level: call.arg("top_level"),
        retry: Some(call.required("retry")?),
    };
    let id = schedule::put(&mut CallContext::begin(), &name, &settings, &request)?;
    record("schedule", &name, owners::current_id())?;
    Ok(Returned::Uuid(id))
}

fn put_workflow(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required("name")?;
    let settings = whole(call)?;
    let correlation_id: Option<String> = call.arg("correlation_id");
    check_correlation_id(correlation_id.as_deref()).map_err(|fault| error::fault(&fault))?;
    let request = JobRequest::Workflow {
        definition: Some(call.required("definition")?),
        input: Some(object(call, "input")?),
        correlation_id,
    };
    let id = schedule::put(&mut CallContext::begin(), &name, &settings, &request)?;
    record("schedule", &name, owners::current_id())?;
    Ok(Returned::Uuid(id))
}

/// The settings of a new schedule.
fn whole(call: &Call) -> Result<Settings, PgError> {
    Ok(Settings {
        text: Some(call.required("schedule")?),
        time_zone: call.arg("timezone"),
        misfire: Some(call.required("misfire")?),
        misfire_cap: Some(call.required("misfire_cap")?),
        overlap: Some(call.required("overlap")?),
        jitter: Some(jitter(call).unwrap_or_default()),
        active: Some(call.required("active")?),
        is_whole: true,
    })
}

fn jitter(call: &Call) -> Option<Interval> {
    call.interval("jitter").map(|given| Interval { months: given.months, days: given.days, micros: given.micros })
}

fn alter(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required("name")?;
    let settings = Settings {
        text: call.arg("schedule"),
        active: call.arg("active"),
        time_zone: call.arg("timezone"),
        misfire: call.arg("misfire"),
        misfire_cap: call.arg("misfire_cap"),
        overlap: call.arg("overlap"),
        jitter: jitter(call),
        is_whole: false,
    };
    let input = match call.arg::<Value>("input") {
        Some(_) => Some(object(call, "input")?),
        None => None,
    };
    let (command, top_level, retry) =
        (call.arg::<String>("command"), call.arg::<bool>("top_level"), call.arg::<bool>("retry"));
    let request = match (input, command.is_some() || top_level.is_some() || retry.is_some()) {
        (None, false) => JobRequest::Same,
        (None, true) => JobRequest::Command { command, top_level, retry },
        (Some(input), false) => JobRequest::Workflow { definition: None, input: Some(input), correlation_id: None },
        (Some(_), true) => {
            return Err(PgError::new("22023", "a schedule has either a command or an input"));
        }
    };
    let (id, owner) = schedule::alter(&mut CallContext::begin(), &name, &settings, &request)?;
    record("alter schedule", &name, owner)?;
    Ok(Returned::Uuid(id))
}

fn remove(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required("name")?;
    let owner = schedule::remove(&mut CallContext::begin(), &name)?;
    if let Some(owner) = owner {
        record("unschedule", &name, owner)?;
    }
    Ok(Returned::Boolean(owner.is_some()))
}

fn run_now(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required("name")?;
    let (id, owner) = schedule::run_now(&mut CallContext::begin(), &name)?;
    record("run schedule", &name, owner)?;
    Ok(Returned::Uuid(id))
}

/// Records an act on a schedule for the members of its owner.
fn record(kind: &str, schedule: &str, owner: i32) -> Result<(), PgError> {
    acts::record_of(owner, kind, None, &json!({ "schedule": schedule }))
}

/// The next instants of a schedule's text, as an array for `wf_cron_preview`.
fn preview(call: &Call) -> Result<Returned, PgError> {
    let text: String = call.required("expression")?;
    let count: i32 = call.required("n")?;
    if !(0..=MAX_PREVIEW).contains(&count) {
        return Err(PgError::new("22023", format!("argument \"n\" must be between 0 and {MAX_PREVIEW}")));
    }
    let mut at: DateTime<Utc> = call.arg::<Timestamp>("after").map_or_else(clock::now, Into::into);
    if !YEARS.contains(&at.year()) {
        return Err(PgError::new("22008", "argument \"after\" is out of range").detail(format!(
            "Its year must be between {} and {}.",
            YEARS.start(),
            YEARS.end()
        )));
    }
    let time_zone: Option<String> = call.arg("timezone");
    time_zone.as_deref().map(timing::refuse_offset).transpose()?;
    let schedule = Schedule { time_zone, ..Schedule::new(timing::parse(&text, at)?) };
    let zone = timing::zone_of(&schedule)?;
    let mut instants = Vec::new();
    for _ in 0..count {
        let Some(next) = schedule.first_after(at, &*zone).filter(|next| YEARS.contains(&next.year())) else { break };
        instants.push(Value::String(next.to_rfc3339_opts(SecondsFormat::AutoSi, false)));
        at = next;
    }
    Ok(Returned::Json(Value::Array(instants)))
}

//! `wf_schedule` and what else is done to named schedules.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use serde_json::Value;
use workflow_engine::calendar::{Interval, Schedule};
use workflow_engine::instance::refuse_everyone;

use crate::api::object;
use crate::clock;
use crate::error;
use crate::pg::args::sql_functions;
use crate::pg::spi::Timestamp;
use crate::pg::{Call, PgError, Returned};
use crate::run::schedule::{self, Settings, Work};
use crate::run::{Session, timing};

sql_functions! {
    wf_schedule => put_command;
    wf_schedule_workflow => put_workflow;
    wf_alter_schedule => alter;
    wf_unschedule => remove;
    wf_schedule_run_now => run_now;
    wf_cron_preview_json => preview;
}

/// Years of which a preview tells: those that RFC 3339 can write.
const YEARS: RangeInclusive<i32> = 1..=9999;

/// Instants that one preview may ask for.
const MAX_PREVIEW: i32 = 10_000;

fn put_command(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required(0, "name")?;
    let settings = whole(call, 3)?;
    let work = Work::Command {
        command: Some(call.required(2, "command")?),
        top_level: call.arg(9),
        retry: Some(call.required(10, "retry")?),
    };
    schedule::put(&mut Session::begin(), &name, &settings, &work).map(Returned::Uuid)
}

fn put_workflow(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required(0, "name")?;
    let settings = whole(call, 5)?;
    let correlation_id: Option<String> = call.arg(4);
    refuse_everyone(correlation_id.as_deref()).map_err(|fault| error::fault(&fault))?;
    let work = Work::Workflow {
        definition: Some(call.required(2, "definition")?),
        input: Some(object(call, 3, "input")?),
        correlation_id,
    };
    schedule::put(&mut Session::begin(), &name, &settings, &work).map(Returned::Uuid)
}

/// The settings of a new schedule: its text, and from `i` on timezone, misfire, misfire_cap, overlap, jitter, active.
fn whole(call: &Call, i: usize) -> Result<Settings, PgError> {
    Ok(Settings {
        text: Some(call.required(1, "schedule")?),
        time_zone: call.arg(i),
        misfire: Some(call.required(i + 1, "misfire")?),
        misfire_cap: Some(call.required(i + 2, "misfire_cap")?),
        overlap: Some(call.required(i + 3, "overlap")?),
        jitter: Some(jitter(call, i + 4).unwrap_or_default()),
        active: Some(call.required(i + 5, "active")?),
        is_whole: true,
    })
}

fn jitter(call: &Call, i: usize) -> Option<Interval> {
    call.interval(i).map(|given| Interval { months: given.months, days: given.days, micros: given.micros })
}

fn alter(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required(0, "name")?;
    let settings = Settings {
        text: call.arg(1),
        active: call.arg(3),
        time_zone: call.arg(4),
        misfire: call.arg(5),
        misfire_cap: call.arg(6),
        overlap: call.arg(7),
        jitter: jitter(call, 8),
        is_whole: false,
    };
    let input = match call.arg::<Value>(9) {
        Some(_) => Some(object(call, 9, "input")?),
        None => None,
    };
    let (command, top_level, retry) = (call.arg::<String>(2), call.arg::<bool>(10), call.arg::<bool>(11));
    let work = match (input, command.is_some() || top_level.is_some() || retry.is_some()) {
        (None, false) => Work::Same,
        (None, true) => Work::Command { command, top_level, retry },
        (Some(input), false) => Work::Workflow { definition: None, input: Some(input), correlation_id: None },
        (Some(_), true) => {
            return Err(PgError::new("22023", "a schedule has either a command or an input"));
        }
    };
    schedule::alter(&mut Session::begin(), &name, &settings, &work).map(Returned::Uuid)
}

fn remove(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required(0, "name")?;
    schedule::remove(&Session::begin(), &name).map(Returned::Boolean)
}

fn run_now(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required(0, "name")?;
    schedule::run_now(&mut Session::begin(), &name).map(Returned::Uuid)
}

/// The next instants of a schedule's text, as an array for `wf_cron_preview`.
fn preview(call: &Call) -> Result<Returned, PgError> {
    let text: String = call.required(0, "expression")?;
    let count: i32 = call.required(1, "n")?;
    if !(0..=MAX_PREVIEW).contains(&count) {
        return Err(PgError::new("22023", format!("argument \"n\" must be between 0 and {MAX_PREVIEW}")));
    }
    let mut at: DateTime<Utc> = call.arg::<Timestamp>(3).map_or_else(clock::now, Into::into);
    if !YEARS.contains(&at.year()) {
        return Err(PgError::new("22008", "argument \"after\" is out of range").detail(format!(
            "Its year must be between {} and {}.",
            YEARS.start(),
            YEARS.end()
        )));
    }
    let schedule = Schedule { time_zone: call.arg(2), ..Schedule::new(timing::parse(&text, at)?) };
    let zone = timing::zone_of(&schedule)?;
    let mut instants = Vec::new();
    for _ in 0..count {
        let Some(next) = schedule.first_after(at, &*zone).filter(|next| YEARS.contains(&next.year())) else { break };
        instants.push(Value::String(next.to_rfc3339_opts(SecondsFormat::AutoSi, false)));
        at = next;
    }
    Ok(Returned::Json(Value::Array(instants)))
}

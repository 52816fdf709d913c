//! `wf_erase`, the counters, and the background workers: starting them, showing what they do, and the version.

use chrono::{DateTime, Utc};
use pgrx::pg_sys::Oid;
use serde_json::{Map, Value, json};

use crate::pg::shared::histogram::{Bounds, Histogram};
use crate::pg::shared::{self, Database, Executor, ExecutorState, LATENESS_BOUNDS, SharedState};
use crate::pg::spi::Timestamp;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, actor, cluster, guc, process, role, schema_number};
use crate::run::call::frame;
use crate::run::maintenance::erase as erasure;
use crate::store::maintenance::removal::Tally;
use crate::wake::{self, CountOf, HistogramOf};
use crate::worker;

sql_functions! {
    wf_erase(correlation_id: Text, actor: Text, pseudonym: Text, force: Boolean, max: Integer) => erase;
}

fn erase(call: &Call) -> Result<Returned, PgError> {
    let (case, actor): (Option<String>, Option<String>) = (call.arg("correlation_id"), call.arg("actor"));
    let pseudonym: Option<String> = call.arg("pseudonym");
    let force: bool = call.required("force")?;
    let max: i32 = call.required("max")?;
    if max < 1 {
        return Err(PgError::new("22023", format!("argument \"max\" must be at least 1, not {max}")));
    }
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let tally = match (case.as_deref(), actor.as_deref()) {
        (Some(case), None) if pseudonym.is_none() => {
            let case = named("correlation_id", case)?;
            frame::begin(|context| erasure::erase_case(context, case, force, max))?
        }
        (None, Some(actor)) if !force => {
            let actor = named("actor", actor)?;
            guc::check_no_role(actor)
                .map_err(|reason| PgError::new("22023", "invalid value for argument \"actor\"").detail(reason))?;
            let pseudonym = pseudonym.as_deref().map(|pseudonym| checked(pseudonym, actor)).transpose()?;
            frame::begin(|context| erasure::erase_actor(context, actor, pseudonym, max))?
        }
        (Some(_), None) => return Err(PgError::new("22023", "argument \"pseudonym\" is for an actor")),
        (None, Some(_)) => return Err(PgError::new("22023", "argument \"force\" is for a correlation id")),
        _ => {
            return Err(PgError::new("22023", "exactly one of \"correlation_id\" and \"actor\" must be given")
                .hint("wf_erase(correlation_id => …) erases a case, wf_erase(actor => …) a person."));
        }
    };
    Ok(rows(&tally))
}

fn named<'a>(argument: &str, text: &'a str) -> Result<&'a str, PgError> {
    match text.trim().is_empty() {
        true => Err(PgError::new("22023", format!("argument \"{argument}\" must not be empty"))),
        false => Ok(text),
    }
}

/// A pseudonym that can stand for an actor. The choice says whose acts they are, as the setting does.
fn checked<'a>(pseudonym: &'a str, erased: &str) -> Result<&'a str, PgError> {
    let pseudonym = named("pseudonym", pseudonym)?;
    let invalid = |reason: String| PgError::new("22023", "invalid value for argument \"pseudonym\"").detail(reason);
    guc::check_name(pseudonym).map_err(invalid)?;
    if !guc::is_pseudonym(pseudonym) {
        return Err(invalid(format!("A pseudonym begins with \"{}\", so it is no name of an actor.", guc::PSEUDONYM)));
    }
    if pseudonym == erased {
        return Err(PgError::new("22023", "argument \"pseudonym\" must not be the actor"));
    }
    match actor::may_be_set_by(role::current()) {
        true => Ok(pseudonym),
        false => Err(PgError::new("42501", "permission denied to choose a pseudonym")
            .detail("It needs the right to set workflow.actor.")
            .hint("Without the argument \"pseudonym\" one is made.")),
    }
}

fn rows(tally: &Tally) -> Returned {
    let number = |count: u64| Returned::BigInt(count.cast_signed());
    let row = |(table, rows): (&str, crate::store::maintenance::removal::Rows)| {
        vec![Returned::Text(table.to_owned()), number(rows.done), number(rows.kept)]
    };
    Returned::Rows(tally.tables().map(row).collect())
}

crate::pg::symbols::sql_functions! {
    wf_worker_start() => worker_start;
    wf_worker_status() => worker_status;
    wf_counts() => counts;
}

crate::pg::symbols::plain_functions! {
    wf_version => version;
}

/// Also answers if library and database do not fit.
fn version(_call: &Call) -> Result<Returned, PgError> {
    let number = |number: u32| Returned::Integer(i32::try_from(number).unwrap_or(i32::MAX));
    Ok(Returned::Row(vec![
        Returned::Text(env!("CARGO_PKG_VERSION").into()),
        number(schema_number::of_library()),
        Returned::of(schema_number::of_database(), number),
        Returned::Text(cluster::compiled_for().into()),
    ]))
}

fn worker_start(_call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("start the workers of workflow")?;
    Ok(Returned::Boolean(worker::start_launcher()?))
}

/// The shared state as a JSON array; instants are seconds since 1970. The view makes columns of it. What concerns other
/// databases only members of `pg_monitor` see: every role can call this function.
fn worker_status(_call: &Call) -> Result<Returned, PgError> {
    if !shared::ensure() {
        return Ok(Returned::Json(Value::Array(Vec::new())));
    }
    let sees_all = role::monitors(role::current());
    let sees = |database: Oid| sees_all || database == process::database();
    let rows = shared::with(|state| {
        let mut rows = Vec::new();
        if sees_all && process::is_alive(state.launcher.pid) {
            rows.push(json!({ "worker": "launcher", "pid": state.launcher.pid, "state": "running" }));
        }
        rows.extend(state.databases.iter().filter(|slot| slot.is_served() && sees(slot.oid)).map(scheduler));
        let executors = state.executors.iter().filter(|slot| slot.process.is_some() && sees(slot.database));
        rows.extend(executors.map(executor));
        rows
    });
    Ok(Returned::Json(Value::Array(rows)))
}

/// The counters of this database as a JSON array, for `wf_metrics`. A name without any committed count is left out; any
/// other has all of its counters, because a monitoring system does not see the growth of a series that begins at 1.
fn counts(_call: &Call) -> Result<Returned, PgError> {
    let mut rows = Vec::new();
    for counted in wake::counted().iter().filter(|counted| counted.values.iter().any(|value| *value > 0)) {
        let counts = CountOf::ALL.into_iter().filter_map(|what| Some((what.metric(), what.value(counted)?)));
        rows.extend(counts.map(
            |((metric, label), value)| json!({ "name": metric, "labels": { label: counted.name }, "value": value }),
        ));
        for what in HistogramOf::ALL {
            let (metric, label) = what.metric();
            if let Some(histogram) = what.values(counted) {
                add_series(&mut rows, metric, Some((label, counted.name.as_str())), what.bounds(), &histogram);
            }
        }
    }
    add_series(&mut rows, "workflow_lateness_seconds", None, &LATENESS_BOUNDS, &lateness());
    Ok(Returned::Json(Value::Array(rows)))
}

/// The lateness of fires in this database.
fn lateness() -> Histogram {
    let here = process::database();
    let read = |state: &mut SharedState| state.database(here).map(|database| database.lateness.histogram);
    let found = if shared::ensure() { shared::with(read) } else { None };
    found.unwrap_or(Histogram::EMPTY)
}

/// Adds the series of a histogram, in seconds: for each bound how many durations are not above it, and their number and
/// sum. Bounds are written as OpenMetrics writes numbers.
fn add_series(
    rows: &mut Vec<Value>,
    metric: &str,
    label: Option<(&str, &str)>,
    bounds: &Bounds,
    histogram: &Histogram,
) {
    let labels: Map<String, Value> = label.into_iter().map(|(label, name)| (label.to_owned(), name.into())).collect();
    let mut count = 0_u64;
    for (i, number) in histogram.buckets.iter().enumerate() {
        count += number;
        let bound = bounds.get(i).map_or_else(|| "+Inf".to_owned(), |bound| format!("{:?}", seconds(*bound)));
        let mut labels = labels.clone();
        labels.insert("le".to_owned(), bound.into());
        rows.push(json!({ "name": format!("{metric}_bucket"), "labels": labels, "value": count }));
    }
    let sum = histogram.sum as f64 / 1e6;
    rows.push(json!({ "name": format!("{metric}_count"), "labels": labels, "value": count }));
    rows.push(json!({ "name": format!("{metric}_sum"), "labels": labels, "value": sum }));
}

fn scheduler(slot: &Database) -> Value {
    let state = match (slot.is_foreign, slot.scheduler.is_some()) {
        (true, _) => "foreign",
        (false, true) => "running",
        (false, false) => "asleep",
    };
    json!({
        "worker": "scheduler",
        "database": slot.oid.to_u32(),
        "pid": slot.scheduler.is_some().then_some(slot.scheduler.pid),
        "state": state,
        "fired": slot.fired,
        "failed": slot.failed,
        "oldest_due": instant(slot.oldest_due),
        "next_due": instant(slot.next_due),
        "p50": slot.lateness.of(0.5).map(seconds),
        "p99": slot.lateness.of(0.99).map(seconds),
        "since": instant(slot.since),
    })
}

fn executor(slot: &Executor) -> Value {
    json!({
        "worker": "executor",
        "database": slot.database.to_u32(),
        "pid": slot.process.pid,
        "role": (slot.role != Oid::INVALID).then_some(slot.role.to_u32()),
        "state": if slot.state == ExecutorState::Busy { "firing" } else { "idle" },
        "fired": slot.fired,
        "failed": slot.failed,
    })
}

/// Seconds since 1970.
fn instant(at: i64) -> Option<f64> {
    let at: DateTime<Utc> = Timestamp(at).into();
    (at > DateTime::UNIX_EPOCH && at < DateTime::<Utc>::MAX_UTC).then(|| seconds(at.timestamp_micros()))
}

fn seconds(microseconds: i64) -> f64 {
    microseconds as f64 / 1e6
}

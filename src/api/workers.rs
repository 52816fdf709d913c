//! Workers: starting them, showing what they do, and the version.

use chrono::{DateTime, Utc};
use pgrx::pg_sys::Oid;
use serde_json::{Value, json};

use crate::pg::shared::{self, Database, Executor, ExecutorState};
use crate::pg::spi::Timestamp;
use crate::pg::{Call, PgError, Returned, cluster, process, role, schema_number};
use crate::worker;

crate::pg::symbols::sql_functions! {
    wf_worker_start() => worker_start;
    wf_worker_status() => worker_status;
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

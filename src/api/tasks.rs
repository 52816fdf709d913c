//! Workers outside: `wf_claim_tasks`, `wf_complete_task` and the other functions for tasks.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::api::{not_null, on_fault, result};
use crate::pg::args::{Interval, sql_functions};
use crate::pg::{Call, PgError, Returned, role};
use crate::run::answer::{self, Failed, Failure};
use crate::run::burst::OnFault;
use crate::run::lease::{self, Given, Request};
use crate::run::{Session, answers, work};
use crate::store::owners;

sql_functions! {
    wf_claim_tasks(names: Texts, worker: Text, max: Integer, lease: Interval) => claim;
    wf_extend_task(task_id: Uuid, token: Uuid, lease: Interval, progress: Jsonb) => extend;
    wf_release_task(task_id: Uuid, token: Uuid) => release;
    wf_complete_task(task_id: Uuid, result: Jsonb, on_fault: Text, token: Uuid) => complete;
    wf_complete_tasks(answers: Jsonb) => complete_many;
    wf_fail_task(task_id: Uuid, token: Uuid, message: Text, detail: Text, code: Text, retry_in: Interval, retry: Boolean, on_fault: Text) => fail;
}

/// Tasks that one call may claim.
const MOST: i32 = 1000;
/// The shortest and the longest lease, in microseconds: a millisecond and thirty days.
const LEASES: std::ops::RangeInclusive<i128> = 1_000..=30 * 86_400_000_000;

fn claim(call: &Call) -> Result<Returned, PgError> {
    let max: i32 = call.required("max")?;
    let wanted = usize::try_from(max).ok().filter(|_| (1..=MOST).contains(&max));
    let wanted = wanted
        .ok_or_else(|| PgError::new("22023", format!("argument \"max\" must be between 1 and {MOST}, not {max}")))?;
    let request =
        Request { names: call.texts("names")?, worker: call.arg("worker"), max: wanted, lease: length(call)? };
    let given = lease::claim(&mut Session::begin(), &request)?;
    Ok(Returned::Json(given.into_iter().map(shown).collect()))
}

/// A claimed task as `wf_claim_tasks` reads it.
fn shown(given: Given) -> Value {
    let Given { task, token, attempt, max_attempts, until } = given;
    json!({
        "task_id": task.task,
        "token": token,
        "name": task.name,
        "payload": task.payload,
        "correlation_id": task.correlation_id,
        "instance_id": task.instance,
        "definition_id": task.definition_id,
        "activity_id": task.activity_id,
        "owner": owners::by_id(task.owner).role().and_then(role::name),
        "attempt": attempt,
        "max_attempts": max_attempts,
        "priority": task.priority,
        "lease_until": DateTime::<Utc>::from(until).to_rfc3339_opts(SecondsFormat::Micros, true),
        "progress": task.progress,
    })
}

/// The argument `lease` in microseconds.
fn length(call: &Call) -> Result<i64, PgError> {
    let given = call.interval("lease").map(|lease| lease.as_micros());
    let Some(lease) = given else { return Err(PgError::new("22004", "argument \"lease\" must not be NULL")) };
    match i64::try_from(lease) {
        Ok(micros) if LEASES.contains(&lease) => Ok(micros),
        _ => Err(PgError::new("22023", "argument \"lease\" must be between a millisecond and 30 days")),
    }
}

fn extend(call: &Call) -> Result<Returned, PgError> {
    let (task, token) = (call.required("task_id")?, call.required("token")?);
    let progress = not_null(call.arg("progress"));
    let until = lease::extend(&Session::begin(), task, token, length(call)?, progress.as_ref())?;
    Ok(until.map_or(Returned::Null, Returned::Timestamptz))
}

fn release(call: &Call) -> Result<Returned, PgError> {
    let (task, token) = (call.required("task_id")?, call.required("token")?);
    lease::release(&mut Session::begin(), task, token).map(Returned::Boolean)
}

fn complete(call: &Call) -> Result<Returned, PgError> {
    let task: Uuid = call.required("task_id")?;
    let (given, token) = (not_null(call.arg("result")), call.arg("token"));
    let on_fault = on_fault(call)?;
    let mut session = Session::begin();
    let complete = |session: &mut Session| answer::complete(session, task, token, given.as_ref(), on_fault);
    let row = work::call(&mut session, complete)?;
    result(Some(work::latest(&session, row)), false)
}

fn complete_many(call: &Call) -> Result<Returned, PgError> {
    let given: Value = call.required("answers")?;
    let rows = answers::give(&mut Session::begin(), &given)?;
    Ok(Returned::Json(Value::Array(rows)))
}

fn fail(call: &Call) -> Result<Returned, PgError> {
    let (task, token) = (call.required("task_id")?, call.required("token")?);
    let failure = Failure {
        message: call.required("message")?,
        detail: call.arg("detail"),
        code: call.arg("code"),
        retry_in: call.interval("retry_in").map(delay).transpose()?,
        retry: call.required("retry")?,
    };
    answer::check_code(failure.code.as_deref())?;
    let on_fault: OnFault = on_fault(call)?;
    let fail = |session: &mut Session| answer::fail(session, task, token, &failure, on_fault);
    let (failed, _): (Failed, _) = work::call(&mut Session::begin(), fail)?;
    Ok(Returned::Text(failed.name().into()))
}

/// The argument `retry_in` in microseconds.
fn delay(given: Interval) -> Result<i64, PgError> {
    let micros = i64::try_from(given.as_micros()).ok().filter(|micros| *micros >= 0);
    micros.ok_or_else(|| PgError::new("22023", "argument \"retry_in\" must not be negative"))
}

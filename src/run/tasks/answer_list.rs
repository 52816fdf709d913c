//! Many answers of workers in one call.
//!
//! Each answer has its own subtransaction, so that a refused one does not affect the others. Instances are locked in
//! order of id, so that two such calls do not deadlock.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::calendar::Interval;

use crate::pg::{PgError, args, interrupt, json};
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::call::frame;
use crate::run::tasks::answer::{self, AttemptFailure};
use crate::store::instances::InstanceRow;
use crate::store::tasks::leases;

/// A worker's answer to one task.
struct WorkerAnswer {
    task: Uuid,
    token: Uuid,
    result: AttemptResult,
}

enum AttemptResult {
    Completed(Option<Value>),
    Failed(AttemptFailure),
}

/// The outcome of an answer.
pub struct AnswerResult {
    /// The task that the answer names. In a refused answer it may not exist.
    pub task: Uuid,
    /// `Completed`, `Open`, `Failed` or `Refused`.
    pub outcome: &'static str,
    /// The sub-status of the instance, unless the answer was refused.
    pub sub_status: Option<&'static str>,
    /// Why it was refused.
    pub message: Option<String>,
}

/// Processes answers `[{"taskId", "token", "result" | "error"}]` and returns the outcomes in the same order.
pub fn process(context: &mut CallContext, answers: &Value) -> Result<Vec<AnswerResult>, PgError> {
    let Value::Array(given) = answers else {
        return Err(PgError::new("22023", "argument \"answers\" must be a JSON array"));
    };
    let parsed: Vec<WorkerAnswer> =
        given.iter().enumerate().map(|(i, answer)| read(answer, i)).collect::<Result<_, PgError>>()?;
    let mut order: Vec<usize> = (0..parsed.len()).collect();
    order.sort_by_cached_key(|i| leases::read(parsed[*i].task).map(|held| held.instance));
    let mut taken = Vec::with_capacity(parsed.len());
    for i in order {
        interrupt::check();
        taken.push((i, take(context, &parsed[i])?));
    }
    taken.sort_by_key(|(i, _)| *i);
    Ok(taken.into_iter().map(|(_, taken)| taken).collect())
}

fn take(context: &mut CallContext, parsed: &WorkerAnswer) -> Result<AnswerResult, PgError> {
    let WorkerAnswer { task, token, result } = parsed;
    let taken: Result<(&'static str, Option<InstanceRow>), PgError> = context.isolated(|context| {
        frame::run(context, |context| match result {
            AttemptResult::Completed(result) => {
                let row = answer::complete(context, *task, Some(*token), result.as_ref(), OnFault::Store)?;
                Ok(("Completed", Some(row)))
            }
            AttemptResult::Failed(failure) => {
                let (failed, row) = answer::fail(context, *task, *token, failure, OnFault::Store)?;
                Ok((failed.name(), row))
            }
        })
    });
    let (outcome, row, message) = match taken {
        Ok((outcome, row)) => (outcome, row, None),
        Err(error) if error.aborts_transaction() => return Err(error),
        Err(error) => ("Refused", None, Some(error.message)),
    };
    let sub_status = row.map(|row| frame::latest(context, row).instance.sub_status.name());
    Ok(AnswerResult { task: *task, outcome, sub_status, message })
}

fn read(answer: &Value, i: usize) -> Result<WorkerAnswer, PgError> {
    let wrong = |what: &str| PgError::new("22023", format!("answer {} {what}", i + 1));
    let Value::Object(members) = answer else { return Err(wrong("is not an object")) };
    refuse_unknown(members, &["taskId", "token", "result", "error"], |name| {
        wrong(&format!("has an unknown member \"{name}\""))
    })?;
    let id = |name: &str| {
        let text = members.get(name).and_then(Value::as_str);
        text.and_then(|text| Uuid::parse_str(text).ok()).ok_or_else(|| wrong(&format!("has no uuid \"{name}\"")))
    };
    let (task, token) = (id("taskId")?, id("token")?);
    let member = |name: &str| members.get(name).filter(|value| !value.is_null());
    let result = match (member("result"), member("error")) {
        (Some(_), Some(_)) => return Err(wrong("has both \"result\" and \"error\"")),
        (result, None) => AttemptResult::Completed(result.map(json::copy)),
        (None, Some(error)) => {
            let failure = failure(error, &wrong)?;
            if failure.code.as_ref().is_some_and(|code| code.trim().is_empty()) {
                return Err(wrong("has an \"error\" whose \"code\" is empty"));
            }
            answer::check_code(failure.code.as_deref())
                .map_err(|refused| PgError { message: format!("answer {}: {}", i + 1, refused.message), ..refused })?;
            AttemptResult::Failed(failure)
        }
    };
    Ok(WorkerAnswer { task, token, result })
}

fn failure(error: &Value, wrong: &dyn Fn(&str) -> PgError) -> Result<AttemptFailure, PgError> {
    let Value::Object(members) = error else { return Err(wrong("has an \"error\" that is not an object")) };
    refuse_unknown(members, &["message", "detail", "code", "retryIn", "retry"], |name| {
        wrong(&format!("has an \"error\" with an unknown member \"{name}\""))
    })?;
    let text = |name: &str| match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(&format!("has an \"error\" whose \"{name}\" is not a text"))),
    };
    let retry = match members.get("retry") {
        None | Some(Value::Null) => true,
        Some(Value::Bool(retry)) => *retry,
        Some(_) => return Err(wrong("has an \"error\" whose \"retry\" is neither true nor false")),
    };
    let retry_in = match text("retryIn")? {
        None => None,
        Some(text) => Some(delay(&text, wrong)?),
    };
    let message = text("message")?.ok_or_else(|| wrong("has an \"error\" without \"message\""))?;
    Ok(AttemptFailure { message, detail: text("detail")?, code: text("code")?, retry_in, retry })
}

/// A delay in microseconds, in the notation of the argument `retry_in` of `wf_fail_task`.
fn delay(text: &str, wrong: &dyn Fn(&str) -> PgError) -> Result<i64, PgError> {
    let given = Interval::parse(text).map_err(|_| wrong("has an \"error\" whose \"retryIn\" is not an interval"))?;
    let given = args::Interval { months: given.months, days: given.days, micros: given.micros };
    answer::delay(&given).ok_or_else(|| wrong("has an \"error\" whose \"retryIn\" is not between 0 and 100 years"))
}

fn refuse_unknown(
    members: &Map<String, Value>,
    known: &[&str],
    wrong: impl Fn(&str) -> PgError,
) -> Result<(), PgError> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(wrong(name)),
        None => Ok(()),
    }
}

//! Commands that may not run inside a transaction block.
//!
//! Such a command cannot run in the transaction of the burst that requests it. So the executor claims the command's
//! bookmark in a transaction that commits, runs the command at top level in the owner's session, and then resumes the
//! bookmark with the outcome. A claim without an outcome means that the server or the worker crashed in between. How
//! far the command came is unknown, so it is run again only if its schedule allows that.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::compiled;
use crate::pg::PgError;
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::call::frame;
use crate::run::instances::resume;
use crate::store::instances::bookmarks;
use crate::store::timers::due;

/// Maximum number of claims of one run, even if it may be repeated: a command that crashes the server each time must
/// not do so for ever.
const MAX_CLAIMS: u64 = 3;

/// The result of claiming a command.
pub enum CommandClaim {
    /// The command is to be run.
    Run(String),
    /// It was claimed before and has no outcome.
    Interrupted,
    /// Another session has locked the bookmark, or it is gone, or its instance is paused.
    Gone,
}

/// Claims a command. The claim takes effect when this transaction commits.
pub fn claim(context: &CallContext, bookmark: Uuid) -> CommandClaim {
    let Some(waiting) = bookmarks::try_lock(bookmark) else { return CommandClaim::Gone };
    if waiting.row.paused_at.is_some() {
        return CommandClaim::Gone;
    }
    let payload = waiting.resumed.payload.unwrap_or_default();
    let may_retry = payload.get("retry").and_then(Value::as_bool).unwrap_or(false);
    let claims = waiting.resumed.metadata.as_ref().and_then(|metadata| metadata.get("claims")?.as_u64()).unwrap_or(0);
    let allowed = if may_retry { MAX_CLAIMS } else { 1 };
    if claims >= allowed {
        return CommandClaim::Interrupted;
    }
    due::mark(bookmark, &json!({ "startedAt": context.now, "claims": claims + 1 }));
    CommandClaim::Run(payload.get("statement").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Resumes the bookmark of a command with its outcome. `false`: the bookmark is gone, because a session cancelled the
/// run.
///
/// # Errors
/// Any error of the rest of the workflow.
pub fn finish(context: &mut CallContext, bookmark: Uuid, outcome: &Result<u64, PgError>) -> Result<bool, PgError> {
    let Some(mut waiting) = bookmarks::lock(bookmark) else { return Ok(false) };
    let compiled = compiled::of_instance(&waiting.row)?;
    let input = match outcome {
        Ok(rows) => json!({ "rows": rows }),
        Err(error) => json!({ "error": {
            "sqlstate": error.sqlstate,
            "message": error.message,
            "detail": error.detail,
            "hint": error.hint,
            "context": error.context,
        } }),
    };
    frame::run(context, |context| resume::resume_at(context, &mut waiting, &compiled, Some(&input), OnFault::Store))?;
    Ok(true)
}

/// The error with which an interrupted command fails.
pub fn interrupted() -> PgError {
    PgError::new("57P02", "interrupted")
        .detail("The server or the worker went down while the command ran.")
        .hint("Schedules with retry => true run such a command again, three times at the most.")
}

//! Bursts of other owners: in subtransactions, so that a failure does not undo the caller's work, within a shared time,
//! and under the settings of the server, not those of the session.

use std::borrow::Cow;

use workflow_engine::execution::Limits;

use crate::compiled::Compiled;
use crate::pg::server_settings::SettingsLevel;
use crate::pg::{PgError, guc, interrupt, process};
use crate::run::CallContext;
use crate::store::rights::owners::Owner;

/// The outcome of a burst.
pub enum Isolated<R> {
    /// It has run.
    Done(R),
    /// Its scripts did not fit into the time that other owners share in one call. The burst was rolled back, and a
    /// session of its owner is to run it.
    Short,
    /// It failed and was rolled back.
    Failed(Box<PgError>),
}

/// Runs `body` for an owner. Unless the owner is the current role, `body` runs in a subtransaction; if it fails, the
/// follow-ups that it added are dropped.
///
/// # Errors
/// Errors of the current role's own bursts, and errors that abort the transaction.
pub fn run_isolated<R>(
    context: &mut CallContext,
    owner: &Owner,
    body: impl FnOnce(&mut CallContext) -> Result<R, PgError>,
) -> Result<Isolated<R>, PgError> {
    if owner.is_current() {
        return body(context).map(Isolated::Done);
    }
    // The limit protects the caller's time, and a worker has no caller.
    let time = (!is_worker_session()).then(|| context.time_of_others.clone());
    let attempt = {
        let _in_force = time.as_ref().map(|time| time.begin());
        context.isolated(body)
    };
    let error = match attempt {
        Ok(done) => return Ok(Isolated::Done(done)),
        Err(error) if error.aborts_transaction() => return Err(error),
        Err(error) => error,
    };
    let is_short = time.is_some_and(|time| time.was_short());
    Ok(if is_short { Isolated::Short } else { Isolated::Failed(Box::new(error)) })
}

/// The settings of a burst, in force until they are left.
pub struct BurstSettings {
    level: Option<SettingsLevel>,
    are_servers: bool,
}

/// Enters the settings of a burst. If it acts for another role, whether as the owner of the instance or as that of a
/// definer, these are the server's. Settings that such a burst changes, or one without a caller, are undone after
/// it: a session that calls wf_run_due keeps its role and its settings.
pub fn enter_settings(context: &CallContext, owner: &Owner, compiled: &Compiled) -> BurstSettings {
    let acts_for = if compiled.row.definer { &compiled.row.owner } else { owner };
    let are_servers = !acts_for.is_current();
    let level = (are_servers || context.is_pass && !is_worker_session()).then(SettingsLevel::open);
    if let Some(level) = level.as_ref().filter(|_| are_servers) {
        level.take_servers();
    }
    BurstSettings { level, are_servers }
}

/// Reads a setting that decides over what belongs to a role: that of this session if it is the current role, else that
/// of the server.
pub fn read_setting<R>(owner: &Owner, read: impl FnOnce() -> R) -> R {
    if owner.is_current() {
        return read();
    }
    let level = SettingsLevel::open();
    level.take_servers();
    let value = read();
    level.undo();
    value
}

impl BurstSettings {
    /// Whether they are those of the server.
    pub fn are_servers(&self) -> bool {
        self.are_servers
    }

    /// The limits of the burst.
    pub fn limits<'a>(&self, context: &'a CallContext) -> Cow<'a, Limits> {
        match self.are_servers {
            true => Cow::Owned(guc::limits(interrupt::pending)),
            false => Cow::Borrowed(&context.limits),
        }
    }

    /// Goes back to the settings of the session.
    pub fn leave(self) {
        if let Some(level) = self.level {
            level.undo();
        }
    }
}

/// Whether this is a worker's session.
pub fn is_worker_session() -> bool {
    process::connected_as().is_some()
}

//! The actor: the name of the person for whom an application acts.
//!
//! `workflow.actor` is read when the outermost call begins, so users' SQL, which runs inside a call, cannot change the
//! actor. A role set together with an actor keeps that actor until the transaction ends.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::pg::error::{PgError, catch, throw};
use crate::pg::state::{CALL, TRANSACTION};
use crate::pg::{guc, version};

/// Name of the setting.
pub const SETTING: &CStr = c"workflow.actor";

/// Begins the outermost call.
pub fn begin_call() {
    let given = match fixed() {
        Some(fixed) => (Some(fixed), true),
        None => match guc::actor() {
            Some(actor) => (Some(actor), is_local()),
            None => (None, true),
        },
    };
    CALL.actor.replace(given);
}

/// The actor of the outermost call, if it has one.
///
/// # Errors
/// 55000 if the setting would outlive the transaction.
pub fn of_call() -> Result<Option<String>, PgError> {
    let (actor, is_local) = CALL.actor.borrow().clone();
    if is_local {
        return Ok(actor);
    }
    Err(PgError::new("55000", "workflow.actor is not set for one transaction")
        .detail("What the next user of this connection does would be recorded as the actor's.")
        .hint("Use SET LOCAL workflow.actor, or wf_set_actor in the FROM clause of the statement."))
}

/// Runs `body` without an actor: what it does is not the act of the person for whom the call acts.
pub fn without<R>(body: impl FnOnce() -> R) -> R {
    let given = CALL.actor.replace((None, true));
    let outcome = catch(body);
    CALL.actor.replace(given);
    outcome.unwrap_or_else(|error| throw(error))
}

/// Sets the actor for all calls until the transaction ends, and the groups that the session vouches for.
///
/// # Errors
/// 42501 unless `session`, the role that vouches for the actor, may set the setting; 22023 if the name is invalid.
pub fn fix(actor: &str, groups: Option<Vec<String>>, session: pg_sys::Oid) -> Result<(), PgError> {
    if !may_be_set_by(session) {
        return Err(PgError::new("42501", "permission denied to set parameter \"workflow.actor\"")
            .hint("A superuser can run GRANT SET ON PARAMETER workflow.actor TO the role of the session."));
    }
    guc::check_actor(actor)
        .map_err(|reason| PgError::new("22023", "invalid value for argument \"actor\"").detail(reason))?;
    let transaction = &mut *TRANSACTION.borrow_mut();
    (transaction.actor, transaction.groups) = (Some(actor.to_owned()), groups);
    Ok(())
}

/// Whether a role may set the actor.
pub fn may_be_set_by(role: pg_sys::Oid) -> bool {
    // SAFETY: takes a C string and an oid, looks in the catalog.
    let allowed = unsafe { pg_sys::pg_parameter_aclcheck(SETTING.as_ptr(), role, pg_sys::ACL_SET as _) };
    allowed == pg_sys::AclResult::ACLCHECK_OK
}

/// The actor that [`fix`] set, if any.
pub fn fixed() -> Option<String> {
    TRANSACTION.borrow().actor.clone()
}

/// The groups of this actor, if the session vouches for them.
pub fn groups() -> Option<Vec<String>> {
    TRANSACTION.borrow().groups.clone()
}

/// The prefix of the name of a group as an assignee or candidate.
const GROUP: &str = "group:";

/// Whether the actor may act for an assignee or candidate whom only the application knows: always, unless the session
/// vouches for the actor's groups. Then the actor answers only for itself and these groups.
pub fn acts_for(label: &str) -> bool {
    let transaction = TRANSACTION.borrow();
    match (&transaction.groups, label.strip_prefix(GROUP)) {
        (None, _) => true,
        (Some(groups), Some(group)) => groups.iter().any(|known| known == group),
        (Some(_), None) => transaction.actor.as_deref() == Some(label),
    }
}

/// Whether a name is that of an actor for whose groups the session vouches.
pub fn is_vouched_for(name: &str) -> bool {
    let transaction = TRANSACTION.borrow();
    transaction.groups.is_some() && transaction.actor.as_deref() == Some(name)
}

/// Whether the value of the setting ends with the transaction, or with the function that sets it.
fn is_local() -> bool {
    // SAFETY: the record of a setting that this library has defined lives as long as the backend.
    unsafe {
        let Some(setting) = version::setting(SETTING) else { return false };
        let stack = (*setting).stack;
        !stack.is_null()
            && [pg_sys::GucStackState::GUC_LOCAL, pg_sys::GucStackState::GUC_SET_LOCAL, pg_sys::GucStackState::GUC_SAVE]
                .contains(&(*stack).state)
    }
}

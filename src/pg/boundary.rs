//! The boundary around a role: SQL inside it cannot set `role` or `session_authorization`.
//!
//! A session that acts for several roles was opened by a role that may become each of them. Under
//! `SECURITY_LOCAL_USERID_CHANGE`, the security context of `SECURITY DEFINER` functions, PostgreSQL rejects changes of
//! both settings, whatever statement or function makes them. The context extends to everything that runs below,
//! parallel workers included, and rolling back a subtransaction restores the context of its beginning.

use pgrx::pg_sys::{self, Oid};

use crate::pg::error::{PgError, catch, throw};
use crate::pg::state::TRANSACTION;
use crate::pg::{actor, raw, role, user_sql};

const BOUNDARY: i32 = pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32;

/// The role that a transaction has entered.
#[derive(Clone, Copy)]
pub(super) struct Entered {
    role: Oid,
    /// The subtransaction in which it was entered. Rolling that back undoes it.
    subtransaction: pg_sys::SubTransactionId,
}

/// Runs users' SQL. If the current role is not that of the session, runs it inside the boundary.
pub fn around<R>(body: impl FnOnce() -> R) -> R {
    let (user, context) = in_force();
    // SAFETY: reads the backend's state.
    if user == unsafe { raw::GetSessionUserId() } {
        return body();
    }
    // SAFETY: the current user stays; what was in force is given back, even after an error.
    unsafe { pg_sys::SetUserIdAndSecContext(user, context | BOUNDARY) };
    let outcome = catch(body);
    // SAFETY: as above.
    unsafe { pg_sys::SetUserIdAndSecContext(user, context) };
    outcome.unwrap_or_else(|error| throw(error))
}

/// Makes `role` the current role, inside the boundary, until the transaction ends. A given actor, with its groups,
/// applies to all calls until then.
///
/// The current user and the security context outlive the statement that calls this: PostgreSQL restores them only after
/// `SECURITY DEFINER` functions, where it has changed them itself, and on abort. So deferred triggers, holdable
/// cursors, and everything else that runs before the transaction has committed, run inside the boundary.
///
/// # Errors
/// 25P01 outside a transaction block; 25000 in a parallel operation; 42501 if the session may not become the role, may
/// not leave the current one, or may not set `workflow.actor`; 22023 if there are groups without an actor; 55000 if
/// PostgreSQL or the extension would restore the previous role before the transaction ends.
pub fn enter(role: Oid, actor: Option<&str>, groups: Option<Vec<String>>) -> Result<(), PgError> {
    refuse_outside_block()?;
    // As in the setting, an empty name is none.
    let actor = actor.map(str::trim).filter(|actor| !actor.is_empty());
    let entered = TRANSACTION.borrow().entered;
    if let Some(entered) = entered {
        if entered.role != role {
            return Err(cannot_leave(entered.role));
        }
        let changes_actor = actor.is_some_and(|actor| actor::fixed().as_deref() != Some(actor));
        if changes_actor || groups.is_some() && actor::groups() != groups {
            let what = if changes_actor { "the actor" } else { "the groups of the actor" };
            return Err(PgError::new("42501", format!("cannot change {what} before the transaction ends")));
        }
        return Ok(());
    }
    if groups.is_some() && actor.is_none() {
        return Err(PgError::new("22023", "groups must be those of an actor"));
    }
    refuse_inside_function()?;
    refuse_unless_granted(role)?;
    if let Some(actor) = actor {
        // SAFETY: reads the backend's state.
        actor::fix(actor, groups, unsafe { raw::GetSessionUserId() })?;
    }
    // SAFETY: the role exists; `transaction_ends` gives the session's user back.
    unsafe {
        let subtransaction = pg_sys::GetCurrentSubTransactionId();
        TRANSACTION.borrow_mut().entered = Some(Entered { role, subtransaction });
        pg_sys::SetUserIdAndSecContext(role, BOUNDARY);
    }
    Ok(())
}

fn refuse_outside_block() -> Result<(), PgError> {
    // SAFETY: reads the transaction's state.
    match unsafe { pg_sys::IsTransactionBlock() } {
        true => Ok(()),
        false => Err(PgError::new("25P01", "wf_set_role can only be used in transaction blocks")
            .hint("Run BEGIN first: the role holds until the transaction ends.")),
    }
}

/// Rejects a call inside a function at whose end the previous role would be restored.
fn refuse_inside_function() -> Result<(), PgError> {
    let (_, context) = in_force();
    if context != 0 {
        return Err(PgError::new("42501", "cannot set role within security-definer function"));
    }
    let refused = |where_| Err(PgError::new("55000", format!("wf_set_role cannot be called {where_}")));
    if user_sql::is_running() {
        return refused("in SQL of a workflow");
    }
    // SAFETY: opens a level of settings and closes it. Each open transaction has a level, and each function with a SET
    // clause, which could be of `role`: at its end PostgreSQL would go back to the user of the session.
    let (settings, transactions) = unsafe {
        let level = pg_sys::NewGUCNestLevel();
        pg_sys::AtEOXact_GUC(true, level);
        (level - 1, pg_sys::GetCurrentTransactionNestLevel())
    };
    if settings == transactions { Ok(()) } else { refused("in a function that has a SET clause") }
}

/// Rejects a role that SET ROLE would reject, and a superuser, whom the boundary cannot restrict.
fn refuse_unless_granted(role: Oid) -> Result<(), PgError> {
    // SAFETY: reads the backend's state.
    let session = unsafe { raw::GetSessionUserId() };
    let name = |role| role::name(role).unwrap_or_default();
    let refused = || PgError::new("42501", format!("permission denied to set role \"{}\"", name(role)));
    if !role::may_become(session, role) {
        return Err(refused().detail(format!("Role \"{}\" may not SET ROLE to it.", name(session))));
    }
    if role::is_superuser(role) && !role::is_superuser(session) {
        return Err(refused().detail("It is a superuser, whom nothing keeps inside."));
    }
    Ok(())
}

fn cannot_leave(role: Oid) -> PgError {
    let name = role::name(role).unwrap_or_default();
    PgError::new("42501", format!("cannot leave role \"{name}\" before the transaction ends"))
}

fn in_force() -> (Oid, i32) {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: reads the backend's state.
    unsafe { pg_sys::GetUserIdAndSecContext(&mut user, &mut context) };
    (user, context)
}

/// Called when the transaction ends. After an abort PostgreSQL has restored the user itself; after a commit it expects
/// that nothing needs to be restored. Settings are restored next: a `role` that SET LOCAL ROLE set before gets its
/// previous value.
pub(super) fn transaction_ends(is_aborted: bool) {
    let has_entered = TRANSACTION.borrow().entered.is_some();
    if has_entered && !is_aborted {
        // SAFETY: between transactions the current user is the outer one, without a context.
        unsafe { raw::SetUserIdAndSecContext(raw::GetOuterUserId(), 0) };
    }
}

/// Called when a subtransaction ends.
pub(super) fn subtransaction_ends(
    event: pg_sys::SubXactEvent::Type,
    subtransaction: pg_sys::SubTransactionId,
    parent: pg_sys::SubTransactionId,
) {
    let transaction = &mut *TRANSACTION.borrow_mut();
    let Some(entered) = transaction.entered.filter(|entered| entered.subtransaction == subtransaction) else { return };
    match event {
        pg_sys::SubXactEvent::SUBXACT_EVENT_COMMIT_SUB => {
            transaction.entered = Some(Entered { subtransaction: parent, ..entered });
        }
        pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB => {
            (transaction.entered, transaction.actor, transaction.groups) = (None, None, None);
        }
        _ => {}
    }
}

//! The boundary around a role: SQL inside it cannot set `role` or `session_authorization`.
//!
//! A session that acts for several roles was opened by a role that may become each of them. PostgreSQL refuses both
//! settings, whatever statement or function sets them, under `SECURITY_LOCAL_USERID_CHANGE`, the security context of
//! `SECURITY DEFINER` functions. It hands this context on to all that runs below, parallel workers included, and gives
//! a subtransaction that it rolls back the context of its beginning.

use std::cell::Cell;
use std::ffi::c_void;

use pgrx::pg_sys::{self, Oid};

use crate::pg::error::{PgError, catch, unwind};
use crate::pg::{actor, raw, role, user_sql};

const BOUNDARY: i32 = pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32;

/// The role for which a transaction stays inside the boundary.
#[derive(Clone, Copy)]
struct Entered {
    role: Oid,
    /// The innermost open subtransaction when it was entered. If that is rolled back, so is this.
    subtransaction: pg_sys::SubTransactionId,
}

thread_local! {
    static ENTERED: Cell<Option<Entered>> = const { Cell::new(None) };
    /// Whether this process hears of the ends of transactions.
    static HEARS: Cell<bool> = const { Cell::new(false) };
}

/// Runs SQL of users. Where the current role is not the one of the session, it runs inside the boundary.
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
    outcome.unwrap_or_else(|error| unwind(error))
}

/// Makes `role` the current role, inside the boundary, until the transaction ends. An actor that is given is that of
/// all calls until then.
///
/// The current user and the security context outlive the statement that calls this: PostgreSQL gives back what a
/// function of SQL changed only where it has changed them itself, around `SECURITY DEFINER` functions, and where it
/// aborts. So deferred triggers, cursors that are kept, and all else that runs before the transaction has committed,
/// are inside.
///
/// # Errors
/// 25P01 outside a transaction block; 25000 in a parallel operation; 42501 if the session may not become the role, may
/// not leave the present one, or may not set `workflow.actor`; 55000 where PostgreSQL, or the extension, would go back to the role in force before
/// the transaction ends.
pub fn enter(role: Oid, actor: Option<&str>) -> Result<(), PgError> {
    refuse_outside_block()?;
    // As in the setting, an empty name is none.
    let actor = actor.map(str::trim).filter(|actor| !actor.is_empty());
    if let Some(entered) = ENTERED.get() {
        if entered.role != role {
            return Err(cannot_leave(entered.role));
        }
        return match actor {
            Some(actor) if actor::fixed().as_deref() != Some(actor) => {
                Err(PgError::new("42501", "cannot change the actor before the transaction ends"))
            }
            _ => Ok(()),
        };
    }
    refuse_inside_function()?;
    refuse_unless_granted(role)?;
    if let Some(actor) = actor {
        // SAFETY: reads the backend's state.
        actor::fix(actor, unsafe { raw::GetSessionUserId() })?;
    }
    hear();
    // SAFETY: the role exists; the callbacks give the session's user back.
    unsafe {
        ENTERED.set(Some(Entered { role, subtransaction: pg_sys::GetCurrentSubTransactionId() }));
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

/// Refuses a call from where the role in force before would be given back when a function ends.
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

/// Refuses a role that SET ROLE would refuse, and a superuser, around whom there is no boundary.
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

/// Registers the callbacks of this process, once it needs them.
fn hear() {
    if !HEARS.replace(true) {
        // SAFETY: called by the process's only thread; the callbacks live as long as the library.
        unsafe {
            pg_sys::RegisterXactCallback(Some(transaction_ended), std::ptr::null_mut());
            pg_sys::RegisterSubXactCallback(Some(subtransaction_ended), std::ptr::null_mut());
        }
    }
}

/// After an abort PostgreSQL has given the user back by itself; after a commit it expects that nothing is to be given
/// back. Settings are next: that of `role`, if SET LOCAL ROLE made it before, goes back to what it was.
unsafe extern "C-unwind" fn transaction_ended(event: pg_sys::XactEvent::Type, _argument: *mut c_void) {
    let is_over = match event {
        pg_sys::XactEvent::XACT_EVENT_COMMIT | pg_sys::XactEvent::XACT_EVENT_PREPARE => true,
        pg_sys::XactEvent::XACT_EVENT_ABORT => false,
        _ => return,
    };
    let entered = ENTERED.take();
    if entered.is_some() {
        actor::release();
    }
    if entered.is_some() && is_over {
        // SAFETY: between transactions the current user is the outer one, without a context.
        unsafe { raw::SetUserIdAndSecContext(raw::GetOuterUserId(), 0) };
    }
}

unsafe extern "C-unwind" fn subtransaction_ended(
    event: pg_sys::SubXactEvent::Type,
    subtransaction: pg_sys::SubTransactionId,
    parent: pg_sys::SubTransactionId,
    _argument: *mut c_void,
) {
    let Some(entered) = ENTERED.get().filter(|entered| entered.subtransaction == subtransaction) else { return };
    match event {
        pg_sys::SubXactEvent::SUBXACT_EVENT_COMMIT_SUB => {
            ENTERED.set(Some(Entered { subtransaction: parent, ..entered }));
        }
        pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB => {
            ENTERED.set(None);
            actor::release();
        }
        _ => {}
    }
}

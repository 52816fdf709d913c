//! Whose rights the SQL of an `invoker` workflow has.
//!
//! A role lends its rights only by an act of its own. It names the definition that it starts, which makes it the owner
//! of the instance; or it has granted the owner of the definition its rights with `wf_grant_invoker`. No right that
//! others gave a role is its consent: neither a privilege on the definition, nor a membership, nor a task that is for
//! the role. Everywhere else, SQL runs in a session of the instance's owner.
//!
//! All calls ask here: [`runs_here`] for an instance that a call reaches without naming it (by a stimulus, a due time,
//! the report of a child), [`act_runs_here`] for one that the call names.

use std::cell::Cell;

use pgrx::pg_sys::Oid;

use super::is_member;
use crate::compiled::Compiled;
use crate::pg::membership::is_superuser;
use crate::pg::{PgError, process, role};
use crate::store::instances::InstanceRow;
use crate::store::rights::invoker_grants;
use crate::store::rights::owners::{self, Owner};

/// Whether SQL of this version has the rights of the caller rather than those of the definition's owner.
pub fn has_invoker_sql(compiled: &Compiled) -> bool {
    compiled.row.uses_sql && !compiled.row.definer
}

/// Whether this session may run an instance that the call did not name. Invoker SQL runs only in a session of the
/// instance's owner, or restricted on the owner's behalf. Otherwise a role that may publish a definition could run SQL
/// as the superuser who publishes an event.
pub fn runs_here(owner: &Owner, compiled: &Compiled) -> bool {
    !has_invoker_sql(compiled) || is_session_of(owner) || is_served_restricted(owner)
}

/// Whether this session may run an instance that the call names, by its id, a bookmark or a task: also where the
/// current role lends its rights to the owner of the definition.
pub fn act_runs_here(row: &InstanceRow, compiled: &Compiled) -> bool {
    runs_here(&row.owner, compiled) || belongs_to_role(role::current()) && lends(role::current(), &compiled.row.owner)
}

/// Whether a role lends its rights to the workflows of a definition owner: to this very role, and by a grant of its
/// own. Rights of a superuser are never lent.
pub fn lends(lender: Oid, owner: &Owner) -> bool {
    if is_superuser(lender) || owner.role().is_none() {
        return false;
    }
    owners::known_id_of(lender).is_some_and(|lender| invoker_grants::exists(lender, owner.id))
}

/// Whether the owner of an instance lends its rights to the owner of the definition, so that those may steer the
/// instance to whom the latter gives the privilege. A role that has started its own definition need not lend them.
pub fn is_lent(owner: &Owner, compiled: &Compiled) -> bool {
    let Some(starter) = owner.role().filter(|starter| !is_superuser(*starter)) else { return false };
    compiled.row.owner.role() == Some(starter) || lends(starter, &compiled.row.owner)
}

/// Whether a role may steer an instance: the instance acts with no rights of its owner, or the role has these rights,
/// or the owner lends them to the owner of the definition.
pub fn may_steer(who: Oid, row: &InstanceRow, compiled: &Compiled) -> bool {
    let acts_as_owner = !compiled.row.definer && (compiled.row.uses_sql || compiled.program.acts_for_owner());
    !acts_as_owner || is_member(who, &row.owner) || is_lent(&row.owner, compiled)
}

/// Refuses the current role if it may not steer an instance that acts with the rights of its owner (42501). Whoever
/// sets a variable or schedules an activity decides what that SQL, children and events do. So the role needs the rights
/// of that owner, or that owner lends them to the owner of the definition.
pub fn require_steering(row: &InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    if may_steer(role::current(), row, compiled) {
        return Ok(());
    }
    let owner = row.owner.title();
    Err(PgError::new("42501", format!("must have the rights of the owner of workflow instance {}", row.instance.id))
        .detail(format!("Its SQL, children and events have the rights of role \"{owner}\"."))
        .hint("That role can lend them to the owner of the definition with wf_grant_invoker."))
}

/// Whether this session belongs to an owner.
fn is_session_of(owner: &Owner) -> bool {
    owner.is_current() && owner.role().is_some_and(belongs_to_role)
}

/// Whether this session belongs to the current role. A worker's session belongs only to the role that the worker
/// connected as: a setting of the database, or SQL that ran before, may have changed the current role, and user SQL
/// could then reset it to the connected role. The engine's own session, which is a superuser's, belongs to no role.
fn belongs_to_role(current: Oid) -> bool {
    process::connected_as().is_none_or(|role| role == current)
}

thread_local! {
    static SERVES_RESTRICTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` in a worker's own session on behalf of an owner that may not log in. The owner's SQL runs with the
/// owner's rights, as a security-restricted operation like that of a definer.
pub fn serving_restricted<R>(serve: bool, body: impl FnOnce() -> R) -> R {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            SERVES_RESTRICTED.set(false);
        }
    }
    SERVES_RESTRICTED.set(serve);
    let _restore = Restore;
    body()
}

/// Whether this session runs the SQL of this owner restricted, on the owner's behalf.
pub fn is_served_restricted(owner: &Owner) -> bool {
    SERVES_RESTRICTED.get() && owner.role().is_some_and(|role| !role::can_connect(role))
}

//! Whose rights an `invoker` workflow's SQL has.
//!
//! A role lends its rights only by its own act: it starts a definition by name, which makes it the owner of the
//! instance, or it has lent the owner of the definition its rights with `wf_grant_invoker`. A right that others granted
//! to a role is not its consent: neither a privilege on the definition, nor a membership, nor a task that is for the
//! role. In all other cases, SQL runs in a session of the instance's owner.
//!
//! All calls check here: [`runs_here`] for an instance that a call reaches without naming it (by a stimulus, a due
//! timer, or the report of a child), [`act_runs_here`] for one that the call names.

use pgrx::pg_sys::Oid;

use super::is_member;
use crate::compiled::Compiled;
use crate::pg::membership::is_superuser;
use crate::pg::{PgError, process, role};
use crate::store::instances::InstanceRow;
use crate::store::rights::invoker_grants;
use crate::store::rights::owners::{self, Owner};

/// For whom a call may run invoker SQL of instances that it does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// For the role to which the session belongs.
    ItsRole,
    /// Also for this role, which may not log in: in a background worker's own session, for the fire of its instance or
    /// for a call that its SQL makes. Its SQL has its rights, as a security-restricted operation like that of a definer.
    ///
    /// No other owner is served in the same transaction: that owner's SQL would read uncommitted rows of this role, and
    /// this role could roll its effects back.
    Restricted(Oid),
}

impl Serves {
    /// For whom a fire of a background worker runs SQL. The worker connected as `role`, or 0 for its own session; the
    /// fire is for an instance of this owner, if it is known to have invoker SQL.
    pub fn of_worker(role: Oid, owner: Option<&Owner>) -> Self {
        let role_of_owner = owner.filter(|_| role == Oid::INVALID).and_then(Owner::role);
        role_of_owner.map_or(Self::ItsRole, Self::Restricted)
    }

    /// For whom a call runs SQL that begins here: restricted SQL of a worker's own session can call the engine again.
    pub fn of_new_call() -> Self {
        if process::is_engine() && role::is_restricted() { Self::Restricted(role::current()) } else { Self::ItsRole }
    }

    /// Whether SQL of this owner, who may not log in, runs restricted here.
    pub fn restricted(self, owner: &Owner) -> bool {
        owner.role().is_some_and(|role| self == Self::Restricted(role) && !role::can_connect(role))
    }
}

/// Whether SQL of this version has the rights of the caller rather than those of the definition's owner.
pub fn has_invoker_sql(compiled: &Compiled) -> bool {
    compiled.row.uses_sql && !compiled.row.definer
}

/// Whether this session may run an instance that the call did not name. Invoker SQL runs only in a session of the
/// instance's owner, or restricted on the owner's behalf. Otherwise a role that may publish a definition could run SQL
/// as a superuser that publishes an event.
pub fn runs_here(serves: Serves, owner: &Owner, compiled: &Compiled) -> bool {
    !has_invoker_sql(compiled) || is_session_of(owner) || serves.restricted(owner)
}

/// Whether this session may run an instance that the call names, by its id, a bookmark or a task. It also may if the
/// current role lends its rights to the owner of the definition.
pub fn act_runs_here(serves: Serves, row: &InstanceRow, compiled: &Compiled) -> bool {
    runs_here(serves, &row.owner, compiled)
        || belongs_to_role(role::current()) && lends(role::current(), &compiled.row.owner)
}

/// Whether a role lends its rights to the workflows of a definition owner: the owner is this very role, or the role has
/// granted it. A superuser's rights are never lent.
pub fn lends(lender: Oid, owner: &Owner) -> bool {
    if is_superuser(lender) || owner.role().is_none() {
        return false;
    }
    owners::known_id_of(lender).is_some_and(|lender| invoker_grants::exists(lender, owner.id))
}

/// Whether the owner of an instance lends its rights to the owner of the definition, so that roles with the privilege
/// may steer the instance. A role that has started its own definition need not lend them.
pub fn is_lent(owner: &Owner, compiled: &Compiled) -> bool {
    let Some(starter) = owner.role().filter(|starter| !is_superuser(*starter)) else { return false };
    compiled.row.owner.role() == Some(starter) || lends(starter, &compiled.row.owner)
}

/// Whether a role may steer an instance: the instance uses no rights of its owner, or the role has these rights, or the
/// owner lends them to the owner of the definition.
pub fn may_steer(who: Oid, row: &InstanceRow, compiled: &Compiled) -> bool {
    let acts_as_owner = !compiled.row.definer && (compiled.row.uses_sql || compiled.program.acts_for_owner());
    !acts_as_owner || is_member(who, &row.owner) || is_lent(&row.owner, compiled)
}

/// Rejects the current role if it may not steer an instance that uses its owner's rights (42501). Setting a variable or
/// scheduling an activity determines what the instance's SQL, children and events do. So the role needs the rights of
/// that owner, or that owner must lend them to the owner of the definition.
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

/// Whether this session belongs to the current role. A background worker's session belongs only to the role as which it
/// connected: a setting of the database, or SQL that ran before, may have changed the current role, and users' SQL
/// could then reset it to the connected role. The engine's own session, a superuser's, belongs to no role.
fn belongs_to_role(current: Oid) -> bool {
    process::connected_as().is_none_or(|role| role == current)
}

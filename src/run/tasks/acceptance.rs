//! Whose tasks a worker accepts: what grants say of it.

use pgrx::pg_sys::Oid;

use crate::access::{is_member, task_consent};
use crate::pg::error::notice;
use crate::pg::session::literal;
use crate::pg::{PgError, role};
use crate::store::definitions;
use crate::store::rights::owners;
use crate::store::rights::owners::Owner;
use crate::store::tasks::accepted_owners;

/// Owners that a NOTICE names at most.
const MAX_NAMED: usize = 5;

/// Accepts the owner of a definition of which the current role grants something to a worker, if the current role has
/// the worker's rights: then both sides agree.
pub fn by_grant(worker: Oid, owner: &Owner) {
    if !role::has_rights_of(role::current(), worker) {
        return;
    }
    // What a member accepted for its group counts for the other members once a superuser grants.
    let is_listed = || accepted_owners::of(owners::known_id_of(worker), &[]).iter().any(|known| known.id == owner.id);
    if !task_consent::accepts(worker, owner) || is_listed() {
        accept(worker, owner.id);
    }
}

/// Accepts tasks of an owner for a worker. Returns `false` if they were accepted before.
pub fn accept(worker: Oid, owner: i32) -> bool {
    accepted_owners::add(owners::id_of(worker), owner, role::is_superuser(role::current()))
}

/// Tells a role that has granted tasks to a worker of which owners the worker does not accept tasks yet: of the owner of
/// the definition, or of the definitions that the grantor may manage.
pub fn notice_missing(worker: Oid, definition_owner: Option<&Owner>) {
    let grantor = role::current();
    let granted: Vec<Owner> = match definition_owner {
        Some(owner) => vec![owner.clone()],
        None => {
            let all = definitions::owners();
            let managed = all.iter().map(|known| known.owner.clone()).filter(|owner| is_member(grantor, owner));
            let own = (!role::is_superuser(grantor)).then(|| owners::by_id(owners::id_of(grantor)));
            own.into_iter().chain(managed).collect()
        }
    };
    let missing = granted.iter().filter(|owner| owner.role().is_some() && !task_consent::accepts(worker, owner));
    let mut missing: Vec<String> = missing.map(Owner::title).collect();
    missing.sort_unstable();
    missing.dedup();
    notice_not_accepted(worker, &missing);
}

/// Tells that a worker does not accept tasks of these owners, if there are any.
pub fn notice_not_accepted(worker: Oid, missing: &[String]) {
    let Some(first) = missing.first() else { return };
    let (name, count) = (role::name(worker).unwrap_or_default(), missing.len());
    let call = format!("wf_accept_tasks({}, {})", literal(first), literal(&name));
    let mut named: Vec<String> = missing.iter().take(MAX_NAMED).map(|owner| format!("\"{owner}\"")).collect();
    if count > MAX_NAMED {
        named.push(format!("and {} others", count - MAX_NAMED));
    }
    let roles = if count == 1 { "role" } else { "roles" };
    notice(
        PgError::new("00000", format!("role \"{name}\" does not accept tasks of {roles} {}", named.join(", ")))
            .detail("wf_claim_tasks and wf_wait_tasks skip tasks of an owner until the worker accepts them.")
            .hint(format!("If it is to process them, that role, or one that has its rights, runs {call}.")),
    );
}

//! The owner of a definition that is about to be stored.

use pgrx::pg_sys::Oid;

use crate::access;
use crate::pg::error::notice;
use crate::pg::{PgError, role};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::rights::owners::Owner;

/// The owner of a definition that the current role is about to store; `None`: it is new. Rejects other roles (42501).
pub fn owner_of(definition_id: &str, latest: Option<&DefinitionRow>) -> Result<Option<Owner>, PgError> {
    let owner = latest.map(|row| row.owner.clone()).or_else(|| definitions::owner(definition_id));
    match owner {
        Some(owner) if !access::is_member(role::current(), &owner) => Err(access::not_owner(definition_id)),
        owner => Ok(owner),
    }
}

/// The role that owns a definition, or will own it.
pub fn role_of(owner: Option<&Owner>) -> Option<Oid> {
    owner.map_or_else(|| Some(role::current()), Owner::role)
}

/// Sends a NOTICE if the owner may not log in: background workers run invoker SQL in a session of the owner.
pub fn warn_without_login(row: &DefinitionRow) {
    let Some(owner) = row.owner.role().filter(|_| row.uses_sql && !row.definer) else { return };
    if !role::can_connect(owner) {
        notice(
            PgError::new("00000", format!("role \"{}\" may not log in", role::name(owner).unwrap_or_default()))
                .detail("Workers run its workflows with restricted rights.")
                .hint("ALTER ROLE … LOGIN lets workers open sessions of the role."),
        );
    }
}

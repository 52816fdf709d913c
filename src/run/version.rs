//! Which version of a definition a start runs.

use uuid::Uuid;

use crate::access::{self, Heir, Privilege};
use crate::pg::PgError;
use crate::run::Session;
use crate::store::definitions::{self, DefinitionRow};
use crate::store::owners;

/// The version to start, and the caller's id among the owners, if the caller has one.
pub fn find(
    session: &Session,
    definition_id: &str,
    version: Option<i32>,
) -> Result<(DefinitionRow, Option<i32>), PgError> {
    let found = match version {
        Some(version) => definitions::version(definition_id, version).map(|row| (row, None)),
        None => definitions::published_for(definition_id, session.caller),
    };
    found.ok_or_else(|| not_startable(definition_id, version))
}

fn not_startable(definition_id: &str, version: Option<i32>) -> PgError {
    match (version, definitions::latest(definition_id)) {
        (Some(version), Some(_)) => PgError::new(
            "42704",
            format!("version {version} of workflow definition \"{definition_id}\" does not exist"),
        ),
        (None, Some(_)) => PgError::new("55000", format!("workflow definition \"{definition_id}\" is not published"))
            .hint(format!("Run wf_publish('{definition_id}'), or name a version.")),
        (_, None) => PgError::new("42704", format!("workflow definition \"{definition_id}\" does not exist"))
            .hint("Definitions are named by their id, not by their name."),
    }
}

/// The version that an instance runs which another one starts: the published one. Their owner must have the right to start
/// it (42501).
pub fn for_heir(definition_id: &str, owner: &owners::Owner, heir: Heir) -> Result<Uuid, PgError> {
    let row = definitions::published(definition_id).ok_or_else(|| not_startable(definition_id, None))?;
    if owner.role().is_some_and(|role| access::may(role, Privilege::Start, &row)) {
        return Ok(row.id);
    }
    let name = owner.title();
    Err(PgError::new("42501", format!("role \"{name}\" may not start workflow definition \"{definition_id}\""))
        .hint(format!("{} Run wf_grant('{definition_id}', '{name}', '{{start}}').", heir.keeps_owner())))
}

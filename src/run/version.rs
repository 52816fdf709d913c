//! Which version of a definition a start runs.

use uuid::Uuid;

use crate::access::{self, Privilege, StartedAs};
use crate::pg::{PgError, cluster};
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
        Some(version) => runnable(definition_id, version)?.map(|row| (row, None)),
        None => definitions::published_for(definition_id, session.caller, session.caller_id),
    };
    found.ok_or_else(|| not_startable(definition_id, version))
}

/// The version with this number. A draft runs for members of its owner only (42501), and has this content until the
/// transaction ends.
fn runnable(definition_id: &str, version: i32) -> Result<Option<DefinitionRow>, PgError> {
    let find = || definitions::version(definition_id, version);
    match find() {
        Some(row) if row.is_draft => {
            access::require_owner(&row).map_err(|error| error.detail(format!("Version {version} is a draft.")))?;
            definitions::hold_draft(row.id);
            // A transaction that has published or deleted it may have been waited for.
            Ok(find())
        }
        found => Ok(found),
    }
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

/// Refuses to start an instance of a version whose deletion has committed since the version was found (42704, 55000).
/// Gives the transaction an xid first: retention finds deletions, and removes what they have left when all transactions
/// have ended whose xids were assigned before. So it sees the instance.
pub(super) fn require_undeleted(row: &DefinitionRow) -> Result<(), PgError> {
    cluster::assign_transaction();
    match definitions::is_deleted(row.id) {
        true => Err(not_startable(&row.definition_id, None)),
        false => Ok(()),
    }
}

/// The version that an instance runs which another one starts: the published one. Their owner must have the right to
/// start it (42501).
pub fn for_started(definition_id: &str, owner: &owners::Owner, how: StartedAs) -> Result<Uuid, PgError> {
    let row = definitions::published(definition_id).ok_or_else(|| not_startable(definition_id, None))?;
    if owner.role().is_some_and(|role| access::may(role, Privilege::Start, &row)) {
        return Ok(row.id);
    }
    let name = owner.title();
    Err(PgError::new("42501", format!("role \"{name}\" may not start workflow definition \"{definition_id}\""))
        .hint(format!("{} Run wf_grant('{definition_id}', '{name}', '{{start}}').", how.keeps_owner())))
}

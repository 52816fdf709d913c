//! Which version of a definition a start runs.

use uuid::Uuid;
use workflow_engine::spelling::nearest;

use crate::access::{self, Privilege, StartedAs};
use crate::pg::session::{literal, sees_old_rows};
use crate::pg::{PgError, cluster, role};
use crate::run::CallContext;
use crate::store::definitions::triggers::{self, TriggerRow};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::rights::owners;

/// The version to start, and the caller's id among the owners, if the caller has one.
pub fn find(
    context: &CallContext,
    definition_id: &str,
    version: Option<i32>,
) -> Result<(DefinitionRow, Option<i32>), PgError> {
    let mut my_id = None;
    let found = undeleted(|| match version {
        Some(version) => runnable(definition_id, version),
        None => {
            let (row, id) = definitions::published_for(definition_id, context.caller, context.caller_id).unzip();
            my_id = id.flatten();
            Ok(row)
        }
    })?;
    found.map(|row| (row, my_id)).ok_or_else(|| not_startable(definition_id, version))
}

/// The version with this number. One that is not published runs for members of its owner only (42501): the right to
/// start a workflow is one to its published version. A draft has this content until the transaction ends.
fn runnable(definition_id: &str, version: i32) -> Result<Option<DefinitionRow>, PgError> {
    let find = || definitions::version(definition_id, version);
    let Some(row) = find() else { return Ok(None) };
    if row.is_published {
        return Ok(Some(row));
    }
    let state = if row.is_draft { "a draft" } else { "not published" };
    access::require_owner(&row).map_err(|error| error.detail(format!("Version {version} is {state}.")))?;
    if !row.is_draft {
        return Ok(Some(row));
    }
    definitions::hold_draft(row.id);
    // A transaction that has published or deleted it may have been waited for.
    Ok(find())
}

fn not_startable(definition_id: &str, version: Option<i32>) -> PgError {
    match (version, definitions::latest(definition_id)) {
        (Some(version), Some(_)) => PgError::new(
            "42704",
            format!("version {version} of workflow definition \"{definition_id}\" does not exist"),
        ),
        (None, Some(_)) => PgError::new("55000", format!("workflow definition \"{definition_id}\" is not published"))
            .hint(format!("Run wf_publish({}), or name a version.", literal(definition_id))),
        (_, None) => PgError::new("42704", format!("workflow definition \"{definition_id}\" does not exist")).hint(
            match suggested(definition_id) {
                Some(near) => format!("Did you mean \"{near}\"? Definitions are named by their id, not by their name."),
                None => "Definitions are named by their id, not by their name.".to_owned(),
            },
        ),
    }
}

/// The id of a published definition that the current role may start, and that differs little from this one.
fn suggested(definition_id: &str) -> Option<String> {
    let known = definitions::published_ids();
    let near = nearest(definition_id, known.iter().map(String::as_str))?;
    let row = definitions::published(near)?;
    access::may(role::current(), Privilege::Start, &row).then(|| near.to_owned())
}

/// What `find` finds. The transaction gets an xid before it reads. Retention removes a deleted version when all
/// transactions have ended whose xids were assigned before it found the deletion: such a transaction may have found the
/// version, and when it has ended, retention sees what it has stored.
///
/// # Errors
/// Those of `find` and of [`refuse_deleted`].
pub fn undeleted(
    find: impl FnOnce() -> Result<Option<DefinitionRow>, PgError>,
) -> Result<Option<DefinitionRow>, PgError> {
    cluster::assign_transaction();
    let found = find()?;
    found.iter().try_for_each(refuse_deleted)?;
    Ok(found)
}

/// The triggers that a hash matches, of definitions that are stored under these owners. Their versions are to be started. If there are any, the transaction has an xid
/// before it reads them.
pub fn of_triggers(name: &str, hash: Option<&[u8; 32]>, owners: &[i32]) -> Vec<TriggerRow> {
    let found = triggers::matching(name, hash, owners);
    if found.is_empty() || cluster::my_transaction().is_some() {
        return found;
    }
    cluster::assign_transaction();
    triggers::matching(name, hash, owners)
}

/// Refuses a version that has been deleted, which only a transaction above READ COMMITTED may find (40001). Its
/// snapshot does not see the deletion, and PREPARE TRANSACTION would give the snapshot up that keeps the version.
pub fn refuse_deleted(row: &DefinitionRow) -> Result<(), PgError> {
    if !sees_old_rows() || !definitions::is_deleted(row.id) {
        return Ok(());
    }
    let DefinitionRow { definition_id, version, .. } = row;
    Err(PgError::new("40001", "could not serialize access due to concurrent update").detail(format!(
        "Another transaction has deleted version {version} of workflow definition \"{definition_id}\"."
    )))
}

/// The version that an instance runs which another one starts: the published one. Their owner must have the right to
/// start it (42501).
pub fn for_started(definition_id: &str, owner: &owners::Owner, how: StartedAs) -> Result<Uuid, PgError> {
    let found = undeleted(|| Ok(definitions::published(definition_id)))?;
    let row = found.ok_or_else(|| not_startable(definition_id, None))?;
    if owner.role().is_some_and(|role| access::may(role, Privilege::Start, &row)) {
        return Ok(row.id);
    }
    let name = owner.title();
    Err(PgError::new("42501", format!("role \"{name}\" may not start workflow definition \"{definition_id}\"")).hint(
        format!("{} Run wf_grant({}, {}, '{{start}}').", how.keeps_owner(), literal(definition_id), literal(&name)),
    ))
}

//! Definitions: storing, publishing, retracting, deleting, and the trigger index.

use serde_json::{Value, json};
use workflow_engine::definition;

use crate::access;
use crate::compiled;
use crate::error;
use crate::pg::{PgError, role};
use crate::run::CallContext;
use crate::run::definitions::link::Linker;
use crate::run::history::acts;
use crate::run::repair::migrate;
use crate::store::definitions::triggers::Indexed;
use crate::store::definitions::{self, DefinitionRow, WholeDefinition};
use crate::store::definitions::{links, uses};
use crate::store::rights::owners;

mod consumers;
pub mod draft;
mod index;
mod names;
mod owner;
mod routes;
mod storing;
mod timed;
pub mod validate;

use consumers::lock_links;
use index::{forget_triggers, index, publish_alone};
pub use names::narrow as narrow_names;
pub use owner::warn_without_login;
use owner::{owner_of, role_of};
use storing::{New, add};
use validate::{finds_more, refuse_large, refuse_reserved};

/// Stores a definition unless its latest version has the same content, and publishes it if asked to.
/// Returns its id and version.
pub fn define(
    context: &mut CallContext,
    document: &Value,
    publish: bool,
    allow_unknown: bool,
) -> Result<(String, i32), PgError> {
    let identity = definition::identity(document).map_err(|problem| error::definition(&[problem]))?;
    refuse_reserved(&identity.definition_id)?;
    lock_links(document, &identity.definition_id, publish)?;
    definitions::lock(&identity.definition_id);
    let latest = definitions::latest(&identity.definition_id);
    let mut was_unknown = Vec::new();
    if let Some(latest) = &latest {
        access::require_owner(latest)?;
        let WholeDefinition { links, unknown_types, document: stored, .. } = definitions::whole(latest.id)?;
        let means_more =
            || finds_more(document, latest, &links) || compiled::is_known_to_others(&unknown_types, &latest.owner);
        if !latest.is_draft && definition::same_content(&stored, document) && !means_more() {
            // If the version no longer compiles, the session that runs it gets the error.
            if let Ok(compiled) = compiled::of_version(latest.id) {
                names::renew(latest, &compiled.program);
            }
            let child_owners = definitions::named_in(&stored, &latest.definition_id);
            definitions::renew_child_owners(latest.id, child_owners.as_ref());
            if publish && !latest.is_published {
                publish_version(context, latest)?;
                record_define(latest, publish)?;
            }
            return Ok((latest.definition_id.clone(), latest.version));
        }
        was_unknown = unknown_types;
    }
    let owner = owner_of(&identity.definition_id, latest.as_ref())?;
    refuse_large(document)?;
    let linker = Linker::new(owner.clone());
    let mut validated = validate::validate(document, &linker, allow_unknown, latest.as_ref())?;
    let links = linker.into_links()?;
    let doubts = validate::doubts(&mut validated);
    let program = validated.program.map_err(|problems| error::definition(&problems))?;
    let search_path = names::found(&identity.definition_id, &program, role_of(owner.as_ref()));
    let new = New::of(Some(&program), &links, document, &identity, search_path);
    let owner = owner.map_or_else(owners::current_id, |owner| owner.id);
    let row = add(context, &new, owner)?;
    compiled::cache_new(program, &row);
    if publish {
        publish_version(context, &row)?;
    }
    validate::warn(&doubts);
    validate::warn_of_others(&row, &was_unknown, &links)?;
    warn_without_login(&row);
    record_define(&row, publish)?;
    Ok((identity.definition_id, row.version))
}

fn record_define(row: &DefinitionRow, publish: bool) -> Result<(), PgError> {
    acts::record("define", Some(&row.definition_id), &json!({ "version": row.version, "publish": publish }))
}

/// Publishes a version, the latest one if none is named, and returns its number.
pub fn publish(context: &mut CallContext, definition_id: &str, version: Option<i32>) -> Result<i32, PgError> {
    let lock = |row: &DefinitionRow| match row.is_draft {
        true => lock_links(&definitions::whole(row.id)?.document, definition_id, true),
        false => consumers::lock(row),
    };
    let row = find(definition_id, version)?;
    access::require_owner(&row)?;
    lock(&row)?;
    definitions::lock(definition_id);
    let row = find(definition_id, version)?;
    access::require_owner(&row)?;
    // By now another version may be the latest, or the draft may have other content.
    lock(&row)?;
    let row = if row.is_draft { draft::complete(context, &row)? } else { row };
    publish_version(context, &row)?;
    Ok(row.version)
}

/// The requested version, or the latest one.
pub fn find(definition_id: &str, version: Option<i32>) -> Result<DefinitionRow, PgError> {
    let found = match version {
        Some(version) => definitions::version(definition_id, version),
        None => definitions::latest(definition_id),
    };
    found.ok_or_else(|| match version {
        Some(version) if definitions::latest(definition_id).is_some() => PgError::new(
            "42704",
            format!("version {version} of workflow definition \"{definition_id}\" does not exist"),
        ),
        _ => PgError::new("42704", format!("workflow definition \"{definition_id}\" does not exist")),
    })
}

/// Publishes a version and, if its options say so, new versions of its consumers. The caller holds the locks.
fn publish_version(context: &mut CallContext, row: &DefinitionRow) -> Result<(), PgError> {
    publish_alone(context, row)?;
    match compiled::of_version(row.id)?.program.options.updates_consumers {
        true => consumers::update(context, row),
        false => Ok(()),
    }
}

/// Retracts a definition: nothing starts it any more, but running instances continue. `false`: it was not published.
pub fn retract(context: &mut CallContext, definition_id: &str) -> Result<bool, PgError> {
    definitions::lock(definition_id);
    let row = find(definition_id, None)?;
    access::require_owner(&row)?;
    let was_published = definitions::unpublish(definition_id);
    forget_triggers(definition_id);
    migrate::publication::end_others(context, definition_id)?;
    Ok(was_published)
}

/// Deletes a version, or all of them, unless an instance runs on it or another definition uses it. Returns the number
/// of deleted versions.
pub fn delete(context: &CallContext, definition_id: &str, version: Option<i32>) -> Result<i32, PgError> {
    let own = || definitions::owner(definition_id).filter(|owner| access::is_member(role::current(), owner));
    links::lock(|| Ok(own().map(|owner| owner.id).into_iter().collect()))?;
    definitions::lock(definition_id);
    let doomed = match version {
        Some(_) => vec![find(definition_id, version)?],
        None => definitions::all(definition_id),
    };
    let Some(first) = doomed.first() else {
        return Err(find(definition_id, version).map_or_else(|e| e, |_| gone()));
    };
    access::require_owner(first)?;
    for row in &doomed {
        if let Some(instance) = definitions::running_instance(row.id) {
            return Err(PgError::new(
                "55006",
                format!("version {} of workflow definition \"{definition_id}\" is in use", row.version),
            )
            .detail(format!("Workflow instance {instance} has not ended."))
            .hint("Cancel its instances first, or retract the definition so that no more are started."));
        }
    }
    for row in &doomed {
        refuse_used(row)?;
    }
    for row in &doomed {
        if row.is_published {
            forget_triggers(definition_id);
        }
        definitions::delete(row, context.timestamp());
    }
    definitions::renew_latest(definition_id);
    Ok(i32::try_from(doomed.len()).unwrap_or(i32::MAX))
}

fn refuse_used(row: &DefinitionRow) -> Result<(), PgError> {
    let Some(user) = uses::user_of(row.id) else { return Ok(()) };
    let what = format!("version {} of workflow definition \"{}\"", row.version, row.definition_id);
    Err(PgError::new("2BP01", format!("cannot delete {what} because another workflow definition uses it"))
        .detail(format!("Version {} of workflow definition \"{}\" uses it.", user.version, user.definition_id))
        .hint("Delete that version first. The view workflow.definition_links shows which version uses which."))
}

fn gone() -> PgError {
    PgError::new("42704", "workflow definition does not exist")
}

/// Evaluates the triggers of the published version again.
pub fn refresh(context: &mut CallContext, definition_id: &str) -> Result<Indexed, PgError> {
    definitions::lock(definition_id);
    let row = find(definition_id, None)?;
    access::require_owner(&row)?;
    match definitions::published(definition_id) {
        Some(published) => index(context, &published),
        None => Err(PgError::new("55000", format!("workflow definition \"{definition_id}\" is not published"))),
    }
}

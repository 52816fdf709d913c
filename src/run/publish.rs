//! Definitions: storing, publishing, retracting, deleting, and the trigger index.

use pgrx::pg_sys::Oid;
use serde_json::Value;
use workflow_engine::definition::{self, ActivityTypes, Judged, WorkflowReference};
use workflow_engine::trigger::{self, Trigger};

use crate::access;
use crate::compiled::{self, Compiled, Registered};
use crate::error;
use crate::pg::error::notice;
use crate::pg::{PgError, guc, json, role};
use crate::run::host::SpiHost;
use crate::run::link::Linker;
use crate::run::{Session, built_in, migrate};
use crate::store::definitions::{self, DefinitionRow, WholeDefinition};
use crate::store::links::{self, Link};
use crate::store::owners::{self, Owner};
use crate::store::triggers::Indexed;
use crate::store::{schedules, triggers, uses};

mod consumers;
pub mod draft;
pub mod judge;
mod names;
mod routes;
mod storing;
mod timed;

use storing::{New, add};

/// Stores a definition unless its latest version has the same content, and publishes it if asked to.
/// Returns its id and version.
pub fn define(
    session: &mut Session,
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
            // If the version does not compile any more, the session that runs it gets the error.
            if let Ok(compiled) = compiled::of_version(latest.id) {
                names::renew(latest, &compiled.program);
            }
            if publish && !latest.is_published {
                publish_version(session, latest)?;
            }
            return Ok((latest.definition_id.clone(), latest.version));
        }
        was_unknown = unknown_types;
    }
    let owner = owner_of(&identity.definition_id, latest.as_ref())?;
    refuse_large(document)?;
    let linker = Linker::new(owner.clone());
    let judged = compiled::judge(document, &linker, allow_unknown);
    let links = linker.into_links()?;
    let Judged { program, warnings, sql, .. } = judged;
    let program = program.map_err(|problems| error::definition(&problems))?;
    let search_path = names::found(&identity.definition_id, &program, role_of(owner.as_ref()));
    let new = New::of(Some(&program), &links, document, &identity, search_path);
    let owner = owner.map_or_else(owners::current_id, |owner| owner.id);
    let row = add(session, &new, owner)?;
    compiled::keep_new(program, &row);
    if publish {
        publish_version(session, &row)?;
    }
    judge::warn(warnings, &sql);
    judge::warn_of_others(&row, &was_unknown, &links)?;
    warn_without_login(&row);
    Ok((identity.definition_id, row.version))
}

/// Locks the links of the owners of what a document uses, and of its consumers if publishing it gives them a new version.
fn lock_links(document: &Value, definition_id: &str, publish: bool) -> Result<(), PgError> {
    let references = definition::references(document, &Registered);
    let updates = publish && definition::updates_consumers(document);
    if !updates && references.is_empty() {
        return Ok(());
    }
    links::lock(|| {
        let owner = definitions::owner(definition_id);
        let mut owners = Linker::new(owner.clone()).owners_of(&references);
        if updates && owner.is_none_or(|owner| access::is_member(role::current(), &owner)) {
            owners.extend(consumers::owners(definition_id)?);
        }
        Ok(owners)
    })
}

/// The owner of a definition that the current role is going to store; `None`: it is new. Other roles are refused (42501).
fn owner_of(definition_id: &str, latest: Option<&DefinitionRow>) -> Result<Option<Owner>, PgError> {
    let owner = latest.map(|row| row.owner.clone()).or_else(|| definitions::owner_of_deleted(definition_id));
    match owner {
        Some(owner) if !access::is_member(role::current(), &owner) => Err(access::not_owner(definition_id)),
        owner => Ok(owner),
    }
}

/// The role that owns a definition, or is going to.
fn role_of(owner: Option<&Owner>) -> Option<Oid> {
    owner.map_or_else(|| Some(role::current()), Owner::role)
}

/// Whether an activity type that was unknown is a workflow by now, so that the same content means something else.
fn finds_more(document: &Value, latest: &DefinitionRow, links: &[Link]) -> bool {
    let linker = Linker::new(Some(latest.owner.clone()));
    let settled = |reference: &WorkflowReference| links.iter().any(|link| link.reference == *reference);
    let found = definition::references(document, &Registered).into_iter();
    found
        .filter(|(_, reference)| !settled(reference))
        .any(|(_, reference)| matches!(linker.workflow(&reference), Ok(Some(_))))
}

/// Leaves out of the search path of a version the schemas that are not safe for another owner.
pub use names::narrow as narrow_names;

/// Sends a NOTICE if the owner may not log in: a worker that runs invoker SQL needs a session of the owner.
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

fn refuse_reserved(definition_id: &str) -> Result<(), PgError> {
    let Some(built_in) = built_in::find(definition_id) else { return Ok(()) };
    Err(PgError::new("42710", format!("workflow definition \"{definition_id}\" is built in")).detail(built_in.purpose))
}

fn refuse_large(document: &Value) -> Result<(), PgError> {
    let (size, limit) = (json::text(document).len(), guc::max_definition_size());
    if size <= limit {
        return Ok(());
    }
    Err(PgError::new("54000", "workflow definition is too large")
        .detail(format!("It has {size} bytes; the limit is {limit}."))
        .hint("Raise workflow.max_definition_size."))
}

/// Publishes a version, the latest one if none is named, and returns its number.
pub fn publish(session: &mut Session, definition_id: &str, version: Option<i32>) -> Result<i32, PgError> {
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
    // Another version may be the latest by now, or the draft has another content.
    lock(&row)?;
    let row = if row.is_draft { draft::complete(session, &row)? } else { row };
    publish_version(session, &row)?;
    Ok(row.version)
}

/// The version asked for, or the latest one.
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
fn publish_version(session: &mut Session, row: &DefinitionRow) -> Result<(), PgError> {
    publish_alone(session, row)?;
    match compiled::of_version(row.id)?.program.options.updates_consumers {
        true => consumers::update(session, row),
        false => Ok(()),
    }
}

fn publish_alone(session: &mut Session, row: &DefinitionRow) -> Result<(), PgError> {
    definitions::publish(row);
    index(session, row)?;
    migrate::publication::end_others(session, &row.definition_id)?;
    match compiled::of_version(row.id)?.program.options.migrates {
        true => migrate::publication::begin(session, row),
        false => Ok(()),
    }
}

/// Retracts a definition: nothing starts it any more, but running instances go on. `false`: it was not published.
pub fn retract(session: &mut Session, definition_id: &str) -> Result<bool, PgError> {
    definitions::lock(definition_id);
    let row = find(definition_id, None)?;
    access::require_owner(&row)?;
    let was_published = definitions::unpublish(definition_id);
    forget_triggers(definition_id);
    migrate::publication::end_others(session, definition_id)?;
    Ok(was_published)
}

fn forget_triggers(definition_id: &str) {
    let removed = i32::try_from(triggers::delete_all(definition_id)).unwrap_or(i32::MAX);
    triggers::announce(definition_id, Indexed { removed, ..Indexed::default() });
}

/// Deletes a version, or all of them, unless an instance runs on it or another definition uses it. Returns the number
/// of deleted versions.
pub fn delete(session: &Session, definition_id: &str, version: Option<i32>) -> Result<i32, PgError> {
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
        definitions::delete(row, session.timestamp());
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

/// Evaluates the triggers of the published version anew.
pub fn refresh(session: &mut Session, definition_id: &str) -> Result<Indexed, PgError> {
    definitions::lock(definition_id);
    let row = find(definition_id, None)?;
    access::require_owner(&row)?;
    match definitions::published(definition_id) {
        Some(published) => index(session, &published),
        None => Err(PgError::new("55000", format!("workflow definition \"{definition_id}\" is not published"))),
    }
}

/// Brings the trigger index up to date. A trigger that did not change keeps its row.
fn index(session: &mut Session, row: &DefinitionRow) -> Result<Indexed, PgError> {
    let compiled = compiled::of_version(row.id)?;
    let wanted = evaluate(session, &compiled)?;
    let mut stored = triggers::of_definition(&row.definition_id);
    let timers = schedules::of_definition(&row.definition_id);
    let mut indexed = Indexed::default();
    for trigger in &wanted {
        let same = stored.iter().position(|known| {
            known.node_id == trigger.node_id
                && known.name == trigger.name
                && known.hash == trigger.hash
                // The payload of a timer may hold its first instant, which must not move.
                && (known.payload == trigger.payload || trigger.schedule.is_some())
        });
        if let Some(position) = same {
            let known = stored.swap_remove(position);
            triggers::keep(known.id, row, &trigger.activity_id);
            timed::keep(session, &timers, known.id, trigger)?;
            indexed.unchanged += 1;
        }
    }
    for gone in &stored {
        triggers::delete(gone.id);
        indexed.removed += 1;
    }
    let kept = triggers::of_definition(&row.definition_id);
    for trigger in &wanted {
        if kept.iter().any(|known| known.node_id == trigger.node_id && known.hash == trigger.hash) {
            continue;
        }
        let id = session.new_id();
        routes::insert(session, id, row, trigger)?;
        indexed.added += 1;
    }
    triggers::announce(&row.definition_id, indexed);
    Ok(indexed)
}

fn evaluate(session: &Session, compiled: &Compiled) -> Result<Vec<Trigger>, PgError> {
    let mut host = SpiHost::indexing(session.now, compiled);
    let mut found = trigger::index(&compiled.program, &mut host, &session.limits).map_err(|(activity, fault)| {
        let original = host.original(&fault);
        PgError { message: format!("trigger \"{activity}\" cannot be indexed: {}", original.message), ..original }
    })?;
    // One row for each payload: a payload that occurs twice gets one row.
    let mut seen = std::collections::HashSet::new();
    found.retain(|trigger| seen.insert((trigger.node_id.clone(), trigger.hash)));
    Ok(found)
}

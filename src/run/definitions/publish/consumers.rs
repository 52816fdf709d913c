//! Updating consumers: publishing a definition gives its consumers a new version, if the definition's options say so.
//!
//! A consumer gets one new version, however many of the definitions that it uses have changed, and gets it before its
//! own consumers do. A consumer stays unchanged if the current role may not manage it, or if its new version would be
//! invalid; the publisher gets a NOTICE or a WARNING.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};
use workflow_engine::Program;
use workflow_engine::definition::{self, WorkflowReference};

use super::index::publish_alone;
use super::storing::{New, add};
use crate::access;
use crate::compiled::{self, Pinned, Registered};
use crate::error;
use crate::pg::error::{notice, warning};
use crate::pg::{PgError, role};
use crate::run::CallContext;
use crate::run::definitions::link::{self, Linker};
use crate::store::definitions::links::{self, Link};
use crate::store::definitions::uses;
use crate::store::definitions::{self, DefinitionRow};

/// A definition that may get a new version.
struct Consumer {
    row: DefinitionRow,
    /// Its links, with the versions to which they resolve.
    links: Vec<(Link, DefinitionRow)>,
}

/// Locks the links of the owner of a version that is about to be published, and of the owners of the consumers that get
/// a new version with it. No other transaction can change usages of their definitions meanwhile.
pub fn lock(row: &DefinitionRow) -> Result<(), PgError> {
    match compiled::of_version(row.id)?.program.options.updates_consumers {
        true => links::lock(|| owners(&row.definition_id)),
        false => Ok(()),
    }
}

/// Locks the links of the owners of the definitions that a document uses, and of its consumers if publishing it gives
/// them a new version.
pub fn lock_links(document: &Value, definition_id: &str, publish: bool) -> Result<(), PgError> {
    let references = definition::references(document, &Registered);
    let updates = publish && definition::updates_consumers(document);
    if !updates && references.is_empty() {
        return Ok(());
    }
    links::lock(|| {
        let owner = definitions::owner(definition_id);
        let mut owners = Linker::new(owner.clone()).owners_of(&references);
        if updates && owner.is_none_or(|owner| access::is_member(role::current(), &owner)) {
            owners.extend(self::owners(definition_id)?);
        }
        Ok(owners)
    })
}

/// The owners of a definition and of the consumers that get a new version with it.
pub fn owners(definition_id: &str) -> Result<BTreeSet<i32>, PgError> {
    let affected = affected(definition_id)?.into_values().map(|consumer| consumer.row.owner);
    let affected = affected.filter(|owner| access::is_member(role::current(), owner)).map(|owner| owner.id);
    Ok(affected.chain(definitions::owner(definition_id).map(|owner| owner.id)).collect())
}

/// Gives a new version to every definition whose latest version uses an older version of this one, and then to the
/// consumers of those definitions. The caller holds the lock on links.
pub fn update(context: &mut CallContext, published: &DefinitionRow) -> Result<(), PgError> {
    let mut waiting = affected(&published.definition_id)?;
    let mut changed = HashMap::from([(published.definition_id.clone(), published.clone())]);
    while let Some(id) = next(&waiting) {
        let Some(consumer) = waiting.remove(&id) else { break };
        if let Some(row) = update_one(context, &consumer, &changed)?
            && row.is_published
            && compiled::of_version(row.id)?.program.options.updates_consumers
        {
            changed.insert(id, row);
        }
    }
    Ok(())
}

/// The direct and indirect consumers of a definition, as far as each one's options pass the update on.
fn affected(published: &str) -> Result<BTreeMap<String, Consumer>, PgError> {
    let mut found: BTreeMap<String, Consumer> = BTreeMap::new();
    let mut pending = vec![published.to_owned()];
    while let Some(used) = pending.pop() {
        for row in uses::latest_users_of(&used)? {
            if found.contains_key(&row.definition_id) || row.definition_id == published {
                continue;
            }
            if row.is_published && compiled::of_version(row.id)?.program.options.updates_consumers {
                pending.push(row.definition_id.clone());
            }
            let links = definitions::whole(row.id)?.links.into_iter().map(|link| {
                let used = definitions::by_id(link.uses)?;
                Ok((link, used))
            });
            found.insert(row.definition_id.clone(), Consumer { links: links.collect::<Result<_, PgError>>()?, row });
        }
    }
    Ok(found)
}

/// The first consumer in order of id that uses none of the others.
fn next(waiting: &BTreeMap<String, Consumer>) -> Option<String> {
    let uses_none =
        |consumer: &Consumer| consumer.links.iter().all(|(_, used)| !waiting.contains_key(&used.definition_id));
    let ready = waiting.iter().find(|(_, consumer)| uses_none(consumer));
    // Over time, latest versions can come to use each other in a cycle. A new version that would close the cycle is
    // rejected.
    ready.or_else(|| waiting.iter().next()).map(|(id, _)| id.clone())
}

/// The new version of a consumer, unless the consumer stays unchanged.
fn update_one(
    context: &mut CallContext,
    consumer: &Consumer,
    changed: &HashMap<String, DefinitionRow>,
) -> Result<Option<DefinitionRow>, PgError> {
    let id = &consumer.row.definition_id;
    let newer = |used: &DefinitionRow| changed.get(&used.definition_id).filter(|now| now.version > used.version);
    let Some(cause) = consumer.links.iter().find_map(|(_, used)| newer(used)) else { return Ok(None) };
    let stays = format!("workflow definition \"{id}\" still uses an older version of \"{}\"", cause.definition_id);
    if !access::is_member(role::current(), &consumer.row.owner) {
        notice(
            PgError::new("00000", stays).detail("It belongs to another role.").hint("Its owner can define it anew."),
        );
        return Ok(None);
    }
    if consumer.row.is_draft {
        notice(PgError::new("00000", stays).detail("Its latest version is a draft.").hint("Save the draft anew."));
        return Ok(None);
    }
    definitions::lock(id);
    // The previous holder of the lock may have stored a version that uses none of the changed definitions.
    let Some(row) = definitions::latest(id).filter(|latest| latest.id == consumer.row.id) else { return Ok(None) };
    match replace(context, &row, consumer, changed) {
        Ok(new) => {
            if row.is_published {
                publish_alone(context, &new)?;
            }
            definitions::by_id(new.id).map(Some)
        }
        Err(error) if error.aborts_transaction() || error.sqlstate.starts_with("XX") => Err(error),
        Err(error) => {
            let detail = error.detail.unwrap_or(error.message);
            warning(
                PgError::new("01000", stays).detail(detail).hint("Define it anew so that it fits the new version."),
            );
            Ok(None)
        }
    }
}

fn replace(
    context: &mut CallContext,
    row: &DefinitionRow,
    consumer: &Consumer,
    changed: &HashMap<String, DefinitionRow>,
) -> Result<DefinitionRow, PgError> {
    let mut document = definitions::whole(row.id)?.document;
    let mut links: Vec<Link> = Vec::new();
    for (link, used) in &consumer.links {
        let Some(now) = changed.get(&used.definition_id).filter(|now| now.version > used.version) else {
            links.push(link.clone());
            continue;
        };
        link::agree(now, Some(&row.owner)).map_err(|refusal| PgError::new("42501", refusal.message))?;
        let version = VersionName::of(now)?;
        version.write_all(&mut document, &link.reference);
        links.push(Link { reference: version.renamed(&link.reference), uses: now.id });
    }
    links.sort_by(|a, b| a.reference.cmp(&b.reference));
    links.dedup();
    let program =
        compiled::compile(&document, &Pinned::to(&links)?).map_err(|problems| error::definition(&problems))?;
    refuse_lost_outcomes(&program, consumer)?;
    let identity = definition::identity(&document).map_err(|problem| error::definition(&[problem]))?;
    // The SQL text is unchanged, so its names must resolve to the same objects.
    let search_path = definitions::search_path(row.id);
    add(context, &New::of(Some(&program), &links, &document, &identity, search_path), row.owner.id)
}

/// Rejects a new version of a consumer if the used workflow has lost an outcome that the consumer follows: the consumer
/// would end without running the activities behind it.
fn refuse_lost_outcomes(program: &Program, consumer: &Consumer) -> Result<(), PgError> {
    for inlined in &program.inlined {
        let follows = |port: &str| {
            program.node(inlined.node).parent.is_some_and(|above| {
                program.node(above).flow.as_deref().is_some_and(|flow| flow.has_connection(inlined.node, port))
            })
        };
        for (_, used) in &consumer.links {
            if used.definition_id != inlined.program.definition_id {
                continue;
            }
            let before = compiled::of_version(used.id)?;
            let lost =
                before.program.outcomes.iter().find(|port| !inlined.program.outcomes.contains(port) && follows(port));
            if let Some(port) = lost {
                return Err(PgError::new(
                    "22023",
                    format!(
                        "workflow definition \"{}\" has no outcome \"{port}\" any more, which a connection of activity \"{}\" follows",
                        used.definition_id,
                        program.node(inlined.node).id
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// The ways in which a reference can name a version.
struct VersionName {
    number: i32,
    /// The id in its document.
    id: Option<String>,
}

impl VersionName {
    fn of(row: &DefinitionRow) -> Result<Self, PgError> {
        let document = definitions::whole(row.id)?.document;
        Ok(Self { number: row.version, id: document.get("id").and_then(Value::as_str).map(str::to_owned) })
    }

    /// Changes a reference to this version. A number or an id that it did not have is not added.
    fn renamed(&self, reference: &WorkflowReference) -> WorkflowReference {
        WorkflowReference {
            version: reference.version.map(|_| self.number),
            version_id: reference.version_id.as_ref().and_then(|_| self.id.clone()),
            ..reference.clone()
        }
    }

    /// Writes this version into every occurrence of a reference in a document.
    fn write_all(&self, document: &mut Value, reference: &WorkflowReference) {
        // Without registered types, this finds every activity that was a workflow when the document was stored.
        for (pointer, found) in definition::references(document, &()) {
            if found == *reference
                && let Some(Value::Object(members)) = document.pointer_mut(&pointer)
            {
                self.write(members, reference);
            }
        }
    }

    fn write(&self, members: &mut Map<String, Value>, reference: &WorkflowReference) {
        let id = || self.id.clone().map_or(Value::Null, Value::String);
        for (name, value) in members {
            match name.to_ascii_lowercase().as_str() {
                "version" if reference.version.is_some() => *value = self.number.into(),
                "workflowdefinitionversionid" if reference.version_id.is_some() => *value = id(),
                "latestavailablepublishedversion" => *value = self.number.into(),
                "latestavailablepublishedversionid" => *value = id(),
                _ => {}
            }
        }
    }
}

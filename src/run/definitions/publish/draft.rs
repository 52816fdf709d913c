//! Drafts: saved by an editor while a definition is unfinished.
//!
//! The latest version of a definition can be a draft. A save overwrites it, unless an instance was started on it; then,
//! and after a version that is no draft, a save creates the next version. A draft need not compile. Each save has a
//! number, the revision: an editor that names the revision that it has read cannot overwrite a later save of others.

use chrono::DateTime;
use serde_json::Value;
use workflow_engine::Program;
use workflow_engine::definition::{self, Identity, Problem, ProblemKind};

use super::consumers::lock_links;
use super::owner::{owner_of, role_of, warn_without_login};
use super::storing::{New, add, replace};
use super::validate::{refuse_large, refuse_reserved};
use super::{names, validate};
use crate::compiled;
use crate::error;
use crate::pg::{PgError, session as pg_session};
use crate::run::CallContext;
use crate::run::definitions::link::Linker;
use crate::store::definitions::links::Link;
use crate::store::definitions::{self, DefinitionRow, LastSave, Saved, WholeDefinition};
use crate::store::rights::owners::{self, Owner};

/// The result of saving a draft.
#[derive(Debug)]
pub struct Draft {
    /// The version that holds its content: the existing draft, a new one, or the latest version if its content is the
    /// same.
    pub row: DefinitionRow,
    /// The number of the save.
    pub revision: i64,
    /// All its problems, including warnings.
    pub problems: Vec<Problem>,
}

/// Saves a draft. `revision` is the last save that the editor has read, `editor` its editing session, whose own saves
/// do not count as conflicts. Content that a version which is no draft already has is not stored again.
///
/// # Errors
/// 40001 if another session has saved since.
pub fn save(
    context: &mut CallContext,
    document: &Value,
    revision: Option<i64>,
    editor: Option<&str>,
) -> Result<Draft, PgError> {
    pg_session::require_read_committed("save a draft")?;
    let identity = definition::identity(document).map_err(|problem| error::definition(&[problem]))?;
    let id = identity.definition_id.as_str();
    refuse_reserved(id)?;
    refuse_large(document)?;
    lock_links(document, id, false)?;
    definitions::lock(id);
    let latest = definitions::latest(id);
    let owner = owner_of(id, latest.as_ref())?;
    let last = latest.as_ref().and_then(|row| definitions::last_save(row.id));
    refuse_stale(id, latest.as_ref().zip(last.as_ref()), revision, editor)?;
    if let Some((row, last)) = latest.as_ref().filter(|row| !row.is_draft).zip(last)
        && definition::same_content(&definitions::whole(row.id)?.document, document)
    {
        return Ok(Draft { row: row.clone(), revision: last.revision, problems: Vec::new() });
    }
    let ValidatedDraft { program, links, search_path, problems } =
        validate_draft(context, document, &identity, owner.as_ref());
    let saved = Saved { at: context.timestamp(), by: owners::current_id(), session: editor.map(str::to_owned) };
    let new = New::of(program.as_ref(), &links, document, &identity, search_path);
    let new = New { saved: Some(saved), is_draft: true, ..new };
    let revision = definitions::next_revision(id);
    let row = match latest.filter(|row| row.is_draft && definitions::lock_draft(row.id)) {
        Some(draft) => replace(context, &new, &draft, revision)?,
        None => add(context, &new, owner.map_or_else(owners::current_id, |owner| owner.id))?,
    };
    Ok(Draft { row, revision, problems })
}

fn refuse_stale(
    definition_id: &str,
    latest: Option<(&DefinitionRow, &LastSave)>,
    revision: Option<i64>,
    editor: Option<&str>,
) -> Result<(), PgError> {
    let Some(known) = revision else { return Ok(()) };
    let stale = |detail: String| {
        Err(PgError::new(
            "40001",
            format!("workflow definition \"{definition_id}\" has changed since revision {known}"),
        )
        .detail(detail)
        .hint("Read it again, and make the change once more."))
    };
    match latest {
        None if known == 0 => Ok(()),
        None => stale("It has been deleted.".into()),
        Some((_, last)) if last.revision == known || editor.is_some() && last.session.as_deref() == editor => Ok(()),
        Some((row, last)) => {
            let by = last.by.as_ref().map(|role| format!(" by role \"{}\"", role.title())).unwrap_or_default();
            let at = DateTime::from(last.at).format("%Y-%m-%d %H:%M:%S+00");
            stale(format!("Version {}, revision {}, was saved{by} at {at}.", row.version, last.revision))
        }
    }
}

/// The result of validating a document that is to be stored.
struct ValidatedDraft {
    program: Option<Program>,
    links: Vec<Link>,
    search_path: Option<String>,
    problems: Vec<Problem>,
}

fn validate_draft(
    context: &CallContext,
    document: &Value,
    identity: &Identity,
    owner: Option<&Owner>,
) -> ValidatedDraft {
    let linker = Linker::new(owner.cloned());
    let validated = compiled::validate(document, &linker, false);
    let (program, mut problems) = validate::found_in(context, validated);
    let links = linker.into_links().unwrap_or_else(|error| {
        problems.push(validate::problem(ProblemKind::Invalid, "", error));
        Vec::new()
    });
    let found = |program: &Program| names::found(&identity.definition_id, program, role_of(owner));
    ValidatedDraft { search_path: program.as_ref().and_then(found), program, links, problems }
}

/// Turns a draft that is about to be published into an ordinary version. The caller holds the locks.
///
/// # Errors
/// The errors of `wf_define`.
pub fn complete(context: &CallContext, draft: &DefinitionRow) -> Result<DefinitionRow, PgError> {
    compiled::record_publication(draft.id);
    let is_free = definitions::lock_draft(draft.id);
    let WholeDefinition { links, document, .. } = definitions::whole(draft.id)?;
    let identity = definition::identity(&document).map_err(|problem| error::definition(&[problem]))?;
    let last = definitions::last_save(draft.id).ok_or_else(|| definitions::missing(draft.id))?;
    let saved = last.by.map(|by| Saved { at: last.at, by: by.id, session: last.session });
    let row = if is_free {
        let linker = Linker::new(Some(draft.owner.clone()));
        let mut validated = validate::validate(&document, &linker, false, Some(draft))?;
        let doubts = validate::doubts(&mut validated);
        let links = linker.into_links()?;
        let program = validated.program.map_err(|problems| error::definition(&problems))?;
        let search_path = names::found(&draft.definition_id, &program, draft.owner.role());
        validate::warn(&doubts);
        let new = New::of(Some(&program), &links, &document, &identity, search_path);
        replace(context, &New { saved, ..new }, draft, last.revision)?
    } else {
        // Its instances continue with the program with which they were started.
        let compiled = compiled::of_version(draft.id)?;
        let search_path = definitions::search_path(draft.id);
        let new = New::of(Some(&compiled.program), &links, &document, &identity, search_path);
        replace(context, &New { saved, ..new }, draft, last.revision)?
    };
    warn_without_login(&row);
    Ok(row)
}

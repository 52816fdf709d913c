//! Storing a version of a definition.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::activities::catalogue;
use workflow_engine::definition::{self, Identity};
use workflow_engine::program::Security;
use workflow_engine::value::indexed::{MAX_INDEXED, MAX_TYPE, check_indexed};

use crate::error;
use crate::pg::PgError;
use crate::run::CallContext;
use crate::run::timers::timing;
use crate::store::definitions::links::Link;
use crate::store::definitions::{self, DefinitionRow, NewDefinition, Saved};

/// A version to be stored.
pub struct New<'a> {
    /// Its program; `None` for a draft that does not compile.
    pub program: Option<&'a Program>,
    /// The versions that it uses as activities.
    pub links: &'a [Link],
    /// The document as given.
    pub document: &'a Value,
    /// Id, name and version in the document.
    pub identity: &'a Identity,
    /// The `search_path` of its SQL when it runs without a caller.
    pub search_path: Option<String>,
    /// Who saved it as a draft.
    pub saved: Option<Saved>,
    /// Whether it is a draft.
    pub is_draft: bool,
}

impl<'a> New<'a> {
    /// A version that is not a draft, and never was.
    pub fn of(
        program: Option<&'a Program>,
        links: &'a [Link],
        document: &'a Value,
        identity: &'a Identity,
        search_path: Option<String>,
    ) -> Self {
        Self { program, links, document, identity, search_path, saved: None, is_draft: false }
    }
}

/// Stores a version as the latest one. Its number is the one in the document, if that is higher than all others.
pub fn add(context: &mut CallContext, new: &New<'_>, owner: i32) -> Result<DefinitionRow, PgError> {
    let identity = new.identity;
    let highest = definitions::highest(&identity.definition_id);
    if highest == 0 {
        refuse_long(&identity.definition_id)?;
    }
    let version = identity.version.filter(|version| *version > highest).or_else(|| highest.checked_add(1));
    let Some(version) = version else {
        return Err(PgError::new(
            "54000",
            format!("workflow definition \"{}\" has no version number left", identity.definition_id),
        )
        .detail(format!("Its highest version is {highest}."))
        .hint("Define the workflow under another id."));
    };
    let id = context.new_id();
    let revision = definitions::next_revision(&identity.definition_id);
    write(new, (id, version, owner, revision), |row| definitions::add(row, context.timestamp()))?;
    definitions::by_id(id)
}

/// Stores a version in place of a draft. Gives the save a new number, or keeps the draft's.
pub fn replace(
    context: &CallContext,
    new: &New<'_>,
    draft: &DefinitionRow,
    revision: i64,
) -> Result<DefinitionRow, PgError> {
    let key = (draft.id, draft.version, draft.owner.id, revision);
    write(new, key, |row| definitions::store(row, context.timestamp()))?;
    definitions::by_id(draft.id)
}

fn write(
    new: &New<'_>,
    (id, version, owner, revision): (Uuid, i32, i32, i64),
    store: impl FnOnce(&NewDefinition<'_>),
) -> Result<(), PgError> {
    let New { program, links, document, identity, search_path, saved, is_draft } = new;
    let options = program.map(|program| &program.options);
    let name = identity.name.as_deref();
    // No other definition can use a draft, so it is no activity type yet.
    let is_usable = !is_draft && options.is_some_and(|options| options.usable_as_activity);
    let activity_type = name.filter(|_| is_usable).map(definition::type_of);
    let activity_type = activity_type.as_deref().filter(|name| !name.is_empty());
    refuse_look_alike(activity_type)?;
    let numbering = program.map(Program::numbering);
    let child_owners = definitions::named_in(document, &identity.definition_id);
    store(&NewDefinition {
        id,
        definition_id: &identity.definition_id,
        version,
        name,
        description: identity.description.as_deref(),
        definer: options.is_some_and(|options| options.security == Security::Definer),
        uses_sql: program.is_some_and(|program| program.uses_sql),
        owner,
        retention: options.and_then(|options| options.retention.as_ref()).map(timing::micros),
        activity_type,
        links,
        unknown_types: &program.map(Program::unknown_types).unwrap_or_default(),
        document,
        numbering: numbering.as_ref(),
        search_path: search_path.as_deref(),
        child_owners: child_owners.as_ref(),
        migrates: options.is_some_and(|options| options.migrates),
        revision,
        saved: saved.as_ref(),
        is_draft: *is_draft,
    });
    Ok(())
}

/// Rejects the id of a new definition if it is too long for an index (54000).
pub fn refuse_long(definition_id: &str) -> Result<(), PgError> {
    check_indexed("id of the workflow definition", definition_id, MAX_INDEXED).map_err(|fault| error::fault(&fault))
}

/// Rejects an activity type that could be mistaken for a built-in one (42939). A workflow usable as an activity is a
/// type.
fn refuse_look_alike(activity_type: Option<&str>) -> Result<(), PgError> {
    let Some(name) = activity_type.filter(|name| catalogue::find(name).is_none()) else { return Ok(()) };
    check_indexed("name of the activity type", name, MAX_TYPE).map_err(|fault| error::fault(&fault))?;
    match catalogue::looks_like(name) {
        Some(built_in) => Err(PgError::new("42939", format!("activity type name \"{name}\" is reserved"))
            .detail(format!("The built-in type \"{built_in}\" differs from it in letter case or prefix only."))
            .hint("Give the workflow another name, or leave usableAsActivity out.")),
        None => Ok(()),
    }
}

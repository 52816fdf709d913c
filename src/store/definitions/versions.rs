//! Storing the versions of a definition.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::program::Numbering;

use crate::pg::spi::{Arg, Statement, Timestamp, Type, written};
use crate::store::definitions::ids;
use crate::store::definitions::links::{self, Link};
use crate::store::tables::DEFINITIONS;

/// A version to be stored.
#[derive(Debug)]
pub struct NewDefinition<'a> {
    /// Id of this version; when a draft is overwritten, the draft's.
    pub id: Uuid,
    /// The id that all versions of the definition share.
    pub definition_id: &'a str,
    /// Number of the version among those of its definition, from 1 on.
    pub version: i32,
    /// `name` in the document, which views show. `None`: it has none.
    pub name: Option<&'a str>,
    /// `description` in the document. `None`: it has none.
    pub description: Option<&'a str>,
    /// Whether users' SQL runs with the owner's rights.
    pub definer: bool,
    /// Whether it can run users' SQL at all.
    pub uses_sql: bool,
    /// Id in `workflow.owners` of the definition's owner.
    pub owner: i32,
    /// Microseconds for which finished instances are kept.
    pub retention: Option<i64>,
    /// The activity type under which it is usable as an activity.
    pub activity_type: Option<&'a str>,
    /// The versions that it uses as activities.
    pub links: &'a [Link],
    /// Unregistered activity types; if registered later, only types of its owner or of a superuser are used.
    pub unknown_types: &'a [&'a str],
    /// The document as the caller gave it.
    pub document: &'a Value,
    /// The node numbers of its program; `None`: it is a draft that does not compile.
    pub numbering: Option<&'a Numbering>,
    /// The `search_path` of its SQL when it runs without a caller.
    pub search_path: Option<&'a str>,
    /// The definitions that its document names, with their owners ([`named_in`](super::ids::named_in)).
    pub child_owners: Option<&'a Value>,
    /// Whether publishing it migrates the instances of other versions.
    pub migrates: bool,
    /// Number of this save among all of the definition.
    pub revision: i64,
    /// Who saved it, if it is a draft or was one.
    pub saved: Option<&'a Saved>,
    /// Whether the next save may overwrite it.
    pub is_draft: bool,
}

/// The last save of a draft.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The time of the call that saves it.
    pub at: Timestamp,
    /// Id in `workflow.owners` of the role that saves it.
    pub by: i32,
    /// The editing session named by the caller.
    pub session: Option<String>,
}

static NEXT_REVISION: Statement = Statement::new(
    "SELECT COALESCE(max(revision), 0) + 1 FROM workflow.definitions WHERE definition_id = $1",
    &[Type::Text],
);
static NOT_LATEST: Statement = Statement::new(
    "UPDATE workflow.definitions SET is_latest = false WHERE definition_id = $1 AND is_latest",
    &[Type::Text],
);
written! {
    struct New<'a> of DEFINITIONS {
        id: &'a Uuid,
        definition_id: &'a str,
        version: i32,
        name: Option<&'a str>,
        description: Option<&'a str>,
        is_latest: bool,
        is_published: bool,
        security: &'a str,
        uses_sql: bool,
        owner: i32,
        retention: Option<i64>,
        created_at: Timestamp,
        document: &'a Value,
        activity_type: Option<&'a str>,
        links: Option<&'a Value>,
        search_path: Option<&'a str>,
        unknown_types: Option<&'a Value>,
        numbering: Option<&'a Value>,
        child_owners: Option<&'a Value>,
        migrates: Option<bool>,
        is_draft: Option<bool>,
        revision: Option<i64>,
        saved_at: Option<Timestamp>,
        saved_by: Option<i32>,
        saved_session: Option<&'a str>,
    }
}
static STORE: Statement = Statement::insert(
    &DEFINITIONS,
    New::COLUMNS,
    "ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, description = EXCLUDED.description, security = EXCLUDED.security, \
         uses_sql = EXCLUDED.uses_sql, retention = EXCLUDED.retention, document = EXCLUDED.document, \
         activity_type = EXCLUDED.activity_type, links = EXCLUDED.links, search_path = EXCLUDED.search_path, \
         unknown_types = EXCLUDED.unknown_types, numbering = EXCLUDED.numbering, child_owners = EXCLUDED.child_owners, migrates = EXCLUDED.migrates, \
         is_draft = EXCLUDED.is_draft, revision = EXCLUDED.revision, saved_at = EXCLUDED.saved_at, \
         saved_by = EXCLUDED.saved_by, saved_session = EXCLUDED.saved_session",
    &[],
);

/// The revision of the next save of a definition; those of deleted versions are not reused.
pub fn next_revision(definition_id: &str) -> i64 {
    NEXT_REVISION.first(&[Arg::Text(definition_id)], |row| row.get()).unwrap_or(1)
}

/// Adds a version as the latest one, unpublished. The first one reserves the id for its owner.
pub fn add(new: &NewDefinition<'_>, now: Timestamp) {
    ids::reserve(new.definition_id, new.owner);
    NOT_LATEST.run(&[Arg::Text(new.definition_id)]);
    store(new, now);
}

/// Stores a version, replacing the content of a draft with its id, if there is one. The draft keeps its number, owner
/// and creation time.
pub fn store(new: &NewDefinition<'_>, now: Timestamp) {
    let links = links::encode(new.links);
    let unknown = (!new.unknown_types.is_empty()).then(|| Value::from(new.unknown_types));
    let numbering = new.numbering.map(|numbers| serde_json::to_value(numbers).expect("numbers and texts are JSON"));
    let row = New {
        id: &new.id,
        definition_id: new.definition_id,
        version: new.version,
        name: new.name,
        description: new.description,
        is_latest: true,
        is_published: false,
        security: if new.definer { "definer" } else { "invoker" },
        uses_sql: new.uses_sql,
        owner: new.owner,
        retention: new.retention,
        created_at: now,
        document: new.document,
        activity_type: new.activity_type,
        links: links.as_ref(),
        search_path: new.search_path,
        unknown_types: unknown.as_ref(),
        numbering: numbering.as_ref(),
        child_owners: new.child_owners,
        migrates: Some(new.migrates),
        is_draft: new.is_draft.then_some(true),
        revision: Some(new.revision),
        saved_at: new.saved.map(|saved| saved.at),
        saved_by: new.saved.map(|saved| saved.by),
        saved_session: new.saved.and_then(|saved| saved.session.as_deref()),
    };
    STORE.run(&row.values());
}

//! Definition versions and grants.

use serde_json::Value;
use uuid::Uuid;

use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, ColumnRef, Row, Statement, Timestamp, Type, joined, read};
use crate::pg::{PgError, catalog, object_lock};
use crate::store::definitions::links::Link;
use crate::store::rights::owners::{self, Owner};
use crate::store::tables::DEFINITIONS;
use crate::store::tasks::task_grants;
use pgrx::pg_sys::Oid;

pub mod activity_types;
mod drafts;
mod grants;
mod ids;
pub mod links;
pub mod schemas;
pub mod triggers;
pub mod uses;
mod versions;

pub use drafts::{LastSave, hold_draft, last_save, lock_draft};
pub use grants::{Grant, GrantedOn, grant, granted, granted_to, holders, revoke, vouch};
pub(in crate::store) use ids::KnownOwners;
pub use ids::{DefinitionOwner, child_owner, named_in, owner, owners, renew_child_owners, stored_under};
pub use versions::{NewDefinition, Saved, add, next_revision, store};

/// A stored version, without its document.
#[derive(Clone, Debug)]
pub struct DefinitionRow {
    /// Id of this version alone, under which backends keep its program.
    pub id: Uuid,
    /// The id that all versions of the definition share.
    pub definition_id: String,
    /// Number of the version among those of its definition, from 1 on.
    pub version: i32,
    /// Whether it is the latest version.
    pub is_latest: bool,
    /// Whether it is the published version.
    pub is_published: bool,
    /// Whether users' SQL runs with the owner's rights.
    pub definer: bool,
    /// Whether it can run users' SQL at all.
    pub uses_sql: bool,
    /// Whether it is a draft: the next save may overwrite it.
    pub is_draft: bool,
    /// The owner of the definition. Its members may do everything with it.
    pub owner: Owner,
}

read! {
    /// The columns of a [`DefinitionRow`].
    pub(super) struct Stored of DEFINITIONS {
        id: Uuid,
        definition_id: String,
        version: i32,
        is_latest: bool,
        is_published: bool,
        security: String,
        uses_sql: bool,
        owner: i32,
        is_draft: Option<bool>,
    }
}

pub(super) fn read(row: &mut Row<'_>) -> DefinitionRow {
    let stored = Stored::read(row);
    DefinitionRow {
        id: stored.id,
        definition_id: stored.definition_id,
        version: stored.version,
        is_latest: stored.is_latest,
        is_published: stored.is_published,
        definer: stored.security == "definer",
        uses_sql: stored.uses_sql,
        is_draft: stored.is_draft.unwrap_or(false),
        owner: owners::by_id(stored.owner),
    }
}

static LATEST: Statement = Statement::reading(
    Stored::COLUMNS,
    "SELECT {d} FROM workflow.definitions d WHERE d.definition_id = $1 AND d.is_latest",
    &[Type::Text],
);
static VERSION: Statement = Statement::reading(
    Stored::COLUMNS,
    "SELECT {d} FROM workflow.definitions d WHERE d.definition_id = $1 AND d.version = $2 AND d.deleted_at IS NULL",
    &[Type::Text, Type::Integer],
);
static ALL: Statement = Statement::reading(
    Stored::COLUMNS,
    "SELECT {d} FROM workflow.definitions d WHERE d.definition_id = $1 AND d.deleted_at IS NULL ORDER BY d.version",
    &[Type::Text],
);

/// The key column of the index, and the columns to read.
const PUBLISHED_COLUMNS: [ColumnRef; 1 + Stored::COLUMNS.len()] =
    joined(&[DEFINITIONS.read("definition_id", Type::Text, false)], Stored::COLUMNS);
static PUBLISHED: Columns = Columns::by(c"definitions_published_idx", &DEFINITIONS, &PUBLISHED_COLUMNS);

/// The version that new instances of a definition run. `None`: it was retracted or never published, or does not exist.
pub fn published(definition_id: &str) -> Option<DefinitionRow> {
    rows::read_by(&PUBLISHED, &[Arg::Text(definition_id)], |row| {
        row.skip();
        Some(read(row)).filter(|row| row.is_published)
    })
}

/// The published version, and the id of a role in `workflow.owners`, which may be known. Reads `owners` first: DROP
/// EXTENSION locks the tables in that order.
pub fn published_for(definition_id: &str, role: Oid, id: Option<i32>) -> Option<(DefinitionRow, Option<i32>)> {
    let id = id.or_else(|| owners::known_id_of(role));
    published(definition_id).map(|row| (row, id))
}

static PUBLISHED_IDS: Statement =
    Statement::new("SELECT d.definition_id FROM workflow.definitions d WHERE d.is_published LIMIT 10000", &[]);

/// The ids of the published definitions, for suggestions.
pub fn published_ids() -> Vec<String> {
    PUBLISHED_IDS.rows(&[], |row| row.get())
}

/// The latest version, published or not.
pub fn latest(definition_id: &str) -> Option<DefinitionRow> {
    LATEST.first(&[Arg::Text(definition_id)], read)
}

/// The version with this number.
pub fn version(definition_id: &str, version: i32) -> Option<DefinitionRow> {
    VERSION.first(&[Arg::Text(definition_id), Arg::Integer(version)], read)
}

read! {
    struct Content of DEFINITIONS {
        links: Option<Value>,
        unknown_types: Option<Value>,
        document: Value,
        numbering: Option<Value>,
    }
}
const WHOLE_COLUMNS: [ColumnRef; Stored::COLUMNS.len() + Content::COLUMNS.len()] =
    joined(Stored::COLUMNS, Content::COLUMNS);
static WHOLE: Columns = Columns::of(&DEFINITIONS, &WHOLE_COLUMNS);

/// A stored version, with everything that its compilation reads.
#[derive(Debug)]
pub struct WholeDefinition {
    /// The columns that calls need in addition.
    pub row: DefinitionRow,
    /// The versions that it uses as activities.
    pub links: Vec<Link>,
    /// Activity types that were unknown when it was stored.
    pub unknown_types: Vec<String>,
    /// The document, unchanged since the caller gave it.
    pub document: Value,
    /// The node numbers for compilation: a [`Numbering`](workflow_engine::program::Numbering), unless it is damaged.
    /// `None`: it is a draft that does not compile.
    pub numbering: Option<Value>,
}

/// The version with this id, deleted or not, without its document.
pub fn by_id(id: Uuid) -> Result<DefinitionRow, PgError> {
    rows::read(&WHOLE, Arg::Uuid(&id), read).ok_or_else(|| missing(id))
}

/// The version with this id, deleted or not. Read without a plan, because it is the first read of a new session.
pub fn whole(id: Uuid) -> Result<WholeDefinition, PgError> {
    let found = rows::read(&WHOLE, Arg::Uuid(&id), |row| {
        let (definition, Content { links, unknown_types, document, numbering }) = (read(row), Content::read(row));
        WholeDefinition {
            row: definition,
            links: links.as_ref().map(links::decode).unwrap_or_default(),
            unknown_types: unknown_types.and_then(|names| serde_json::from_value(names).ok()).unwrap_or_default(),
            document,
            numbering,
        }
    });
    found.ok_or_else(|| missing(id))
}

/// The error (XX001) for a missing version that other rows refer to.
pub fn missing(id: Uuid) -> PgError {
    PgError::new("XX001", format!("definition version {id} does not exist"))
}

/// All versions that are not deleted, oldest first.
pub fn all(definition_id: &str) -> Vec<DefinitionRow> {
    ALL.rows(&[Arg::Text(definition_id)], read)
}

/// Locks the versions of a definition against changes by other transactions.
///
/// The lock is an object lock, since no row exists before the first version. Definition ids with the same hash share a
/// lock, so transactions may wait for each other unnecessarily. The owner is part of the lock's key, so that a role
/// cannot block another role by choosing such an id. A start takes no lock: it reads the published version and stays on
/// it.
pub fn lock(definition_id: &str) {
    let mut held = None;
    loop {
        // Another transaction may have created or transferred the definition while this one waited.
        let whose = owner(definition_id).map_or(0, |owner| owner.id);
        if held == Some(whose) {
            return;
        }
        object_lock::lock(c"definitions", object_lock::hash(definition_id), whose);
        held = Some(whose);
    }
}

/// Takes the same lock, if no other transaction holds it.
pub fn try_lock(definition_id: &str) -> bool {
    let whose = || owner(definition_id).map_or(0, |owner| owner.id);
    let before = whose();
    object_lock::try_lock(c"definitions", object_lock::hash(definition_id), before) && whose() == before
}

static HIGHEST: Statement = Statement::new(
    "SELECT max(version) FROM workflow.definitions WHERE definition_id = $1 AND deleted_at IS NULL",
    &[Type::Text],
);
static UNPUBLISH: Statement = Statement::new(
    "UPDATE workflow.definitions SET is_published = false WHERE definition_id = $1 AND is_published",
    &[Type::Text],
);
static PUBLISH: Statement =
    Statement::new("UPDATE workflow.definitions SET is_published = true WHERE id = $1", &[Type::Uuid]);

/// The highest version number stored; 0 if there is none.
pub fn highest(definition_id: &str) -> i32 {
    HIGHEST.first(&[Arg::Text(definition_id)], |row| row.maybe()).flatten().unwrap_or(0)
}

read! {
    struct Path of DEFINITIONS {
        id: Uuid,
        search_path: Option<String>,
    }
}
static SEARCH_PATH: Columns = Columns::of(&DEFINITIONS, Path::COLUMNS);
static SET_SEARCH_PATH: Statement =
    Statement::new("UPDATE workflow.definitions SET search_path = $2 WHERE id = $1", &[Type::Uuid, Type::Text]);

/// The `search_path` for the SQL of a version when it runs without a caller. The compiled program does not contain it,
/// since it can change.
pub fn search_path(id: Uuid) -> Option<String> {
    rows::read(&SEARCH_PATH, Arg::Uuid(&id), Path::read).filter(|path| path.id == id)?.search_path
}

/// Sets it.
pub fn set_search_path(id: Uuid, path: Option<&str>) {
    SET_SEARCH_PATH.run(&[Arg::Uuid(&id), Arg::text(path)]);
}

static SET_OWNER: Statement =
    Statement::new("UPDATE workflow.definitions SET owner = $2 WHERE definition_id = $1", &[Type::Text, Type::Integer]);

/// Assigns a definition to another owner: its id, and all its versions, including deleted ones.
pub fn set_owner(definition_id: &str, owner: i32) {
    // This session forgets what it knows with the command that follows.
    catalog::definitions_changed();
    ids::give(definition_id, owner);
    SET_OWNER.run(&[Arg::Text(definition_id), Arg::Integer(owner)]);
    triggers::set_owner(definition_id, owner);
}

/// Makes a version the published one.
pub fn publish(row: &DefinitionRow) {
    unpublish(&row.definition_id);
    PUBLISH.run(&[Arg::Uuid(&row.id)]);
}

/// Retracts the published version. Returns whether there was one.
pub fn unpublish(definition_id: &str) -> bool {
    UNPUBLISH.run(&[Arg::Text(definition_id)]) > 0
}

static RUNNING: Statement = Statement::new(
    "SELECT id FROM workflow.instances WHERE definition_version_id = $1 \
         AND finished_at IS NULL LIMIT 1",
    &[Type::Uuid],
);
static DELETE: Statement = Statement::new(
    "UPDATE workflow.definitions SET deleted_at = $2, is_latest = false, is_published = false WHERE id = $1",
    &[Type::Uuid, Type::Timestamp],
);
static RENEW_LATEST: Statement = Statement::new(
    "UPDATE workflow.definitions SET is_latest = true WHERE definition_id = $1 AND version = \
         (SELECT max(m.version) FROM workflow.definitions m WHERE m.definition_id = $1 AND m.deleted_at IS NULL) \
         AND deleted_at IS NULL AND NOT is_latest",
    &[Type::Text],
);
static DELETE_GRANTS: Statement = Statement::new("DELETE FROM workflow.grants WHERE definition_id = $1", &[Type::Text]);

/// An instance of this version that has not ended. A faulted instance counts if a retry can continue it.
pub fn running_instance(id: Uuid) -> Option<Uuid> {
    RUNNING.first(&[Arg::Uuid(&id)], |row| row.get())
}

read! {
    struct Deletion of DEFINITIONS {
        id: Uuid,
        deleted_at: Option<Timestamp>,
    }
}
static DELETION: Columns = Columns::by(c"definitions_pkey", &DEFINITIONS, Deletion::COLUMNS);

/// Whether a version is now deleted or removed, even if this transaction's snapshot does not show it.
pub fn is_deleted(id: Uuid) -> bool {
    let read = |row: &mut Row<'_>| Some(Deletion::read(row)).filter(|stored| stored.id == id);
    rows::read_newest_by(&DELETION, &[Arg::Uuid(&id)], read).is_none_or(|stored| stored.deleted_at.is_some())
}

/// Marks a version as deleted. The row stays for the instances that refer to it.
pub fn delete(row: &DefinitionRow, now: Timestamp) {
    DELETE.run(&[Arg::Uuid(&row.id), Arg::Timestamp(now)]);
}

/// Call after deletions: marks the highest remaining version as the latest, or deletes the grants if none remains.
pub fn renew_latest(definition_id: &str) {
    if RENEW_LATEST.run(&[Arg::Text(definition_id)]) == 0 && highest(definition_id) == 0 {
        DELETE_GRANTS.run(&[Arg::Text(definition_id)]);
        task_grants::remove_of(definition_id);
    }
}

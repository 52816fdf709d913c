//! Storing the versions of a definition.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::program::Numbering;

use crate::pg::spi::{Arg, Statement, Timestamp, Type, written};
use crate::store::links::{self, Link};
use crate::store::tables::DEFINITIONS;

/// A version to be stored.
#[derive(Debug)]
pub struct NewDefinition<'a> {
    /// Id of the version.
    pub id: Uuid,
    /// Logical id.
    pub definition_id: &'a str,
    /// Version number.
    pub version: i32,
    /// Name.
    pub name: Option<&'a str>,
    /// Description.
    pub description: Option<&'a str>,
    /// Whether user SQL runs with the owner's rights.
    pub definer: bool,
    /// Whether it can run user SQL at all.
    pub uses_sql: bool,
    /// Id of the owner.
    pub owner: i32,
    /// Microseconds for which finished instances are kept.
    pub retention: Option<i64>,
    /// The activity type under which it is usable as an activity.
    pub activity_type: Option<&'a str>,
    /// The versions that it uses as activities.
    pub links: &'a [Link],
    /// Unknown activity types.
    pub unknown_types: &'a [&'a str],
    /// The document as given.
    pub document: &'a Value,
    /// The numbers of its program.
    pub numbering: &'a Numbering,
    /// The `search_path` of its SQL when it runs without a caller.
    pub search_path: Option<&'a str>,
    /// Whether publishing it moves the instances of other versions to it.
    pub migrates: bool,
}

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
        numbering: &'a Value,
        migrates: Option<bool>,
    }
}
static ADD: Statement = Statement::insert(&DEFINITIONS, New::COLUMNS, "", &[]);
/// Adds a version as the latest one, unpublished.
pub fn add(new: &NewDefinition<'_>, now: Timestamp) {
    NOT_LATEST.run(&[Arg::Text(new.definition_id)]);
    let links = links::encode(new.links);
    let unknown = (!new.unknown_types.is_empty()).then(|| Value::from(new.unknown_types));
    let numbering = serde_json::to_value(new.numbering).expect("numbers and texts are JSON");
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
        numbering: &numbering,
        migrates: Some(new.migrates),
    };
    ADD.run(&row.values());
}

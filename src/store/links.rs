//! Which version of another workflow an activity is: what a definition that uses others was settled to use.
//!
//! A version's links never change: instances name nodes by their index, so the version must be put together of the same
//! workflows for good. They are a column of the version, `[{type, definitionId, versionId, version, uses}]`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::definition::WorkflowReference;

use crate::pg::spi::{Arg, Statement, Type};
use crate::pg::{PgError, object_lock};
use crate::store::definitions::{self, DefinitionRow};

/// What a reference was settled to mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The reference as written.
    pub reference: WorkflowReference,
    /// Id of the version that is used.
    pub uses: Uuid,
}

/// Writes links for their column; `None` if there are none.
pub fn encode(links: &[Link]) -> Option<Value> {
    let written = links.iter().map(|Link { reference, uses }| {
        let WorkflowReference { type_name, definition_id, version_id, version } = reference;
        let members = [
            ("type", Some(type_name.as_str()).filter(|name| !name.is_empty()).map(Value::from)),
            ("definitionId", definition_id.as_deref().map(Value::from)),
            ("versionId", version_id.as_deref().map(Value::from)),
            ("version", version.map(Value::from)),
            ("uses", Some(Value::from(uses.to_string()))),
        ];
        members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect::<Map<_, _>>()
    });
    (!links.is_empty()).then(|| written.map(Value::Object).collect())
}

/// Reads links from their column.
pub(super) fn decode(links: &Value) -> Vec<Link> {
    let text = |link: &Value, name: &str| link.get(name).and_then(Value::as_str).map(str::to_owned);
    let read = |link: &Value| {
        let version = link.get("version").and_then(Value::as_i64).and_then(|version| i32::try_from(version).ok());
        let reference = WorkflowReference {
            type_name: text(link, "type").unwrap_or_default(),
            definition_id: text(link, "definitionId"),
            version_id: text(link, "versionId"),
            version,
        };
        Some(Link { reference, uses: text(link, "uses")?.parse().ok()? })
    };
    links.as_array().into_iter().flatten().filter_map(read).collect()
}

/// Makes this transaction the only one that settles or changes what uses definitions of these owners: says which,
/// before and after it waited.
///
/// Before the lock on any definition: publishing goes on from a definition to those that use it, defining looks from
/// one that uses others at those; with these locks first, in order of owner, no two of them wait for each other. Only
/// where the owners changed meanwhile is the order another one, and a deadlock is found as any other. Definitions that
/// neither use others nor update those that use them do without it. One lock for all owners would let each role that
/// may define keep all others waiting, as long as its transaction is open.
pub fn lock(whose: impl Fn() -> Result<BTreeSet<i32>, PgError>) -> Result<(), PgError> {
    let mut held = BTreeSet::new();
    loop {
        let wanted = whose()?;
        if wanted.is_subset(&held) {
            return Ok(());
        }
        for owner in &wanted {
            object_lock::lock(c"owners", owner.cast_unsigned(), 0);
        }
        held.extend(wanted);
    }
}

static BY_TYPE: Statement = Statement::new(
    "SELECT DISTINCT definition_id FROM workflow.definitions WHERE activity_type = $1 AND deleted_at IS NULL \
         AND (is_latest OR is_published) ORDER BY 1",
    &[Type::Text],
);

/// Ids of the definitions that are usable under an activity type.
pub fn by_type(activity_type: &str) -> Vec<String> {
    BY_TYPE.rows(&[Arg::Text(activity_type)], |row| row.get())
}

static BY_DOCUMENT_ID: Statement = Statement::new(
    definitions::select!(
        "WHERE d.definition_id = $1 AND d.deleted_at IS NULL AND d.document ->> 'id' = $2 ORDER BY d.version DESC LIMIT 1"
    ),
    &[Type::Text, Type::Text],
);

/// The version of a definition whose document has this id.
pub fn by_document_id(definition_id: &str, version_id: &str) -> Option<DefinitionRow> {
    BY_DOCUMENT_ID.first(&[Arg::Text(definition_id), Arg::Text(version_id)], definitions::read)
}

static USER: Statement = Statement::new(
    definitions::select!(
        "WHERE d.links IS NOT NULL AND d.deleted_at IS NULL \
             AND d.links @> jsonb_build_array(jsonb_build_object('uses', $1)) ORDER BY d.definition_id, d.version LIMIT 1"
    ),
    &[Type::Text],
);

/// A version that uses a version and is not deleted.
pub fn user_of(id: Uuid) -> Option<DefinitionRow> {
    USER.first(&[Arg::Text(&id.to_string())], definitions::read)
}

static USERS: Statement = Statement::new(
    "SELECT DISTINCT c.id FROM workflow.definitions u JOIN workflow.definitions c \
         ON c.links @> jsonb_build_array(jsonb_build_object('uses', u.id::text)) \
     WHERE u.definition_id = $1 AND c.links IS NOT NULL AND c.is_latest",
    &[Type::Text],
);

/// The latest versions of definitions, as far as they use any version of a definition.
pub fn latest_users_of(definition_id: &str) -> Result<Vec<DefinitionRow>, PgError> {
    let ids: Vec<Uuid> = USERS.rows(&[Arg::Text(definition_id)], |row| row.get());
    ids.into_iter().map(definitions::by_id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_as_they_were_written() {
        let whole = WorkflowReference {
            type_name: "AddNumbers".into(),
            definition_id: Some("add@1".into()),
            version_id: Some("v".into()),
            version: Some(3),
        };
        let by_type = WorkflowReference { type_name: "AddNumbers".into(), ..WorkflowReference::default() };
        let links = [whole, by_type].map(|reference| Link { reference, uses: Uuid::from_u128(7) });
        assert_eq!(decode(&encode(&links).unwrap_or_default()), links);
        assert_eq!(encode(&[]), None);
    }
}

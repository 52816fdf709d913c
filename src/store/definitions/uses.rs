//! Queries for definitions that use other definitions, for resolving the [links](crate::store::definitions::links) of a
//! definition.

use uuid::Uuid;

use crate::pg::PgError;
use crate::pg::spi::{Arg, Statement, Type};
use crate::store::definitions::{self, DefinitionRow};

static BY_TYPE: Statement = Statement::new(
    "SELECT DISTINCT definition_id FROM workflow.definitions WHERE activity_type = $1 AND deleted_at IS NULL \
         AND (is_latest OR is_published) ORDER BY 1",
    &[Type::Text],
);

/// Ids of the definitions that are usable under an activity type.
pub fn by_type(activity_type: &str) -> Vec<String> {
    BY_TYPE.rows(&[Arg::Text(activity_type)], |row| row.get())
}

static BY_DOCUMENT_ID: Statement = Statement::reading(
    definitions::Stored::COLUMNS,
    "SELECT {d} FROM workflow.definitions d \
     WHERE d.definition_id = $1 AND d.deleted_at IS NULL AND d.document ->> 'id' = $2 ORDER BY d.version DESC LIMIT 1",
    &[Type::Text, Type::Text],
);

/// The version of a definition whose document has this id.
pub fn by_document_id(definition_id: &str, version_id: &str) -> Option<DefinitionRow> {
    BY_DOCUMENT_ID.first(&[Arg::Text(definition_id), Arg::Text(version_id)], definitions::read)
}

static USER: Statement = Statement::reading(
    definitions::Stored::COLUMNS,
    "SELECT {d} FROM workflow.definitions d WHERE d.links IS NOT NULL AND d.deleted_at IS NULL \
         AND d.links @> jsonb_build_array(jsonb_build_object('uses', $1)) ORDER BY d.definition_id, d.version LIMIT 1",
    &[Type::Text],
);

/// A version that is not deleted and uses the version with this id.
pub fn user_of(id: Uuid) -> Option<DefinitionRow> {
    USER.first(&[Arg::Text(&id.to_string())], definitions::read)
}

static USERS: Statement = Statement::new(
    "SELECT DISTINCT c.id FROM workflow.definitions u JOIN workflow.definitions c \
         ON c.links @> jsonb_build_array(jsonb_build_object('uses', u.id::text)) \
     WHERE u.definition_id = $1 AND c.links IS NOT NULL AND c.is_latest",
    &[Type::Text],
);

/// The latest versions of definitions that use any version of this definition.
pub fn latest_users_of(definition_id: &str) -> Result<Vec<DefinitionRow>, PgError> {
    let ids: Vec<Uuid> = USERS.rows(&[Arg::Text(definition_id)], |row| row.get());
    ids.into_iter().map(definitions::by_id).collect()
}

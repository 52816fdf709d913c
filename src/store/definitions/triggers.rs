//! The trigger index.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::trigger::Trigger;

use crate::pg::guc;
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type, read, written};
use crate::store::definitions::DefinitionRow;
use crate::store::instances::bookmarks::{hash_key, hash_of};
use crate::store::maintenance::identity;
use crate::store::tables::TRIGGERS;

/// A trigger of a published definition, or a named schedule, with the columns that a start reads.
#[derive(Debug)]
pub struct TriggerRow {
    /// Key in `workflow.triggers`, which stays the same when a new version has the same trigger.
    pub id: Uuid,
    /// Id of the version that it starts; for a named schedule, the one that was published at its last look-up.
    pub definition_version_id: Uuid,
    /// Id within the definition of the activity that starts it; empty for a named schedule.
    pub activity_id: String,
    /// Path of that activity; empty for a named schedule.
    pub node_id: String,
    /// Name of the stimulus that starts it, by default the activity type.
    pub name: String,
    /// SHA-256 of name and payload, under which a stimulus finds it.
    pub hash: [u8; 32],
    /// The payload that a stimulus must have in addition to the name; `None`: any.
    pub payload: Option<Value>,
}

read! {
    struct Stored of TRIGGERS {
        id: Uuid,
        definition_version_id: Uuid,
        activity_id: String,
        node_id: String,
        name: String,
        hash: Vec<u8>,
        payload: Option<Value>,
    }
}

fn read(row: &mut Row<'_>) -> TriggerRow {
    let Stored { id, definition_version_id, activity_id, node_id, name, hash, payload } = Stored::read(row);
    TriggerRow { id, definition_version_id, activity_id, node_id, name, hash: hash_of(&hash), payload }
}

/// Makes the search for triggers of some owners. They are put in order when they have been found: an index that has the
/// order would be read as a whole.
macro_rules! found_by {
    ($condition:literal) => {
        concat!(
            "SELECT {t} FROM unnest($2) AS o (owner) CROSS JOIN LATERAL (SELECT * FROM workflow.triggers t WHERE ",
            $condition,
            " AND t.definition_owner = o.owner OFFSET 0) t ORDER BY t.definition_id, t.id"
        )
    };
}
// A named schedule belongs to its owner, not to the definition: no stimulus starts it, and publishing does not change
// it.
static BY_HASH: Statement =
    Statement::reading(Stored::COLUMNS, found_by!("t.hash_key = $1"), &[Type::BigInt, Type::IntegerArray]);
static BY_NAME: Statement =
    Statement::reading(Stored::COLUMNS, found_by!("t.name = $1"), &[Type::Text, Type::IntegerArray]);
/// Makes the search for a few triggers of each of some owners, in no order.
macro_rules! few_of_each {
    ($condition:literal) => {
        concat!(
            "SELECT {t} FROM unnest($2) AS o (owner) CROSS JOIN LATERAL ( \
                 SELECT * FROM workflow.triggers t WHERE ",
            $condition,
            " AND t.definition_owner = o.owner LIMIT 10) t LIMIT 100"
        )
    };
}
static FEW_BY_HASH: Statement =
    Statement::reading(Stored::COLUMNS, few_of_each!("t.hash_key = $1"), &[Type::BigInt, Type::IntegerArray]);
static FEW_BY_NAME: Statement =
    Statement::reading(Stored::COLUMNS, few_of_each!("t.name = $1"), &[Type::Text, Type::IntegerArray]);
static BY_DEFINITION: Statement = Statement::reading(
    Stored::COLUMNS,
    "SELECT {t} FROM workflow.triggers t WHERE t.definition_id = $1 AND t.schedule_name IS NULL ORDER BY t.id",
    &[Type::Text],
);

/// Triggers that a stimulus starts, of definitions that are stored under these owners. Without a hash, all triggers of
/// that name.
pub fn matching(name: &str, hash: Option<&[u8; 32]>, owners: &[i32]) -> Vec<TriggerRow> {
    search([&BY_HASH, &BY_NAME], name, hash, owners)
}

/// The same of each of these owners; at most ten, and a hundred of all.
pub fn few_matching(name: &str, hash: Option<&[u8; 32]>, owners: &[i32]) -> Vec<TriggerRow> {
    search([&FEW_BY_HASH, &FEW_BY_NAME], name, hash, owners)
}

fn search(
    [by_hash, by_name]: [&'static Statement; 2],
    name: &str,
    hash: Option<&[u8; 32]>,
    owners: &[i32],
) -> Vec<TriggerRow> {
    if owners.is_empty() {
        return Vec::new();
    }
    match hash {
        Some(hash) => {
            let mut found = by_hash.rows(&[Arg::BigInt(hash_key(hash)), Arg::Integers(owners)], read);
            found.retain(|trigger| trigger.hash == *hash);
            found
        }
        None => by_name.rows(&[Arg::Text(name), Arg::Integers(owners)], read),
    }
}

static SET_OWNER: Statement = Statement::new(
    "UPDATE workflow.triggers SET definition_owner = $2 WHERE definition_id = $1 AND schedule_name IS NULL",
    &[Type::Text, Type::Integer],
);

/// Gives the triggers of a definition to another owner.
pub(super) fn set_owner(definition_id: &str, owner: i32) {
    SET_OWNER.run(&[Arg::Text(definition_id), Arg::Integer(owner)]);
}

/// Triggers of a definition.
pub fn of_definition(definition_id: &str) -> Vec<TriggerRow> {
    BY_DEFINITION.rows(&[Arg::Text(definition_id)], read)
}

written! {
    struct New<'a> of TRIGGERS {
        id: &'a Uuid,
        definition_id: &'a str,
        definition_version_id: &'a Uuid,
        version: i32,
        activity_id: &'a str,
        node_id: &'a str,
        activity_type: &'a str,
        name: &'a str,
        hash: &'a [u8],
        hash_key: i64,
        payload: Option<&'a Value>,
        created_at: Timestamp,
        schedule: Option<&'a Value>,
        next_fire_at: Option<Timestamp>,
        scheduled_at: Option<Timestamp>,
        definition_owner: i32,
    }
}
static INSERT: Statement = Statement::insert(&TRIGGERS, New::COLUMNS, "", &[]);
static KEEP: Statement = Statement::new(
    "UPDATE workflow.triggers SET definition_version_id = $2, version = $3, activity_id = $4 WHERE id = $1",
    &[Type::Uuid, Type::Uuid, Type::Integer, Type::Text],
);
static DELETE: Statement = Statement::new("DELETE FROM workflow.triggers WHERE id = $1", &[Type::Uuid]);
static DELETE_ALL: Statement =
    Statement::new("DELETE FROM workflow.triggers WHERE definition_id = $1 AND schedule_name IS NULL", &[Type::Text]);

/// Counts of changes in the trigger index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    /// Triggers that the published version has and the index did not.
    pub added: i32,
    /// Triggers that the index had and the published version does not have.
    pub removed: i32,
    /// Triggers that stayed and kept their ids.
    pub unchanged: i32,
}

/// The timing of a trigger: its schedule, the time of the next fire, and the instant for which it fires.
pub type Timing<'a> = Option<(&'a Value, Option<Timestamp>, Option<Timestamp>)>;

/// Adds a trigger of a definition version.
pub fn insert(id: Uuid, definition: &DefinitionRow, trigger: &Trigger, timing: Timing<'_>, now: Timestamp) {
    identity::record_due(timing.and_then(|(_, next, _)| next));
    let new = New {
        id: &id,
        definition_id: &definition.definition_id,
        definition_version_id: &definition.id,
        version: definition.version,
        activity_id: &trigger.activity_id,
        node_id: &trigger.node_id,
        activity_type: &trigger.activity_type,
        name: &trigger.name,
        hash: &trigger.hash,
        hash_key: hash_key(&trigger.hash),
        payload: trigger.payload.as_ref(),
        created_at: now,
        schedule: timing.map(|(schedule, ..)| schedule),
        next_fire_at: timing.and_then(|(_, next, _)| next),
        scheduled_at: timing.and_then(|(.., scheduled)| scheduled),
        definition_owner: definition.owner.id,
    };
    INSERT.run(&new.values());
}

/// Makes an unchanged trigger start the new version; it keeps its id.
pub fn keep(id: Uuid, definition: &DefinitionRow, activity_id: &str) {
    KEEP.run(&[Arg::Uuid(&id), Arg::Uuid(&definition.id), Arg::Integer(definition.version), Arg::Text(activity_id)]);
}

/// Removes a trigger.
pub fn delete(id: Uuid) {
    DELETE.run(&[Arg::Uuid(&id)]);
}

/// Removes all triggers of a definition and returns their number.
pub fn delete_all(definition_id: &str) -> u64 {
    DELETE_ALL.run(&[Arg::Text(definition_id)])
}

static NOTIFY: Statement = Statement::new("SELECT pg_notify('workflow_triggers', '')", &[]);

/// Notifies the channel `workflow_triggers` that the index of a definition was changed or confirmed, if
/// `workflow.notify_triggers` is on. The message does not name the definition, because any role can listen.
pub fn announce(indexed: Indexed) {
    let Indexed { added, removed, unchanged } = indexed;
    if guc::notify_triggers() && added + removed + unchanged > 0 {
        NOTIFY.run(&[]);
    }
}

/// Notifies about triggers that were removed without a new version.
pub fn announce_removed(removed: i32) {
    announce(Indexed { removed, ..Indexed::default() });
}

//! The ids of definitions with their owners, and the definitions that a version names.
//!
//! An id keeps its owner after all versions are deleted and removed by retention. Schedules, parents and applications
//! still refer to the id, and would pass their input to any role that could define it again.

use std::rc::Rc;

use pgrx::pg_sys::Oid;
use serde_json::Value;
use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Type};
use crate::pg::{catalog, session};
use crate::store::BACKEND;
use crate::store::rights::owners::{self, Owner};

static OWNER: Statement =
    Statement::new("SELECT owner FROM workflow.definition_ids WHERE definition_id = $1", &[Type::Text]);
static RESERVE: Statement = Statement::new(
    "INSERT INTO workflow.definition_ids (definition_id, owner) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    &[Type::Text, Type::Integer],
);
// Another transaction may be storing bookmarks with the owner that it has read before, so that owner stays on record.
static GIVE: Statement = Statement::new(
    "UPDATE workflow.definition_ids SET owner = $2, former_owners = array_append(array_remove(former_owners, owner), owner) \
     WHERE definition_id = $1",
    &[Type::Text, Type::Integer],
);

/// The owner of a definition, deleted or not. `None`: no role ever stored a definition of this id.
pub fn owner(definition_id: &str) -> Option<Owner> {
    OWNER.first(&[Arg::Text(definition_id)], |row| owners::by_id(row.get()))
}

/// An owner of definitions, with the ids under which their bookmarks and triggers may be stored.
#[derive(Debug)]
pub struct DefinitionOwner {
    /// The owner.
    pub owner: Owner,
    /// Its ids in `workflow.owners`.
    pub own: Vec<i32>,
    /// The ids of roles from which it has definitions.
    pub former: Vec<i32>,
}

impl DefinitionOwner {
    /// All ids under which bookmarks of its definitions may be stored.
    pub fn ids(&self) -> impl Iterator<Item = i32> {
        self.own.iter().chain(&self.former).copied()
    }
}

// Each step is one descent of the index, however many definitions an owner has.
static OWNERS: Statement = Statement::new(
    "WITH RECURSIVE owners (owner) AS ( \
         (SELECT n.owner FROM workflow.definition_ids n ORDER BY n.owner LIMIT 1) \
         UNION ALL \
         SELECT (SELECT n.owner FROM workflow.definition_ids n WHERE n.owner > o.owner ORDER BY n.owner LIMIT 1) \
         FROM owners o WHERE o.owner IS NOT NULL) \
     SELECT o.owner, NULL::integer FROM owners o WHERE o.owner IS NOT NULL \
     UNION ALL \
     SELECT DISTINCT n.owner, f.owner FROM workflow.definition_ids n CROSS JOIN LATERAL unnest(n.former_owners) AS f (owner) \
     WHERE n.former_owners IS NOT NULL",
    &[],
);

/// Owners of definitions as they were in a generation of the catalog.
pub(in crate::store) struct KnownOwners {
    schema: Oid,
    generation: u64,
    owners: Rc<[DefinitionOwner]>,
}

/// The owners of all definitions. A session reads them once, and again after one was added.
pub fn owners() -> Rc<[DefinitionOwner]> {
    let (schema, generation) = (catalog::schema(), catalog::definitions_generation());
    let is_valid = |known: &&KnownOwners| known.schema == schema && known.generation == generation;
    let known = BACKEND.definition_owners.borrow().as_ref().filter(is_valid).map(|known| Rc::clone(&known.owners));
    known.unwrap_or_else(|| {
        let owners: Rc<[DefinitionOwner]> = read_owners().into();
        // A snapshot that is older than a change would outlive its message here. Without any, the database may be about to
        // be filled from a dump, which sends no messages.
        if !session::sees_old_rows() && !owners.is_empty() {
            BACKEND.definition_owners.replace(Some(KnownOwners { schema, generation, owners: Rc::clone(&owners) }));
        }
        owners
    })
}

fn read_owners() -> Vec<DefinitionOwner> {
    let mut found: Vec<DefinitionOwner> = Vec::new();
    let rows: Vec<(i32, Option<i32>)> = OWNERS.rows(&[], |row| (row.get(), row.maybe()));
    for (id, former) in rows {
        let owner = owners::by_id(id);
        let at = found.iter().position(|known| known.owner.id == owner.id).unwrap_or_else(|| {
            found.push(DefinitionOwner { own: vec![owner.id], former: Vec::new(), owner });
            found.len() - 1
        });
        let known = &mut found[at];
        match former {
            Some(former) => known.former.extend([former, owners::by_id(former).id]),
            None => known.own.push(id),
        }
    }
    // Rows keep ids that stand for the same role as another one.
    for (id, same_as) in owners::aliases() {
        for known in &mut found {
            if known.own.contains(&same_as) {
                known.own.push(id);
            }
            if known.former.contains(&same_as) {
                known.former.push(id);
            }
        }
    }
    for known in &mut found {
        for ids in [&mut known.own, &mut known.former] {
            ids.sort_unstable();
            ids.dedup();
        }
        let DefinitionOwner { own, former, .. } = known;
        former.retain(|id| !own.contains(id));
    }
    found
}

/// The ids under which bookmarks and triggers of an owner's definitions may be stored.
pub fn stored_under(owner: i32) -> Vec<i32> {
    let owners = owners();
    let is_it = |known: &&DefinitionOwner| known.own.contains(&owner);
    owners.iter().find(is_it).map_or_else(|| vec![owner], |known| known.ids().collect())
}

static OWNS_ANY: Statement =
    Statement::new("SELECT 1 FROM workflow.definition_ids n WHERE n.owner = $1 LIMIT 1", &[Type::Integer]);

/// Makes a role the owner of an id that has none. The caller holds the lock of the definition.
pub(super) fn reserve(definition_id: &str, owner: i32) {
    if OWNS_ANY.run(&[Arg::Integer(owner)]) == 0 {
        catalog::definitions_changed();
    }
    RESERVE.run(&[Arg::Text(definition_id), Arg::Integer(owner)]);
}

/// Assigns an id to another owner.
pub(super) fn give(definition_id: &str, owner: i32) {
    GIVE.run(&[Arg::Text(definition_id), Arg::Integer(owner)]);
}

static NAMED: Statement = Statement::new(
    "SELECT jsonb_object_agg(n.definition_id, n.owner) FROM workflow.definition_ids n \
     WHERE n.definition_id <> $2 AND n.definition_id IN \
         (SELECT t.value #>> '{}' FROM jsonb_path_query($1, 'strict $.** ? (@.type() == \"string\")') t (value))",
    &[Type::Jsonb, Type::Text],
);
static RENEW: Statement = Statement::new(
    "UPDATE workflow.definitions SET child_owners = $2 WHERE id = $1 AND child_owners IS DISTINCT FROM $2",
    &[Type::Uuid, Type::Jsonb],
);
static CHILD_OWNER: Statement = Statement::new(
    "SELECT CAST(child_owners ->> $2 AS integer) FROM workflow.definitions WHERE id = $1",
    &[Type::Uuid, Type::Text],
);

/// The definitions whose ids occur as strings in a document, each with its current owner: `{"pay": 7}`. `None`: there
/// are none. An id that an expression computes is not found.
pub fn named_in(document: &Value, definition_id: &str) -> Option<Value> {
    NAMED.first(&[Arg::Json(document), Arg::Text(definition_id)], |row| row.maybe()).flatten()
}

/// Stores what [`named_in`] found, for a version that is defined again with the same content.
pub fn renew_child_owners(version: Uuid, owners: Option<&Value>) {
    RENEW.run(&[Arg::Uuid(&version), owners.map_or(Arg::Null, Arg::Json)]);
}

/// The owner that a definition had when this version named it.
pub fn child_owner(version: Uuid, definition_id: &str) -> Option<Owner> {
    let found = CHILD_OWNER.first(&[Arg::Uuid(&version), Arg::Text(definition_id)], |row| row.maybe::<i32>());
    found.flatten().map(owners::by_id)
}

//! Owners: ids that stand for roles.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::pg::error::{PgError, unwind};
use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Row, Statement, Type};
use crate::pg::{cluster, role};
use pgrx::pg_sys::{InvalidOid, Oid};

/// A role as a row remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Key in `workflow.owners`.
    pub id: i32,
    /// Its oid in the cluster where the row was made.
    pub role: Oid,
    /// That cluster.
    pub system_identifier: i64,
    /// Its name when the row was last used.
    pub name: String,
}

impl Owner {
    /// Reads the columns id, role, system_identifier, name.
    pub fn read(row: &mut Row<'_>) -> Self {
        Self { id: row.get(), role: row.get(), system_identifier: row.get(), name: row.get() }
    }

    /// The role. In the cluster where the row was made its oid is the truth, whatever it is called now; in
    /// another one, where a dump was restored, its name is.
    pub fn role(&self) -> Option<Oid> {
        if self.system_identifier == cluster::system_identifier() {
            return role::name(self.role).is_some().then_some(self.role);
        }
        role::by_name(&self.name)
    }

    /// Whether this is the role whose rights are in force.
    pub fn is_current(&self) -> bool {
        self.role() == Some(role::current())
    }
}

static BY_ID: Columns = Columns::of(
    c"owners",
    &[(c"id", Type::Integer), (c"role", Type::Oid), (c"system_identifier", Type::BigInt), (c"name", Type::Text)],
);

thread_local! {
    /// Owners of this cluster by id, and the schema that they belong to. Safe to keep: an id is never used again
    /// unless the extension is created anew, which makes a new schema, and a new name does not change which role a
    /// row stands for.
    static KEPT: RefCell<(Oid, HashMap<i32, Owner>)> = RefCell::new((InvalidOid, HashMap::new()));
}

/// The owner with this id; one that is missing stands for no role.
pub fn by_id(id: i32) -> Owner {
    let schema = role::schema();
    let known = KEPT.with_borrow_mut(|(of, kept)| {
        if *of != schema {
            kept.clear();
            *of = schema;
        }
        kept.get(&id).cloned()
    });
    if let Some(owner) = known {
        return owner;
    }
    let Some(owner) = rows::read(&BY_ID, Arg::Integer(id), Owner::read) else {
        return Owner { id, role: InvalidOid, system_identifier: cluster::system_identifier(), name: String::new() };
    };
    if owner.system_identifier == cluster::system_identifier() {
        KEPT.with_borrow_mut(|(_, kept)| kept.insert(id, owner.clone()));
    }
    owner
}

static BY_ROLE: Columns = Columns::by(
    c"owners_system_identifier_role_key",
    c"owners",
    &[(c"system_identifier", Type::BigInt), (c"role", Type::Oid), (c"id", Type::Integer), (c"name", Type::Text)],
);

/// The id and the name of a role's row, if it has one.
fn find(role: Oid) -> Option<(i32, String)> {
    rows::read_by(&BY_ROLE, &[Arg::BigInt(cluster::system_identifier()), Arg::Oid(role)], |row| {
        let (_cluster, _role): (i64, Oid) = (row.get(), row.get());
        Some((row.get(), row.get()))
    })
}

/// The id of a role, if it has one.
pub fn known_id_of(role: Oid) -> Option<i32> {
    find(role).map(|(id, _)| id)
}

static RENAME: Statement =
    Statement::new("UPDATE workflow.owners SET name = $2 WHERE id = $1", &[Type::Integer, Type::Text]);

// A row that a dump brought from another cluster, adopted by the role of its name.
static ADOPT: Statement = Statement::new(
    "UPDATE workflow.owners SET system_identifier = $1, role = $2 \
     WHERE id = (SELECT min(o.id) FROM workflow.owners o WHERE o.name = $3 AND o.system_identifier <> $1) RETURNING id",
    &[Type::BigInt, Type::Oid, Type::Text],
);

static ADD: Statement = Statement::new(
    "INSERT INTO workflow.owners (system_identifier, role, name) VALUES ($1, $2, $3) \
     ON CONFLICT (system_identifier, role) DO NOTHING RETURNING id",
    &[Type::BigInt, Type::Oid, Type::Text],
);

/// The id of a role, made if it has none.
pub fn id_of(oid: Oid) -> i32 {
    let name = role::name(oid).unwrap_or_default();
    if let Some((id, known)) = find(oid) {
        if known != name {
            RENAME.run(&[Arg::Integer(id), Arg::Text(&name)]);
        }
        return id;
    }
    let row = [Arg::BigInt(cluster::system_identifier()), Arg::Oid(oid), Arg::Text(&name)];
    // Two sessions may add the same role at once: the second one's INSERT waits, adds nothing and finds it.
    // A REPEATABLE READ session would not see it.
    ADOPT
        .first(&row, |row| row.get())
        .or_else(|| ADD.first(&row, |row| row.get()))
        .or_else(|| known_id_of(oid))
        .unwrap_or_else(|| unwind(PgError::new("40001", "could not serialize access due to concurrent update")))
}

/// The id of the role whose rights are in force.
pub fn current_id() -> i32 {
    id_of(role::current())
}

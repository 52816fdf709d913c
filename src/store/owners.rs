//! Owners: ids that stand for roles.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::pg::error::{PgError, unwind};
use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Statement, Type, read};
use crate::pg::{catalog, role, stored_role};
use crate::store::tables::OWNERS;
use pgrx::pg_sys::{InvalidOid, Oid};

/// A role as rows remember it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Key in `workflow.owners`.
    pub id: i32,
    /// Its oid, if the row is of a role of this cluster.
    pub oid: Option<Oid>,
    /// Its name when the row was last written; empty if it was gone by then.
    pub name: String,
}

impl Owner {
    /// The role. One of this cluster is known by its oid, whatever it is called now. One of another cluster, where the
    /// dump was made that was restored here, is known by its name, unless that is ambiguous.
    pub fn role(&self) -> Option<Oid> {
        match self.oid {
            Some(oid) => role::name(oid).is_some().then_some(oid),
            None => by_name(&self.name),
        }
    }

    /// Whether this is the role whose rights are in force.
    pub fn is_current(&self) -> bool {
        self.role() == Some(role::current())
    }

    /// Its name for people: the present one, else the last that is known.
    pub fn title(&self) -> String {
        self.role().and_then(role::name).unwrap_or_else(|| self.name.clone())
    }
}

read! {
    struct Named of OWNERS {
        name: Option<String>,
        role_oid: Option<Oid>,
        same_as: Option<i32>,
    }
}
static BY_NAME: Columns = Columns::by(c"owners_name_idx", &OWNERS, Named::COLUMNS);

/// The role of this name, for a row of another cluster: if no other such row has the name, and the role has no row of
/// its own. Two owners must not become one unless the administrator says so: wf_adopt_database.
fn by_name(name: &str) -> Option<Oid> {
    let role = role::by_name(name)?;
    let mut count = 0;
    rows::read_by(&BY_NAME, &[Arg::Text(name)], |row| {
        let named = Named::read(row);
        let is_foreign = named.role_oid.is_none() && named.same_as.is_none();
        count += i32::from(is_foreign && named.name.as_deref() == Some(name));
        None::<()>
    });
    (count == 1 && find(role).is_none()).then_some(role)
}

read! {
    struct Stored of OWNERS {
        id: i32,
        role_oid: Option<Oid>,
        name: Option<String>,
        same_as: Option<i32>,
    }
}
static BY_ID: Columns = Columns::of(&OWNERS, Stored::COLUMNS);

thread_local! {
    /// Owners of this cluster by id, as they were in a generation of the catalog. An id is never used again unless the
    /// extension is created anew; which role a row stands for is changed by wf_adopt_database alone, which tells all
    /// sessions.
    static KEPT: RefCell<(u64, HashMap<i32, Owner>)> = RefCell::new((0, HashMap::new()));
}

/// The owner with this id; one that is missing stands for no role.
pub fn by_id(id: i32) -> Owner {
    // Another schema is another generation.
    catalog::schema();
    let generation = catalog::generation();
    let known = KEPT.with_borrow_mut(|(of, kept)| {
        if *of != generation {
            kept.clear();
            *of = generation;
        }
        kept.get(&id).cloned()
    });
    if let Some(owner) = known {
        return owner;
    }
    let owner = match read(id) {
        Some((_, Some(same_as))) => read(same_as).map(|(owner, _)| owner),
        found => found.map(|(owner, _)| owner),
    };
    let Some(owner) = owner else { return Owner { id, oid: Some(InvalidOid), name: String::new() } };
    if owner.oid.is_some() {
        KEPT.with_borrow_mut(|(_, kept)| kept.insert(id, owner.clone()));
    }
    owner
}

/// A row, and the one that it is the same as.
fn read(id: i32) -> Option<(Owner, Option<i32>)> {
    rows::read(&BY_ID, Arg::Integer(id), |row| {
        let Stored { id, role_oid, name, same_as } = Stored::read(row);
        (Owner { id, oid: role_oid, name: name.unwrap_or_default() }, same_as)
    })
}

read! {
    struct OfRole of OWNERS {
        role_oid: Option<Oid>,
        id: i32,
        name: Option<String>,
        same_as: Option<i32>,
    }
}
static BY_ROLE: Columns = Columns::by(c"owners_role_oid_idx", &OWNERS, OfRole::COLUMNS);

/// The id of a role's row and the name in it, if it has one.
fn find(role: Oid) -> Option<(i32, String)> {
    rows::read_by(&BY_ROLE, &[Arg::Oid(role)], |row| {
        let of_role = OfRole::read(row);
        let is_it = of_role.role_oid == Some(role) && of_role.same_as.is_none();
        is_it.then(|| (of_role.id, of_role.name.unwrap_or_default()))
    })
}

/// The id of a role, if it has one.
pub fn known_id_of(role: Oid) -> Option<i32> {
    find(role).map(|(id, _)| id)
}

static RENAME: Statement = Statement::new(
    "UPDATE workflow.owners SET role = CAST($2 AS workflow.stored_role) WHERE id = $1",
    &[Type::Integer, Type::Text],
);

// A row that a dump brought from another cluster, adopted by the role of its name.
static ADOPT: Statement = Statement::new(
    "UPDATE workflow.owners SET role = CAST($1 AS workflow.stored_role) \
     WHERE id = (SELECT min(o.id) FROM workflow.owners o WHERE o.name = $2 AND o.role_oid IS NULL AND o.same_as IS NULL \
                 HAVING count(*) = 1) \
         AND role_oid IS NULL RETURNING id",
    &[Type::Text, Type::Text],
);

static ADD: Statement = Statement::new(
    "INSERT INTO workflow.owners (role) VALUES (CAST($1 AS workflow.stored_role)) \
     ON CONFLICT (role_oid) WHERE same_as IS NULL DO NOTHING RETURNING id",
    &[Type::Text],
);

/// The id of a role, made if it has none.
pub fn id_of(oid: Oid) -> i32 {
    let name = role::name(oid).unwrap_or_default();
    if let Some((id, known)) = find(oid) {
        // The dump does without; a subscriber hears of the new name by this alone.
        if known != name {
            RENAME.run(&[Arg::Integer(id), Arg::Text(&stored_role::text_of(oid))]);
        }
        return id;
    }
    let text = stored_role::text_of(oid);
    // Two sessions may add the same role at once: the second one's INSERT waits, adds nothing and finds it.
    // A REPEATABLE READ session would not see it.
    ADOPT
        .first(&[Arg::Text(&text), Arg::Text(&name)], |row| row.get())
        .or_else(|| ADD.first(&[Arg::Text(&text)], |row| row.get()))
        .or_else(|| known_id_of(oid))
        .unwrap_or_else(|| unwind(PgError::new("40001", "could not serialize access due to concurrent update")))
}

/// The id of the role whose rights are in force.
pub fn current_id() -> i32 {
    id_of(role::current())
}

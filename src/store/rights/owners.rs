//! Owners: ids of roles.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use crate::pg::error::{PgError, throw};
use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Statement, Type, read};
use crate::pg::{catalog, object_lock, role, session, stored_role};
use crate::store::BACKEND;
use crate::store::tables::OWNERS;
use pgrx::pg_sys::{InvalidOid, Oid};

/// A role as a row of `workflow.owners` stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Key in `workflow.owners`.
    pub id: i32,
    /// Its oid, if the row stores a role of this cluster.
    pub oid: Option<Oid>,
    /// Its name when the row was last written; empty if the role no longer existed then.
    pub name: String,
}

impl Owner {
    /// The role. A role of this cluster is identified by its oid, so renaming it does not matter. A role of another
    /// cluster, from whose dump the row was restored, is identified by its name, unless the name is ambiguous.
    pub fn role(&self) -> Option<Oid> {
        match self.oid {
            Some(oid) => role::exists(oid).then_some(oid),
            None => by_name(&self.name),
        }
    }

    /// Whether this is a role that exists, such as the current one. Then its oid need not be looked up.
    pub fn is(&self, role: Oid) -> bool {
        match self.oid {
            Some(oid) => oid == role,
            None => by_name(&self.name) == Some(role),
        }
    }

    /// Whether this is the role whose rights apply.
    pub fn is_current(&self) -> bool {
        self.is(role::current())
    }

    /// Its name for messages: the current name, else the stored one.
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

/// The role of this name, for a row of another cluster. `None` if several such rows have the name, or if the role has
/// a row of its own: two owners must not become one unless the administrator calls wf_adopt_database.
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

/// Owners of this cluster that the session has read, in a generation of the catalog. An id is never reused unless the
/// extension is created again. Only wf_adopt_database changes the role of a row, and it invalidates this cache in all
/// sessions. So do those who add a row, which may be rolled back.
pub(in crate::store) struct KnownRoles {
    generation: u64,
    by_id: BTreeMap<i32, Owner>,
    /// The ids under which roles own something, by oid.
    ids: BTreeMap<u32, i32>,
}

impl KnownRoles {
    pub(in crate::store) const fn none() -> Self {
        Self { generation: 0, by_id: BTreeMap::new(), ids: BTreeMap::new() }
    }

    /// What is known in this generation.
    fn in_generation(&mut self, generation: u64) -> &mut Self {
        if self.generation != generation {
            *self = Self { generation, ..Self::none() };
        }
        self
    }
}

/// The owner with this id. A missing row yields an owner without a role.
pub fn by_id(id: i32) -> Owner {
    // Looking up the schema raises an error if the extension is gone. A new schema advances the generation.
    catalog::schema();
    let generation = catalog::generation();
    if let Some(owner) = BACKEND.owners.borrow_mut().in_generation(generation).by_id.get(&id) {
        return owner.clone();
    }
    let owner = match read(id) {
        Some((_, Some(same_as))) => read(same_as).map(|(owner, _)| owner),
        found => found.map(|(owner, _)| owner),
    };
    let Some(owner) = owner else { return Owner { id, oid: Some(InvalidOid), name: String::new() } };
    // Do not cache a row read with a snapshot that may be older than a change whose invalidation has already been
    // processed.
    if owner.oid.is_some() && !session::sees_old_rows() {
        BACKEND.owners.borrow_mut().by_id.insert(id, owner.clone());
    }
    owner
}

static ALL: Statement = Statement::new("SELECT o.id FROM workflow.owners o", &[]);

/// The ids of all owners.
pub fn ids() -> Vec<i32> {
    ALL.rows(&[], |row| row.get())
}

static ALIASES: Statement = Statement::new(
    "SELECT o.id, o.same_as FROM workflow.owners o WHERE o.same_as IS NOT NULL AND o.same_as <> o.id",
    &[],
);

/// The ids that stand for the same role as another one, each with that one.
pub fn aliases() -> Vec<(i32, i32)> {
    ALIASES.rows(&[], |row| (row.get(), row.get()))
}

// Rows that are not found by the oid of their role: they stand for the role of another row, or come from another cluster.
static UNUSUAL: Statement = Statement::new(
    "SELECT o.id FROM workflow.owners o WHERE o.role_oid IS NULL OR o.same_as IS NOT NULL AND o.same_as <> o.id",
    &[],
);

fn unusual() -> Rc<[i32]> {
    let generation = catalog::definitions_generation();
    let known =
        BACKEND.unusual_owners.borrow().as_ref().filter(|(of, _)| *of == generation).map(|(_, ids)| Rc::clone(ids));
    known.unwrap_or_else(|| {
        let ids: Rc<[i32]> = UNUSUAL.rows(&[], |row| row.get()).into();
        if !session::sees_old_rows() {
            BACKEND.unusual_owners.replace(Some((generation, Rc::clone(&ids))));
        }
        ids
    })
}

/// The ids that stand for one of these roles, whichever rows have them.
pub fn ids_of(roles: &HashSet<Oid>) -> Vec<i32> {
    let is_one = |id: &i32| by_id(*id).role().is_some_and(|role| roles.contains(&role));
    let unusual = unusual();
    let mut ids: Vec<i32> = roles.iter().filter_map(|role| known_id_of(*role)).collect();
    ids.extend(unusual.iter().copied().filter(is_one));
    ids
}

/// Reads a row, and the id of the row into which it was merged.
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

/// The id of a role, if it has a row.
pub fn known_id_of(role: Oid) -> Option<i32> {
    catalog::schema();
    let (generation, oid) = (catalog::generation(), role.to_u32());
    let known = BACKEND.owners.borrow_mut().in_generation(generation).ids.get(&oid).copied();
    known.or_else(|| {
        let (id, _) = find(role)?;
        if !session::sees_old_rows() {
            BACKEND.owners.borrow_mut().ids.insert(oid, id);
        }
        Some(id)
    })
}

// Skips a locked row, so that a session that writes the new name in an open transaction does not block others.
static RENAME: Statement = Statement::new(
    "UPDATE workflow.owners SET role = CAST($2 AS workflow.stored_role) \
     WHERE id = (SELECT o.id FROM workflow.owners o WHERE o.id = $1 FOR UPDATE SKIP LOCKED)",
    &[Type::Integer, Type::Text],
);

// The role takes over the row of its name that a dump brought from another cluster, if there is exactly one.
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

/// The id of a role. Takes over or adds its row if it has none.
pub fn id_of(oid: Oid) -> i32 {
    let name = role::name(oid).unwrap_or_default();
    if let Some((id, known)) = find(oid) {
        // A dump computes the current name. A subscriber of logical replication gets it only through this UPDATE.
        if known != name {
            RENAME.run(&[Arg::Integer(id), Arg::Text(&stored_role::text_of(oid))]);
        }
        return id;
    }
    object_lock::lock(c"owners", oid.to_u32(), 0);
    make(oid, &name)
}

/// Adds the rows of the roles that a call names, and of the current one, where they are missing. In the order of their
/// oids: the locks of two calls that add the same roles do not wait for each other crosswise.
pub fn add_missing(roles: &[Oid]) {
    let named = roles.iter().copied().chain([role::current()]);
    let mut missing: Vec<Oid> = named.filter(|role| find(*role).is_none()).collect();
    missing.sort_unstable_by_key(|role| role.to_u32());
    missing.into_iter().for_each(|role| _ = id_of(role));
}

/// Inserts the row of a role, under the lock for that role.
fn make(oid: Oid, name: &str) -> i32 {
    let text = stored_role::text_of(oid);
    // Two sessions may add the same role concurrently. The second waits and adds nothing; it then reads the row. Under
    // REPEATABLE READ it does not see the row, hence the error below.
    let id = ADOPT
        .first(&[Arg::Text(&text), Arg::Text(name)], |row| row.get())
        .or_else(|| ADD.first(&[Arg::Text(&text)], |row| row.get()))
        .or_else(|| known_id_of(oid))
        .unwrap_or_else(|| throw(PgError::new("40001", "could not serialize access due to concurrent update")));
    // If the transaction is rolled back, sessions must drop the cached row.
    catalog::definitions_changed();
    id
}

static FIND_ANOTHER: Statement = Statement::new(
    "SELECT o.id FROM workflow.owners o WHERE o.name = $1 AND o.role_oid = $2 AND o.same_as = o.id LIMIT 1",
    &[Type::Text, Type::Oid],
);
static ADD_ANOTHER: Statement = Statement::new(
    "INSERT INTO workflow.owners (id, role, same_as) OVERRIDING SYSTEM VALUE \
     SELECT n, CAST($1 AS workflow.stored_role), n FROM nextval('workflow.owners_id_seq') AS n RETURNING id",
    &[Type::Text],
);

/// An id that refers to a role in the record of an act, and among the assignee and candidates of a task. Never waits:
/// while another transaction, which may stay open, inserts the role's row, the role gets an additional row, which owns
/// nothing. Needs no look-up if this session has cached the row; a renamed role keeps its old name in the row until
/// [`id_of`] is called.
pub fn reference_to(role: Oid) -> i32 {
    let generation = catalog::generation();
    let is_it = |owner: &&Owner| owner.oid == Some(role);
    let mut known = BACKEND.owners.borrow_mut();
    if let Some(owner) = known.in_generation(generation).by_id.values().find(is_it) {
        return owner.id;
    }
    drop(known);
    if let Some(id) = known_id_of(role) {
        return by_id(id).id;
    }
    let name = role::name(role).unwrap_or_default();
    if object_lock::try_lock(c"owners", role.to_u32(), 0) {
        return make(role, &name);
    }
    let further = FIND_ANOTHER.first(&[Arg::Text(&name), Arg::Oid(role)], |row| row.get());
    further.unwrap_or_else(|| {
        catalog::definitions_changed();
        let text = stored_role::text_of(role);
        ADD_ANOTHER.first(&[Arg::Text(&text)], |row| row.get()).unwrap_or_default()
    })
}

/// Whether both ids refer to the same role.
pub fn are_same(one: i32, other: i32) -> bool {
    one == other || by_id(one).role().is_some_and(|role| by_id(other).role() == Some(role))
}

static ALIAS: Statement = Statement::new(
    "INSERT INTO workflow.owners (id, role, same_as) OVERRIDING SYSTEM VALUE VALUES ($1, CAST($2 AS workflow.stored_role), $3)",
    &[Type::Integer, Type::Text, Type::Integer],
);

/// Makes an id of another node refer to a role here.
///
/// # Errors
/// 42710 if it refers to another role here.
pub fn alias(id: i32, role: Oid) -> Result<(), PgError> {
    let own = id_of(role);
    if own == id {
        return Ok(());
    }
    match read(id) {
        Some(_) if by_id(id).role() == Some(role) => Ok(()),
        Some(_) => Err(PgError::new("42710", format!("owner {id} is another role on this node"))
            .detail(format!("Where the rows come from it is \"{}\".", role::name(role).unwrap_or_default()))),
        None => {
            catalog::definitions_changed();
            ALIAS.run(&[Arg::Integer(id), Arg::Text(&stored_role::text_of(role)), Arg::Integer(own)]);
            Ok(())
        }
    }
}

static SCATTER: Statement =
    Statement::new("SELECT setval('workflow.owners_id_seq', 1 + trunc(random() * 1000000000)::bigint)", &[]);

/// Makes the ids of new owners differ from those of a node with which this one used to share its rows.
pub fn scatter() {
    SCATTER.run(&[]);
}

/// The id of the role whose rights apply.
pub fn current_id() -> i32 {
    id_of(role::current())
}

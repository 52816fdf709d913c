//! Limits of tasks, and the slots that a claim takes.
//!
//! A slot says which lease took it. Whether the slot is free follows from the lease: it is if the task is gone, if the
//! task has another token, or if the lease has ended by time. So a transaction that ends a lease frees its slots with
//! its commit, and a rollback leaves them taken. Only an end by time can be undone, by a heartbeat that comes late. So
//! a claim that takes such a slot locks the row of the other task, and clears `lease_until` in it. The heartbeat finds
//! that when it has the lock ([`Lease::has_lost_slot`](crate::store::tasks::leases::Lease::has_lost_slot)).

use std::collections::HashMap;
use std::rc::Rc;

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Statement, Type, read};
use crate::pg::{catalog, object_lock};
use crate::store::tables::LIMITS;
use crate::store::{BACKEND, definitions};

/// The text that the value of a task's key adds to a lane, behind the id of the limit `k`, and to the place of a slot.
/// It is NULL if the limit has no key. A long value is replaced by its hash, because the text is a key of an index.
macro_rules! key_value {
    () => {
        "CASE WHEN octet_length(t.payload ->> k.key) > 100 \
              THEN '#' || encode(sha256(convert_to(t.payload ->> k.key, 'UTF8')), 'hex') \
              ELSE ':' || (t.payload ->> k.key) END"
    };
}

// As `tidy` in `slots.rs`: a slot that a lease has, or that a claim took within the period, stays.
static FORGET_KEYS: Statement = Statement::new(
    concat!(
        "DELETE FROM workflow.slots WHERE id IN ( \
             SELECT s.id FROM workflow.tasks t \
             JOIN workflow.instances i ON i.id = t.instance_id JOIN workflow.definitions d ON d.id = i.definition_version_id \
             JOIN workflow.limits k ON k.name = t.name AND k.owner = d.owner AND k.key IS NOT NULL \
             JOIN workflow.slots s ON s.limit_id = k.id AND s.place = ANY (ARRAY['c' || ",
        key_value!(),
        ", 'r' || ",
        key_value!(),
        "]) \
             WHERE t.instance_id = ANY ($1) AND (s.taken_at IS NULL OR s.taken_at < now() - k.per * INTERVAL '1 microsecond') \
               AND NOT EXISTS (SELECT FROM workflow.bookmarks b \
                               WHERE b.id = s.task AND b.token = s.token AND b.lease_until IS NOT NULL AND b.instance_id <> ALL ($1)) \
             FOR UPDATE OF s SKIP LOCKED)"
    ),
    &[Type::UuidArray],
);

/// Removes slots that have the value of a key of tasks of these instances, which are about to be removed. A later claim
/// makes those that it needs. Returns how many.
pub fn forget_keys(instances: &[Uuid]) -> u64 {
    FORGET_KEYS.run(&[Arg::Uuids(instances)])
}

mod slots;

pub use slots::{LockedSlot, Need, SlotAvailability, ask, bind, rebuild, take};

/// A limit of the tasks of one name, in the definitions of one owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Key in `workflow.limits`, with which a lane begins.
    pub id: i32,
    /// Id in `workflow.owners` of the role whose definitions it is for.
    pub owner: i32,
    /// Name of the tasks that it counts.
    pub name: String,
    /// The member of the payload each value of which has the limit for itself.
    pub key: Option<String>,
    /// How many of these tasks workers may hold at the same time; `None`: any number.
    pub concurrency: Option<i32>,
    /// How many claims of these tasks may be made in each period; `None`: any number.
    pub rate: Option<i32>,
    /// Length of that period in microseconds.
    pub per: i64,
}

impl Limit {
    /// Whether it has not been removed. The row of a removed limit stays as long as tasks may have its lane.
    pub fn is_live(&self) -> bool {
        self.concurrency.is_some() || self.rate.is_some()
    }
}

read! {
    struct Stored of LIMITS {
        name: String,
        owner: i32,
        id: i32,
        key: Option<String>,
        concurrency: Option<i32>,
        rate: Option<i32>,
        per: i64,
    }
}
static ROW: Columns = Columns::by(c"limits_name_owner_idx", &LIMITS, Stored::COLUMNS);
static ANY: Columns = Columns::of(&LIMITS, &[LIMITS.read("id", Type::Integer, false)]);

/// The limits as a session has read them, by name. It reads those of the names that it needs only: others may have any
/// number of limits for other names.
pub(in crate::store) struct CachedLimits {
    schema: Oid,
    generation: u64,
    by_name: HashMap<String, Rc<[Limit]>>,
    has_any: Option<bool>,
}

/// Reads or fills what the session knows. It forgets that after a transaction has committed that changed a limit.
fn with_known<R>(body: impl FnOnce(&mut CachedLimits) -> R) -> R {
    let (schema, generation) = (catalog::schema(), catalog::definitions_generation());
    let known = &mut *BACKEND.limits.borrow_mut();
    let is_valid = |known: &CachedLimits| known.schema == schema && known.generation == generation;
    let known = match known {
        Some(known) if is_valid(known) => known,
        _ => known.insert(CachedLimits { schema, generation, by_name: HashMap::new(), has_any: None }),
    };
    body(known)
}

/// The limits for tasks of this name, of any owner.
pub fn of_name(name: &str) -> Rc<[Limit]> {
    if let Some(limits) = with_known(|known| known.by_name.get(name).cloned()) {
        return limits;
    }
    let limits: Rc<[Limit]> = stored(name).into();
    with_known(|known| _ = known.by_name.insert(name.to_owned(), Rc::clone(&limits)));
    limits
}

/// The limits for tasks of these names.
pub fn of_names(names: &[String]) -> Rc<[Limit]> {
    match names {
        [name] => of_name(name),
        names => names.iter().flat_map(|name| of_name(name).to_vec()).collect(),
    }
}

/// Whether there are any limits.
pub fn has_any() -> bool {
    with_known(|known| known.has_any).unwrap_or_else(|| {
        let has_any = rows::read_by(&ANY, &[], |_| Some(())).is_some();
        with_known(|known| known.has_any = Some(has_any));
        has_any
    })
}

fn stored(name: &str) -> Vec<Limit> {
    let mut limits = Vec::new();
    rows::read_by(&ROW, &[Arg::Text(name)], |row| {
        let Stored { name, owner, id, key, concurrency, rate, per } = Stored::read(row);
        limits.push(Limit { id, owner, name, key, concurrency, rate, per });
        None::<()>
    });
    limits
}

// Each owner has locks of its own: those of one owner are in no other one's way, whatever names it uses.
const OWNER: i32 = 0;

/// The lock of the limits of an owner for tasks of a name. The last bit tells it from the lock of the owner.
fn lock_of(name: &str) -> i32 {
    object_lock::hash(name).cast_signed() | 1
}

/// Keeps the limits of an owner for tasks of a name as they are until this transaction ends. `false`: another
/// transaction is changing them.
pub fn try_share(owner: i32, name: &str) -> bool {
    object_lock::try_share(c"limits", owner.cast_unsigned(), lock_of(name))
}

/// The same; waits for a transaction that is changing them.
pub fn share(owner: i32, name: &str) {
    object_lock::share(c"limits", owner.cast_unsigned(), lock_of(name));
}

/// Keeps others from changing limits of an owner until this transaction ends. To be taken before [`lock`].
pub fn lock_owner(owner: i32) {
    object_lock::lock(c"limits", owner.cast_unsigned(), OWNER);
}

/// Waits for the transactions that have claimed tasks of this name in definitions of the owner, or have opened some
/// under limits. Claims pass over these tasks until this transaction ends, and wait for nothing.
pub fn lock(owner: i32, name: &str) {
    object_lock::lock(c"limits", owner.cast_unsigned(), lock_of(name));
}

static OF_NAME: Columns = Columns::by(
    c"limits_name_owner_idx",
    &LIMITS,
    &[LIMITS.read("name", Type::Text, false), LIMITS.read("owner", Type::Integer, false)],
);

/// The transaction of another session that is writing a limit of an owner for tasks of a name.
pub fn changing(owner: i32, name: &str) -> Option<u32> {
    rows::inserting(&OF_NAME, &[Arg::Text(name), Arg::Integer(owner)])
}

static NAMES_OF: Statement = Statement::new(
    "SELECT DISTINCT l.name FROM workflow.limits l WHERE l.owner = ANY ($1) ORDER BY l.name",
    &[Type::IntegerArray],
);

/// The names of tasks for which one of these owners has limits.
pub fn names_of(owners: &[i32]) -> Vec<String> {
    NAMES_OF.rows(&[Arg::Integers(owners)], |row| row.get())
}

static SET: [Statement; 2] = [
    Statement::new(
        "WITH gone AS (DELETE FROM workflow.limits WHERE owner = $1 AND name = $2 AND key <> $3 RETURNING id) \
         DELETE FROM workflow.slots s USING gone WHERE s.limit_id = gone.id",
        &[Type::Integer, Type::Text, Type::Text],
    ),
    Statement::new(
        "INSERT INTO workflow.limits (owner, name, key, concurrency, rate, per) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (name, owner, (key IS NULL)) \
         DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, per = excluded.per",
        &[Type::Integer, Type::Text, Type::Text, Type::Integer, Type::Integer, Type::BigInt],
    ),
];

/// Sets a limit. One with another key replaces the one with a key, under an id of its own.
pub fn set(owner: i32, name: &str, key: Option<&str>, concurrency: Option<i32>, rate: Option<i32>, per: i64) {
    let [replace, set] = &SET;
    let (owner, name) = (Arg::Integer(owner), Arg::Text(name));
    if let Some(key) = key {
        replace.run(&[owner, name, Arg::Text(key)]);
    }
    let number = |number: Option<i32>| number.map_or(Arg::Null, Arg::Integer);
    set.run(&[owner, name, Arg::text(key), number(concurrency), number(rate), Arg::BigInt(per)]);
    catalog::definitions_changed();
}

static REMOVE: Statement = Statement::new(
    "UPDATE workflow.limits SET concurrency = NULL, rate = NULL WHERE owner = $1 AND name = $2 AND key IS NOT DISTINCT FROM $3",
    &[Type::Integer, Type::Text, Type::Text],
);
static FORGET: Statement = Statement::new(
    "DELETE FROM workflow.limits l WHERE l.owner = $1 AND l.name = $2 AND l.concurrency IS NULL AND l.rate IS NULL \
         AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.lane IS NOT NULL AND b.payload ->> 'TaskName' = $2)",
    &[Type::Integer, Type::Text],
);

/// Removes a limit, if there is one. [`assign_all`] follows, and then [`forget`].
pub fn remove(owner: i32, name: &str, key: Option<&str>) {
    REMOVE.run(&[Arg::Integer(owner), Arg::Text(name), Arg::text(key)]);
    catalog::definitions_changed();
}

/// Forgets removed limits of a name, unless a task has a lane. A claim looks at lanes only for names that it knows.
pub fn forget(owner: i32, name: &str) {
    FORGET.run(&[Arg::Integer(owner), Arg::Text(name)]);
}

/// A statement that gives tasks their lane, for those that `$where` selects. A task that another session has locked is
/// left out: a claim that meets it does the same.
macro_rules! assigning {
    ($where:literal) => {
        concat!(
            "UPDATE workflow.bookmarks b SET lane = n.lane, \
                 available_at = CASE WHEN n.lane IS NOT NULL THEN COALESCE(b.available_at, '-infinity') \
                                     WHEN b.available_at <> '-infinity' THEN b.available_at END \
             FROM (SELECT b.id, CASE WHEN k.id IS NULL THEN u.id::text \
                                     ELSE concat(k.id, ",
            key_value!(),
            ") END AS lane \
                   FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id = b.id \
                        JOIN workflow.instances i ON i.id = b.instance_id JOIN workflow.definitions d ON d.id = i.definition_version_id \
                        LEFT JOIN workflow.limits k ON k.owner = d.owner AND k.name = t.name AND k.key IS NOT NULL \
                                                       AND (k.concurrency IS NOT NULL OR k.rate IS NOT NULL) \
                        LEFT JOIN workflow.limits u ON u.owner = d.owner AND u.name = t.name AND u.key IS NULL \
                                                       AND (u.concurrency IS NOT NULL OR u.rate IS NOT NULL) \
                   WHERE ",
            $where,
            " FOR NO KEY UPDATE OF b SKIP LOCKED) n \
             WHERE b.id = n.id AND b.lane IS DISTINCT FROM n.lane"
        )
    };
}

// A plan that was made while there were no tasks must not read all of them, so only what is to find tasks by name says
// the type, as the index on names does.
static ASSIGN: Statement = Statement::new(assigning!("b.id = ANY ($1)"), &[Type::UuidArray]);
static ASSIGN_ALL: Statement = Statement::new(
    assigning!(
        "b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = ANY ($3) AND b.payload ->> 'TaskName' = $2 \
         AND d.owner = $1"
    ),
    &[Type::Integer, Type::Text, Type::IntegerArray],
);

static LIMITED: Statement = Statement::new(
    "SELECT DISTINCT d.owner, t.name FROM workflow.tasks t JOIN workflow.instances i ON i.id = t.instance_id \
         JOIN workflow.definitions d ON d.id = i.definition_version_id \
         JOIN workflow.limits l ON l.owner = d.owner AND l.name = t.name \
     WHERE t.id = ANY ($1) ORDER BY d.owner, t.name",
    &[Type::UuidArray],
);

/// The owners and names of those of these tasks for which there are limits.
pub fn limited(tasks: &[Uuid]) -> Vec<(i32, String)> {
    LIMITED.rows(&[Arg::Uuids(tasks)], |row| (row.get(), row.get()))
}

/// Gives these open tasks the lanes that follow from the limits. Returns how many got another one.
pub fn assign(tasks: &[Uuid]) -> u64 {
    ASSIGN.run(&[Arg::Uuids(tasks)])
}

/// The same for all open tasks of a name in the definitions of an owner.
pub fn assign_all(owner: i32, name: &str) {
    ASSIGN_ALL.run(&[Arg::Integer(owner), Arg::Text(name), Arg::Integers(&definitions::stored_under(owner))]);
}

//! Admissions: which instances of definitions with `maxConcurrency` have begun and not ended.
//!
//! An admission says which instance took it. It is free when that instance has ended for good or does not exist, so
//! whatever ends an instance frees it with its commit. An instance that a retry can continue keeps its admission. Nothing here but [`retake`] waits for a lock: an admission that another
//! transaction has locked, or is making, counts as taken.

use uuid::Uuid;

use crate::pg::object_lock;
use crate::pg::rows::{self, Columns, Holder};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::tables::ADMISSIONS;
use crate::wake;

/// What is counted together: the instances of a definition, with a key those with the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The id that all versions of the definition share: they are counted together.
    pub definition_id: String,
    /// The value of the key behind a mark; empty without a key.
    pub value: String,
    /// Id in `workflow.owners` of the definition's owner.
    pub owner: i32,
}

impl Place {
    /// The lane of instances that wait for it.
    pub fn lane(&self) -> String {
        format!("{}:{}{}", self.definition_id.len(), self.definition_id, self.value)
    }
}

// An instance that has ended never goes on, so what is free here stays free until it is taken.
static FREE: Statement = Statement::new(
    "SELECT a.id FROM workflow.admissions a \
     WHERE a.definition_id = $1 AND a.place = $2 AND a.n <= $3 AND a.id <> ALL ($4) \
       AND NOT EXISTS (SELECT FROM workflow.instances i \
                       WHERE i.id = a.instance_id AND i.finished_at IS NULL) \
     ORDER BY a.n LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
    &[Type::Text, Type::Text, Type::Integer, Type::UuidArray],
);
static IS_HELD: Statement = Statement::new(
    "SELECT 1 FROM workflow.admissions a JOIN workflow.instances i ON i.id = a.instance_id \
     WHERE a.id = $1 AND i.finished_at IS NULL",
    &[Type::Uuid],
);
static ARE_MORE_HELD: Statement = Statement::new(
    "SELECT 1 FROM workflow.admissions a JOIN workflow.instances i ON i.id = a.instance_id \
     WHERE a.definition_id = $1 AND a.place = $2 AND a.n > $3 AND i.finished_at IS NULL LIMIT 1",
    &[Type::Text, Type::Text, Type::Integer],
);
static COUNT: Statement = Statement::new(
    "SELECT count(*) FROM workflow.admissions a WHERE a.definition_id = $1 AND a.place = $2 AND a.n <= $3",
    &[Type::Text, Type::Text, Type::Integer],
);
static MAKE: Statement = Statement::new(
    "INSERT INTO workflow.admissions (id, definition_id, place, n) \
     SELECT gen_random_uuid(), $1, $2, g.n FROM generate_series(1, $3) AS g (n) \
     WHERE NOT EXISTS (SELECT FROM workflow.admissions a WHERE a.definition_id = $1 AND a.place = $2 AND a.n = g.n) \
     ORDER BY g.n LIMIT 100",
    &[Type::Text, Type::Text, Type::Integer],
);
static BIND: Statement =
    Statement::new("UPDATE workflow.admissions SET instance_id = $2 WHERE id = $1", &[Type::Uuid, Type::Uuid]);

/// Admits an instance, if fewer than `max` of its place run. A second look when the row is locked decides: another
/// transaction may have taken it and committed between the first look and the lock.
pub fn take(place: &Place, max: i32, instance: &Uuid) -> bool {
    let of = [Arg::Text(&place.definition_id), Arg::Text(&place.value), Arg::Integer(max)];
    // A version with a higher limit admitted more.
    if ARE_MORE_HELD.run(&of) > 0 {
        return false;
    }
    let find = || {
        let mut held = Vec::new();
        loop {
            let id: Uuid = FREE.first(&[of[0], of[1], of[2], Arg::Uuids(&held)], |row| row.get())?;
            if IS_HELD.run(&[Arg::Uuid(&id)]) == 0 {
                return Some(id);
            }
            held.push(id);
        }
    };
    let Some(id) = find().or_else(|| if make(place, max) { find() } else { None }) else { return false };
    BIND.run(&[Arg::Uuid(&id), Arg::Uuid(instance)]);
    true
}

static RETAKE: Statement = Statement::new(
    "UPDATE workflow.admissions SET instance_id = $3 WHERE id = ( \
         SELECT a.id FROM workflow.admissions a WHERE a.definition_id = $1 AND a.place = $2 AND a.instance_id = $3 \
         LIMIT 1 FOR NO KEY UPDATE)",
    &[Type::Text, Type::Text, Type::Uuid],
);

/// Takes the admission that an instance had before it left this node, unless another instance has it. Waits for a
/// transaction that is about to take it: that transaction may be rolled back, and the instance would have two.
pub fn retake(place: &Place, instance: &Uuid) -> bool {
    RETAKE.run(&[Arg::Text(&place.definition_id), Arg::Text(&place.value), Arg::Uuid(instance)]) > 0
}

static EXCEED: Statement = Statement::new(
    "INSERT INTO workflow.admissions (id, definition_id, place, n, instance_id) \
     SELECT gen_random_uuid(), $1, $2, 1 + GREATEST($3, max(a.n)), $4 \
     FROM workflow.admissions a WHERE a.definition_id = $1 AND a.place = $2",
    &[Type::Text, Type::Text, Type::Integer, Type::Uuid],
);

/// Admits an instance beyond the limit.
pub fn exceed(place: &Place, max: i32, instance: &Uuid) {
    EXCEED.run(&[Arg::Text(&place.definition_id), Arg::Text(&place.value), Arg::Integer(max), Arg::Uuid(instance)]);
}

/// Makes admissions of a place that has fewer than its limit. `false`: it has all, or another transaction makes some.
fn make(place: &Place, max: i32) -> bool {
    let of = [Arg::Text(&place.definition_id), Arg::Text(&place.value), Arg::Integer(max)];
    let count: Option<i64> = COUNT.first(&of, |row| row.get());
    if count.unwrap_or_default() >= i64::from(max) {
        return false;
    }
    // Two transactions that insert the same one would wait for each other.
    let place_lock = object_lock::hash(&place.lane()).cast_signed();
    if !object_lock::try_lock(c"admissions", place.owner.cast_unsigned(), place_lock) {
        return false;
    }
    tidy(place);
    MAKE.run(&of);
    true
}

static TIDY: [Statement; 2] = [
    Statement::new(
        "SELECT a.id FROM workflow.admissions a WHERE a.id = ANY (ARRAY( \
             SELECT o.id FROM workflow.admissions o WHERE o.definition_id = $1 AND o.place > $2 \
             ORDER BY o.definition_id, o.place LIMIT 20)) \
           AND NOT EXISTS (SELECT FROM workflow.instances i \
                           WHERE i.id = a.instance_id AND i.finished_at IS NULL) \
         FOR UPDATE SKIP LOCKED",
        &[Type::Text, Type::Text],
    ),
    Statement::new(
        "DELETE FROM workflow.admissions a WHERE a.id = ANY ($1) \
           AND NOT EXISTS (SELECT FROM workflow.instances i \
                           WHERE i.id = a.instance_id AND i.finished_at IS NULL)",
        &[Type::UuidArray],
    ),
];

/// Removes free admissions of other values of the key.
fn tidy(place: &Place) {
    let [find, delete] = &TIDY;
    let free: Vec<Uuid> = find.rows(&[Arg::Text(&place.definition_id), Arg::Text(&place.value)], |row| row.get());
    if !free.is_empty() {
        delete.run(&[Arg::Uuids(&free)]);
    }
}

static GIVE: Statement =
    Statement::new("UPDATE workflow.admissions SET instance_id = $2 WHERE instance_id = $1", &[Type::Uuid, Type::Uuid]);

/// Gives the admission of an instance to another one.
pub fn give(from: &Uuid, to: &Uuid) {
    GIVE.run(&[Arg::Uuid(from), Arg::Uuid(to)]);
}

static COVERS: Statement = Statement::new(
    "WITH RECURSIVE up (id) AS ( \
         SELECT $1 UNION SELECT i.parent_instance_id FROM up JOIN workflow.instances i ON i.id = up.id \
                         WHERE i.parent_instance_id IS NOT NULL) \
     SELECT 1 FROM up JOIN workflow.admissions a ON a.instance_id = up.id LIMIT 1",
    &[Type::Uuid],
);

/// Whether an instance, or one of those above it, was admitted.
pub fn covers(instance: &Uuid) -> bool {
    COVERS.run(&[Arg::Uuid(instance)]) > 0
}

static ROW: Columns = Columns::of(&ADMISSIONS, &[ADMISSIONS.read("id", Type::Uuid, false)]);
static OF_PLACE: Columns = Columns::by(
    c"admissions_definition_id_place_n_idx",
    &ADMISSIONS,
    &[ADMISSIONS.read("definition_id", Type::Text, false), ADMISSIONS.read("place", Type::Text, false)],
);
static NOT_HELD: Statement = Statement::new(
    "SELECT a.id FROM workflow.admissions a WHERE a.definition_id = $1 AND a.place = $2 AND a.n <= $3 \
       AND NOT EXISTS (SELECT FROM workflow.instances i \
                       WHERE i.id = a.instance_id AND i.finished_at IS NULL) \
     ORDER BY a.n LIMIT 100",
    &[Type::Text, Type::Text, Type::Integer],
);

/// Whether another instance of a place would be admitted, asked without a lock.
pub fn has_room(place: &Place, max: i32) -> bool {
    let of = [Arg::Text(&place.definition_id), Arg::Text(&place.value), Arg::Integer(max)];
    if ARE_MORE_HELD.run(&of) > 0 {
        return false;
    }
    let free: Vec<Uuid> = NOT_HELD.rows(&of, |row| row.get());
    if free.iter().any(|id| rows::holder(&ROW, Arg::Uuid(id)) == Holder::None) {
        return true;
    }
    let count: Option<i64> = COUNT.first(&of, |row| row.get());
    count.unwrap_or_default() < i64::from(max) && rows::inserting(&OF_PLACE, &of[..2]).is_none()
}

static LANES: Statement = Statement::new(
    "WITH RECURSIVE lanes (lane) AS ( \
         (SELECT b.lane FROM workflow.bookmarks b \
          WHERE b.lane IS NOT NULL AND b.payload ->> 'TaskName' IS NULL AND b.definition_owner IS NULL \
          ORDER BY b.payload ->> 'TaskName', b.definition_owner, b.lane LIMIT 1) \
         UNION ALL \
         SELECT (SELECT b.lane FROM workflow.bookmarks b \
                 WHERE b.lane > l.lane AND b.payload ->> 'TaskName' IS NULL AND b.definition_owner IS NULL \
                 ORDER BY b.payload ->> 'TaskName', b.definition_owner, b.lane LIMIT 1) \
         FROM lanes l WHERE l.lane IS NOT NULL) \
     SELECT lane FROM lanes WHERE lane IS NOT NULL",
    &[],
);

/// The lanes in which instances wait for their turn.
pub fn lanes() -> Vec<String> {
    LANES.rows(&[], |row| row.get())
}

// An instance whose start was given up, or whose owner is a role that does not exist, holds up no other. Neither does
// one whose start has failed and is tried again later: it competes with the others when it is due.
macro_rules! has_turn {
    () => {
        "b.lane = $1 AND b.payload ->> 'TaskName' IS NULL AND b.definition_owner IS NULL AND b.attempts IS NULL AND i.paused_at IS NULL \
             AND NOT EXISTS (SELECT FROM workflow.dead_letters l \
                             WHERE l.bookmark_id = b.id AND l.due_at IS NOT NULL AND l.replayed_at IS NULL) \
             AND EXISTS (SELECT FROM workflow.owners o \
                         WHERE o.id = i.owner AND workflow._role_of(o.role_oid, o.name) IS NOT NULL) "
    };
}

static IS_WAITED_FOR: Statement = Statement::new(
    concat!(
        "SELECT 1 FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id WHERE ",
        has_turn!(),
        "LIMIT 1"
    ),
    &[Type::Text],
);

/// Whether instances wait for a place that are not paused.
pub fn is_waited_for(place: &Place) -> bool {
    IS_WAITED_FOR.run(&[Arg::Text(&place.lane())]) > 0
}

/// The instance that is next in a lane. Its bookmark is locked.
#[derive(Debug)]
pub struct NextInLane {
    /// Id of the bookmark `Workflow.Limit` at which it waits.
    pub bookmark: Uuid,
    /// The definition version that it runs, which says how many may run at the same time.
    pub version: Uuid,
    /// The id that all versions of its definition share.
    pub definition_id: String,
    /// Whether it is due already.
    pub is_called: bool,
}

static NEXT: Statement = Statement::new(
    concat!(
        "SELECT b.id, i.definition_version_id, i.definition_id, b.due_at IS NOT NULL \
         FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id WHERE ",
        has_turn!(),
        "AND b.available_at = '-infinity' \
         ORDER BY b.payload ->> 'TaskName', b.definition_owner, b.lane, b.available_at, COALESCE(b.priority, 0) DESC, b.created_at LIMIT 1 \
         FOR NO KEY UPDATE OF b SKIP LOCKED"
    ),
    &[Type::Text],
);
static CALL: Statement =
    Statement::new("UPDATE workflow.bookmarks SET due_at = $2 WHERE id = $1", &[Type::Uuid, Type::Timestamp]);

/// The oldest instance of a lane that is not paused and that no other session holds.
pub fn next(lane: &str) -> Option<NextInLane> {
    NEXT.first(&[Arg::Text(lane)], |row| NextInLane {
        bookmark: row.get(),
        version: row.get(),
        definition_id: row.get(),
        is_called: row.get(),
    })
}

/// Makes the bookmark of an instance due, whose turn it is.
pub fn call(bookmark: &Uuid, now: Timestamp) {
    CALL.run(&[Arg::Uuid(bookmark), Arg::Timestamp(now)]);
    wake::report_due(now);
}

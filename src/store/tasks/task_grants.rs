//! Task grants: which roles may work on which tasks, and nothing else.

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::pg::object_lock;
use crate::pg::spi::{Arg, Statement, Type};
use crate::store::rights::owners::{self, Owner};
use crate::wake;

/// The right of a role to claim and answer some tasks, by `wf_grant_worker`.
#[derive(Clone, Debug)]
pub struct TaskGrant {
    /// Key in `workflow.task_grants`, by which a grant is taken back.
    pub id: Uuid,
    /// The role that may work on the tasks.
    pub holder: Owner,
    /// The role that gave it. It counts for the definitions that this role may manage now.
    pub grantor: Owner,
    /// The definition whose tasks they are. `None`: each that the grantor may manage.
    pub definition_id: Option<String>,
}

static COVERING: Statement = Statement::new(
    "SELECT g.id, g.role, g.grantor, g.definition_id FROM workflow.task_grants g WHERE g.definition_id = $1 AND g.name = $2 \
     UNION ALL \
     SELECT g.id, g.role, g.grantor, g.definition_id FROM workflow.task_grants g WHERE g.definition_id = $1 AND g.name IS NULL \
     UNION ALL \
     SELECT g.id, g.role, g.grantor, g.definition_id FROM workflow.task_grants g WHERE g.definition_id IS NULL AND g.name = $2 \
     UNION ALL \
     SELECT g.id, g.role, g.grantor, g.definition_id FROM workflow.task_grants g WHERE g.definition_id IS NULL AND g.name IS NULL",
    &[Type::Text, Type::Text],
);
static HELD: Statement = Statement::new(
    "SELECT g.id, g.role, g.grantor, g.definition_id FROM workflow.task_grants g \
     WHERE g.role = $1 AND ($2 IS NULL OR g.definition_id = $2) AND ($3 IS NULL OR g.name = ANY ($3))",
    &[Type::Integer, Type::Text, Type::TextArray],
);
static ADD: Statement = Statement::new(
    "INSERT INTO workflow.task_grants (id, role, grantor, definition_id, name) \
     VALUES (gen_random_uuid(), $1, $2, $3, $4) ON CONFLICT DO NOTHING",
    &[Type::Integer, Type::Integer, Type::Text, Type::Text],
);
static REMOVE: Statement = Statement::new("DELETE FROM workflow.task_grants WHERE id = ANY ($1)", &[Type::UuidArray]);
// Two deletions lock the same roles in the same order. Deletions of several definitions in one transaction can deadlock
// with other grants (40P01), as grants to several roles can.
static HOLDERS_OF: Statement = Statement::new(
    "SELECT DISTINCT g.role FROM workflow.task_grants g WHERE g.definition_id = $1 ORDER BY 1",
    &[Type::Text],
);
static REMOVE_OF: Statement =
    Statement::new("DELETE FROM workflow.task_grants WHERE definition_id = $1", &[Type::Text]);
static HAS_ANY: Statement =
    Statement::new("SELECT 1 FROM workflow.task_grants WHERE role = $1 LIMIT 1", &[Type::Integer]);

fn read(row: &mut crate::pg::spi::Row<'_>) -> TaskGrant {
    TaskGrant {
        id: row.get(),
        holder: owners::by_id(row.get()),
        grantor: owners::by_id(row.get()),
        definition_id: row.maybe(),
    }
}

/// The grants of tasks of this name of a definition, to whichever role.
pub fn covering(definition_id: &str, name: &str) -> Vec<TaskGrant> {
    COVERING.rows(&[Arg::Text(definition_id), Arg::Text(name)], read)
}

/// The grants that a role holds, of this definition and of these names if they are given.
pub fn held(role: i32, definition_id: Option<&str>, names: Option<&[String]>) -> Vec<TaskGrant> {
    HELD.rows(&[Arg::Integer(role), Arg::text(definition_id), names.map_or(Arg::Null, Arg::Texts)], read)
}

/// Grants tasks. Returns `false` if the role has this grant of this grantor.
pub fn add(role: i32, grantor: i32, definition_id: Option<&str>, name: Option<&str>) -> bool {
    let row = [Arg::Integer(role), Arg::Integer(grantor), Arg::text(definition_id), Arg::text(name)];
    let is_new = ADD.run(&row) > 0;
    if is_new {
        wake::report_any_task();
    }
    is_new
}

/// Removes grants and returns how many there were.
pub fn remove(ids: &[Uuid]) -> u64 {
    REMOVE.run(&[Arg::Uuids(ids)])
}

/// Removes the grants of a definition that is deleted, and takes EXECUTE from roles that have none left.
pub fn remove_of(definition_id: &str) {
    let holders: Vec<i32> = HOLDERS_OF.rows(&[Arg::Text(definition_id)], |row| row.get());
    let holders: Vec<(Oid, i32)> = holders.into_iter().filter_map(|id| Some((owners::by_id(id).role()?, id))).collect();
    holders.iter().for_each(|(role, _)| lock(*role));
    REMOVE_OF.run(&[Arg::Text(definition_id)]);
    holders.iter().for_each(|(role, id)| take_calls(*role, *id));
}

static LACKS_CALLS: Statement = Statement::new("SELECT workflow._lacks_worker_calls($1)", &[Type::Oid]);
static GIVE_CALLS: Statement = Statement::new("SELECT workflow._give_worker_calls($1)", &[Type::Oid]);
static TAKE_CALLS: Statement = Statement::new("SELECT workflow._take_worker_calls($1)", &[Type::Oid]);

/// Locks the grants of a role until the transaction ends. Otherwise one that takes the last grant back, and EXECUTE
/// with it, would not see the grant of another.
pub fn lock(role: Oid) {
    object_lock::lock(c"task_grants", role.into(), 1);
}

/// Gives a role EXECUTE on what a worker calls, unless it has that. The caller has locked its grants.
pub fn give_calls(role: Oid) {
    if LACKS_CALLS.first(&[Arg::Oid(role)], |row| row.get()) == Some(true) {
        lock_calls();
        GIVE_CALLS.run(&[Arg::Oid(role)]);
    }
}

/// Takes that back from a role without any grant of tasks, unless it has more than that. The caller has locked its
/// grants.
pub fn take_calls(role: Oid, id: i32) {
    if HAS_ANY.run(&[Arg::Integer(id)]) == 0 {
        lock_calls();
        TAKE_CALLS.run(&[Arg::Oid(role)]);
    }
}

/// Two transactions that change the privileges of a function at once fail with XX000, so the second one waits.
fn lock_calls() {
    object_lock::lock(c"task_grants", 0, 0);
}

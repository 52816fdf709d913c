//! Tasks to which limits apply.
//!
//! Such a task has a lane, which names its limit and the value of its key: tasks of one lane need the same slots. While
//! it can be claimed its `available_at` is `-infinity`, so it is not in the way of tasks without limits. The inbox has
//! all of them in their order, and the index on lanes those of each lane.

use uuid::Uuid;

use super::{CLAIMABLE_TYPES, ClaimableTask, Claimant, claimable_args, limit};
use crate::pg::spi::{Arg, Statement, Type};
use crate::wake;

static IN_ORDER: Statement = Statement::new(claimable_tasks!("b.available_at = '-infinity'"), CLAIMABLE_TYPES);

/// The first tasks with a lane, of these names, that a role could claim if it got their slots, at most `max`.
pub fn in_order(names: &[String], max: usize, claimant: &Claimant) -> Vec<ClaimableTask> {
    IN_ORDER.rows(&claimable_args(names, max, claimant), ClaimableTask::read)
}

static IN_LANES: Statement = Statement::new(
    for_role!(
        "SELECT c.id, c.instance_id, c.definition_version_id, c.node_id, c.claims, n.name, n.lane, c.priority, c.created_at, c.is_assigned \
         FROM unnest($3, $5, $7) AS n (name, lane, owner) CROSS JOIN LATERAL ( \
             SELECT b.id, b.instance_id, i.definition_version_id, b.node_id, COALESCE(b.claims, 0) AS claims, \
                    COALESCE(b.priority, 0) AS priority, b.created_at, \
                    b.assignee IS NOT NULL OR b.candidates IS NOT NULL AS is_assigned \
             FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
             WHERE b.lane = n.lane AND b.payload ->> 'TaskName' = n.name AND b.definition_owner = n.owner \
               AND b.available_at = '-infinity' AND i.sub_status <> 'Faulted' AND ",
        "ORDER BY b.payload ->> 'TaskName', b.definition_owner, b.lane, b.available_at, COALESCE(b.priority, 0) DESC, b.created_at \
         LIMIT $6) c \
         ORDER BY c.priority DESC, c.created_at LIMIT $4"
    ),
    &[Type::Oid, Type::IntegerArray, Type::TextArray, Type::BigInt, Type::TextArray, Type::BigInt, Type::IntegerArray],
);

/// A lane of the tasks of one name.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The name of its tasks.
    pub name: String,
    /// The lane.
    pub lane: String,
    /// The id under which its tasks are stored.
    pub owner: i32,
}

/// The same in these lanes, at most `most` of each.
pub fn in_lanes<'a>(
    lanes: impl Iterator<Item = &'a Lane>,
    most: usize,
    max: usize,
    claimant: &Claimant,
) -> Vec<ClaimableTask> {
    let (mut names, mut texts, mut stored_under) = (Vec::new(), Vec::new(), Vec::new());
    for lane in lanes {
        names.push(lane.name.clone());
        texts.push(lane.lane.clone());
        stored_under.push(lane.owner);
    }
    let (role, owners) = (Arg::Oid(claimant.role), Arg::Integers(claimant.owners()));
    let (lanes, stored_under) = (Arg::Texts(&texts), Arg::Integers(&stored_under));
    let args = [role, owners, Arg::Texts(&names), limit(max), lanes, limit(most), stored_under];
    IN_LANES.rows(&args, ClaimableTask::read)
}

/// Makes the search for the first task of the first lane of a name that `$after` selects.
macro_rules! first_of_lane {
    ($of:literal, $owner:literal, $after:literal) => {
        concat!(
            "(SELECT b.lane, b.available_at, COALESCE(b.priority, 0) AS priority, b.created_at \
              FROM workflow.bookmarks b WHERE ",
            $after,
            " AND b.payload ->> 'TaskName' = ",
            $of,
            ".name AND b.definition_owner = ",
            $owner,
            ".owner ORDER BY b.payload ->> 'TaskName', b.definition_owner, b.lane, b.available_at, COALESCE(b.priority, 0) DESC, b.created_at LIMIT 1)"
        )
    };
}

// Each step is one descent of the index. A task that can be claimed comes before all others of its lane.
static LANES_OF: Statement = Statement::new(
    concat!(
        "WITH RECURSIVE firsts AS ( \
             SELECT n.name, o.owner, f.* FROM unnest($1) AS n (name) CROSS JOIN unnest($2) AS o (owner) CROSS JOIN LATERAL ",
        first_of_lane!("n", "o", "b.lane IS NOT NULL"),
        " f UNION ALL SELECT l.name, l.owner, f.* FROM firsts l CROSS JOIN LATERAL ",
        first_of_lane!("l", "l", "b.lane > l.lane"),
        " f) SELECT name, lane, owner FROM firsts WHERE available_at = '-infinity' ORDER BY priority DESC, created_at"
    ),
    &[Type::TextArray, Type::IntegerArray],
);

/// The lanes of these names, stored under these owners, that have tasks which could be claimed, in the order of their
/// first ones.
pub fn lanes_of(names: &[String], owners: &[i32]) -> Vec<Lane> {
    let args = [Arg::Texts(names), Arg::Integers(owners)];
    LANES_OF.rows(&args, |row| Lane { name: row.get(), lane: row.get(), owner: row.get() })
}

static HELD_OF: Statement = Statement::new(
    "SELECT b.payload ->> 'TaskName' FROM workflow.bookmarks b \
     WHERE b.instance_id = $1 AND b.lane IS NOT NULL AND b.token IS NOT NULL",
    &[Type::Uuid],
);

/// Wakes those who wait for the slots of an instance's tasks, when this transaction commits. It is about to end leases
/// of these tasks.
pub fn wake_waiters_of(instance: Uuid) {
    let names: Vec<String> = HELD_OF.rows(&[Arg::Uuid(&instance)], |row| row.get());
    names.iter().for_each(|name| wake::report_task(name));
}

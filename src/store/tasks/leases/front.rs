//! The first tasks of some names. It does not ask which roles may claim them.

use super::{ClaimableTask, Held, Lease, limit};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};

/// Where the tasks of a name begin: with those of a higher priority than this one, or of this one since this instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front {
    /// All tasks with a higher priority than this one lie behind the front.
    pub priority: i32,
    /// Of the tasks with just this priority, those that were opened at this instant or later do.
    pub since: Timestamp,
}

impl Front {
    /// A front behind which all tasks lie.
    pub const ALL: Self = Self { priority: i32::MIN, since: Timestamp::MINUS_INFINITY };
}

macro_rules! from {
    ($condition:literal) => {
        concat!(
            "(SELECT b.id, b.instance_id, i.definition_version_id, b.node_id, COALESCE(b.claims, 0) AS claims, b.lane, \
                     COALESCE(b.priority, 0) AS priority, b.created_at, \
                     b.assignee IS NOT NULL OR b.candidates IS NOT NULL AS is_assigned, i.owner \
              FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
              WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
                AND b.payload ->> 'TaskName' = n.name AND b.available_at IS NULL AND ",
            $condition,
            " AND i.sub_status <> 'Faulted' \
              ORDER BY b.definition_owner, b.payload ->> 'TaskName', b.available_at NULLS FIRST, COALESCE(b.priority, 0) DESC, \
                       b.created_at LIMIT $4)"
        )
    };
}

// Each part is a range of the index. One condition for both would read all of it.
static FIRST: Statement = Statement::new(
    concat!(
        "SELECT c.id, c.instance_id, c.definition_version_id, c.node_id, c.claims, n.name, c.lane, c.priority, c.created_at, \
                c.is_assigned, c.owner \
         FROM unnest($1, $2, $3) AS n (name, priority, since) CROSS JOIN unnest($5) AS o (owner) CROSS JOIN LATERAL (",
        from!("COALESCE(b.priority, 0) > n.priority"),
        " UNION ALL ",
        from!("COALESCE(b.priority, 0) = n.priority AND b.created_at >= n.since"),
        ") c ORDER BY c.priority DESC, c.created_at LIMIT $4"
    ),
    &[Type::TextArray, Type::IntegerArray, Type::TimestampArray, Type::BigInt, Type::IntegerArray],
);

/// The first tasks of these names without limits that are stored under these owners, from these fronts on, at most `max`:
/// those with a higher priority first, then older ones. With each comes the id of its instance's owner.
pub fn first(names: &[String], fronts: &[Front], max: usize, owners: &[i32]) -> Vec<(ClaimableTask, i32)> {
    let priorities: Vec<i32> = fronts.iter().map(|front| front.priority).collect();
    let since: Vec<Timestamp> = fronts.iter().map(|front| front.since).collect();
    let fronts = [Arg::Integers(&priorities), Arg::Timestamps(&since)];
    let args = [Arg::Texts(names), fronts[0], fronts[1], limit(max), Arg::Integers(owners)];
    FIRST.rows(&args, |row| (ClaimableTask::read(row), row.get()))
}

// The row of the task is locked as it is found, so the tasks that other workers hold until they commit do not count
// among those that are read.
static LOCKED: Statement = Statement::new(
    "SELECT b.id, b.instance_id, i.definition_version_id, b.node_id, COALESCE(b.claims, 0), b.payload ->> 'TaskName', b.lane, \
            COALESCE(b.priority, 0), b.created_at, b.assignee IS NOT NULL OR b.candidates IS NOT NULL, i.owner, \
            b.activity_instance_id, b.paused_at IS NOT NULL \
     FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
     WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = $3 AND b.payload ->> 'TaskName' = $1 \
       AND b.available_at IS NULL AND i.sub_status <> 'Faulted' \
     ORDER BY b.definition_owner, b.payload ->> 'TaskName', b.available_at NULLS FIRST, COALESCE(b.priority, 0) DESC, b.created_at \
     LIMIT $2 FOR NO KEY UPDATE OF b SKIP LOCKED",
    &[Type::Text, Type::BigInt, Type::Integer],
);

/// The first tasks of one owner and name without limits, at most `max`, whose rows no other transaction has locked. They are
/// locked from now on, also those that the role may not claim. With each comes the id of its instance's owner. Of the
/// leases, which no worker has, only the number of attempts is read: `ClaimableTask::is_assigned` says whether a task
/// is assigned.
pub fn lock_first(name: &str, max: usize, owner: i32) -> Vec<(ClaimableTask, i32, Held)> {
    LOCKED.rows(&[Arg::Text(name), limit(max), Arg::Integer(owner)], |row| {
        let (claimable, owner) = (ClaimableTask::read(row), row.get());
        let lease = Lease { attempt: claimable.attempt, ..Lease::default() };
        let ClaimableTask { task, instance, .. } = claimable;
        let held = Held { task, instance, execution: row.get(), is_paused: row.get(), lease };
        (claimable, owner, held)
    })
}

static HEADS: Statement = Statement::new(
    "SELECT DISTINCT ON (n.name) n.name, c.priority, c.created_at FROM unnest($1) AS n (name) CROSS JOIN unnest($2) AS o (owner) \
         CROSS JOIN LATERAL ( \
         SELECT COALESCE(b.priority, 0) AS priority, b.created_at FROM workflow.bookmarks b \
         WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
           AND b.payload ->> 'TaskName' = n.name AND b.available_at IS NULL \
         ORDER BY b.definition_owner, b.payload ->> 'TaskName', b.available_at NULLS FIRST, COALESCE(b.priority, 0) DESC, \
                  b.created_at LIMIT 1) c \
     ORDER BY n.name, c.priority DESC, c.created_at",
    &[Type::TextArray, Type::IntegerArray],
);

/// The names of which there is a task that can be claimed without limits and is stored under one of these owners, each
/// with the position of its first.
pub fn heads(names: &[String], owners: &[i32]) -> Vec<(String, Front)> {
    let args = [Arg::Texts(names), Arg::Integers(owners)];
    HEADS.rows(&args, |row| (row.get(), Front { priority: row.get(), since: row.get() }))
}

static OWNERS_OF: Statement = Statement::new(
    "SELECT o.owner FROM unnest($2) AS o (owner) \
     WHERE EXISTS (SELECT FROM workflow.bookmarks b \
                   WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
                     AND b.payload ->> 'TaskName' = $1 AND b.available_at IS NULL)",
    &[Type::Text, Type::IntegerArray],
);

/// Those of these owners under whom tasks of a name are stored that can be claimed without limits.
pub fn owners_of(name: &str, owners: &[i32]) -> Vec<i32> {
    OWNERS_OF.rows(&[Arg::Text(name), Arg::Integers(owners)], |row| row.get())
}

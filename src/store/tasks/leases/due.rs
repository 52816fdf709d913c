//! Leases and delays that end.

use uuid::Uuid;

use super::Claimant;
use crate::pg::interrupt;
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::wake;

// A claim that has locked one of them puts it back itself, if it commits.
static RELEASE_DUE: Statement = Statement::new(
    for_role!(
        "UPDATE workflow.bookmarks t SET available_at = CASE WHEN t.lease_until > $4 THEN t.lease_until WHEN t.lane IS NOT NULL THEN '-infinity' END \
         WHERE t.id = ANY (ARRAY(SELECT c.id FROM unnest($3) AS n (name) CROSS JOIN unnest($5) AS o (owner) CROSS JOIN LATERAL ( \
                                 SELECT b.id FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
                                 WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
                                   AND b.payload ->> 'TaskName' = n.name AND b.available_at > '-infinity' AND b.available_at <= $4 AND ",
        "LIMIT 1000 FOR NO KEY UPDATE OF b SKIP LOCKED) c LIMIT 1000)) RETURNING t.payload ->> 'TaskName', t.available_at"
    ),
    &[Type::Oid, Type::IntegerArray, Type::TextArray, Type::Timestamp, Type::IntegerArray],
);

// Its plan is small, and nearly always there is none.
static IS_ANY_DUE: Statement = Statement::new(
    "SELECT 1 FROM unnest($1) AS n (name) CROSS JOIN unnest($3) AS o (owner) CROSS JOIN LATERAL ( \
         SELECT FROM workflow.bookmarks b \
         WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
           AND b.payload ->> 'TaskName' = n.name AND b.available_at > '-infinity' AND b.available_at <= $2 LIMIT 1) c LIMIT 1",
    &[Type::TextArray, Type::Timestamp, Type::IntegerArray],
);

/// Makes tasks of these names available that the role may claim and whose lease or delay has ended, at most 10,000.
/// `false`: there was none.
pub fn release_due(names: &[String], now: Timestamp, claimant: &Claimant) -> bool {
    let mut is_any = false;
    for _ in 0..10 {
        let stored_under = Arg::Integers(claimant.stored_under());
        if IS_ANY_DUE.run(&[Arg::Texts(names), Arg::Timestamp(now), stored_under]) == 0 {
            break;
        }
        let args = arguments(names, now, claimant);
        let released: Vec<(String, Option<Timestamp>)> = RELEASE_DUE.rows(&args, |row| (row.get(), row.maybe()));
        if released.is_empty() {
            break;
        }
        is_any = true;
        for (name, available_at) in &released {
            match available_at.filter(|at| *at != Timestamp::MINUS_INFINITY) {
                Some(at) => wake::report_task_at(name, at),
                None => wake::report_task(name),
            }
        }
        interrupt::check();
    }
    is_any
}

fn arguments<'a>(names: &'a [String], now: Timestamp, claimant: &'a Claimant) -> [Arg<'a>; 5] {
    let (role, owners) = (Arg::Oid(claimant.role), Arg::Integers(claimant.owners()));
    [role, owners, Arg::Texts(names), Arg::Timestamp(now), Arg::Integers(claimant.stored_under())]
}

/// How many tasks [`unreleased`] gives at most.
pub const MAX_UNRELEASED: usize = 1000;

static UNRELEASED: Statement = Statement::new(
    for_role!(
        "SELECT c.id FROM unnest($3) AS n (name) CROSS JOIN unnest($5) AS o (owner) CROSS JOIN LATERAL ( \
             SELECT b.id FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
             WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
               AND b.payload ->> 'TaskName' = n.name AND b.available_at > '-infinity' AND b.available_at <= $4 AND i.sub_status <> 'Faulted' AND ",
        "LIMIT 1000) c LIMIT 1000"
    ),
    &[Type::Oid, Type::IntegerArray, Type::TextArray, Type::Timestamp, Type::IntegerArray],
);

/// The tasks that [`release_due`] has not released, because another transaction had locked them: when that ends without
/// changing them, they can be claimed.
pub fn unreleased(names: &[String], now: Timestamp, claimant: &Claimant) -> Vec<Uuid> {
    UNRELEASED.rows(&arguments(names, now, claimant), |row| row.get())
}

static NEXT: Statement = Statement::new(
    for_role!(
        "SELECT min(c.available_at) FROM unnest($3) AS n (name) CROSS JOIN unnest($5) AS o (owner) CROSS JOIN LATERAL ( \
             SELECT b.available_at FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
             WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
               AND b.payload ->> 'TaskName' = n.name AND b.available_at > $4 AND b.available_at < 'infinity' AND i.sub_status <> 'Faulted' AND ",
        "ORDER BY b.definition_owner, b.payload ->> 'TaskName', b.available_at LIMIT 1) c"
    ),
    &[Type::Oid, Type::IntegerArray, Type::TextArray, Type::Timestamp, Type::IntegerArray],
);

/// When the next lease or delay of tasks of these names ends that a role may claim.
pub fn next_end(names: &[String], now: Timestamp, claimant: &Claimant) -> Option<Timestamp> {
    NEXT.first(&arguments(names, now, claimant), |row| row.maybe()).flatten()
}

/// Ends the leases of the tasks `t` that `$where` selects: the bookmark of a last one is due, and the token of any is
/// void. `$of_end` says the same of that bookmark, `e`, so that it is found by index.
macro_rules! ending {
    ($where:literal, $of_end:literal) => {
        [
            Statement::new(
                concat!(
                    "UPDATE workflow.bookmarks e SET due_at = CASE WHEN e.paused_at IS NULL THEN $1 END, \
                         due_when_paused = CASE WHEN e.paused_at IS NOT NULL THEN $1 END FROM workflow.bookmarks t \
                     WHERE e.name = 'Workflow.Lease' AND t.instance_id = e.instance_id \
                       AND t.activity_instance_id = e.activity_instance_id AND t.token IS NOT NULL AND ",
                    $where,
                    " AND ",
                    $of_end
                ),
                &[Type::Timestamp, Type::UuidArray],
            ),
            Statement::new(
                concat!(
                    "UPDATE workflow.bookmarks t SET token = NULL, lease_until = NULL, worker = NULL, \
                         available_at = CASE WHEN available_at = 'infinity' THEN available_at WHEN lane IS NOT NULL THEN '-infinity' END, \
                         due_when_paused = CASE WHEN paused_at IS NULL OR due_when_paused = 'infinity' THEN due_when_paused ELSE '-infinity' END \
                     WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND token IS NOT NULL AND ",
                    $where
                ),
                &[Type::Timestamp, Type::UuidArray],
            ),
        ]
    };
}

static END_ALL: [Statement; 2] = ending!("true", "true");
static END_OF: [Statement; 2] = ending!("t.instance_id = ANY ($2)", "e.instance_id = ANY ($2)");

/// Ends all leases, in a database that goes on with the data of another one: workers there may hold them.
pub fn end_all(now: Timestamp) {
    END_ALL.iter().for_each(|statement| _ = statement.run(&[Arg::Timestamp(now), Arg::Uuids(&[])]));
}

/// The same for instances that come from another database.
pub fn end_of(instances: &[Uuid], now: Timestamp) {
    END_OF.iter().for_each(|statement| _ = statement.run(&[Arg::Timestamp(now), Arg::Uuids(instances)]));
}

//! What is said to a sender whose stimulus reached nothing: names of events, and what has ended.

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::stimulus::EVENT;

use crate::pg::spi::{Arg, Statement, Type};
use crate::store::instances::bookmarks::keys;

// The first bookmarks of each owner are enough: a definition waits for few names, and the sender must not pay for many instances.
static EVENTS: Statement = Statement::new(
    "SELECT DISTINCT e.name FROM ( \
         SELECT t.payload ->> 'EventName' AS name, t.definition_owner AS owner FROM unnest($2) AS o (id) CROSS JOIN LATERAL ( \
             SELECT t.payload, t.definition_owner FROM workflow.triggers t \
             WHERE t.name = $5 AND t.definition_owner = o.id LIMIT 200) t \
         UNION ALL \
         SELECT b.payload ->> 'EventName', b.instance_owner FROM unnest($2) AS o (id) CROSS JOIN LATERAL ( \
             SELECT b.payload, b.instance_owner FROM workflow.bookmarks b \
             WHERE b.definition_owner = o.id AND b.kind_key BETWEEN $3 AND $4 AND b.name = $5 \
                 AND b.activity_type = $5 LIMIT 200) b) e \
         JOIN workflow.owners o ON o.id = e.owner JOIN pg_roles r ON r.oid = o.role_oid \
     WHERE e.name IS NOT NULL AND pg_has_role($1, r.oid, 'USAGE') LIMIT 1000",
    &[Type::Oid, Type::IntegerArray, Type::Integer, Type::Integer, Type::Text],
);

/// The names of events for which activities of type `Event` wait, or start workflows, that belong to a role or to one
/// whose member it is. Their definitions are stored under these owners. Bookmarks of other types are not searched, even
/// if they have the name of an event's stimulus.
pub fn events_of(role: Oid, definition_owners: &[i32]) -> Vec<String> {
    let (least, greatest) = keys::of_type(EVENT.name);
    let range = (Arg::Integer(least), Arg::Integer(greatest));
    let args = [Arg::Oid(role), Arg::Integers(definition_owners), range.0, range.1, Arg::Text(EVENT.name)];
    EVENTS.rows(&args, |row| row.get())
}

// A correlation id can have any number of instances.
static LAST: Statement = Statement::new(
    "SELECT i.id, i.sub_status FROM ( \
         SELECT i.id, i.sub_status FROM workflow.instances i WHERE i.correlation_id = $1 LIMIT 1000) i \
     ORDER BY i.id DESC LIMIT 1",
    &[Type::Text],
);

/// The last instance with a correlation id and its sub-status, if it has ended.
pub fn last_ended(correlation_id: &str) -> Option<(Uuid, String)> {
    let last: Option<(Uuid, String)> = LAST.first(&[Arg::Text(correlation_id)], |row| (row.get(), row.get()));
    last.filter(|(_, status)| matches!(status.as_str(), "Finished" | "Cancelled"))
}

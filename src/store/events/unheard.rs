//! What is said to a sender whose stimulus reached nothing: names of events, and what has ended.

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Type};

// The first bookmarks are enough: a definition waits for few names, and the sender must not pay for many instances.
static EVENTS: Statement = Statement::new(
    "SELECT DISTINCT e.name FROM ( \
         SELECT t.payload ->> 'EventName' AS name, d.owner FROM workflow.triggers t \
             JOIN workflow.definitions d ON d.id = t.definition_version_id \
         WHERE t.name = 'Elsa.Event' AND t.schedule_name IS NULL \
         UNION ALL \
         SELECT b.payload ->> 'EventName', i.owner FROM ( \
             SELECT b.payload, b.instance_id FROM workflow.bookmarks b \
             WHERE b.activity_type = 'Elsa.Event' AND b.name = 'Elsa.Event' LIMIT 200) b \
             JOIN workflow.instances i ON i.id = b.instance_id) e \
         JOIN workflow.owners o ON o.id = e.owner JOIN pg_roles r ON r.oid = o.role_oid \
     WHERE e.name IS NOT NULL AND pg_has_role($1, r.oid, 'USAGE') LIMIT 1000",
    &[Type::Oid],
);

/// The names of events for which workflows wait, or start, that belong to a role or to one whose member it is.
pub fn events_of(role: Oid) -> Vec<String> {
    EVENTS.rows(&[Arg::Oid(role)], |row| row.get())
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

//! Relations between instances: of children to their parents, and of a successor to the instance that it continues.

use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Type};

static FORGET_PARENT: Statement =
    Statement::new("UPDATE workflow.instances SET parent_bookmark_id = NULL WHERE id = $1", &[Type::Uuid]);

/// Clears the parent's bookmark in an instance whose report the parent has received: the parent no longer waits for it.
pub fn forget_parent(id: Uuid) {
    FORGET_PARENT.run(&[Arg::Uuid(&id)]);
}

static CHILDREN: Statement =
    Statement::new("SELECT id FROM workflow.instances WHERE parent_instance_id = $1 ORDER BY id", &[Type::Uuid]);

/// The child instances of this instance, in order of id.
pub fn children(id: Uuid) -> Vec<Uuid> {
    CHILDREN.rows(&[Arg::Uuid(&id)], |row| row.get())
}

static IS_CHILD: Statement =
    Statement::new("SELECT 1 FROM workflow.instances WHERE id = $1 AND parent_instance_id IS NOT NULL", &[Type::Uuid]);

/// Whether another instance started this one as a child workflow.
pub fn is_child(id: Uuid) -> bool {
    IS_CHILD.run(&[Arg::Uuid(&id)]) > 0
}

static NOT_AWAITED: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i \
     WHERE i.parent_instance_id = $1 AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.id = i.parent_bookmark_id) \
     ORDER BY i.id",
    &[Type::Uuid],
);

/// The child workflows of an instance whose end it does not wait for, in order of id.
pub fn children_not_awaited(id: Uuid) -> Vec<Uuid> {
    NOT_AWAITED.rows(&[Arg::Uuid(&id)], |row| row.get())
}

static REPORTING_TO: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i \
     WHERE i.parent_instance_id = $1 AND i.parent_bookmark_id = ANY ($2) AND i.status = 'Running' ORDER BY i.id",
    &[Type::Uuid, Type::UuidArray],
);

/// The children of an instance that have not ended and will report to one of these bookmarks, in order of id.
pub fn reporting_to(parent: Uuid, bookmarks: &[Uuid]) -> Vec<Uuid> {
    REPORTING_TO.rows(&[Arg::Uuid(&parent), Arg::Uuids(bookmarks)], |row| row.get())
}

static RUNNING: Statement = Statement::new(
    "SELECT 1 FROM workflow.instances \
     WHERE parent_instance_id = $1 AND status = 'Running' AND definition_id <> ALL ($2) LIMIT 1",
    &[Type::Uuid, Type::TextArray],
);

/// Whether child instances of this instance have not ended, except those of these definitions.
pub fn has_running_children(id: Uuid, except: &[&str]) -> bool {
    let except: Vec<String> = except.iter().map(|id| (*id).to_owned()).collect();
    RUNNING.run(&[Arg::Uuid(&id), Arg::Texts(&except)]) > 0
}

static ABOVE: Statement = Statement::new(
    "WITH RECURSIVE above (parent, definition_id) AS ( \
         SELECT i.parent_instance_id, i.definition_id FROM workflow.instances i WHERE i.id = $1 \
         UNION ALL \
         SELECT i.parent_instance_id, i.definition_id FROM above a JOIN workflow.instances i ON i.id = a.parent) \
     SELECT count(*) FROM above WHERE definition_id = $2",
    &[Type::Uuid, Type::Text],
);

/// How many of an instance and those above it run this definition.
pub fn count_above(id: Uuid, definition_id: &str) -> i64 {
    ABOVE.first(&[Arg::Uuid(&id), Arg::Text(definition_id)], |row| row.get()).unwrap_or_default()
}

static CONTINUED_AS: Statement = Statement::new(
    "WITH RECURSIVE later (id) AS ( \
         SELECT i.id FROM workflow.instances i WHERE i.continued_from = $1 \
         UNION \
         SELECT i.id FROM later l JOIN workflow.instances i ON i.continued_from = l.id) \
     SELECT l.id FROM later l WHERE NOT EXISTS (SELECT FROM workflow.instances n WHERE n.continued_from = l.id)",
    &[Type::Uuid],
);

/// The last successor of an instance that others continued, one after another.
pub fn continued_as(id: Uuid) -> Option<Uuid> {
    CONTINUED_AS.first(&[Arg::Uuid(&id)], |row| row.get())
}

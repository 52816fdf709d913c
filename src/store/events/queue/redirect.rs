//! Queue items of an instance that another one continues.

use uuid::Uuid;

use super::key::{key_of_filter, shape_of};
use super::{Item, items, read};
use crate::pg::spi::{Arg, Statement, Type};
use crate::store::events::matching::Filter;

static OF_INSTANCE: Statement = items(
    "SELECT {q} FROM workflow.bookmark_queue q \
     WHERE q.instance_id = $1 AND q.bookmark_id IS NULL AND q.activity_instance_id IS NULL AND q.deferred_for IS NULL",
    &[Type::Uuid],
);
static REDIRECT: Statement = Statement::new(
    "UPDATE workflow.bookmark_queue SET instance_id = $2, match_key = $3 WHERE id = \
         (SELECT q.id FROM workflow.bookmark_queue q WHERE q.id = $1 FOR UPDATE SKIP LOCKED)",
    &[Type::Uuid, Type::Uuid, Type::BigInt],
);

/// Makes the items that name an instance, but no bookmark or execution of it, name its successor. A session that has
/// locked such an item, or is storing one, itself detects the successor.
pub fn redirect_all(from: Uuid, to: Uuid) {
    for item in OF_INSTANCE.rows(&[Arg::Uuid(&from)], read) {
        redirect(&item, to);
    }
}

/// Makes an item name another instance. `false`: another session has locked or taken it.
pub fn redirect(item: &Item, to: Uuid) -> bool {
    let filter = Filter { instance_id: Some(to), ..item.filter.clone() };
    let key = key_of_filter(&filter, shape_of(&filter));
    REDIRECT.run(&[Arg::Uuid(&item.id), Arg::Uuid(&to), Arg::BigInt(key)]) > 0
}

//! Integers by which indexes find the bookmarks that a stimulus matches.
//!
//! An index entry of integers has half the size of one with the hash and the texts, and is compared faster. Different values
//! may have the same integer, so each search also compares the columns. The upgrade script and `wf_check` compute the same
//! integers in SQL.
//!
//! hashtext depends on the byte order of the machine, so those of bookmarks from another machine are computed again.

use uuid::Uuid;
use workflow_engine::bookmark::Bookmark;
use workflow_engine::stimulus::RUN_TASK;

use crate::pg::hashtext;
use crate::pg::spi::{Arg, Statement, Type};

/// Number of bits of a key of a kind that say the name.
const NAME_BITS: u32 = 10;
/// Number of its lowest bits, which say the activity. The highest bits say the type.
const ACTIVITY_BITS: u32 = 12;

/// First four bytes of a hash.
pub fn of_hash(hash: &[u8; 32]) -> i32 {
    let mut key = [0; 4];
    key.copy_from_slice(&hash[..4]);
    i32::from_be_bytes(key)
}

/// The key of a correlation id; 0: there is none.
pub fn of_correlation(id: Option<&str>) -> i32 {
    id.map_or(0, |id| hashtext(id).cast_signed())
}

/// The key of type, name and activity of a bookmark with a hash. `None`: stimuli for tasks use another index.
pub fn of_kind(bookmark: &Bookmark) -> Option<i32> {
    let is_in_index = bookmark.activity_type != RUN_TASK.name;
    is_in_index
        .then(|| of_type(&bookmark.activity_type).0 | of_name(&bookmark.name) | of_activity(&bookmark.activity_id))
}

/// The least and the greatest key of bookmarks that activities of a type have made.
pub fn of_type(activity_type: &str) -> (i32, i32) {
    let shift = NAME_BITS + ACTIVITY_BITS;
    let least = (hashtext(activity_type) << shift).cast_signed();
    (least, least | ((1 << shift) - 1))
}

/// The part of a key that says the name.
pub fn of_name(name: &str) -> i32 {
    ((hashtext(name) & ((1 << NAME_BITS) - 1)) << ACTIVITY_BITS).cast_signed()
}

/// The part of a key that says the activity.
pub fn of_activity(id: &str) -> i32 {
    (hashtext(id) & ((1 << ACTIVITY_BITS) - 1)).cast_signed()
}

/// The statement that corrects the keys of the bookmarks that a condition selects.
macro_rules! correct {
    ($condition:literal) => {
        concat!(
            "UPDATE workflow.bookmarks b SET correlation_key = k.correlation_key, kind_key = k.kind_key \
             FROM (SELECT m.id, COALESCE(hashtext(m.correlation_id), 0) AS correlation_key, \
                       CASE WHEN m.activity_type <> 'Elsa.RunTask' \
                       THEN (hashtext(m.activity_type) << 22) | ((hashtext(m.name) & 1023) << 12) \
                           | (hashtext(m.activity_id) & 4095) END AS kind_key \
                   FROM workflow.bookmarks m WHERE m.hash IS NOT NULL AND ",
            $condition,
            ") AS k \
             WHERE b.id = k.id AND (b.correlation_key, b.kind_key) IS DISTINCT FROM (k.correlation_key, k.kind_key)"
        )
    };
}

static CORRECT_ALL: Statement = Statement::new(correct!("true"), &[]);
static CORRECT: Statement = Statement::new(correct!("m.instance_id = ANY ($1)"), &[Type::UuidArray]);

/// Corrects the keys of all bookmarks, of which a dump may be from another machine.
pub fn correct_all() {
    CORRECT_ALL.run(&[]);
}

/// Corrects the keys of bookmarks that were imported with these instances.
pub fn correct(instances: &[Uuid]) {
    CORRECT.run(&[Arg::Uuids(instances)]);
}

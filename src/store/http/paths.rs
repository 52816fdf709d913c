//! The owners of the first segments of HTTP paths.

use crate::pg::spi::{Arg, Statement, Type};

static OWNER: Statement = Statement::new("SELECT p.owner FROM workflow.paths p WHERE p.segment = $1", &[Type::Text]);
static LOCKED_OWNER: Statement =
    Statement::new("SELECT p.owner FROM workflow.paths p WHERE p.segment = $1 FOR SHARE", &[Type::Text]);
static CLAIM: Statement = Statement::new(
    "INSERT INTO workflow.paths (segment, owner) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    &[Type::Text, Type::Integer],
);
static GIVE: Statement = Statement::new(
    "INSERT INTO workflow.paths (segment, owner) VALUES ($1, $2) ON CONFLICT (segment) DO UPDATE SET owner = EXCLUDED.owner",
    &[Type::Text, Type::Integer],
);
static FREE: Statement = Statement::new("DELETE FROM workflow.paths WHERE segment = $1", &[Type::Text]);

static COUNT: Statement = Statement::new(
    "SELECT count(*) FROM (SELECT FROM workflow.paths p WHERE p.owner = $1 LIMIT $2) owned",
    &[Type::Integer, Type::BigInt],
);

/// Whether an owner has at least `count` segments.
pub fn has(owner: i32, count: i64) -> bool {
    COUNT.first(&[Arg::Integer(owner), Arg::BigInt(count)], |row| row.get::<i64>()) == Some(count)
}

/// The owner of a segment.
pub fn owner_of(segment: &str) -> Option<i32> {
    OWNER.first(&[Arg::Text(segment)], |row| row.get())
}

/// Locks a segment and returns its owner. Waits for a session that is changing the owner. Until this transaction ends,
/// no other session can change it.
pub fn lock(segment: &str) -> Option<i32> {
    LOCKED_OWNER.first(&[Arg::Text(segment)], |row| row.get())
}

/// Claims a free segment for an owner. Waits for a session that is claiming it. Returns `false` if the segment already
/// has an owner.
pub fn claim(segment: &str, owner: i32) -> bool {
    CLAIM.run(&[Arg::Text(segment), Arg::Integer(owner)]) > 0
}

/// Assigns a segment to an owner, replacing any previous owner.
pub fn give(segment: &str, owner: i32) {
    GIVE.run(&[Arg::Text(segment), Arg::Integer(owner)]);
}

/// Frees a segment.
pub fn free(segment: &str) {
    FREE.run(&[Arg::Text(segment)]);
}

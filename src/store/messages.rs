//! Messages: calls that were answered, so that a client may send one again.

use serde_json::Value;

use crate::pg::object_lock;
use crate::pg::spi::{Arg, Statement, Timestamp, Type};

/// Which call it is.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// The role that calls.
    pub owner: i32,
    /// Correlation id.
    pub key: &'a str,
    /// What the client calls it.
    pub message: &'a str,
}

/// A call that was answered.
#[derive(Debug)]
pub struct Answered {
    /// Digest of what was called.
    pub content: Vec<u8>,
    /// The answer.
    pub answer: Value,
    /// When.
    pub called_at: Timestamp,
}

static FIND: Statement = Statement::new(
    "SELECT m.content, m.answer, m.called_at FROM workflow.messages m \
     WHERE m.owner = $1 AND m.key = $2 AND m.message = $3",
    &[Type::Integer, Type::Text, Type::Text],
);
static FORGET: Statement = Statement::new(
    "DELETE FROM workflow.messages WHERE owner = $1 AND key = $2 AND message = $3",
    &[Type::Integer, Type::Text, Type::Text],
);
static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.messages (owner, key, message, content, answer, called_at) VALUES ($1, $2, $3, $4, $5, $6) \
     ON CONFLICT DO NOTHING",
    &[Type::Integer, Type::Text, Type::Text, Type::Bytea, Type::Jsonb, Type::Timestamp],
);
static REMOVE: Statement = Statement::new(
    "DELETE FROM workflow.messages m USING ( \
         SELECT o.owner, o.key, o.message FROM workflow.messages o WHERE o.called_at <= $1 \
         ORDER BY o.called_at LIMIT $2 FOR UPDATE SKIP LOCKED) o \
     WHERE m.owner = o.owner AND m.key = o.key AND m.message = o.message",
    &[Type::Timestamp, Type::BigInt],
);

impl<'a> Name<'a> {
    fn arguments(&self) -> [Arg<'a>; 3] {
        [Arg::Integer(self.owner), Arg::Text(self.key), Arg::Text(self.message)]
    }

    /// Waits for a transaction that makes the same call. The hash is easy to meet, but not by another role.
    pub fn lock(&self) {
        object_lock::lock(c"messages", object_lock::hash(&format!("{} {}", self.key, self.message)), self.owner);
    }

    /// What it was answered.
    pub fn find(&self) -> Option<Answered> {
        FIND.first(&self.arguments(), |row| Answered { content: row.get(), answer: row.get(), called_at: row.get() })
    }

    /// Forgets an answer.
    pub fn forget(&self) {
        FORGET.run(&self.arguments());
    }

    /// Remembers an answer. `false`: it has one by now.
    pub fn remember(&self, content: &[u8], answer: &Value, now: Timestamp) -> bool {
        let [owner, key, message] = self.arguments();
        INSERT.run(&[owner, key, message, Arg::Bytea(content), Arg::Json(answer), Arg::Timestamp(now)]) > 0
    }
}

/// Forgets what was answered at or before `until`, and returns how many answers.
pub fn remove(until: Timestamp, limit: i64) -> u64 {
    REMOVE.run(&[Arg::Timestamp(until), Arg::BigInt(limit)])
}

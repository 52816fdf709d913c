//! Messages: calls that were answered, recorded so that a client may repeat one.

use crate::pg::jsonb::Document;
use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type, read, written};
use crate::pg::{cluster, object_lock};
use crate::store::tables::MESSAGES;

/// The key by which a client identifies a call of `wf_call`. Each role has its own keys.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// Id of the calling role in `workflow.owners`.
    pub owner: i32,
    /// The correlation id that the call is about.
    pub key: &'a str,
    /// The name that the client gives the call. It is the same when the call is repeated.
    pub message: &'a str,
}

/// The row of an answered call. A repetition of the call gets the same answer.
#[derive(Debug)]
pub struct Answered {
    /// SHA-256 of kind, name and body: a call with the same name and another content is an error.
    pub content: Vec<u8>,
    /// The document that the first call returned.
    pub answer: Document,
    /// Time of the first call, from which the retention of the row counts.
    pub called_at: Timestamp,
}

read! {
    struct Stored of MESSAGES {
        key: String,
        owner: i32,
        message: String,
        content: Vec<u8>,
        answer: Document,
        called_at: Timestamp,
    }
}
static STORED: Columns = Columns::by(c"messages_pkey", &MESSAGES, Stored::COLUMNS);
written! {
    struct New<'a> of MESSAGES {
        owner: i32,
        key: &'a str,
        message: &'a str,
        content: &'a [u8],
        answer: &'a Document,
        called_at: Timestamp,
    }
}
static NEW: Columns = Columns::of(&MESSAGES, New::COLUMNS);

static FORGET: Statement = Statement::new(
    "DELETE FROM workflow.messages WHERE key = $1 AND owner = $2 AND message = $3 AND called_at = $4",
    &[Type::Text, Type::Integer, Type::Text, Type::Timestamp],
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
        [Arg::Text(self.key), Arg::Integer(self.owner), Arg::Text(self.message)]
    }

    /// Waits until no other transaction makes the same call, and reads its answer. No other transaction makes the call
    /// until [`done`](Self::done) or the end of the (sub)transaction. Hash collisions are easy to produce, but not by
    /// another role.
    pub fn begin(&self) -> Option<Answered> {
        loop {
            object_lock::lock(MESSAGES.name, self.hash(), self.owner);
            match rows::read_now_by(&STORED, &self.arguments(), |row| self.matching(row)) {
                Ok(found) => return found,
                // Without the lock, for which that transaction would wait if it repeated the call.
                Err(transaction) => {
                    self.done();
                    cluster::wait_for(transaction);
                }
            }
        }
    }

    /// Lets other transactions look for the answer, which the caller has found or stored. They wait for the transaction
    /// that is inserting or deleting it.
    pub fn done(&self) {
        object_lock::unlock(MESSAGES.name, self.hash(), self.owner);
    }

    /// The answer that is visible to this transaction's snapshot.
    pub fn find(&self) -> Option<Answered> {
        rows::read_by(&STORED, &self.arguments(), |row| self.matching(row))
    }

    fn hash(&self) -> u32 {
        object_lock::hash_of(&[self.key, self.message])
    }

    fn matching(&self, row: &mut Row<'_>) -> Option<Answered> {
        let Stored { owner, key, message, content, answer, called_at } = Stored::read(row);
        let is_it = owner == self.owner && key == self.key && message == self.message;
        is_it.then_some(Answered { content, answer, called_at })
    }

    /// Deletes an answer, unless another one has replaced it.
    pub fn forget(&self, answered: &Answered) {
        let [key, owner, message] = self.arguments();
        FORGET.run(&[key, owner, message, Arg::Timestamp(answered.called_at)]);
    }

    /// Stores an answer. The caller has locked the message and knows that it has none.
    pub fn remember(&self, content: &[u8], answer: &Document, now: Timestamp) {
        let Self { owner, key, message } = *self;
        let new = New { owner, key, message, content, answer, called_at: now };
        rows::write(|writer| writer.insert(&NEW, &new.values()));
    }
}

/// Deletes the answers given at or before `until`, and returns their number.
pub fn remove(until: Timestamp, limit: i64) -> u64 {
    REMOVE.run(&[Arg::Timestamp(until), Arg::BigInt(limit)])
}

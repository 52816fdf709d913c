//! Messages: calls that were answered, so that a client may send one again.

use crate::pg::jsonb::Document;
use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type, read, written};
use crate::pg::{cluster, object_lock};
use crate::store::tables::MESSAGES;

/// What a client names a call of `wf_call` by. Each role has names of its own.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// Id in `workflow.owners` of the role that calls.
    pub owner: i32,
    /// The correlation id that the call is about.
    pub key: &'a str,
    /// The name that the client gives the call, the same when it sends the call again.
    pub message: &'a str,
}

/// The row of a call that was answered, with which the same call is answered again.
#[derive(Debug)]
pub struct Answered {
    /// SHA-256 of kind, name and body: a call of the same name with another content is an error.
    pub content: Vec<u8>,
    /// The document that the first call returned.
    pub answer: Document,
    /// The instant of the first call, from which the row is kept for a time.
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

    /// Waits until no other transaction makes the same call, and reads what it was answered. No other transaction makes
    /// it until [`done`](Self::done) or the end of the (sub)transaction. The hash is easy to meet, but not by another
    /// role.
    pub fn begin(&self) -> Option<Answered> {
        loop {
            object_lock::lock(MESSAGES.name, self.hash(), self.owner);
            match rows::read_now_by(&STORED, &self.arguments(), |row| self.matching(row)) {
                Ok(found) => return found,
                // Without the lock, for which that transaction would wait if it made the call once more.
                Err(transaction) => {
                    self.done();
                    cluster::wait_for(transaction);
                }
            }
        }
    }

    /// Lets other transactions look for the answer, which the caller has found or remembered. They wait for the
    /// transaction that is inserting or deleting it.
    pub fn done(&self) {
        object_lock::unlock(MESSAGES.name, self.hash(), self.owner);
    }

    /// What this transaction's snapshot sees that it was answered.
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

    /// Forgets an answer, unless another one has replaced it.
    pub fn forget(&self, answered: &Answered) {
        let [key, owner, message] = self.arguments();
        FORGET.run(&[key, owner, message, Arg::Timestamp(answered.called_at)]);
    }

    /// Remembers an answer. The caller has locked the message and knows that it has none.
    pub fn remember(&self, content: &[u8], answer: &Document, now: Timestamp) {
        let Self { owner, key, message } = *self;
        let new = New { owner, key, message, content, answer, called_at: now };
        rows::write(|writer| writer.insert(&NEW, &new.values()));
    }
}

/// Forgets what was answered at or before `until`, and returns how many answers.
pub fn remove(until: Timestamp, limit: i64) -> u64 {
    REMOVE.run(&[Arg::Timestamp(until), Arg::BigInt(limit)])
}

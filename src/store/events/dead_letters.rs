//! Dead letters: stimuli and due bookmarks whose delivery failed too often. They are kept until a call replays them or
//! retention removes them.

use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::events::queue::{self, Item};
use crate::store::rights::owners;
use crate::wake;

/// A dead letter: a stimulus from the queue, or a due bookmark.
#[derive(Debug)]
pub struct Letter {
    /// The stimulus, with the id that the caller chose.
    pub item: Item,
    /// When the bookmark was due, for the dead letter of a bookmark.
    pub due_at: Option<Timestamp>,
    /// When `wf_replay` replayed it, if it did. It does so only once.
    pub replayed_at: Option<Timestamp>,
}

static READ: Statement = Statement::reading(
    queue::StoredFilter::COLUMNS,
    "SELECT q.due_at, q.replayed_at, {q}, q.input, q.sender, q.login, q.actor FROM workflow.dead_letters q WHERE q.id = $1",
    &[Type::Uuid],
);
static LOCK: Statement =
    Statement::new("SELECT 1 FROM workflow.dead_letters q WHERE q.id = $1 FOR UPDATE", &[Type::Uuid]);
static REPLAYED: Statement =
    Statement::new("UPDATE workflow.dead_letters SET replayed_at = $2 WHERE id = $1", &[Type::Uuid, Type::Timestamp]);
static WAKE: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET due_at = $2, attempts = NULL WHERE id = $1",
    &[Type::Uuid, Type::Timestamp],
);

/// Locks a dead letter.
pub fn lock(id: Uuid) {
    LOCK.run(&[Arg::Uuid(&id)]);
}

/// A dead letter as a queue item with the id `item_id`.
pub fn get(id: Uuid, item_id: Uuid) -> Option<Letter> {
    READ.first(&[Arg::Uuid(&id)], |row| {
        let (due_at, replayed_at) = (row.maybe(), row.maybe());
        let (filter, stimulus) = queue::read_filter(row);
        let (input, sender) = (row.maybe(), row.get());
        let item = Item {
            id: item_id,
            filter,
            stimulus,
            input,
            sender: owners::by_id(sender),
            sent_by: queue::sent_by(sender, row.maybe(), row.maybe()),
            attempts: 0,
            expires_at: Timestamp::INFINITY,
            deferred_for: None,
            is_momentary: false,
        };
        Letter { item, due_at, replayed_at }
    })
}

/// Records that a dead letter was replayed.
pub fn replayed(id: Uuid, now: Timestamp) {
    REPLAYED.run(&[Arg::Uuid(&id), Arg::Timestamp(now)]);
}

/// Makes a bookmark due now and resets its attempts. Returns `false` if the bookmark no longer exists.
pub fn wake(bookmark: Uuid, now: Timestamp) -> bool {
    wake::report_due(now);
    WAKE.run(&[Arg::Uuid(&bookmark), Arg::Timestamp(now)]) > 0
}

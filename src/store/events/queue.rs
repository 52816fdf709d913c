//! The queue: stimuli that wait for a bookmark.
//!
//! The index on items has the shape of the filter (the columns that it names), a key made of these, and the sender.
//! For a new bookmark a burst reads the shapes in the queue from the index (a handful), computes the bookmark's key for
//! each and looks that up: the cost does not depend on the number of items. One probe skips all items of a sender whom
//! the owner may not hear.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::bookmark::Bookmark;
use workflow_engine::journal::Identity;
use workflow_engine::stimulus;

use crate::pg::rows::{self, Columns, Writer};
use crate::pg::spi::{Arg, ColumnRef, Row, Statement, Timestamp, Type, joined, read, written};
use crate::store::events::matching::{Correlation, Filter};
use crate::store::instances::bookmarks::hash_of;
use crate::store::rights::owners::{self, Owner};
use crate::store::tables::BOOKMARK_QUEUE;
use crate::wake;

mod for_instance;
mod key;
mod redirect;

pub use for_instance::{items_for, report_acts_of, report_bound_to};
use key::{key_of_bookmark, key_of_filter, names_target, shape_of};
pub use redirect::{redirect, redirect_all};

/// A stimulus that is kept.
#[derive(Debug)]
pub struct Item {
    /// Id; the oldest item is delivered first.
    pub id: Uuid,
    /// The conditions that a bookmark must meet to get the stimulus.
    pub filter: Filter,
    /// Payload of the stimulus, for views and for computing the hash with an activity instance.
    pub stimulus: Option<Value>,
    /// Input of the resumed activity.
    pub input: Option<Value>,
    /// The role that sent it, which determines who may receive it.
    pub sender: Owner,
    /// Who sent it, if not the engine.
    pub sent_by: Option<Identity>,
    /// How often its delivery has failed; the third failure makes a dead letter.
    pub attempts: i32,
    /// From then on no bookmark gets it, and a pass makes a dead letter of it.
    pub expires_at: Timestamp,
    /// The instance whose running burst, in this transaction, defers it. It is delivered to that instance only.
    pub deferred_for: Option<Uuid>,
    /// Whether it was to reach its instance at once and is stored because another session held that, or similar. It
    /// becomes a dead letter if nothing in the instance matches it when it is to be delivered.
    pub is_momentary: bool,
}

impl Item {
    /// Whether it reports the end of a child. A parent that does not wait for the report any more needs none.
    pub fn is_report(&self) -> bool {
        self.filter.bookmark_id.is_some()
            && self.filter.name.is_none()
            && self.stimulus.is_none()
            && self.sent_by.is_none()
    }
}

static ITEMS: Columns = Columns::of(&BOOKMARK_QUEUE, &[BOOKMARK_QUEUE.read("id", Type::Uuid, false)]);

/// Whether the queue has any item that this command sees.
pub fn has_any(writer: &mut Writer) -> bool {
    !writer.is_empty(&ITEMS)
}

static BY_KEY: Columns = Columns::by(
    c"bookmark_queue_match_idx",
    &BOOKMARK_QUEUE,
    &[BOOKMARK_QUEUE.read("shape", Type::Integer, false), BOOKMARK_QUEUE.read("match_key", Type::BigInt, false)],
);

/// The shapes of the items in the queue.
pub fn shapes() -> Vec<i32> {
    rows::distinct(&BY_KEY)
}

read! {
    /// The columns of the filter, which `workflow.dead_letters` has as well.
    pub(in crate::store) struct StoredFilter of BOOKMARK_QUEUE {
        bookmark_id: Option<Uuid>,
        instance_id: Option<Uuid>,
        activity_instance_id: Option<Uuid>,
        hash: Option<Vec<u8>>,
        name: Option<String>,
        correlation_id: Option<String>,
        uncorrelated: bool,
        activity_type: Option<String>,
        activity_id: Option<String>,
        stimulus: Option<Value>,
    }
}
read! {
    struct Rest of BOOKMARK_QUEUE {
        id: Uuid,
        input: Option<Value>,
        attempts: i32,
        expires_at: Timestamp,
        deferred_for: Option<Uuid>,
        sender: i32,
        login: Option<i32>,
        actor: Option<String>,
        momentary: Option<bool>,
    }
}
const COLUMNS: [ColumnRef; StoredFilter::COLUMNS.len() + Rest::COLUMNS.len()] =
    joined(StoredFilter::COLUMNS, Rest::COLUMNS);

/// A statement that reads items, in which `{q}` stands for their columns.
const fn items(sql: &'static str, types: &'static [Type]) -> Statement {
    Statement::reading(&COLUMNS, sql, types)
}

/// Reads the columns of a filter, and its payload.
pub(in crate::store) fn read_filter(row: &mut Row<'_>) -> (Filter, Option<Value>) {
    let stored = StoredFilter::read(row);
    let mut filter = Filter {
        bookmark_id: stored.bookmark_id,
        instance_id: stored.instance_id,
        activity_instance_id: stored.activity_instance_id,
        hashes: stored.hash.map(|hash| hash_of(&hash)).into_iter().collect(),
        task: None,
        name: stored.name,
        correlation: match stored.uncorrelated {
            true => Correlation::Without,
            false => Correlation::of_filter(stored.correlation_id),
        },
        activity_type: stored.activity_type,
        activity_id: stored.activity_id,
    };
    add_payload(&mut filter, stored.stimulus.as_ref());
    (filter, stored.stimulus)
}

fn read(row: &mut Row<'_>) -> Item {
    let ((filter, stimulus), rest) = (read_filter(row), Rest::read(row));
    Item {
        id: rest.id,
        filter,
        stimulus,
        input: rest.input,
        attempts: rest.attempts,
        expires_at: rest.expires_at,
        deferred_for: rest.deferred_for,
        is_momentary: rest.momentary.unwrap_or_default(),
        sent_by: sent_by(rest.sender, rest.login, rest.actor),
        sender: owners::by_id(rest.sender),
    }
}

/// Who sent an item with these columns. The engine's have no login role.
pub(in crate::store) fn sent_by(sender: i32, login: Option<i32>, actor: Option<String>) -> Option<Identity> {
    let (role, login) = (sender.unsigned_abs(), login?.unsigned_abs());
    Some(Identity { role, login: Some(login).filter(|login| *login != role), actor })
}

/// Adds the conditions that follow from the payload: the task's id, and the hash with the execution that is named.
pub fn add_payload(filter: &mut Filter, payload: Option<&Value>) {
    let Some(name) = &filter.name else { return };
    filter.task = stimulus::task_of(name, payload);
    if let (Some(execution), 1) = (filter.activity_instance_id, filter.hashes.len()) {
        filter.hashes.push(stimulus::hash(name, payload, Some(&execution.to_string())));
    }
}

// The senders of the items of a key: one descent of the index for each.
static SENDERS: Statement = Statement::new(
    "WITH RECURSIVE senders (sender) AS ( \
         (SELECT q.sender FROM workflow.bookmark_queue q WHERE q.shape = $1 AND q.match_key = $2 \
          ORDER BY q.shape, q.match_key, q.sender LIMIT 1) \
         UNION ALL \
         SELECT n.sender FROM senders s CROSS JOIN LATERAL ( \
             SELECT q.sender FROM workflow.bookmark_queue q \
             WHERE q.shape = $1 AND q.match_key = $2 AND q.sender > s.sender \
             ORDER BY q.shape, q.match_key, q.sender LIMIT 1) n) \
     SELECT sender FROM senders",
    &[Type::Integer, Type::BigInt],
);
// With `=` the order would be that of the primary key as well, which has the items of all senders.
static MATCHING: Statement = items(
    "SELECT {q} FROM workflow.bookmark_queue q \
     WHERE (q.shape, q.match_key, q.sender, q.id) > ($1, $2, $3, $5) AND (q.shape, q.match_key, q.sender) <= ($1, $2, $3) \
         AND q.expires_at > $4 AND q.deferred_for IS NULL \
     ORDER BY q.shape, q.match_key, q.sender, q.id LIMIT 20",
    &[Type::Integer, Type::BigInt, Type::Integer, Type::Timestamp, Type::Uuid],
);

/// A bookmark of an instance that a kept stimulus may want.
#[derive(Clone, Copy, Debug)]
pub struct WantedBookmark<'a> {
    /// The bookmark that the stimulus may match.
    pub bookmark: &'a Bookmark,
    /// The instance that waits at it.
    pub instance: Uuid,
    /// Correlation id of that instance; `None`: it has none.
    pub correlation_id: Option<&'a str>,
}

/// The oldest item after `after` that matches this bookmark and is not in `skip`. `may_receive` decides whether the
/// bookmark's owner may receive from a sender; its second argument is whether the item's filter names an instance or a
/// bookmark.
pub fn oldest_for<E>(
    wanted: WantedBookmark<'_>,
    shapes: &[i32],
    now: Timestamp,
    after: Uuid,
    skip: &[Uuid],
    mut may_receive: impl FnMut(&Owner, bool) -> Result<bool, E>,
) -> Result<Option<Item>, E> {
    let WantedBookmark { bookmark, instance, correlation_id } = wanted;
    let mut oldest: Option<Item> = None;
    for shape in shapes {
        let Some(key) = key_of_bookmark(bookmark, instance, correlation_id, *shape) else { continue };
        // Usually the key has no item, and an index probe costs less than a statement.
        if rows::read_by(&BY_KEY, &[Arg::Integer(*shape), Arg::BigInt(key)], |_| Some(())).is_none() {
            continue;
        }
        for sender in SENDERS.rows(&[Arg::Integer(*shape), Arg::BigInt(key)], |row| row.get::<i32>()) {
            if !may_receive(&owners::by_id(sender), names_target(*shape))? {
                continue;
            }
            let found = oldest_of(wanted, (*shape, key, sender), now, after, skip);
            oldest = oldest.into_iter().chain(found).min_by_key(|item| item.id);
        }
    }
    Ok(oldest)
}

/// The oldest item of a sender after `after` that matches a bookmark.
fn oldest_of(
    wanted: WantedBookmark<'_>,
    (shape, key, sender): (i32, i64, i32),
    now: Timestamp,
    mut after: Uuid,
    skip: &[Uuid],
) -> Option<Item> {
    let WantedBookmark { bookmark, instance, correlation_id } = wanted;
    let is_it = |item: &Item| item.filter.matches(bookmark, instance, correlation_id) && !skip.contains(&item.id);
    loop {
        let args =
            [Arg::Integer(shape), Arg::BigInt(key), Arg::Integer(sender), Arg::Timestamp(now), Arg::Uuid(&after)];
        let page = MATCHING.rows(&args, read);
        after = page.last()?.id;
        let found = page.into_iter().find(is_it);
        if found.is_some() {
            return found;
        }
    }
}

written! {
    struct New<'a> of BOOKMARK_QUEUE {
        id: &'a Uuid,
        shape: i32,
        match_key: i64,
        sender: i32,
        created_at: Timestamp,
        expires_at: Timestamp,
        bookmark_id: Option<&'a Uuid>,
        instance_id: Option<&'a Uuid>,
        activity_instance_id: Option<&'a Uuid>,
        hash: Option<&'a [u8]>,
        name: Option<&'a str>,
        correlation_id: Option<&'a str>,
        activity_type: Option<&'a str>,
        activity_id: Option<&'a str>,
        stimulus: Option<&'a Value>,
        input: Option<&'a Value>,
        deferred_for: Option<&'a Uuid>,
        attempts: i32,
        uncorrelated: bool,
        login: Option<i32>,
        actor: Option<&'a str>,
        momentary: Option<bool>,
    }
}
static INSERT: Statement = Statement::insert(&BOOKMARK_QUEUE, New::COLUMNS, "", &[]);

/// Stores a stimulus until it expires.
pub fn insert(item: &Item, now: Timestamp) {
    wake::report_queued(item.id);
    // No other process knows when it expires.
    if item.expires_at < Timestamp::INFINITY {
        wake::report_due(item.expires_at);
    }
    put(item, now, None);
}

/// Stores a stimulus until the running burst of `instance` ends. It is a row, so that a rollback to a savepoint in the
/// user's code undoes it.
pub fn defer(item: &Item, now: Timestamp, instance: Uuid) {
    put(item, now, Some(&instance));
}

fn put(item: &Item, now: Timestamp, deferred_for: Option<&Uuid>) {
    let filter = &item.filter;
    let shape = shape_of(filter);
    let new = New {
        id: &item.id,
        shape,
        match_key: key_of_filter(filter, shape),
        sender: item.sender.id,
        created_at: now,
        expires_at: item.expires_at,
        bookmark_id: filter.bookmark_id.as_ref(),
        instance_id: filter.instance_id.as_ref(),
        activity_instance_id: filter.activity_instance_id.as_ref(),
        hash: filter.hashes.first().map(<[u8; 32]>::as_slice),
        name: filter.name.as_deref(),
        correlation_id: filter.correlation.id(),
        activity_type: filter.activity_type.as_deref(),
        activity_id: filter.activity_id.as_deref(),
        stimulus: item.stimulus.as_ref(),
        input: item.input.as_ref(),
        deferred_for,
        attempts: item.attempts,
        uncorrelated: filter.correlation == Correlation::Without,
        login: item.sent_by.as_ref().and_then(|by| i32::try_from(by.login.unwrap_or(by.role)).ok()),
        actor: item.sent_by.as_ref().and_then(|by| by.actor.as_deref()),
        momentary: item.is_momentary.then_some(true),
    };
    INSERT.run(&new.values());
}

static DEFERRED: Statement =
    items("SELECT {q} FROM workflow.bookmark_queue q WHERE q.deferred_for = $1 ORDER BY q.id", &[Type::Uuid]);

/// Takes the items that were deferred to the end of an instance's burst, oldest first.
pub fn take_deferred(instance: Uuid) -> Vec<Item> {
    let mut items = DEFERRED.rows(&[Arg::Uuid(&instance)], read);
    items.retain(|item| take(item.id));
    items
}

static TAKE: Statement = Statement::new(
    "DELETE FROM workflow.bookmark_queue WHERE id = \
         (SELECT q.id FROM workflow.bookmark_queue q WHERE q.id = $1 FOR UPDATE SKIP LOCKED)",
    &[Type::Uuid],
);

/// Takes an item out of the queue. Returns `false` if another session has locked or taken it.
pub fn take(id: Uuid) -> bool {
    TAKE.run(&[Arg::Uuid(&id)]) > 0
}

static TAKE_ALL_OF: Statement = items(
    "WITH gone AS (DELETE FROM workflow.bookmark_queue WHERE id IN (SELECT q.id FROM workflow.bookmark_queue q \
         WHERE q.shape = $1 AND q.match_key = $2 AND q.bookmark_id = $3 AND q.expires_at > $4 \
             AND q.sender = (SELECT i.sender FROM workflow.bookmark_queue i WHERE i.id = $6) \
             AND q.deferred_for IS NULL AND (q.not_before IS NULL OR q.not_before <= $4) \
         ORDER BY q.shape, q.match_key, q.sender, q.id LIMIT $5 FOR UPDATE SKIP LOCKED) RETURNING *) \
     SELECT {q} FROM gone q ORDER BY q.id",
    &[Type::Integer, Type::BigInt, Type::Uuid, Type::Timestamp, Type::BigInt, Type::Uuid],
);

/// Takes the items with the filter and the sender of `item` out of the queue, oldest first. The filter names a
/// bookmark. Items of other senders would use up `limit`. The sender is that of the row, which an adoption leaves.
pub fn take_all_of(item: &Item, now: Timestamp, limit: i64) -> Vec<Item> {
    let shape = shape_of(&item.filter);
    let (shape, key) = (Arg::Integer(shape), Arg::BigInt(key_of_filter(&item.filter, shape)));
    let bookmark = item.filter.bookmark_id.unwrap_or_default();
    let args = [shape, key, Arg::Uuid(&bookmark), Arg::Timestamp(now), Arg::BigInt(limit), Arg::Uuid(&item.id)];
    TAKE_ALL_OF.rows(&args, read)
}

static PAGE: Statement = items(
    "SELECT {q} FROM workflow.bookmark_queue q WHERE q.id > $1 AND q.expires_at > $2 AND q.deferred_for IS NULL \
         AND (q.not_before IS NULL OR q.not_before <= $2) ORDER BY q.id LIMIT 100",
    &[Type::Uuid, Type::Timestamp],
);
static FAILED: Statement = Statement::new(
    "UPDATE workflow.bookmark_queue SET attempts = attempts + 1, last_error = $2, not_before = $3 WHERE id = $1",
    &[Type::Uuid, Type::Text, Type::Timestamp],
);
static MAKE_DEAD_LETTER: Statement = Statement::new(
    "WITH gone AS (DELETE FROM workflow.bookmark_queue WHERE id = $1 RETURNING *) \
     INSERT INTO workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, bookmark_id, instance_id, \
         activity_instance_id, hash, name, correlation_id, uncorrelated, activity_type, activity_id, last_error, stimulus, input, login, actor) \
     SELECT id, $2, sender, attempts, created_at, $3, bookmark_id, instance_id, activity_instance_id, hash, name, \
         correlation_id, uncorrelated, activity_type, activity_id, coalesce($4, last_error), stimulus, input, login, actor FROM gone",
    &[Type::Uuid, Type::Text, Type::Timestamp, Type::Text],
);
static EXPIRED: Statement = Statement::new(
    "SELECT q.id FROM workflow.bookmark_queue q WHERE q.expires_at <= $1 ORDER BY q.expires_at LIMIT $2 \
     FOR UPDATE SKIP LOCKED",
    &[Type::Timestamp, Type::BigInt],
);

/// Items after `after` that may be delivered now, oldest first; at most 100.
pub fn page(after: Uuid, now: Timestamp) -> Vec<Item> {
    PAGE.rows(&[Arg::Uuid(&after), Arg::Timestamp(now)], read)
}

/// Records a failed delivery. The next attempt is made no earlier than `not_before`.
pub fn failed(id: Uuid, error: &str, not_before: Timestamp) {
    FAILED.run(&[Arg::Uuid(&id), Arg::Text(error), Arg::Timestamp(not_before)]);
}

/// Moves an item to the dead letters. `error`: why, if it is not the error of the last attempt.
pub fn make_dead_letter(id: Uuid, reason: &str, error: Option<&str>, now: Timestamp) {
    MAKE_DEAD_LETTER.run(&[Arg::Uuid(&id), Arg::Text(reason), Arg::Timestamp(now), Arg::text(error)]);
}

/// Locks and returns expired items that no other session has locked.
pub fn expired(now: Timestamp, limit: i64) -> Vec<Uuid> {
    EXPIRED.rows(&[Arg::Timestamp(now), Arg::BigInt(limit)], |row| row.get())
}

static GET: Statement = items(
    "SELECT {q} FROM workflow.bookmark_queue q WHERE q.id = $1 AND q.expires_at > $2 AND q.deferred_for IS NULL \
         AND (q.not_before IS NULL OR q.not_before <= $2)",
    &[Type::Uuid, Type::Timestamp],
);

/// An item, if it may be delivered now.
pub fn get(id: Uuid, now: Timestamp) -> Option<Item> {
    GET.first(&[Arg::Uuid(&id), Arg::Timestamp(now)], read)
}

static LOCK: Statement =
    Statement::new("SELECT 1 FROM workflow.bookmark_queue WHERE id = $1 FOR UPDATE SKIP LOCKED", &[Type::Uuid]);

/// Locks an item. Returns `false` if another session has locked it, or if it no longer exists.
pub fn lock(id: Uuid) -> bool {
    LOCK.run(&[Arg::Uuid(&id)]) > 0
}

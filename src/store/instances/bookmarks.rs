//! Bookmark rows: how they are locked, read, written and removed. [`matching`](crate::store::events::matching) says which of them a
//! stimulus matches.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::bookmark::{Bookmark, Resumed};
use workflow_engine::journal::Act;

use crate::pg::error::{PgError, throw};
use crate::pg::json;
use crate::pg::rows::{self, Columns, Wait, Writer};
use crate::pg::spi::{Arg, Statement, Timestamp, Type, read, written};
use crate::store::instances::{self, InstanceRow};
use crate::store::maintenance::identity;
use crate::store::rights::owners::Owner;
use crate::store::tables::BOOKMARKS;
use crate::store::tasks::assignments::Assignment;
use crate::store::tasks::leases::{self, Lease};
use crate::wake;

mod due;
pub mod keys;
mod stimulus;

pub use due::due;
use stimulus::stored_stimulus;
pub use stimulus::{hash_key, hash_of, is_task, read_stimulus, task_name};
pub use workflow_plan::BookmarkKind;

/// Encodes a callback as the engine carries it from a function's result to the bookmark and back: the id of the
/// function's owner, a colon, the function's name.
pub fn join_callback(name: &str, owner: Option<i32>) -> String {
    format!("{}:{name}", owner.unwrap_or_default())
}

/// Splits an encoded callback into its name and the id of its owner.
pub fn split_callback(callback: &str) -> (&str, Option<i32>) {
    match callback.split_once(':') {
        Some((owner, name)) => (name, owner.parse().ok()),
        None => (callback, None),
    }
}

written! {
    struct New<'a> of BOOKMARKS {
        id: &'a Uuid,
        instance_id: &'a Uuid,
        activity_instance_id: &'a Uuid,
        hash_key: Option<i32>,
        created_at: Timestamp,
        due_at: Option<Timestamp>,
        auto_burn: bool,
        auto_complete: bool,
        hash: Option<&'a [u8]>,
        activity_id: &'a str,
        node_id: &'a str,
        activity_type: &'a str,
        name: &'a str,
        correlation_id: Option<&'a str>,
        callback: Option<&'a str>,
        callback_owner: Option<i32>,
        payload: Option<&'a Value>,
        metadata: Option<&'a Value>,
        priority: Option<i32>,
        claims: Option<i32>,
        available_at: Option<Timestamp>,
        lease_until: Option<Timestamp>,
        token: Option<&'a Uuid>,
        worker: Option<&'a str>,
        progress: Option<&'a Value>,
        last_error: Option<&'a str>,
        assignee: Option<&'a str>,
        candidates: Option<&'a Value>,
        result_schema: Option<&'a Value>,
        lane: Option<&'a str>,
        definition_owner: Option<i32>,
        instance_owner: Option<i32>,
        correlation_key: Option<i32>,
        kind_key: Option<i32>,
    }
}
static ROW: Columns = Columns::of(&BOOKMARKS, New::COLUMNS);

/// Inserts a bookmark of an instance, whose definition belongs to `definition_owner`. It need not be given for a bookmark
/// that neither a claim nor a stimulus finds. `lease` says how workers stand to its task, if it has one.
pub fn insert(
    writer: &mut Writer,
    bookmark: &Bookmark,
    lease: &Lease,
    row: &InstanceRow,
    definition_owner: Option<&Owner>,
    now: Timestamp,
) {
    let (correlation_id, instance) = (row.instance.correlation_id.as_deref(), &row.instance.id);
    report_to_workers(bookmark, instance);
    if let Some(name) = task_name(bookmark).filter(|_| lease.available_at.is_none()) {
        wake::report_task(name);
    }
    let callback = bookmark.callback.as_deref().map(split_callback);
    let (hash, payload) = stored_stimulus(bookmark);
    let assignment = lease.assignment.as_deref();
    let new = New {
        id: &bookmark.id,
        instance_id: instance,
        activity_instance_id: &bookmark.activity_instance_id,
        hash_key: hash.as_ref().map(keys::of_hash),
        created_at: now,
        due_at: bookmark.due_at.map(Into::into),
        auto_burn: bookmark.auto_burn,
        auto_complete: bookmark.auto_complete,
        hash: hash.as_ref().map(<[u8; 32]>::as_slice),
        activity_id: &bookmark.activity_id,
        node_id: &bookmark.node_id,
        activity_type: &bookmark.activity_type,
        name: &bookmark.name,
        correlation_id,
        callback: callback.map(|(name, _)| name),
        callback_owner: callback.and_then(|(_, owner)| owner),
        payload: payload.as_deref(),
        metadata: bookmark.metadata.as_ref(),
        priority: Some(lease.priority).filter(|priority| *priority != 0),
        claims: Some(lease.attempt).filter(|attempt| *attempt != 0),
        available_at: lease.stored_available_at(),
        lease_until: lease.until,
        token: lease.token.as_ref(),
        worker: lease.worker.as_deref(),
        progress: lease.progress.as_ref(),
        last_error: lease.last_error.as_deref(),
        assignee: assignment.and_then(|given| given.assignee.as_deref()),
        candidates: assignment.and_then(|given| given.candidates.as_ref()),
        result_schema: assignment.and_then(|given| given.result_schema.as_ref()),
        lane: lease.lane.as_deref(),
        definition_owner: definition_owner.filter(|_| hash.is_some() || is_task(bookmark)).map(|owner| owner.id),
        instance_owner: hash.is_some().then_some(row.owner.id),
        correlation_key: hash.map(|_| keys::of_correlation(correlation_id)),
        kind_key: hash.and_then(|_| keys::of_kind(bookmark)),
    };
    writer.insert(&ROW, &new.values());
}

/// Wakes the workers when this transaction commits.
fn report_to_workers(bookmark: &Bookmark, instance: &Uuid) {
    wake::report_bookmarks_of(instance);
    identity::record_due(bookmark.due_at.map(Timestamp::from));
}

/// Deletes a bookmark that a resume uses up. A worker may have claimed its task since the caller read the row: then the
/// call fails (55000), unless the caller has locked the row and `may_be_held`.
pub fn take(writer: &mut Writer, bookmark: &Bookmark, may_be_held: bool, now: Timestamp) {
    wake::report_bookmarks();
    let key = Arg::Uuid(&bookmark.id);
    if may_be_held || !is_task(bookmark) {
        return writer.delete(&ROW, key);
    }
    if !leases::delete_unless_held(writer, key, now) {
        throw(
            PgError::new("55000", format!("task {} is claimed", bookmark.id))
                .detail("A worker has claimed it at the same time.")
                .hint("Wait until its lease ends."),
        );
    }
}

/// A bookmark that the caller is about to resume, with its locked instance.
#[derive(Debug)]
pub struct Waiting {
    /// The input of the engine's resume.
    pub resumed: Resumed,
    /// The instance that waits, as it was read under the lock.
    pub row: InstanceRow,
    /// The whole bookmark, to insert it again when its activity faults.
    pub bookmark: Bookmark,
    /// What it waits for.
    pub kind: BookmarkKind,
    /// How workers stand to its task, if it has one.
    pub lease: Lease,
    /// Whether its row is locked, not only that of its instance.
    pub is_locked: bool,
    /// Its `created_at`: the instant of the burst that made it, from which a report of attempts counts.
    pub made_at: Timestamp,
    /// Whether a fire resumes it because it is due.
    pub by_time: bool,
    /// What someone does with it; `None`: the engine resumes it.
    pub act: Option<Act>,
    /// The absent person in whose place a substitute answers its task, as rows name people.
    pub in_place_of: Option<String>,
}

static HAS_DUE_ANSWER: Statement = Statement::new(
    "SELECT 1 FROM workflow.bookmarks b WHERE b.instance_id = $1 AND b.activity_instance_id = $2 \
         AND b.name = 'Workflow.Answer' AND b.due_at IS NOT NULL",
    &[Type::Uuid, Type::Uuid],
);
static EXISTS: Statement = Statement::new("SELECT 1 FROM workflow.bookmarks WHERE id = $1", &[Type::Uuid]);
read! {
    struct WaitsFor of BOOKMARKS {
        id: Uuid,
        instance_id: Uuid,
        correlation_id: Option<String>,
    }
}
read! {
    struct Waits of BOOKMARKS {
        id: Uuid,
        name: String,
        activity_instance_id: Uuid,
        payload: Option<Value>,
        metadata: Option<Value>,
        callback: Option<String>,
        callback_owner: Option<i32>,
        auto_burn: bool,
        auto_complete: bool,
        activity_id: String,
        node_id: String,
        activity_type: String,
        hash: Option<Vec<u8>>,
        due_at: Option<Timestamp>,
        created_at: Timestamp,
        priority: Option<i32>,
        claims: Option<i32>,
        available_at: Option<Timestamp>,
        lease_until: Option<Timestamp>,
        token: Option<Uuid>,
        worker: Option<String>,
        progress: Option<Value>,
        last_error: Option<String>,
        assignee: Option<String>,
        candidates: Option<Value>,
        result_schema: Option<Value>,
        lane: Option<String>,
        due_when_paused: Option<Timestamp>,
    }
}
static WAITS_FOR: Columns = Columns::of(&BOOKMARKS, WaitsFor::COLUMNS);
static WAITING: Columns = Columns::of(&BOOKMARKS, Waits::COLUMNS);

impl Waits {
    fn lease(&mut self) -> Lease {
        Lease {
            priority: self.priority.unwrap_or_default(),
            attempt: self.claims.unwrap_or_default(),
            available_at: Lease::read_available_at(self.due_when_paused.or(self.available_at)),
            until: self.lease_until,
            token: self.token,
            worker: self.worker.take(),
            progress: self.progress.take(),
            last_error: self.last_error.take(),
            assignment: Assignment::read(self.assignee.take(), self.candidates.take(), self.result_schema.take()),
            lane: self.lane.take(),
        }
    }

    fn into_waiting(mut self, row: InstanceRow, is_locked: bool) -> Waiting {
        let lease = self.lease();
        let kind = BookmarkKind::named(&self.name, &self.activity_type, self.auto_burn);
        let (hash, payload) = read_stimulus(kind, self.id, self.hash, self.payload);
        let resumed = Resumed {
            id: self.id,
            name: self.name,
            activity_instance_id: self.activity_instance_id,
            payload,
            metadata: self.metadata,
            callback: self.callback.map(|name| join_callback(&name, self.callback_owner)),
            auto_burn: self.auto_burn,
            auto_complete: self.auto_complete,
            due_at: self.due_at.map(Into::into),
        };
        let bookmark = Bookmark {
            id: resumed.id,
            activity_id: self.activity_id,
            node_id: self.node_id,
            activity_type: self.activity_type,
            activity_instance_id: resumed.activity_instance_id,
            name: resumed.name.clone(),
            hash,
            payload: resumed.payload.as_ref().map(json::copy),
            metadata: resumed.metadata.as_ref().map(json::copy),
            callback: resumed.callback.clone(),
            auto_burn: resumed.auto_burn,
            auto_complete: resumed.auto_complete,
            due_at: resumed.due_at,
        };
        Waiting {
            resumed,
            row,
            bookmark,
            kind,
            lease,
            is_locked,
            made_at: self.created_at,
            by_time: false,
            act: None,
            in_place_of: None,
        }
    }
}

/// Locks the instance of a bookmark, waiting for the session that holds it, and reads the bookmark.
pub fn lock(id: Uuid) -> Option<Waiting> {
    lock_instance(id, Wait::Block)
}

/// Locks the instance of a bookmark and then the bookmark, and reads the bookmark. Returns `None` if another session
/// has locked either of them, if the key of the instance is being moved or belongs to another node, or if the bookmark
/// is gone.
pub fn try_lock(id: Uuid) -> Option<Waiting> {
    lock_instance(id, Wait::Skip)
}

/// The instance lock serializes two sessions that resume one bookmark: the second session finds no bookmark if the
/// first has consumed it. `Wait::Skip` also locks the bookmark: a pass over due work that records a failed attempt holds
/// the lock on the bookmark, without that on the instance, until the transaction of the pass ends. With `Wait::Block`
/// the caller waits for such a pass when it deletes the bookmark, so it saves this lock.
fn lock_instance(id: Uuid, wait: Wait) -> Option<Waiting> {
    instances::announce_lock();
    let waits_for = rows::read(&WAITS_FOR, Arg::Uuid(&id), WaitsFor::read)?;
    let row = instances::lock_keyed(waits_for.instance_id, waits_for.correlation_id.as_deref(), wait)?;
    let key = Arg::Uuid(&waits_for.id);
    let found = match wait {
        Wait::Block => rows::read(&WAITING, key, Waits::read),
        Wait::Skip => rows::lock(&WAITING, key, wait, Waits::read),
    };
    Some(found?.into_waiting(row, wait == Wait::Skip))
}

/// A bookmark and its instance, read without a lock.
pub fn get(id: Uuid) -> Option<Waiting> {
    let row = instances::get(instance_of(id)?)?;
    Some(rows::read(&WAITING, Arg::Uuid(&id), Waits::read)?.into_waiting(row, false))
}

/// The instance of a bookmark, read without a lock.
pub fn instance_of(bookmark: Uuid) -> Option<Uuid> {
    rows::read(&WAITS_FOR, Arg::Uuid(&bookmark), WaitsFor::read).map(|found| found.instance_id)
}

/// Locks the row of a bookmark, waiting for the session that holds it, and reads again how workers stand to its task.
/// Claims and heartbeats change that without the lock of the instance. `false`: the bookmark is gone.
pub fn lock_lease(waiting: &mut Waiting) -> bool {
    let found = rows::lock(&WAITING, Arg::Uuid(&waiting.bookmark.id), Wait::Block, Waits::read);
    match found {
        Some(mut found) => (waiting.lease, waiting.is_locked) = (found.lease(), true),
        None => return false,
    }
    true
}

/// Whether a bookmark exists and is visible to this transaction.
pub fn exists(id: Uuid) -> bool {
    EXISTS.run(&[Arg::Uuid(&id)]) > 0
}

/// Whether an answer to a task of the execution that waits at a bookmark is about to be carried out.
pub fn has_due_answer(waiting: &Waiting) -> bool {
    let (instance, execution) = (&waiting.row.instance.id, &waiting.bookmark.activity_instance_id);
    HAS_DUE_ANSWER.run(&[Arg::Uuid(instance), Arg::Uuid(execution)]) > 0
}

static OF_ANOTHER: Statement =
    Statement::new("SELECT 1 FROM workflow.bookmarks WHERE id = $1 AND instance_id <> $2", &[Type::Uuid, Type::Uuid]);

/// Whether a bookmark exists and belongs to an instance other than `instance`.
pub fn is_of_another(id: Uuid, instance: Uuid) -> bool {
    OF_ANOTHER.run(&[Arg::Uuid(&id), Arg::Uuid(&instance)]) > 0
}

// Each returns the task of a stored answer (run/tasks/stored_answer.rs) that is removed, and NULL for any other
// bookmark.
static DELETE: Statement = Statement::new(
    "DELETE FROM workflow.bookmarks WHERE id = ANY ($1) \
     RETURNING CASE WHEN name = 'Workflow.Answer' THEN payload ->> 'Task' END",
    &[Type::UuidArray],
);
static DELETE_OF_ACTIVITIES: Statement = Statement::new(
    "DELETE FROM workflow.bookmarks WHERE instance_id = $1 AND activity_instance_id = ANY ($2) \
     RETURNING CASE WHEN name = 'Workflow.Answer' AND id IS DISTINCT FROM $3 THEN payload ->> 'Task' END",
    &[Type::Uuid, Type::UuidArray, Type::Uuid],
);
static DELETE_ALL: Statement = Statement::new(
    "DELETE FROM workflow.bookmarks WHERE instance_id = $1 \
     RETURNING CASE WHEN name = 'Workflow.Answer' AND id IS DISTINCT FROM $2 THEN payload ->> 'Task' END",
    &[Type::Uuid, Type::Uuid],
);
static CORRELATE: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET correlation_id = $2, correlation_key = CASE WHEN hash_key IS NOT NULL THEN $3 END \
     WHERE instance_id = $1",
    &[Type::Uuid, Type::Text, Type::Integer],
);

/// Removes bookmarks by id. Returns the tasks whose stored answers were among them.
pub fn delete(ids: &[Uuid]) -> Vec<Uuid> {
    answered(DELETE.rows(&[Arg::Uuids(ids)], |row| row.maybe()))
}

/// Removes the bookmarks of executions of activities, with the same result. `resumed` is not counted: its answer was
/// used.
pub fn delete_of_activities(instance: Uuid, activity_instances: &[Uuid], resumed: Option<Uuid>) -> Vec<Uuid> {
    let args = [Arg::Uuid(&instance), Arg::Uuids(activity_instances), Arg::uuid(resumed.as_ref())];
    answered(DELETE_OF_ACTIVITIES.rows(&args, |row| row.maybe()))
}

/// Removes all bookmarks of an instance, with the same result.
pub fn delete_all(instance: Uuid, resumed: Option<Uuid>) -> Vec<Uuid> {
    answered(DELETE_ALL.rows(&[Arg::Uuid(&instance), Arg::uuid(resumed.as_ref())], |row| row.maybe()))
}

fn answered(tasks: Vec<Option<String>>) -> Vec<Uuid> {
    tasks.into_iter().flatten().filter_map(|task| Uuid::parse_str(&task).ok()).collect()
}

/// Gives the bookmarks of an instance its new correlation id.
pub fn correlate(instance: Uuid, correlation_id: Option<&str>) {
    wake::report_bookmarks_of(&instance);
    let key = keys::of_correlation(correlation_id);
    CORRELATE.run(&[Arg::Uuid(&instance), Arg::text(correlation_id), Arg::Integer(key)]);
}

static SET_OWNER: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET instance_owner = $2 WHERE instance_id = $1 AND instance_owner IS NOT NULL",
    &[Type::Uuid, Type::Integer],
);

/// Gives the bookmarks of a locked instance to its new owner.
pub fn set_owner(instance: Uuid, owner: i32) {
    wake::report_bookmarks_of(&instance);
    SET_OWNER.run(&[Arg::Uuid(&instance), Arg::Integer(owner)]);
}

/// The login role of the starter of an instance, in the metadata of the bookmark at which it waits to begin.
const LOGIN: &str = "loginOfStart";

/// Metadata with this login role, by its id in `workflow.owners`.
pub fn with_login(mut metadata: Value, login: Option<u32>) -> Value {
    if let Some(login) = login {
        metadata[LOGIN] = login.into();
    }
    metadata
}

/// The login role that the metadata of a bookmark has.
pub fn login_of(bookmark: &Bookmark) -> Option<u32> {
    login_in(bookmark.metadata.as_ref()?)
}

/// The login role in metadata.
pub fn login_in(metadata: &Value) -> Option<u32> {
    metadata.get(LOGIN)?.as_u64()?.try_into().ok()
}

//! Claiming a bookmark for a fire or a stimulus: locking its instance, and asking whether the instance can run in this
//! session now. (`run/tasks/lease.rs` claims tasks for task workers.)
//!
//! "A resume, a migration and a due timer" in docs/internals/locking.md lists what happens when several sessions want
//! one instance.

use std::rc::Rc;

use uuid::Uuid;
use workflow_engine::instance::{Context, SubStatus};

use crate::access::lending;
use crate::clock;
use crate::compiled::{self, Compiled};
use crate::pg::PgError;
use crate::pg::error::throw;
use crate::pg::subtransaction::subtransaction_if;
use crate::run::CallContext;
use crate::run::call::notices::notice_no_worker;
use crate::store::events::matching::StoredBookmark;
use crate::store::instances::InstanceRow;
use crate::store::instances::bookmarks::{self, BookmarkKind, Waiting};
use crate::store::tasks::leases;

/// The outcome of acquiring a bookmark.
pub enum Acquired {
    /// The instance is locked, the bookmark is there, and the instance can run here.
    Ready(Box<Waiting>, Rc<Compiled>),
    /// This session cannot resume it now.
    Busy(Unavailable),
    /// It was used up or cancelled, or its instance was deleted.
    Gone,
}

/// Why this session cannot resume a bookmark now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// Another session has locked the instance, the bookmark or one of its few open tasks, or the key of the instance
    /// is being moved or belongs to another node.
    NotFree,
    /// The instance is paused.
    Paused,
    /// The instance is faulted: its bookmarks wait for a retry.
    Faulted,
    /// A worker holds the task.
    Leased,
    /// Its SQL runs in a session of its owner only.
    OwnersSession,
}

impl Unavailable {
    /// Tells the caller how the instance goes on, if only a worker or a later call can run it.
    pub fn notice(self) {
        if self == Self::OwnersSession {
            notice_no_worker();
        }
    }
}

/// Whether a worker holds the task of a bookmark now, read without a lock: a stimulus for it must not keep the worker
/// from answering until the sender's transaction ends.
pub fn is_leased(stored: &StoredBookmark) -> bool {
    let now = clock::now().into();
    stored.kind.is_task() && leases::read(stored.bookmark.id).is_some_and(|held| held.lease.runs(now))
}

/// Acquires a bookmark without waiting: if no other session has locked its instance, the bookmark, or one of a few open
/// tasks.
pub fn try_acquire(context: &CallContext, bookmark: Uuid) -> Result<Acquired, PgError> {
    Ok(lock_few_tasks(in_owners_session(context, acquired(bookmark, bookmarks::try_lock(bookmark))?)))
}

/// The same for a call that serves its caller: the SQL of the instance then has the caller's rights, in whichever
/// session.
pub fn try_acquire_to_serve(bookmark: Uuid) -> Result<Acquired, PgError> {
    Ok(lock_few_tasks(acquired(bookmark, bookmarks::try_lock(bookmark))?))
}

/// Locks the open tasks of an acquired instance as [`try_lock_few_tasks`] does. The instance is left alone if another
/// session holds one.
fn lock_few_tasks(acquired: Acquired) -> Acquired {
    match acquired {
        Acquired::Ready(waiting, compiled) if !try_lock_few_tasks(&waiting.row, &compiled) => {
            Acquired::Busy(Unavailable::NotFree)
        }
        acquired => acquired,
    }
}

/// The most open tasks of an instance that a call locks before it removes any.
const FEW_TASKS: u32 = 100;

/// Locks the open tasks of an instance before the call removes any, if there are at most [`FEW_TASKS`], so that the
/// call waits for none. `false`: another session holds one of them, and none is locked.
///
/// A claim or a heartbeat holds the row of a task without the instance, and its transaction may wait for a lock of this
/// call. With more open tasks it locks none and returns `true`: the burst may wait for a claim or a heartbeat, and
/// PostgreSQL ends a deadlock with 40P01.
pub fn try_lock_few_tasks(row: &InstanceRow, compiled: &Compiled) -> bool {
    !has_few_tasks(row, compiled) || try_lock_tasks(row.instance.id)
}

/// Whether an instance of this version has open tasks, and so few that a call locks them before it removes any.
pub fn has_few_tasks(row: &InstanceRow, compiled: &Compiled) -> bool {
    let contexts = row.instance.state.contexts.values();
    let opens = |context: &Context| compiled.program.node(context.node).activity.descriptor().opens_tasks();
    let waits = |context: &&Context| context.bookmarks > 0 && opens(context);
    // An approval has several.
    let waiting: u32 = contexts.filter(waits).map(Context::waits).sum();
    (1..=FEW_TASKS).contains(&waiting)
}

/// Locks the open tasks of an instance. `false`: another session holds one of them, and none is locked.
pub fn try_lock_tasks(instance: Uuid) -> bool {
    // Locks of tasks that are not removed now would keep their workers from answering until the transaction ends.
    subtransaction_if(|| leases::lock_all_of(instance), |has_locked| *has_locked).unwrap_or_else(|error| throw(error))
}

/// Acquires a bookmark; waits for a session that holds its instance.
pub fn acquire(context: &CallContext, bookmark: Uuid) -> Result<Acquired, PgError> {
    acquire_to_serve(bookmark).map(|claim| in_owners_session(context, claim))
}

/// The same for a call that serves its caller: the SQL of the instance then has the caller's rights, in whichever
/// session.
pub fn acquire_to_serve(bookmark: Uuid) -> Result<Acquired, PgError> {
    // A claim of a task by a worker does not lock the instance.
    let is_there = |waiting: &mut Waiting| !waiting.kind.is_task() || bookmarks::lock_lease(waiting);
    let locked = bookmarks::lock(bookmark).and_then(|mut waiting| is_there(&mut waiting).then_some(waiting));
    acquired(bookmark, locked)
}

fn acquired(bookmark: Uuid, locked: Option<Waiting>) -> Result<Acquired, PgError> {
    let Some(waiting) = locked else {
        return Ok(if bookmarks::exists(bookmark) { Acquired::Busy(Unavailable::NotFree) } else { Acquired::Gone });
    };
    if waiting.row.paused_at.is_some() {
        return Ok(Acquired::Busy(Unavailable::Paused));
    }
    if waiting.row.instance.sub_status == SubStatus::Faulted && waiting.kind != BookmarkKind::RunTimeout {
        return Ok(Acquired::Busy(Unavailable::Faulted));
    }
    if waiting.lease.runs(clock::now().into()) {
        return Ok(Acquired::Busy(Unavailable::Leased));
    }
    let compiled = compiled::of_instance(&waiting.row)?;
    Ok(Acquired::Ready(Box::new(waiting), compiled))
}

/// Leaves an instance whose SQL has the rights of its owner to the owner's sessions.
fn in_owners_session(context: &CallContext, acquired: Acquired) -> Acquired {
    match acquired {
        Acquired::Ready(waiting, compiled) if !lending::runs_here(context.serves, &waiting.row.owner, &compiled) => {
            Acquired::Busy(Unavailable::OwnersSession)
        }
        acquired => acquired,
    }
}

//! What a transaction has to tell the workers when it ends.
//!
//! Stores note here what they wrote; nothing leaves this backend before the commit, and the callback at the end
//! only stores and wakes: it may not fail.

use std::cell::{Cell, RefCell};

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::pg::shared::{self, Ended, HasExtension, Process, Said};
use crate::pg::spi::Timestamp;
use crate::pg::{cluster, guc, process};

/// What is passed by name; more of it asks for a full sweep.
const MAX_NAMES: usize = 256;

thread_local! {
    /// The earliest due time that this transaction stored.
    static DUE: Cell<i64> = const { Cell::new(i64::MAX) };
    /// Stimuli that it put into the queue.
    static ITEMS: RefCell<Vec<Uuid>> = const { RefCell::new(Vec::new()) };
    static SWEEP: Cell<bool> = const { Cell::new(false) };
    /// The instances that it wrote bookmarks for.
    static INSTANCES: RefCell<Vec<Uuid>> = const { RefCell::new(Vec::new()) };
    /// The first transaction that it may not have seen when it looked for kept stimuli that want these.
    static UNSEEN: Cell<u32> = const { Cell::new(0) };
    /// Whether it wrote or used up bookmarks.
    static BOOKMARKS: Cell<bool> = const { Cell::new(false) };
    /// Times in the ids of the instances that it ended.
    static ENDED: Cell<Option<Ended>> = const { Cell::new(None) };
    /// Whether it filled tables of ours with COPY.
    static LOADED: Cell<bool> = const { Cell::new(false) };
    /// Databases whose settings it changed; 0: of all.
    static SETTINGS: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
    /// Whether the launcher should look at this database.
    static PROBE: Cell<bool> = const { Cell::new(false) };
    /// Whether the launcher should look at all of them.
    static RESCAN: Cell<bool> = const { Cell::new(false) };
    /// The databases that this session has blocked, given back when its transaction ends.
    static BLOCKED: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
    /// Whether it made this database the one that fires.
    static CLAIMED: Cell<bool> = const { Cell::new(false) };
    /// Where this database is in shared memory, when it was last seen there.
    static SLOT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Something is due at this instant.
pub fn note_due(at: Timestamp) {
    if at.0 < DUE.get() {
        if DUE.get() == i64::MAX {
            shared::ensure();
        }
        DUE.set(at.0);
    }
}

/// A stimulus is in the queue.
pub fn note_queued(id: Uuid) {
    shared::ensure();
    ITEMS.with_borrow_mut(|items| if items.len() < MAX_NAMES { items.push(id) } else { SWEEP.set(true) });
}

/// An instance has new bookmarks, or its bookmarks another correlation id. They may miss a stimulus that is kept at the
/// same time. To be called before the queue is asked for stimuli that want them.
pub fn note_bookmarks_of(instance: &Uuid) {
    note_bookmarks();
    INSTANCES.with_borrow_mut(|instances| {
        if instances.is_empty() {
            UNSEEN.set(cluster::oldest_unseen());
        }
        if instances.last() != Some(instance) && instances.len() <= MAX_NAMES {
            instances.push(*instance);
        }
    });
}

/// Bookmarks were written or used up. Whether a process waits to hear of it stands in shared memory.
pub fn note_bookmarks() {
    if !BOOKMARKS.replace(true) {
        shared::ensure();
    }
}

/// An instance has ended: retention may remove it some time.
pub fn note_ended(instance: &Uuid) {
    let millis = (instance.as_u128() >> 80) as u64;
    let known = ENDED.get();
    if known.is_none() {
        shared::ensure();
    }
    let Ended { first, last } = known.unwrap_or(Ended { first: millis, last: millis });
    ENDED.set(Some(Ended { first: first.min(millis), last: last.max(millis) }));
}

/// Tables were filled from outside: no process was told what is due there.
pub fn note_loaded() {
    note_due(Timestamp(i64::MIN));
    LOADED.set(true);
}

/// Settings of sessions of a database were changed, or without one, of all databases.
pub fn note_settings(database: Option<Oid>) {
    shared::ensure();
    SETTINGS.with_borrow_mut(|changed| changed.push(database.unwrap_or(Oid::INVALID)));
}

/// This transaction made this database the one that fires.
pub fn note_claimed() {
    CLAIMED.set(true);
}

/// Whether it has.
pub fn has_claimed() -> bool {
    CLAIMED.get()
}

/// The extension was created here.
pub fn note_created() {
    shared::ensure();
    PROBE.set(true);
}

/// A database was created or renamed.
pub fn note_rescan() {
    shared::ensure();
    RESCAN.set(true);
}

/// Everything in this database may have changed.
pub fn note_all() {
    note_due(Timestamp(i64::MIN));
    SWEEP.set(true);
}

/// The workers of this database were sent away until this transaction ends.
pub fn note_blocked(database: Oid) {
    BLOCKED.with_borrow_mut(|blocked| blocked.push(database));
}

/// Where this database is in shared memory; out of range: not known.
fn slot() -> usize {
    let slot = SLOT.get();
    if shared::is_slot_of(slot, process::database()) { slot } else { usize::MAX }
}

/// The transaction has ended; called by PostgreSQL, must not fail.
pub fn transaction_ended(committed: bool) {
    CLAIMED.set(false);
    let due = DUE.replace(i64::MAX);
    let items = ITEMS.take();
    let sweep = SWEEP.take() && committed;
    let probe = PROBE.take() && committed;
    let rescan = RESCAN.take() && committed;
    let blocked = BLOCKED.take();
    let instances = INSTANCES.take();
    // Where a stimulus could not be delivered, any end of who wrote a bookmark counts, also a rollback of its use.
    let recheck = BOOKMARKS.take() && shared::wanted_here(slot()) & shared::ENDS != 0;
    // A session that kept a stimulus has said so before this reads it, or says so when this is visible.
    let is_behind = || cluster::is_before(UNSEEN.get(), shared::horizon(slot()));
    let has_missed = committed && !instances.is_empty() && is_behind();
    let ended = ENDED.take().filter(|ended| committed && shared::is_end_wanted(slot(), *ended));
    let loaded = LOADED.take() && committed;
    let mut settings = SETTINGS.take();
    settings.retain(|_| committed);
    let due = if committed { due } else { i64::MAX };
    let has_items = committed && !items.is_empty();
    let is_silent = due == i64::MAX && !has_items && !sweep && !probe && !rescan && !recheck && !has_missed;
    if is_silent && ended.is_none() && blocked.is_empty() && settings.is_empty() {
        return;
    }
    let horizon = if has_items || sweep { cluster::next_transaction() } else { 0 };
    shared::with_attached(|state| {
        for database in blocked {
            // Another session may have blocked it meanwhile.
            if let Some(slot) = state.database(database).filter(|slot| slot.blocked_by == process::my_pid()) {
                slot.blocked_by = 0;
            }
            state.probe(database);
        }
        if rescan {
            state.rescan = true;
            state.launcher.wake();
        }
        settings.into_iter().for_each(|database| state.renew(database));
        let here = process::database();
        let Some(index) = state.slot_of(here) else {
            if probe || due < i64::MAX || has_items || sweep || has_missed {
                state.probe(here);
            }
            return;
        };
        SLOT.set(index);
        // A process looked before the extension was created, or where that went unseen.
        let is_missed = state.databases[index].has_extension == HasExtension::No;
        if has_items || sweep {
            state.say(here, items.iter().map(|item| Said::Item(*item.as_bytes())));
            shared::raise_at(index, horizon);
        }
        let too_many = has_missed && instances.len() > MAX_NAMES;
        if has_missed && !too_many {
            state.say(here, instances.iter().map(|instance| Said::Instance(*instance.as_bytes())));
        }
        let must_tidy = ended.is_some_and(|ended| shared::instance_ended(state, index, ended, process::now()));
        let slot = &mut state.databases[index];
        if sweep {
            slot.tidy_at = 0;
        }
        slot.sweep |= sweep || too_many;
        slot.loaded |= loaded;
        slot.recheck |= recheck;
        let is_earlier = due < slot.next_due;
        if is_earlier {
            slot.next_due = due;
            slot.look = true;
        }
        if probe || is_missed {
            state.probe(here);
        }
        if is_earlier || has_items || sweep || recheck || has_missed || must_tidy {
            state.wake(here);
        }
    });
}

/// Whether workers are there to do what is left for later.
pub fn has_workers() -> bool {
    if !guc::launch_workers() || !shared::ensure() {
        return false;
    }
    shared::with(|state| {
        let launcher: Process = state.launcher;
        process::is_alive(launcher.pid)
    })
}

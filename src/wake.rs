//! What a transaction reports to background workers when it ends.
//!
//! Modules of `store` record here what they wrote. Nothing is reported before the commit. The callback at the end of
//! the transaction may not fail, so it only stores values and sets latches.

use std::cell::{Cell, RefCell};

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::pg::hooks::TransactionEnd;
use crate::pg::shared::counters::{self, Place};
use crate::pg::shared::{self, Class, EndedIds, HasExtension, Process, SchedulerReport, SharedState};
use crate::pg::spi::Timestamp;
use crate::pg::state::ProcessLocal;
use crate::pg::{cluster, guc, process};

mod counts;
mod tasks;

pub use counts::{CountOf, HistogramOf, count, counted, observe, observe_open, prepared_ended, report_ending};
use counts::{Counts, KnownSlots};
use tasks::TaskChanges;
pub use tasks::{
    by_server_clock, key_of, key_of_server, report_any_task, report_any_task_at, report_check,
    report_claimed as report_claimed_tasks, report_notified, report_task, report_task_at,
};

/// How many ids a transaction passes on by name; a transaction with more requests a full scan.
const MAX_NAMES: usize = 256;

/// What this transaction has to report.
struct Pending {
    /// The earliest due time that it stored.
    due: i64,
    /// Stimuli that it put into the queue.
    items: Vec<Uuid>,
    /// Whether the whole queue is to be looked through.
    full_scan: bool,
    /// The instances that it wrote bookmarks for.
    instances: Vec<Uuid>,
    /// The first transaction that it may not have seen when it looked for kept stimuli for these bookmarks.
    unseen: u32,
    /// Whether it wrote or used up bookmarks.
    bookmarks: bool,
    /// Whether instances that wait for their turn are to be looked at when it has committed, and when it is rolled
    /// back.
    calls: (bool, bool),
    /// The range of times in the ids of the instances that it ended.
    ended: Option<EndedIds>,
    /// Whether it filled tables of the extension with COPY.
    loaded: bool,
    /// Databases whose settings it changed; 0: of all.
    settings: Vec<Oid>,
    /// Whether the launcher should look at this database.
    probe: bool,
    /// Whether the launcher should look at all databases.
    rescan: bool,
    /// The databases whose workers this session keeps out until its transaction ends.
    blocked: Vec<Oid>,
    /// Whether it made this database the one that fires.
    claimed: bool,
}

impl Pending {
    const NOTHING: Self = Self {
        due: i64::MAX,
        items: Vec::new(),
        full_scan: false,
        instances: Vec::new(),
        unseen: 0,
        bookmarks: false,
        calls: (false, false),
        ended: None,
        loaded: false,
        settings: Vec::new(),
        probe: false,
        rescan: false,
        blocked: Vec::new(),
        claimed: false,
    };
}

/// Transaction: what it reports when it ends.
static TRANSACTION: ProcessLocal<RefCell<Transaction>> = ProcessLocal::new(RefCell::new(Transaction::NOTHING));
/// Backend: what this session knows of shared memory.
static BACKEND: ProcessLocal<Backend> =
    ProcessLocal::new(Backend { slot: Cell::new(usize::MAX), notified: Cell::new(None), counters: RefCell::new(None) });

struct Transaction {
    /// To background workers.
    workers: Pending,
    /// To sessions that wait for tasks.
    tasks: TaskChanges,
    /// Servers that have HTTP responses to take.
    responses: Vec<Class>,
    /// To the counters.
    counts: Counts,
    /// The name under which it is to be prepared.
    gid: Option<Vec<u8>>,
    /// The counts of the prepared transaction that it is to end.
    ending: Option<Place>,
}

impl Transaction {
    const NOTHING: Self = Self {
        workers: Pending::NOTHING,
        tasks: TaskChanges::NONE,
        responses: Vec::new(),
        counts: Counts::NONE,
        gid: None,
        ending: None,
    };
}

struct Backend {
    /// The slot of this database in shared memory, as last seen.
    slot: Cell<usize>,
    /// This session was told that there is work of this class for it, and has not claimed any since.
    notified: Cell<Option<Class>>,
    /// Slots of counters; `None`: it has counted nothing.
    counters: RefCell<Option<KnownSlots>>,
}

fn record<R>(change: impl FnOnce(&mut Pending) -> R) -> R {
    change(&mut TRANSACTION.borrow_mut().workers)
}

/// Records that something is due at this instant.
pub fn report_due(at: Timestamp) {
    let known = record(|pending| {
        let known = pending.due;
        pending.due = known.min(at.0);
        known
    });
    if known == i64::MAX && at.0 < known {
        shared::ensure();
    }
}

/// Records that pending instances are to be checked when this transaction has ended. `if_committed`: after its commit,
/// else only after a rollback.
pub fn report_pending_starts(if_committed: bool) {
    let known = record(|pending| {
        let (committed, aborted) = pending.calls;
        std::mem::replace(&mut pending.calls, (committed || if_committed, aborted || !if_committed))
    });
    if known == (false, false) {
        shared::ensure();
    }
}

/// Records that a server, as it waits, has HTTP responses to take.
pub fn report_response(server: Class) {
    shared::ensure();
    TRANSACTION.borrow_mut().responses.push(server);
}

/// Records that a stimulus is in the queue.
pub fn report_queued(id: Uuid) {
    shared::ensure();
    record(|pending| if pending.items.len() < MAX_NAMES { pending.items.push(id) } else { pending.full_scan = true });
}

/// Records that an instance has new bookmarks, or bookmarks with another correlation id, which may miss a stimulus that
/// is stored concurrently. Call it before the queue is searched for stimuli for them.
pub fn report_bookmarks_of(instance: &Uuid) {
    report_bookmarks();
    record(|Pending { instances, unseen, .. }| {
        if instances.is_empty() {
            *unseen = cluster::oldest_unseen();
        }
        if instances.last() != Some(instance) && instances.len() <= MAX_NAMES {
            instances.push(*instance);
        }
    });
}

/// Records that bookmarks were written or used. Shared memory says whether a scheduler needs this.
pub fn report_bookmarks() {
    if !record(|pending| std::mem::replace(&mut pending.bookmarks, true)) {
        shared::ensure();
    }
}

/// Records that an instance has ended, so that retention may remove it later.
pub fn report_ended(instance: &Uuid) {
    let millis = (instance.as_u128() >> 80) as u64;
    let is_first = record(|pending| {
        let known = pending.ended;
        let EndedIds { first, last } = known.unwrap_or(EndedIds { first: millis, last: millis });
        pending.ended = Some(EndedIds { first: first.min(millis), last: last.max(millis) });
        known.is_none()
    });
    if is_first {
        shared::ensure();
    }
}

/// Records that COPY filled tables of the extension: no session has reported their due times.
pub fn report_loaded() {
    report_due(Timestamp(i64::MIN));
    record(|pending| pending.loaded = true);
}

/// Records a change of settings for sessions of one database, or of all databases without an OID.
pub fn report_settings(database: Option<Oid>) {
    shared::ensure();
    record(|pending| pending.settings.push(database.unwrap_or(Oid::INVALID)));
}

/// Records that this transaction made this database the one that fires.
pub fn report_claimed() {
    record(|pending| pending.claimed = true);
}

/// Whether this transaction made this database the one that fires.
pub fn has_claimed() -> bool {
    record(|pending| pending.claimed)
}

/// Records that the extension was created here.
pub fn report_created() {
    shared::ensure();
    record(|pending| pending.probe = true);
}

/// Records that a database was created or renamed.
pub fn report_rescan() {
    shared::ensure();
    record(|pending| pending.rescan = true);
}

/// Records that anything in this database may have changed.
pub fn report_all() {
    report_due(Timestamp(i64::MIN));
    record(|pending| pending.full_scan = true);
    report_any_task();
}

/// Records the name under which this transaction is to be prepared.
pub fn report_gid(gid: Vec<u8>) {
    // The end of the transaction must not fail, so the memory is attached now.
    if counters::is_available() {
        TRANSACTION.borrow_mut().gid = Some(gid);
    }
}

/// Records that this transaction keeps the workers of a database out until it ends.
pub fn report_blocked(database: Oid) {
    record(|pending| pending.blocked.push(database));
}

/// The slot of this database in shared memory; out of range if unknown.
fn slot() -> usize {
    let slot = BACKEND.slot.get();
    if shared::is_slot_of(slot, process::database()) { slot } else { usize::MAX }
}

/// Reports what the transaction recorded. Called by PostgreSQL when the transaction has ended; must not fail.
pub fn transaction_ended(end: TransactionEnd) {
    // What a prepared transaction has to report to background workers is found again when it ends.
    let committed = end == TransactionEnd::Committed;
    let Transaction { workers, tasks, responses, counts, gid, .. } = TRANSACTION.replace(Transaction::NOTHING);
    counts.report(end, gid);
    tasks.report(committed);
    if committed && !responses.is_empty() && shared::has_waiters() {
        shared::with_waiters(|waiters| responses.iter().for_each(|server| waiters.wake_one(server)));
    }
    let report = Report::of(workers, committed);
    if report.is_empty() {
        return;
    }
    let horizon = if report.has_queued() { cluster::next_transaction() } else { 0 };
    shared::with_attached(|state| report.send(state, horizon));
}

/// Reports that a subtransaction has become part of its parent, or was rolled back. Must not fail.
pub fn subtransaction_ended(part: u32, parent: Option<u32>) {
    counts::subtransaction_ended(part, parent);
    if parent.is_none() {
        tasks::subtransaction_aborted();
    }
}

/// The report of an ended transaction: all records after a commit, and those that count after a rollback as well.
struct Report {
    due: i64,
    items: Vec<Uuid>,
    /// Instances whose bookmarks may have missed a stimulus.
    missed: Vec<Uuid>,
    ended: Option<EndedIds>,
    settings: Vec<Oid>,
    blocked: Vec<Oid>,
    full_scan: bool,
    recheck: bool,
    loaded: bool,
    probe: bool,
    rescan: bool,
}

impl Report {
    /// What counts of a transaction's records.
    fn of(pending: Pending, committed: bool) -> Self {
        let due = if committed { pending.due } else { i64::MAX };
        let must_look = if committed { pending.calls.0 } else { pending.calls.1 };
        // A session that stored a stimulus has raised the horizon before this read, or raises it when the bookmarks are
        // visible.
        let is_behind = || cluster::is_before(pending.unseen, shared::horizon(slot()));
        let has_missed = committed && !pending.instances.is_empty() && is_behind();
        Self {
            due: if must_look { i64::MIN } else { due },
            items: only_if(committed, pending.items),
            missed: only_if(has_missed, pending.instances),
            ended: pending.ended.filter(|ended| committed && shared::is_end_wanted(slot(), *ended)),
            settings: only_if(committed, pending.settings),
            blocked: pending.blocked,
            full_scan: pending.full_scan && committed,
            // While stimuli are blocked, the end of any transaction that wrote or used bookmarks counts, including a
            // rollback.
            recheck: pending.bookmarks && shared::wanted_here(slot()) & shared::ENDS != 0,
            loaded: pending.loaded && committed,
            probe: pending.probe && committed,
            rescan: pending.rescan && committed,
        }
    }

    /// Whether stimuli may have come into the queue.
    fn has_queued(&self) -> bool {
        self.full_scan || !self.items.is_empty()
    }

    /// Whether a scheduler has work. If the database has no scheduler, the launcher starts one.
    fn needs_scheduler(&self) -> bool {
        self.due < i64::MAX || self.has_queued() || !self.missed.is_empty()
    }

    fn is_empty(&self) -> bool {
        let is_silent = !self.needs_scheduler() && !self.probe && !self.rescan && !self.recheck;
        is_silent && self.ended.is_none() && self.blocked.is_empty() && self.settings.is_empty()
    }

    /// Informs the launcher and the scheduler of this database; `horizon` is the next xid. Must not fail.
    fn send(&self, state: &mut SharedState, horizon: u64) {
        for database in &self.blocked {
            // Another session may have blocked it meanwhile.
            if let Some(slot) = state.database(*database).filter(|slot| slot.blocked_by == process::my_pid()) {
                slot.blocked_by = 0;
            }
            state.probe(*database);
        }
        if self.rescan {
            state.rescan = true;
            state.launcher.wake();
        }
        self.settings.iter().for_each(|database| state.renew(*database));
        let here = process::database();
        let Some(index) = state.slot_of(here) else {
            if self.probe || self.needs_scheduler() {
                state.probe(here);
            }
            return;
        };
        BACKEND.slot.set(index);
        // A scheduler checked before the extension was created, or no session reported the creation.
        let is_missed = state.databases[index].has_extension == HasExtension::No;
        if self.has_queued() {
            state.add_reports(here, self.items.iter().map(|item| SchedulerReport::Item(*item.as_bytes())));
            shared::raise_at(index, horizon);
        }
        let too_many = self.missed.len() > MAX_NAMES;
        if !too_many {
            state.add_reports(here, self.missed.iter().map(|instance| SchedulerReport::Instance(*instance.as_bytes())));
        }
        let must_tidy = self.ended.is_some_and(|ended| shared::instance_ended(state, index, ended, process::now()));
        let slot = &mut state.databases[index];
        if self.full_scan {
            slot.tidy_at = 0;
        }
        slot.full_scan |= self.full_scan || too_many;
        slot.loaded |= self.loaded;
        slot.recheck |= self.recheck;
        let is_earlier = self.due < slot.next_due;
        if is_earlier {
            slot.next_due = self.due;
            slot.check_due = true;
        }
        if self.probe || is_missed {
            state.probe(here);
        }
        if is_earlier || self.has_queued() || self.recheck || !self.missed.is_empty() || must_tidy {
            state.wake(here);
        }
    }
}

fn only_if<T>(is_kept: bool, recorded: Vec<T>) -> Vec<T> {
    if is_kept { recorded } else { Vec::new() }
}

/// Whether background workers run that can do what a call leaves for later.
pub fn has_workers() -> bool {
    if !guc::launch_workers() || !shared::ensure() {
        return false;
    }
    shared::with(|state| {
        let launcher: Process = state.launcher;
        process::is_alive(launcher.pid)
    })
}

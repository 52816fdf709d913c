//! The state shared by background workers and sessions. Plain data; its only pointers are to latches.

use std::ffi::c_int;

use pgrx::pg_sys::{InvalidOid, Oid};

use crate::pg::shared::lateness::Lateness;
use crate::pg::shared::sleeper::{NEVER, Process};
use crate::pg::shared::waiters::Waiters;
use crate::retention_progress::Rounds;

/// Maximum number of databases with the extension that one cluster serves.
pub const MAX_DATABASES: usize = 64;
/// Maximum number of executors in the cluster.
pub const MAX_EXECUTORS: usize = 24;
/// Maximum number of fires that an executor gets at once.
pub const MAX_BATCH: usize = 50;
/// Capacity for ids that schedulers have not taken yet, in the whole cluster; see [`SchedulerReport`].
const MAX_REPORTS: usize = 1024;
/// Maximum number of databases queued for the launcher.
const MAX_PROBES: usize = 32;
/// What is known about the extension in a database.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HasExtension {
    /// No scheduler has checked yet.
    Unknown = 0,
    /// A scheduler has found the extension's schema there.
    Yes,
    /// A scheduler has checked and found none; the launcher starts none there.
    No,
}

/// An id that a committed transaction passes to a scheduler.
#[repr(C, u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerReport {
    /// A stimulus is in the queue.
    Item(uuid::Bytes) = 0,
    /// An instance has bookmarks that may have missed a stimulus.
    Instance(uuid::Bytes),
}

/// The slot of a database: what its sessions pass to the background workers, and statistics of its workers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Database {
    /// Its OID; 0: this slot is free.
    pub oid: Oid,
    /// What its last scheduler found; only a database that has it is served.
    pub has_extension: HasExtension,
    /// Whether this is a copy of a database, whose timers belong to the original.
    pub is_foreign: bool,
    /// Whether a full scan of the queue is requested.
    pub full_scan: bool,
    /// Whether the schedules that fire at server start have been made due since the start.
    pub has_booted: bool,
    /// Whether something may be due earlier than the scheduler knows, at an unknown time.
    pub check_due: bool,
    /// Whether COPY filled tables with rows of another server.
    pub loaded: bool,
    /// Whether a transaction that locked rows needed by queued stimuli has ended.
    pub recheck: bool,
    /// The session whose DDL makes all workers exit; 0: none.
    pub blocked_by: c_int,
    /// The attached scheduler, woken when something is due earlier than it knows.
    pub scheduler: Process,
    /// When the launcher started a scheduler that has not attached yet, microseconds since 2000; 0: none.
    pub starting_since: i64,
    /// The launcher starts no scheduler before this time, microseconds since 2000.
    pub not_before: i64,
    /// When the launcher last started a scheduler.
    pub served_at: i64,
    /// The next due time, microseconds since 2000, or [`NEVER`]; sessions lower it at their commit.
    pub next_due: i64,
    /// When retention may have something to remove next; 0: it has to check.
    pub tidy_at: i64,
    /// How long after the end of an instance retention runs, in microseconds.
    pub tidy_after: i64,
    /// The lowest id timestamp of ended instances that retention would not read again, in milliseconds since 1970.
    pub old_ended: Option<u64>,
    /// The progress of retention.
    pub rounds: Rounds,
    /// Counts changes to the settings of this database. A worker that started with another count has outdated settings.
    pub settings: u32,
    /// The due time of the oldest due fire that has not been given to an executor.
    pub oldest_due: i64,
    /// Fires since the server started.
    pub fired: u64,
    /// Fires that failed since then.
    pub failed: u64,
    /// When these statistics begin.
    pub since: i64,
    /// The lateness of fires.
    pub lateness: Lateness,
}

impl Database {
    /// Whether this slot has a database with the extension.
    pub fn is_served(&self) -> bool {
        self.oid != InvalidOid && self.has_extension == HasExtension::Yes
    }

    /// Invalidates the settings of all workers and has their successors check everything again.
    fn renew(&mut self) -> Oid {
        self.settings = self.settings.wrapping_add(1);
        self.not_before = 0;
        self.ask();
        self.oid
    }

    /// Requests a scan and a retention pass.
    pub fn ask(&mut self) {
        (self.check_due, self.tidy_at) = (true, 0);
    }
}

/// The kind of a fire given to an executor.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FireKind {
    /// A bookmark whose due time has come, which the executor resumes.
    Bookmark = 0,
    /// A stimulus in the queue, which the executor delivers.
    Item,
    /// A due bookmark whose command runs at top level.
    Command,
}

/// One fire of an executor, and its outcome.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Fire {
    /// Bookmark or queue item.
    pub id: uuid::Bytes,
    /// Its due time; meaningless for a stimulus.
    pub due: i64,
    /// What the id refers to.
    pub kind: FireKind,
    /// Whether it can run users' SQL, and therefore has its own transaction.
    pub uses_sql: bool,
    /// Whether it was not done, for example because another session held a lock, and must be found again.
    pub is_held: bool,
    /// The owner whose session must deliver a stimulus; 0: to be determined by the engine's own session.
    pub wants: c_int,
    /// The owner of a bookmark's instance, or the sender of a stimulus.
    pub owner: c_int,
}

/// The state of an executor's slot.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutorState {
    /// No executor has this slot, so the dispatcher may register one for it.
    Free = 0,
    /// Registered, not attached yet.
    Starting,
    /// Attached and without a batch.
    Idle,
    /// Firing the batch in its slot.
    Busy,
    /// Exited with unfinished fires: it crashed.
    Dead,
}

/// The slot of an executor: its identity, and the batch that the dispatcher has given it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Executor {
    /// Its state; with [`ExecutorState::Free`] the rest of the slot is meaningless.
    pub state: ExecutorState,
    /// Counts the executors that used this slot. One that starts too late sees that another has taken it.
    pub generation: u16,
    /// Whether each attempt must be stored before it is made: the previous one may have crashed the server.
    pub careful: bool,
    /// Oid of the database that it is connected to.
    pub database: Oid,
    /// The session's role; 0: the engine's own session, for work that runs no users' SQL.
    pub role: Oid,
    /// The process to wake; none until it has attached.
    pub process: Process,
    /// When its state last changed, microseconds since 2000.
    pub since: i64,
    /// How long its last batch took, in microseconds.
    pub took: i64,
    /// The number of fires in the batch.
    pub count: u32,
    /// The index of the current fire; those before it are done.
    pub current: u32,
    /// Whether it has started any fire of the batch.
    pub has_begun: bool,
    /// How many fires of this executor succeeded.
    pub fired: u64,
    /// How many fires of this executor failed.
    pub failed: u64,
    /// Its fires; only the first `count` entries are valid.
    pub batch: [Fire; MAX_BATCH],
}

impl Executor {
    /// Reserves this free slot for an executor that is about to start.
    pub fn reserve(&mut self, database: Oid, role: Oid) {
        (self.database, self.role, self.state) = (database, role, ExecutorState::Starting);
        (self.fired, self.failed, self.careful) = (0, 0, false);
        self.generation = self.generation.wrapping_add(1);
    }
}

/// The whole shared state.
#[repr(C)]
#[derive(Debug)]
pub struct SharedState {
    /// The launcher, woken if no scheduler runs; none while it is not running.
    pub launcher: Process,
    /// Whether the launcher should check all databases again.
    pub rescan: bool,
    /// When a worker last could not be started for lack of worker slots, microseconds since 2000.
    pub slots_wanted_at: i64,
    /// When the log last reported that; 0: never.
    pub logged_out_of_slots_at: i64,
    /// A slot for each database with due times or with a scheduler; a free one has OID 0.
    pub databases: [Database; MAX_DATABASES],
    /// A slot for each executor of the cluster; several may serve one database.
    pub executors: [Executor; MAX_EXECUTORS],
    probes: [Oid; MAX_PROBES],
    reports: [(Oid, SchedulerReport); MAX_REPORTS],
    /// Sessions that wait for tasks.
    pub waiters: Waiters,
}

impl SharedState {
    pub(super) fn initialise(&mut self) {
        for database in &mut self.databases {
            database.next_due = NEVER;
            database.oldest_due = NEVER;
        }
    }

    /// Position of a database in `databases`; `None`: it has no slot.
    pub fn slot_of(&self, database: Oid) -> Option<usize> {
        self.databases.iter().position(|slot| slot.oid == database)
    }

    /// A database, if it has a slot.
    pub fn database(&mut self, oid: Oid) -> Option<&mut Database> {
        self.databases.iter_mut().find(|slot| slot.oid == oid)
    }

    /// A database, given a slot if one is free.
    pub fn database_or_new(&mut self, oid: Oid, now: i64) -> Option<&mut Database> {
        let slot = self.slot_of(oid).or_else(|| {
            let free = self.slot_of(InvalidOid)?;
            let slot = &mut self.databases[free];
            slot.oid = oid;
            slot.since = now;
            // Stimuli may be left from before the server started.
            slot.full_scan = true;
            Some(free)
        })?;
        Some(&mut self.databases[slot])
    }

    /// Frees the slot of a database.
    pub fn forget(&mut self, oid: Oid) {
        if oid == InvalidOid {
            return;
        }
        if let Some(slot) = self.database(oid) {
            // SAFETY: a zeroed Database is a valid empty one.
            *slot = unsafe { std::mem::zeroed() };
            slot.next_due = NEVER;
            slot.oldest_due = NEVER;
        }
        for slot in self.executors.iter_mut().filter(|slot| slot.database == oid) {
            if !slot.process.is_some() {
                (slot.state, slot.count) = (ExecutorState::Free, 0);
            }
        }
    }

    /// Asks the launcher to check a database.
    pub fn probe(&mut self, database: Oid) {
        if !self.probes.contains(&database) {
            match self.probes.iter_mut().find(|probe| **probe == InvalidOid) {
                Some(free) => *free = database,
                None => self.rescan = true,
            }
        }
        self.launcher.wake();
    }

    /// Whether databases are queued for the launcher.
    pub fn has_probes(&self) -> bool {
        self.rescan || self.probes.iter().any(|probe| *probe != InvalidOid)
    }

    /// Takes the databases queued for the launcher.
    pub fn take_probes(&mut self) -> Vec<Oid> {
        let asked = self.probes.iter().copied().filter(|probe| *probe != InvalidOid).collect();
        self.probes = [InvalidOid; MAX_PROBES];
        asked
    }

    /// Passes stimuli or instances to the scheduler of a database. If there is no room, requests a full scan, which
    /// finds them.
    pub fn add_reports(&mut self, database: Oid, reports: impl IntoIterator<Item = SchedulerReport>) {
        let mut free = self.reports.iter_mut().filter(|(owner, _)| *owner == InvalidOid);
        let is_lost = reports.into_iter().any(|report| free.next().map(|slot| *slot = (database, report)).is_none());
        if let Some(slot) = self.database(database).filter(|_| is_lost) {
            slot.full_scan = true;
        }
    }

    /// Whether sessions have left requests that the scheduler of a database has not taken yet.
    pub fn has_requests(&self, database: Oid) -> bool {
        let slot = self.slot_of(database).map(|index| &self.databases[index]);
        slot.is_some_and(|slot| slot.check_due || slot.full_scan || slot.recheck)
            || self.reports.iter().any(|(owner, _)| *owner == database)
    }

    /// Takes what transactions have passed to the scheduler of a database.
    pub fn take_reports(&mut self, database: Oid) -> Vec<SchedulerReport> {
        let mut taken = Vec::new();
        for (owner, report) in &mut self.reports {
            if *owner == database {
                taken.push(*report);
                *owner = InvalidOid;
            }
        }
        taken
    }

    /// Restarts the workers of one database, or of all without an OID: settings of their sessions have changed.
    pub fn renew(&mut self, oid: Oid) {
        let is_meant = |slot: &&mut Database| slot.oid != InvalidOid && (oid == InvalidOid || slot.oid == oid);
        let renewed: Vec<Oid> = self.databases.iter_mut().filter(is_meant).map(Database::renew).collect();
        renewed.into_iter().for_each(|oid| self.wake_all_of(oid));
    }

    /// Wakes the process responsible for the due times of a database: its scheduler, or the launcher, which starts one.
    pub fn wake(&mut self, oid: Oid) {
        let scheduler = self.database(oid).map_or(Process::NONE, |slot| slot.scheduler);
        if scheduler.is_some() { scheduler.wake() } else { self.launcher.wake() }
    }

    /// Wakes all workers of a database.
    pub fn wake_all_of(&mut self, oid: Oid) {
        self.wake(oid);
        self.executors.iter().filter(|slot| slot.database == oid).for_each(|slot| slot.process.wake());
    }

    /// Resets stored times that lie in the future to the present, because the clock was set back.
    pub fn set_back(&mut self, now: i64) {
        for at in [&mut self.slots_wanted_at, &mut self.logged_out_of_slots_at] {
            *at = now.min(*at);
        }
        for slot in &mut self.databases {
            for at in [&mut slot.starting_since, &mut slot.not_before, &mut slot.served_at, &mut slot.tidy_at] {
                *at = now.min(*at);
            }
        }
        self.executors.iter_mut().for_each(|slot| slot.since = now.min(slot.since));
    }

    /// Asks idle workers to exit, because a worker could not be started.
    pub fn request_slots(&mut self, now: i64) {
        self.slots_wanted_at = now;
        self.databases.iter().for_each(|slot| slot.scheduler.wake());
        self.executors.iter().filter(|slot| slot.state == ExecutorState::Idle).for_each(|slot| slot.process.wake());
    }
}

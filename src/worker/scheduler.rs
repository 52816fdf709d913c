//! A scheduler: finds due work in one database, and gives it to executors.
//!
//! It runs neither users' SQL nor bursts. In a short transaction it fires due triggers, which only inserts pending
//! instances, and reads due bookmarks. Between transactions it gives the bookmarks to executors, and sleeps.

use std::cell::Cell;
use std::rc::Rc;

use pgrx::pg_sys::Oid;

use crate::pg::error::log;
use crate::pg::shared::{self, Database, HasExtension, Process};
use crate::pg::{PgError, catalog, guc, process};
use crate::run::timers::due_work;
use crate::worker::SECOND;
use crate::worker::dispatcher::Dispatcher;
use crate::worker::items::Items;
use crate::worker::requests::{self, Requests};
use crate::worker::scan::{ScanResult, Scanner};
use crate::worker::tidy;

/// The wait for the next scan after an unexpected error. Each further error doubles it, up to the maximum.
const AFTER_ERROR: i64 = SECOND;
const MAX_AFTER_ERROR: i64 = 60 * SECOND;
/// How long a scheduler works while other workers wait for its slot.
const TURN: i64 = 5 * SECOND;
/// If firing is disabled, the launcher starts no scheduler for this long after one has exited.
const OFF: i64 = 10 * SECOND;
/// How often an active scheduler runs retention.
const TIDY: i64 = 60 * SECOND;
/// Minimum interval between log messages that a database does not fire: a copy, or one with another schema version.
const LOG_INTERVAL: i64 = 3600 * SECOND;

/// The body of a scheduler; its argument is the database.
pub fn run(database: i32) {
    let database = Oid::from(database.cast_unsigned());
    let has_handed_over = Rc::new(Cell::new(false));
    let handed_over = Rc::clone(&has_handed_over);
    process::at_exit(move || at_exit(database, handed_over.get()));
    // Read before `connect` reads the settings, so that no later change is missed.
    let settings = shared::with(|state| state.database(database).map_or(0, |slot| slot.settings));
    process::connect(database, Oid::INVALID);
    process::set_application_name(c"workflow scheduler");
    let is_first = shared::with(|state| {
        let Some(slot) = state.database(database) else { return false };
        let is_first = !process::is_alive(slot.scheduler.pid);
        if is_first {
            slot.scheduler = Process::me();
            slot.starting_since = 0;
            slot.check_due = true;
        }
        is_first
    });
    if is_first {
        Scheduler::new(database, settings, has_handed_over).work();
    }
}

/// Releases the slot. The next due time stays in it, so that the launcher starts another scheduler in time. A scheduler
/// that exited without handing over leaves a scan and a queue scan to the next one.
fn at_exit(database: Oid, has_handed_over: bool) {
    shared::with(|state| {
        if let Some(slot) = state.database(database)
            && slot.scheduler.pid == process::my_pid()
        {
            slot.scheduler = Process::NONE;
            slot.check_due |= !has_handed_over;
            slot.full_scan |= !has_handed_over;
        }
        state.launcher.wake();
    });
}

struct Scheduler {
    database: Oid,
    dispatcher: Dispatcher,
    scanner: Scanner,
    items: Items,
    /// Whether the last scan found that this database fires its due times.
    is_ours: bool,
    /// When the next scan should run, whatever else happens.
    scan_at: Option<i64>,
    began: i64,
    /// When the dispatcher last had fires.
    busy_at: i64,
    warned_at: i64,
    after_error: i64,
    was_off: bool,
    /// When retention last ran.
    tidied_at: i64,
    /// The counts of settings changes and of reloads that this scheduler has processed.
    settings: u32,
    reloads: u32,
    /// Whether it has stored when the next scheduler is needed; read when the process exits.
    has_handed_over: Rc<Cell<bool>>,
}

impl Scheduler {
    fn new(database: Oid, settings: u32, has_handed_over: Rc<Cell<bool>>) -> Self {
        let now = process::now();
        Self {
            database,
            dispatcher: Dispatcher::new(database),
            scanner: Scanner::new(database),
            items: Items::new(database),
            is_ours: false,
            scan_at: None,
            began: now,
            busy_at: now,
            warned_at: i64::MIN,
            after_error: AFTER_ERROR,
            was_off: false,
            tidied_at: now,
            settings,
            reloads: process::reloads(),
            has_handed_over,
        }
    }

    fn work(&mut self) {
        self.dispatcher.take_over();
        let mut last = i64::MIN;
        loop {
            let (now, is_set_back) = process::now_after(last);
            if is_set_back {
                // The times stored by this scheduler are too late: its successor scans again.
                shared::with(|state| state.set_back(now));
                return;
            }
            last = now;
            if process::reloads() != std::mem::replace(&mut self.reloads, process::reloads()) {
                shared::with(|state| _ = state.database(self.database).map(Database::ask));
            }
            let requests = Requests::take(self.database, self.settings, now);
            if requests.must_exit || !guc::launch_workers() {
                return;
            }
            self.dispatcher.collect(now);
            self.take_in(now);
            self.items.take_reports(&requests.reports);
            if requests.full_scan {
                self.items.start_full_scan();
            }
            if requests.recheck {
                self.items.rescan_soon(now);
            }
            let may_fire = guc::enabled() && !guc::restoring() && !guc::testing();
            self.switch(may_fire, now);
            let wanted = requests.check_due
                || requests.next_due <= now
                || self.scan_at.is_some_and(|at| at <= now)
                || self.scanner.is_wanted(&self.dispatcher, now);
            if may_fire && wanted && !self.is_in_trouble(now) && !self.scan_for_due(&requests, now) {
                return;
            }
            if may_fire {
                self.take_in(now);
                self.dispatcher.dispatch(now);
                self.deliver();
                self.tidy();
                self.report_oldest();
            }
            let now = process::now();
            if !self.dispatcher.is_empty() {
                self.busy_at = now;
            }
            let work_at = self.work_at(now, may_fire);
            let exit_at = self.exit_at(now, &requests, work_at);
            if exit_at <= now {
                self.hand_over(work_at);
                return;
            }
            let until = work_at.min(exit_at);
            process::wait((until < i64::MAX).then(|| until.saturating_sub(now)));
        }
    }

    /// Drops reports that sessions leave while firing is disabled, and checks everything afterwards.
    fn switch(&mut self, may_fire: bool, now: i64) {
        if !may_fire {
            self.was_off = true;
            self.items = Items::new(self.database);
        } else if std::mem::take(&mut self.was_off) {
            self.scanner.take_request(true, i64::MIN);
            self.scan_at = Some(now);
            self.items.start_full_scan();
        }
    }

    /// Delivers stimuli that an instance waits for, once all due fires are assigned.
    fn deliver(&mut self) {
        let now = process::now();
        if !self.is_ours || self.items.wanted_at(&self.dispatcher) > now || self.is_in_trouble(now) {
            return;
        }
        process::report(Some("matching queued stimuli with bookmarks"));
        let done = process::work(|| self.items.step(&mut self.dispatcher));
        process::report(None);
        match done {
            Ok(true) => self.dispatcher.dispatch(now),
            // The queue scan finds these stimuli again, once this database may deliver them.
            Ok(false) => {
                self.is_ours = false;
                self.items.start_full_scan();
                self.scan_at = Some(now);
            }
            // The result does not matter here: the next scan finds out what is wrong.
            Err(error) => _ = self.survive(&error, now),
        }
    }

    /// Removes rows that are past their retention.
    fn tidy(&mut self) {
        let now = process::now();
        if !self.is_ours || tidy::wanted_at(self.database) > now || self.is_in_trouble(now) {
            return;
        }
        match tidy::step(self.database) {
            Ok(true) => self.tidied_at = now,
            Ok(false) => {
                self.is_ours = false;
                self.scan_at = Some(now);
            }
            Err(error) => _ = self.survive(&error, now),
        }
    }

    /// Passes on stimuli and fires that executors are done with and that must be found again.
    fn take_in(&mut self, now: i64) {
        self.items.take_in(&mut self.dispatcher, now);
        self.scanner.retry(self.dispatcher.take_skipped(), now);
    }

    /// Scans for due work. `false`: the extension is gone, so the scheduler must exit.
    fn scan_for_due(&mut self, requests: &Requests, now: i64) -> bool {
        self.scan_at = None;
        process::report(Some("looking for what is due"));
        shared::with(|state| {
            if let Some(slot) = state.database(self.database) {
                slot.next_due = i64::MAX;
            }
        });
        self.scanner.take_request(requests.check_due, requests.next_due);
        let found = process::transaction(|| self.scanner.scan(&mut self.dispatcher));
        process::report(None);
        match found {
            Ok(ScanResult::Extension { next_due, more, is_claimed, has_expired }) => {
                self.scanner.committed();
                self.is_ours = true;
                if has_expired {
                    self.items.expire();
                }
                let is_loaded = requests.loaded && is_claimed;
                if is_loaded {
                    self.items.start_full_scan();
                }
                self.scan_at = more.then_some(now);
                self.after_error = AFTER_ERROR;
                shared::with(|state| {
                    if let Some(slot) = state.database(self.database) {
                        slot.has_extension = HasExtension::Yes;
                        slot.is_foreign = false;
                        slot.loaded &= !is_loaded;
                        slot.next_due = slot.next_due.min(next_due);
                        // No session reports that runs of commands and dead letters have expired: an active scheduler
                        // runs retention.
                        if now - self.tidied_at >= TIDY {
                            slot.tidy_at = 0;
                        }
                    }
                });
            }
            Ok(ScanResult::Foreign) => self.refuse(now, true, due_work::warn_foreign),
            Ok(ScanResult::Unfit(error)) => self.refuse(now, false, || {
                log(&format!(
                    "workflow fires nothing in this database: {} (SQLSTATE {})",
                    error.message, error.sqlstate
                ));
            }),
            Ok(ScanResult::NoExtension) => {
                shared::set_extension(self.database, HasExtension::No);
                return false;
            }
            Err(error) => return self.survive(&error, now),
        }
        true
    }

    /// Stops firing in this database, and logs the reason from time to time. Any change that may fix it requests a
    /// scan.
    fn refuse(&mut self, now: i64, is_foreign: bool, say: impl FnOnce()) {
        self.is_ours = false;
        tidy::stop(self.database);
        self.after_error = AFTER_ERROR;
        shared::with(|state| {
            if let Some(slot) = state.database(self.database) {
                slot.has_extension = HasExtension::Yes;
                slot.is_foreign = is_foreign;
            }
        });
        if self.warned_at == i64::MIN || now - self.warned_at > LOG_INTERVAL {
            self.warned_at = now;
            say();
        }
        self.scan_at = Some(self.warned_at + LOG_INTERVAL);
    }

    /// Logs an error and plans a scan, unless tables are missing because the extension was dropped. `false`: it was.
    fn survive(&mut self, error: &PgError, now: i64) -> bool {
        if ["42P01", "3F000", "42883", "42703"].contains(&error.sqlstate.as_str()) {
            let is_there = process::transaction(|| Ok(catalog::extension().is_some()));
            if matches!(is_there, Ok(false)) {
                shared::set_extension(self.database, HasExtension::No);
                return false;
            }
        }
        log(&format!(
            "workflow scheduler could not look for what is due: {} (SQLSTATE {})",
            error.message, error.sqlstate
        ));
        self.scanner.take_request(true, i64::MIN);
        self.items.start_full_scan();
        self.scan_at = Some(now + self.after_error);
        self.after_error = (self.after_error * 2).min(MAX_AFTER_ERROR);
        true
    }

    /// Whether a transaction failed, and it is too early for the next scan.
    fn is_in_trouble(&self, now: i64) -> bool {
        self.after_error > AFTER_ERROR && self.scan_at.is_some_and(|at| at > now)
    }

    /// When there is work to do, if no process wakes the scheduler. Computed after all transactions, because one of
    /// them may have consumed the wake-up for a request that arrived during it.
    fn work_at(&self, now: i64, may_fire: bool) -> i64 {
        let must_exit = |slot: &mut Database| requests::must_exit(slot, self.settings);
        if shared::with(|state| state.database(self.database).is_none_or(must_exit)) {
            return i64::MIN;
        }
        if !may_fire {
            return i64::MAX;
        }
        let scan_at = self.scan_at.unwrap_or(i64::MAX);
        if self.is_in_trouble(now) {
            return scan_at.min(self.dispatcher.wants_attention_at());
        }
        let behind = match self.is_ours {
            true => self.items.wanted_at(&self.dispatcher).min(tidy::wanted_at(self.database)),
            false => i64::MAX,
        };
        let scan_at = scan_at.min(self.scanner.retry_at()).min(behind);
        let next_due = shared::with(|state| match state.has_requests(self.database) {
            true => i64::MIN,
            false => state.database(self.database).map_or(i64::MAX, |slot| slot.next_due),
        });
        next_due.min(scan_at).min(self.dispatcher.wants_attention_at())
    }

    /// When to exit, if no request arrives. Without work for a while: after the idle timeout, or at once if other
    /// workers want the slot. With work: after a turn, if they want it.
    fn exit_at(&self, now: i64, requests: &Requests, work_at: i64) -> i64 {
        let has_time = work_at.saturating_sub(now) > 2 * SECOND
            && self.dispatcher.is_empty()
            && (!self.is_ours || self.items.is_quiet());
        match (has_time, requests.are_slots_wanted) {
            (true, true) => i64::MIN,
            (true, false) => self.busy_at + guc::worker_idle_timeout(),
            (false, true) => self.began + TURN,
            (false, false) => i64::MAX,
        }
    }

    /// Stores when the next scheduler is needed. Fires and stimuli that only this process knows of are left to scans of
    /// the next one.
    fn hand_over(&self, work_at: i64) {
        self.has_handed_over.set(true);
        let has_fires = !self.dispatcher.is_empty();
        let has_stimuli = self.is_ours && (has_fires || !self.items.is_quiet());
        shared::with(|state| {
            if let Some(slot) = state.database(self.database) {
                slot.next_due = slot.next_due.min(work_at);
                // Reports that sessions left while firing was disabled were dropped.
                slot.check_due |= self.was_off || has_fires;
                slot.full_scan |= self.was_off || has_stimuli;
                if self.was_off {
                    slot.not_before = process::now() + OFF;
                }
            }
        });
    }

    fn report_oldest(&self) {
        let oldest = self.dispatcher.oldest_due();
        shared::with(|state| {
            if let Some(slot) = state.database(self.database) {
                slot.oldest_due = oldest;
            }
        });
    }
}

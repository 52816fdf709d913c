//! The scheduler's view of the queue: it matches stimuli with bookmarks that missed them.
//!
//! A stimulus and a bookmark miss each other if neither of their transactions saw the other's row. The transaction that
//! commits last reports it: a sender reports the stimulus that it stored, and a session that wrote bookmarks reports
//! their instances, if it may have missed a stimulus (see `wake`). So the scheduler checks each stimulus once, however
//! many are stored and however long a transaction stays open. It retries a stimulus that was blocked by a lock.
//!
//! A reported bookmark may wait for any of several stimuli, for which others compete as well. So the instance stays
//! recorded as waiting for the stimulus being tried, until that needs no further attempt. Then the instance is checked
//! again from that stimulus on, whether the stimulus resumed it, resumed another one, expired or is gone.
//!
//! The scheduler scans the whole queue, a page at a time, only when reports may have been lost, as in a crash.
//!
//! Timers come first: the scheduler takes a step here once all due fires are assigned, for at most some milliseconds.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::clock;
use crate::pg::shared::{self, FireKind, SchedulerReport};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, catalog, cluster, process};
use crate::run::events::queued;
use crate::store::events::queue;
use crate::store::maintenance::identity::{self, Identity};
use crate::store::rights::owners;
use crate::store::timers::due::{self, Due};
use crate::worker::SECOND;
use crate::worker::dispatcher::Dispatcher;
use crate::worker::retry::RetryTimer;

/// How many stimuli, and how many instances with new bookmarks, one step checks.
const PAGE: usize = 200;
/// Minimum time between steps.
const PAUSE: i64 = SECOND / 100;
/// How many stimuli may wait for an executor before the scheduler takes no further step.
const ENOUGH: usize = 200;
/// How long an otherwise idle executor needs to find that a stimulus is still blocked, in microseconds.
const TRY: i64 = 500;

/// The owner whose session is to deliver a stimulus; `None`: to be determined by the engine's own session.
type DeliveringOwner = Option<i32>;

/// The stimuli and instances that the scheduler is to check.
pub struct Items {
    database: Oid,
    fresh: BTreeMap<Uuid, DeliveringOwner>,
    /// Stimuli whose delivery was blocked by a lock.
    held: BTreeMap<Uuid, DeliveringOwner>,
    retry: RetryTimer,
    /// The last blocked stimulus that was retried, and the stimuli whose retry is in progress.
    tried_until: Uuid,
    tried: BTreeSet<Uuid>,
    /// Stimuli whose delivery failed, and the time of the next attempt.
    later: BTreeMap<Uuid, i64>,
    /// Instances with bookmarks that may have missed a stimulus, each with the last stimulus tried for it; nil before
    /// the first.
    instances: BTreeMap<Uuid, Uuid>,
    /// The stimuli being tried for instances that have missed them, with these instances.
    wanted_by: BTreeMap<Uuid, BTreeSet<Uuid>>,
    /// Whether stimuli have expired.
    expires: bool,
    /// The progress of the scan of the whole queue.
    scan_after: Option<Uuid>,
    /// Whether another scan was requested meanwhile.
    scan_again: bool,
    not_before: i64,
}

impl Items {
    /// The initial state.
    pub fn new(database: Oid) -> Self {
        Self {
            database,
            fresh: BTreeMap::new(),
            held: BTreeMap::new(),
            retry: RetryTimer::new(),
            tried_until: Uuid::nil(),
            tried: BTreeSet::new(),
            later: BTreeMap::new(),
            instances: BTreeMap::new(),
            wanted_by: BTreeMap::new(),
            expires: false,
            scan_after: None,
            scan_again: false,
            not_before: i64::MIN,
        }
    }

    /// Takes the ids that transactions left in shared memory.
    pub fn take_reports(&mut self, reports: &[SchedulerReport]) {
        for report in reports {
            match *report {
                SchedulerReport::Item(id) => _ = self.fresh.entry(Uuid::from_bytes(id)).or_insert(None),
                SchedulerReport::Instance(id) => _ = self.instances.insert(Uuid::from_bytes(id), Uuid::nil()),
            }
        }
    }

    /// Records that stimuli have expired.
    pub fn expire(&mut self) {
        self.expires = true;
    }

    /// Starts a scan of the whole queue. Raises the horizon, so that transactions that have not seen the whole queue
    /// report the instances for which they write bookmarks.
    pub fn start_full_scan(&mut self) {
        self.scan_again |= self.scan_after.is_some();
        self.scan_after.get_or_insert_default();
        shared::raise(self.database, cluster::next_transaction());
    }

    /// Processes the outcomes of the stimuli that executors were given.
    pub fn take_in(&mut self, dispatcher: &mut Dispatcher, now: i64) {
        for (id, owner) in dispatcher.take_handed() {
            self.fresh.insert(id, Some(owner));
        }
        self.record_over(dispatcher.take_done(), now);
        let held = dispatcher.take_held();
        if !held.is_empty() {
            held.iter().for_each(|(id, _)| _ = self.tried.remove(id));
            self.held.extend(held);
            self.retry.again(now, self.cost());
            self.report_blocked();
        }
    }

    /// Processes stimuli that need no further attempt. If one of them was blocked before, others may be free now, so
    /// they are retried. The instances for which one of them was tried are checked again, from that stimulus on.
    fn record_over(&mut self, over: impl IntoIterator<Item = Uuid>, now: i64) {
        let mut was_held = false;
        for id in over {
            was_held |= self.tried.remove(&id);
            for instance in self.wanted_by.remove(&id).unwrap_or_default() {
                // Another stimulus that was tried for it, or another transaction, may have reported it meanwhile.
                self.instances.entry(instance).and_modify(|after| *after = id.min(*after)).or_insert(id);
            }
        }
        if was_held && !self.held.is_empty() {
            self.retry.at = now;
        }
    }

    fn cost(&self) -> i64 {
        self.held.len().min(PAGE) as i64 * TRY
    }

    /// A transaction has ended that may have blocked a stimulus.
    pub fn rescan_soon(&mut self, now: i64) {
        let cost = self.cost();
        self.retry.soon(now, cost);
    }

    /// Whether no work is left that only this process knows of.
    pub fn is_quiet(&self) -> bool {
        self.held.is_empty() && self.later.is_empty() && !self.has_fresh() && !self.expires
    }

    fn has_fresh(&self) -> bool {
        !self.fresh.is_empty() || !self.instances.is_empty() || self.scan_after.is_some()
    }

    /// When the next step should run.
    pub fn wanted_at(&self, dispatcher: &Dispatcher) -> i64 {
        let later = self.later.values().copied().min().unwrap_or(i64::MAX);
        let at = if self.has_fresh() || self.expires && self.retry.at == i64::MAX {
            i64::MIN
        } else {
            later.min(self.retry.at)
        };
        // An executor that ends a batch wakes the scheduler.
        if at == i64::MAX || dispatcher.waiting_items() >= ENOUGH { i64::MAX } else { at.max(self.not_before) }
    }

    /// Takes one step, in a transaction. `false`: this database may deliver nothing; the next scan finds out why.
    pub fn step(&mut self, dispatcher: &mut Dispatcher) -> Result<bool, PgError> {
        if catalog::extension().is_none() || identity::read() == Identity::Foreign {
            return Ok(false);
        }
        let at = process::now();
        self.not_before = at + PAUSE;
        self.wake_up(at);
        let now = Timestamp::from(clock::now());
        self.remove_expired(now, at);
        self.find_missed(now)?;
        let page = self.page();
        let ids: Vec<Uuid> = page.keys().copied().collect();
        let mut over: BTreeSet<Uuid> = ids.iter().copied().collect();
        for item in due::items(&ids) {
            let wait = item.due.due_at.0.saturating_sub(now.0);
            if wait > 0 {
                over.remove(&item.due.id);
                if self.tried.remove(&item.due.id) && !self.held.is_empty() {
                    self.retry.at = at;
                }
                self.later.insert(item.due.id, at.saturating_add(wait));
            } else if dispatcher.knows(item.due.id) {
                over.remove(&item.due.id);
                // Its executor may have started too early to see a transaction that has ended since.
                self.held.insert(item.due.id, None);
                self.retry.again(at, self.cost());
            } else if item.may_match {
                over.remove(&item.due.id);
                let whose = page.get(&item.due.id).copied().flatten().map(owners::by_id);
                let due = match whose {
                    Some(owner) => Due { runs_as: Some(owner), uses_sql: true, ..item.due },
                    None => item.due,
                };
                dispatcher.add(FireKind::Item, due);
            }
        }
        self.record_over(over, at);
        self.report_blocked();
        Ok(true)
    }

    /// Moves stimuli whose next attempt is due to `fresh`.
    fn wake_up(&mut self, at: i64) {
        if self.retry.is_due(at) {
            let mut page: Vec<Uuid> = self.held.range(self.tried_until..).map(|(id, _)| *id).take(PAGE).collect();
            if page.len() < PAGE {
                let rest = self.held.range(..self.tried_until).map(|(id, _)| *id);
                page.extend(rest.take(PAGE - page.len()));
            }
            self.tried_until = page.last().copied().unwrap_or_default();
            for id in page {
                self.fresh.extend(self.held.remove_entry(&id));
                self.tried.insert(id);
            }
            if !self.held.is_empty() {
                self.retry.again(at, self.cost());
            }
        }
        let ready = self.later.extract_if(.., |_, until| *until <= at);
        self.fresh.extend(ready.map(|(id, _)| (id, None)));
    }

    /// Moves expired stimuli to the dead letters.
    fn remove_expired(&mut self, now: Timestamp, at: i64) {
        if !self.expires {
            return;
        }
        let expired = queue::expired(now, PAGE as i64);
        let is_last = expired.len() < PAGE;
        expired.into_iter().for_each(|id| queue::make_dead_letter(id, "Expired", None, now));
        self.expires = !is_last || due::has_expired(now);
        if is_last && self.expires {
            // Another session has locked an expired stimulus.
            self.retry.again(at, 0);
        }
    }

    /// Adds the next stimuli that new bookmarks have missed.
    fn find_missed(&mut self, now: Timestamp) -> Result<(), PgError> {
        if self.instances.is_empty() {
            return Ok(());
        }
        let shapes = queue::shapes();
        for _ in 0..PAGE {
            let Some((instance, after)) = self.instances.pop_first() else { break };
            if shapes.is_empty() {
                continue;
            }
            for id in queued::of_instance(instance, after, &shapes, now)? {
                self.wanted_by.entry(id).or_default().insert(instance);
                self.fresh.entry(id).or_insert(None);
            }
        }
        Ok(())
    }

    /// The stimuli for this step: those that were reported, or if there are none, the next page of the scan.
    fn page(&mut self) -> BTreeMap<Uuid, DeliveringOwner> {
        let mut page = BTreeMap::new();
        while page.len() < PAGE
            && let Some((id, whose)) = self.fresh.pop_first()
        {
            page.insert(id, whose);
        }
        if let Some(after) = self.scan_after.filter(|_| page.is_empty()) {
            let next = due::all_items(after, PAGE as i64);
            self.scan_after = next.last().copied();
            if self.scan_after.is_none() && std::mem::take(&mut self.scan_again) {
                self.scan_after = Some(Uuid::nil());
            }
            page.extend(next.into_iter().map(|id| (id, None)));
        }
        page
    }

    /// Stores whether stimuli are blocked. While some are, each transaction that wrote or used bookmarks wakes the
    /// scheduler at its end.
    fn report_blocked(&self) {
        if let Some(slot) = shared::with(|state| state.slot_of(self.database)) {
            shared::set_held(slot, !self.held.is_empty());
        }
    }
}

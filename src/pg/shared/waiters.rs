//! Sessions that sleep in `wf_wait_tasks`, and what wakes them.
//!
//! Waiters of one role for the same task names form a class: a task for one of them would do for any other. So an event
//! wakes only as many waiters of a class as it brings tasks. One waiter of each class watches the time for all. A
//! waiter that finds only tasks locked by other transactions stores their xids here; the end of one of them wakes it.
//!
//! No wake-up is lost. A waiter clears its slot before it takes the snapshot of a check, so any later commit marks it
//! again; and it checks that the blocking transactions still run after it has stored them. A waiter that leaves passes
//! on what it watched.

use pgrx::pg_sys::Oid;

use crate::pg::guc::MAX_WAITER_SLOTS;
use crate::pg::shared::sleeper::{NEVER, Process};

/// How many blocking transactions a waiter stores.
const MAX_BLOCKERS: usize = 6;
/// Matches any transaction. No transaction of a session has this id.
const ANY: u32 = 2;
/// Matches no transaction.
const NONE: u32 = 0;
/// How long the rest of a class waits for a woken waiter to claim the task, in microseconds.
const GRACE: i64 = 1_000_000;

/// Any waiter of a class can replace another.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Oid of the database in which they wait.
    pub database: Oid,
    /// The role whose rights count.
    pub role: Oid,
    /// A hash of the sorted task names; 0: all names.
    pub names: u64,
}

/// A waiting session, as other sessions see it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Waiter {
    process: Process,
    class: Class,
    /// The task names, each hashed to one of 64 bits.
    mask: u64,
    /// Whether it must check for tasks.
    is_woken: bool,
    /// Whether a check is in progress: if it leaves now, another waiter must check for what it may have missed.
    is_checking: bool,
    /// Whether it checks again when `timer` has passed.
    watches: bool,
    /// When a task with one of its names may become available next, microseconds since 2000.
    timer: i64,
    /// The transactions that have locked tasks it could have claimed.
    blockers: [u32; MAX_BLOCKERS],
}

impl Waiter {
    fn mark_woken(&mut self) {
        self.is_woken = true;
        self.process.wake();
    }

    fn set_timer(&mut self, at: i64) {
        if at < self.timer {
            self.timer = at;
            if self.watches {
                self.process.wake();
            }
        }
    }

    fn add_blocker(&mut self, transaction: u32) {
        if transaction == NONE || self.blockers.contains(&transaction) {
            return;
        }
        match self.blockers.iter_mut().find(|blocker| **blocker == NONE) {
            Some(free) => *free = transaction,
            None => self.blockers = [ANY; MAX_BLOCKERS],
        }
    }

    fn is_blocked(&self) -> bool {
        self.blockers[0] != NONE
    }

    fn is_blocked_by(&self, transaction: u32) -> bool {
        self.blockers.contains(&transaction) || self.blockers.contains(&ANY)
    }
}

/// How many tasks became available, for each bit of a name mask.
pub type Counts = [u32; 64];

/// A slot for each session that may wait for tasks.
#[repr(C)]
#[derive(Debug)]
pub struct Waiters {
    slots: [Waiter; MAX_WAITER_SLOTS],
}

impl Waiters {
    /// Takes a slot for this process. `None`: `limit` sessions are waiting already.
    pub fn enter(&mut self, class: Class, mask: u64, limit: usize) -> Option<usize> {
        if self.all().count() >= limit {
            return None;
        }
        let free = self.slots.iter().position(|waiter| !waiter.process.is_some())?;
        let blockers = [NONE; MAX_BLOCKERS];
        let process = Process::me();
        self.slots[free] = Waiter {
            process,
            class,
            mask,
            is_woken: false,
            is_checking: false,
            watches: false,
            timer: NEVER,
            blockers,
        };
        Some(free)
    }

    /// Called before the snapshot of a check: events from now on mark the waiter again.
    pub fn begin_check(&mut self, slot: usize) {
        let waiter = &mut self.slots[slot];
        (waiter.is_woken, waiter.is_checking) = (false, true);
        (waiter.timer, waiter.blockers) = (NEVER, [NONE; MAX_BLOCKERS]);
    }

    /// Called after a check that found nothing: stores when, and after which transactions, there may be a task.
    pub fn end_check(&mut self, slot: usize, timer: i64, blockers: &[u32]) {
        let class = self.slots[slot].class;
        let others = self.all().any(|(other, waiter)| other != slot && waiter.class == class && waiter.watches);
        let waiter = &mut self.slots[slot];
        (waiter.is_checking, waiter.watches) = (false, !others);
        waiter.timer = waiter.timer.min(timer);
        blockers.iter().for_each(|transaction| waiter.add_blocker(*transaction));
        if others {
            self.set_timer_of(class, timer);
        }
    }

    /// The time until which a waiter sleeps, or `Err` if it must check now.
    pub fn state(&self, slot: usize, now: i64) -> Result<i64, ()> {
        let waiter = &self.slots[slot];
        let until = if waiter.watches { waiter.timer } else { NEVER };
        if waiter.is_woken || until <= now { Err(()) } else { Ok(until) }
    }

    /// Frees a slot. `is_ready`: the waiter was told that there is a task and is about to claim it.
    pub fn free(&mut self, slot: usize, is_ready: bool, now: i64) {
        let freed = self.slots[slot];
        self.slots[slot].process = Process::NONE;
        let other = self.all().filter(|(_, waiter)| waiter.class == freed.class);
        let Some((other, _)) = other.max_by_key(|(_, waiter)| (waiter.watches, !waiter.is_woken)) else { return };
        let other = &mut self.slots[other];
        // A woken waiter is expected to claim at once; if it does not, the others check after `GRACE`.
        let timer = if is_ready { freed.timer.min(now.saturating_add(GRACE)) } else { freed.timer };
        other.watches |= freed.watches || is_ready;
        other.timer = other.timer.min(timer);
        // It may have slept without a timer.
        other.process.wake();
        freed.blockers.iter().for_each(|transaction| other.add_blocker(*transaction));
        if (freed.is_woken || freed.is_checking) && !is_ready {
            self.wake_one(&freed.class);
        }
    }

    /// Wakes one waiter of a class.
    pub fn wake_one(&mut self, class: &Class) {
        let mut asleep = self.slots.iter_mut().filter(|waiter| waiter.process.is_some() && !waiter.is_woken);
        if let Some(waiter) = asleep.find(|waiter| waiter.class == *class) {
            waiter.mark_woken();
        }
    }

    /// Records that tasks became available in a database. The class of a waiter that has found them itself is left out.
    pub fn tasks_came(&mut self, database: Oid, except: Option<Class>, counts: &Counts) {
        let quota = |waiter: &Waiter| {
            let bits = (0..64).filter(|bit| waiter.mask >> bit & 1 == 1);
            bits.fold(0, |sum: u32, bit| sum.saturating_add(counts[bit]))
        };
        let concerns = |waiter: &Waiter| waiter.class.database == database && Some(waiter.class) != except;
        self.wake(concerns, quota);
    }

    /// Records that a transaction has ended, or a subtransaction was rolled back, which may have released this many
    /// tasks.
    pub fn transaction_ended(&mut self, transaction: u32, tasks: u32) {
        self.wake(|waiter| waiter.is_blocked_by(transaction), |_| tasks.max(1));
    }

    /// Records that a task with one of these names can be claimed from an instant on.
    pub fn task_comes(&mut self, database: Oid, mask: u64, at: i64) {
        let meant = self.slots.iter_mut().filter(|waiter| waiter.process.is_some());
        let meant = meant.filter(|waiter| waiter.class.database == database && waiter.mask & mask != 0);
        meant.for_each(|waiter| waiter.set_timer(at));
    }

    /// Wakes `quota` waiters of each class.
    fn wake(&mut self, concerns: impl Fn(&Waiter) -> bool, quota: impl Fn(&Waiter) -> u32) {
        let concerns = |waiter: &Waiter| waiter.process.is_some() && !waiter.is_woken && concerns(waiter);
        let mut is_done = [false; MAX_WAITER_SLOTS];
        for first in 0..MAX_WAITER_SLOTS {
            if is_done[first] || !concerns(&self.slots[first]) {
                continue;
            }
            let class = self.slots[first].class;
            let mut remaining = quota(&self.slots[first]);
            let meant = |waiter: &Waiter| waiter.class == class && concerns(waiter);
            for (waiter, is_done) in self.slots.iter_mut().zip(&mut is_done).filter(|(waiter, _)| meant(waiter)) {
                *is_done = true;
                if remaining > 0 {
                    remaining -= 1;
                    waiter.mark_woken();
                }
            }
        }
    }

    fn set_timer_of(&mut self, class: Class, at: i64) {
        let of_class = self.slots.iter_mut().filter(|waiter| waiter.process.is_some() && waiter.class == class);
        of_class.for_each(|waiter| waiter.set_timer(at));
    }

    fn all(&self) -> impl Iterator<Item = (usize, &Waiter)> {
        self.slots.iter().enumerate().filter(|(_, waiter)| waiter.process.is_some())
    }

    /// The number of waiters, and of those blocked by other transactions.
    pub(super) fn count(&self) -> (u32, u32) {
        self.all().fold((0, 0), |(all, blocked), (_, waiter)| (all + 1, blocked + u32::from(waiter.is_blocked())))
    }
}

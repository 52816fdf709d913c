//! What a transaction reports to sessions that wait for tasks.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{BACKEND, TRANSACTION};
use crate::clock;
use crate::pg::shared::{self, Class, Counts};
use crate::pg::spi::Timestamp;
use crate::pg::{cluster, process};

/// What a transaction did that is relevant for waiting sessions.
#[derive(Clone, Copy)]
pub(super) struct TaskChanges {
    /// Whether anything below differs from [`NONE`](Self::NONE), `checks` apart.
    any: bool,
    /// Tasks that became available, for each bit of a name mask.
    came: Counts,
    /// Tasks that it claimed.
    claimed: u32,
    /// When tasks can be claimed, by the server's clock, and their names.
    comes: (u64, i64),
    /// This session looks for work of this class itself, in this transaction.
    checks: Option<Class>,
}

impl TaskChanges {
    pub(super) const NONE: Self =
        Self { any: false, came: [0; 64], claimed: 0, comes: (0, shared::NEVER), checks: None };

    /// Reports the end of the transaction. Must not fail.
    pub(super) fn report(&self, committed: bool) {
        blocker_ended(self.claimed);
        if !shared::has_waiters() {
            return;
        }
        let database = process::database();
        let has_claimed = self.claimed > 0;
        let notified = if has_claimed { BACKEND.notified.take() } else { None };
        let has_come = committed && self.came.iter().any(|count| *count > 0);
        let comes = committed && self.comes.0 != 0;
        if notified.is_none() && !has_come && !comes {
            return;
        }
        shared::with_waiters(|waiters| {
            if has_come {
                waiters.tasks_came(database, self.checks, &self.came);
            }
            if comes {
                waiters.task_comes(database, self.comes.0, self.comes.1);
            }
            // There may be more tasks than this session has claimed.
            if let Some(class) = notified {
                waiters.wake_one(&class);
            }
        });
    }
}

/// The bit of a name, one of 64.
fn bit(name: &str) -> u32 {
    (hash(name) & 63) as u32
}

/// The names of a waiter: their hash, and a mask with one of 64 bits for each. `None`: all names.
pub fn key_of(names: Option<&[String]>) -> (u64, u64) {
    let Some(names) = names else { return (0, u64::MAX) };
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    (hash(&sorted), sorted.iter().fold(0, |mask, name| mask | 1 << bit(name)))
}

/// The key of a server that waits for HTTP responses.
pub fn key_of_server(name: &str) -> u64 {
    hash(&("HTTP responses", name))
}

fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn record(change: impl FnOnce(&mut TaskChanges)) {
    let is_first = {
        let changes = &mut TRANSACTION.borrow_mut().tasks;
        change(changes);
        !std::mem::replace(&mut changes.any, true)
    };
    if is_first {
        shared::ensure();
    }
}

/// Records that a task can be claimed when this transaction commits.
pub fn report_task(name: &str) {
    record(|changes| {
        let count = &mut changes.came[bit(name) as usize];
        *count = count.saturating_add(1);
    });
}

/// Records that a task can be claimed from this instant on.
pub fn report_task_at(name: &str, at: Timestamp) {
    report_mask_at(1 << bit(name), at);
}

/// Records that a task with a name unknown here can be claimed from this instant on.
pub fn report_any_task_at(at: Timestamp) {
    report_mask_at(u64::MAX, at);
}

fn report_mask_at(mask: u64, at: Timestamp) {
    // Waiters sleep by the server's clock.
    let at = by_server_clock(at);
    record(|changes| changes.comes = (changes.comes.0 | mask, changes.comes.1.min(at)));
}

/// Converts an instant by this session's clock to the server's clock, in microseconds since 2000.
pub fn by_server_clock(at: Timestamp) -> i64 {
    let delay = at.0.saturating_sub(Timestamp::from(clock::now()).0);
    process::now().saturating_add(delay)
}

/// Records that the claimable tasks may have changed for everyone, for example because rights changed.
pub fn report_any_task() {
    record(|changes| changes.came = [u32::MAX; 64]);
}

/// Records that this transaction claims this many more tasks.
pub fn report_claimed(count: usize) {
    record(|changes| changes.claimed = changes.claimed.saturating_add(u32::try_from(count).unwrap_or(u32::MAX)));
}

/// Records that this transaction checks for tasks of a class: tasks that it makes available are for this waiter.
pub fn report_check(class: Class) {
    TRANSACTION.borrow_mut().tasks.checks = Some(class);
}

/// Records that this session was told of a task.
pub fn report_notified(class: Class) {
    BACKEND.notified.set(Some(class));
}

/// Reports that a subtransaction was rolled back. Must not fail.
pub(super) fn subtransaction_aborted() {
    let claimed = TRANSACTION.borrow().tasks.claimed;
    blocker_ended(claimed);
}

/// Wakes waiters that this transaction or subtransaction has blocked.
fn blocker_ended(claimed: u32) {
    if let Some(transaction) = cluster::my_transaction().filter(|_| shared::has_blocked_waiters()) {
        shared::with_waiters(|waiters| waiters.transaction_ended(transaction, claimed));
    }
}

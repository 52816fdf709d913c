//! The first tasks of one name, locked as they are found.
//!
//! If many task workers claim tasks of one name, most of the first ones are locked by claims that have not committed. A
//! search without locks reads all of them, and then tries each in vain. A claim that meets such tasks remembers it, if
//! the role may claim all tasks that it found. For a second the claims of this session then lock the tasks of that name
//! as they find them, and skip locked ones. A claim that cannot have a task that it has locked releases all of them, and
//! remembers that as well.

use std::time::Instant;

use super::{Rights, TaskClaim, VALID, cache, fronts};
use crate::compiled;
use crate::pg::PgError;
use crate::run::CallContext;
use crate::run::tasks::answer::opener;
use crate::run::tasks::limits::Search;
use crate::store::tasks::leases::{ClaimableTask, Front, Held};

impl TaskClaim<'_> {
    /// Takes the first tasks of a single name without limits, and returns whether there are no others. `None`: nothing
    /// was taken, and another search is needed.
    ///
    /// The tasks are locked before anything else is checked: before the role's rights, and before the instance or its
    /// partition, which other calls lock first. So this is done in a subtransaction, which releases all of them unless
    /// each can be claimed. The leases are stored in it, too: a row that is locked by one (sub)transaction and changed
    /// by another would need a multixact.
    pub(super) fn take_locked(
        &mut self,
        context: &mut CallContext,
        search: &mut Search,
    ) -> Result<Option<bool>, PgError> {
        if !locks_while_searching(search) {
            return Ok(None);
        }
        let take = |context: &mut CallContext| {
            let Some(found) = lock_first(search, self.max) else { return Ok(None) };
            let is_all = found.len() < self.max;
            let (claimable, held): (Vec<_>, Vec<_>) = found.into_iter().unzip();
            if claimable.iter().all(is_opened) {
                self.take_all(context, search, claimable.iter().zip(held.into_iter().map(Some)))?;
            }
            if self.given.len() < claimable.len() {
                return Ok(None);
            }
            self.store();
            Ok(Some(is_all))
        };
        let taken = context.isolated_if(take, Option::is_some)?;
        // The number of tasks held by others is unknown: the previous number is used.
        self.passed = cache().passed.get();
        if taken.is_none() {
            self.given.clear();
            self.order.clear();
            self.later.clear();
            self.passed = 0;
            remember_locks(search, false);
        }
        Ok(taken)
    }
}

/// The name that a search is for, if there is one and no limit.
fn single_unlimited(search: &Search) -> Option<&String> {
    match search.unlimited()? {
        [name] => Some(name),
        _ => None,
    }
}

/// Whether a search for the first tasks of a single name without limits is to lock them. It begins before all of them.
fn locks_while_searching(search: &Search) -> bool {
    let Some(name) = single_unlimited(search) else { return false };
    let role = search.claimant().role;
    let cache = cache().locks.borrow().get(&(role, name.clone())).copied();
    cache.is_some_and(|(locks, until)| locks && until > Instant::now())
        && fronts::known(std::slice::from_ref(name), role) == [Front::ALL]
}

/// Remembers whether it is to. For a second after a search that was in vain none does.
pub fn remember_locks(search: &Search, locks: bool) {
    let Some(name) = single_unlimited(search) else { return };
    let mut all = cache().locks.borrow_mut();
    let now = Instant::now();
    all.retain(|_, (_, until)| *until > now);
    let entry = all.entry((search.claimant().role, name.clone())).or_insert((true, now));
    if entry.0 {
        *entry = (locks, now + VALID);
    }
}

/// The first tasks of a single name without limits, locked. `None`: some are not for this role, or several owners have
/// such tasks.
fn lock_first(search: &Search, max: usize) -> Option<Vec<(ClaimableTask, Held)>> {
    let found = fronts::lock_first(single_unlimited(search)?, max, search.claimant())?;
    let mut rights = Rights::of(search.claimant());
    let given = found.into_iter().map(|(claimable, owner, held)| {
        let is_for_us = !claimable.is_assigned && rights.may_work(&claimable, owner)?;
        is_for_us.then_some((claimable, held))
    });
    given.collect()
}

/// Whether the version that the search has seen opens such a task. The row of the task may be newer than the snapshot:
/// the instance may have been migrated in between.
fn is_opened(claimable: &ClaimableTask) -> bool {
    compiled::of_version(claimable.version).is_ok_and(|compiled| {
        let node = opener(&compiled.program, &claimable.node_id);
        node.is_some_and(|node| node.activity.descriptor().opens_tasks())
    })
}

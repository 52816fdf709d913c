//! The first tasks of one name, locked as they are found.
//!
//! If many workers claim tasks of one name, most of the first ones are locked by claims that have not committed. A
//! search without locks reads all of them, and then tries each in vain.

use super::TaskClaim;
use crate::compiled;
use crate::pg::PgError;
use crate::run::Session;
use crate::run::tasks::answer::opener;
use crate::run::tasks::front;
use crate::run::tasks::limits::Search;
use crate::store::tasks::leases::ClaimableTask;

impl TaskClaim<'_> {
    /// Takes the first tasks of a single name without limits, and returns whether there are no others. `None`: nothing
    /// was taken, and another search is needed.
    ///
    /// The tasks are locked before anything else is checked: before the role's rights, and before the instance or its
    /// partition, which other calls lock first. So this is done in a subtransaction, which releases all of them unless
    /// each can be claimed. The leases are stored in it, too: a row that is locked by one (sub)transaction and changed
    /// by another would need a multixact.
    pub(super) fn take_locked(&mut self, session: &mut Session, search: &mut Search) -> Result<Option<bool>, PgError> {
        if !search.locks() {
            return Ok(None);
        }
        let take = |session: &mut Session| {
            let Some(found) = search.lock_first(self.max) else { return Ok(None) };
            let is_all = found.len() < self.max;
            let (claimable, held): (Vec<_>, Vec<_>) = found.into_iter().unzip();
            if claimable.iter().all(is_opened) {
                self.take_all(session, search, claimable.iter().zip(held.into_iter().map(Some)))?;
            }
            if self.given.len() < claimable.len() {
                return Ok(None);
            }
            self.store();
            Ok(Some(is_all))
        };
        let taken = session.isolated_if(take, Option::is_some)?;
        // The number of tasks held by others is unknown: the previous number is used.
        self.passed = front::passed();
        if taken.is_none() {
            self.given.clear();
            self.order.clear();
            self.later.clear();
            self.passed = 0;
            search.note_locks(false);
        }
        Ok(taken)
    }
}

/// Whether the version that the search has seen opens such a task. The row of the task may be newer than the snapshot:
/// the instance may have been migrated in between.
fn is_opened(claimable: &ClaimableTask) -> bool {
    compiled::of_version(claimable.version).is_ok_and(|compiled| {
        let node = opener(&compiled.program, &claimable.node_id);
        node.is_some_and(|node| node.activity.descriptor().opens_tasks)
    })
}

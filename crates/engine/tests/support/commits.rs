//! Transactions of a world: committed ones, and others.

use workflow_engine::execution::Delta;
use workflow_engine::fault::Error;

use super::{FakeHost, World};

impl World {
    /// Runs a call in a transaction. If the call fails or the transaction does not commit, all of its effects are
    /// undone: the next call finds what was stored before.
    ///
    /// # Errors
    /// The error of the call.
    pub fn transact(&mut self, commits: bool, call: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let (instance, bookmarks, host) = (self.copy(), self.bookmarks.clone(), self.host.clone());
        let (events, incidents, children) = (self.trail.len(), self.incidents.len(), self.children.len());
        let result = call(self);
        if !commits || result.is_err() {
            // No id is generated twice.
            let ids = self.host.ids;
            (self.instance, self.bookmarks, self.host) = (instance, bookmarks, FakeHost { ids, ..host });
            self.trail.truncate(events);
            self.incidents.truncate(incidents);
            self.children.truncate(children);
            self.last = Delta::default();
        }
        result
    }
}

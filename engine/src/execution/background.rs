//! Activities that run in the background (`runAsynchronously`): put off at a bookmark that is due at once.
//!
//! Nothing of the activity happens before: its inputs are evaluated when the bookmark fires, in the burst and
//! the session that it fires in. From then on it is an activity like any other. A retry executes it at once:
//! whoever asks for one wants to see what comes of it.

use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::burst::BurstState;
use crate::execution::context::Execution;
use crate::instance::Memory;
use crate::node_ix::NodeIx;
use crate::stimulus;

/// Name of the bookmark, which is Elsa's.
const BOOKMARK: &str = stimulus::BACKGROUND.name;

impl BurstState<'_> {
    /// Puts off an activity that asks for it, unless its own firing is what started this run. `false`: it is to be
    /// executed now.
    pub(super) fn defer(&mut self, sequence: u32, node: NodeIx) -> bool {
        let node = self.core.program.node(node);
        if !node.runs_in_background || self.core.is_trigger(sequence) {
            return false;
        }
        self.unit(sequence, node, |cx| {
            let due_at = Some(cx.instant());
            let name = Some(BOOKMARK.into());
            cx.create_bookmark(NewBookmark { name, due_at, auto_complete: false, ..NewBookmark::default() })?;
            cx.set_memory(Memory::Deferred);
            Ok(())
        });
        true
    }

    /// Executes an activity that was put off, at whose bookmark this is. `false`: it was not.
    ///
    /// The bookmark is used up even if the activity faults, as if there had never been one.
    pub(super) fn run_deferred(&mut self, sequence: u32, node: NodeIx, bookmark: &Resumed) -> bool {
        let is_deferred = self.core.context(sequence).is_some_and(|context| context.memory == Memory::Deferred);
        if is_deferred {
            let program = self.core.program;
            let mut cx = Execution::new(self.core.reborrow(), sequence, program.node(node));
            cx.burn(bookmark);
            cx.set_memory(Memory::None);
            self.execute(sequence, node);
        }
        is_deferred
    }
}

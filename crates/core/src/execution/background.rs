//! Background activities (`runAsynchronously`): the burst defers them with a bookmark that is due at once.
//!
//! The activity does nothing before that bookmark fires: its inputs are evaluated in the burst and session that fire
//! it. Afterwards it is an activity like any other. A retry executes it immediately, because the caller of the retry
//! wants to see the result.

use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::context::Execution;
use crate::execution::runner::Runner;
use crate::instance::Memory;
use crate::node_ix::NodeIx;
use workflow_http::stimulus;

/// Name of the bookmark, as in Elsa.
const BOOKMARK: &str = stimulus::BACKGROUND.name;

impl Runner<'_> {
    /// Defers a background activity, unless it is the trigger that started this run. `false`: the burst executes it
    /// now.
    pub(super) fn defer(&mut self, sequence: u32, node: NodeIx) -> bool {
        let node = self.burst.program.node(node);
        if !node.runs_in_background || self.burst.is_trigger(sequence) {
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

    /// Executes a deferred activity when its bookmark is resumed. `false`: the activity was not deferred.
    ///
    /// The bookmark is burned even if the activity faults, so that the activity is in the same state as one that was
    /// never deferred.
    pub(super) fn run_deferred(&mut self, sequence: u32, node: NodeIx, bookmark: &Resumed) -> bool {
        let is_deferred = self.burst.context(sequence).is_some_and(|context| context.memory == Memory::Deferred);
        if is_deferred {
            let program = self.burst.program;
            let mut cx = Execution::new(self.burst.reborrow(), sequence, program.node(node));
            cx.burn(bookmark);
            cx.set_memory(Memory::None);
            self.execute(sequence, node);
        }
        is_deferred
    }
}

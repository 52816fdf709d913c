//! Parents and children among the open executions: finding and cancelling descendants.
//!
//! Subtrees are processed with a work list, not by recursion.

use std::collections::BTreeSet;

use crate::execution::Child;
use crate::execution::burst::Burst;
use crate::instance::Memory;
use crate::instance::compensation::Unwinding;
use crate::journal::EventKind;

impl Burst<'_> {
    /// Open children of an execution, oldest first.
    pub fn children(&self, parent: u32) -> Vec<Child> {
        let range = self.scratch.children.range((parent, 0)..=(parent, u32::MAX));
        range.filter_map(|(_, sequence)| self.child(*sequence)).collect()
    }

    /// An open execution as its parent sees it.
    pub fn child(&self, sequence: u32) -> Option<Child> {
        let context = self.context(sequence)?;
        let terminal = self.program.node(context.node).terminal;
        Some(Child { node: context.node, sequence, tag: context.tag, terminal })
    }

    /// Whether an execution is a descendant of another one.
    pub fn is_below(&self, sequence: u32, above: u32) -> bool {
        let parent = |sequence: &u32| self.context(*sequence).and_then(|context| context.parent);
        std::iter::successors(parent(&sequence), parent).any(|ancestor| ancestor == above)
    }

    /// Cancels all descendants of an execution.
    pub fn cancel_children(&mut self, sequence: u32) {
        // Nearly every execution is a leaf.
        if !self.has_children(sequence) {
            return;
        }
        for child in self.children(sequence) {
            self.cancel(child.sequence);
        }
    }

    /// Cancels an execution and all its descendants, the deepest first.
    pub fn cancel(&mut self, sequence: u32) {
        self.cancel_silently(sequence, &BTreeSet::new());
    }

    /// Cancels an execution and all its descendants. Those in `silent` get no event.
    fn cancel_silently(&mut self, sequence: u32, silent: &BTreeSet<u32>) {
        let below = self.with_all_below(sequence);
        for sequence in below.iter().filter(|sequence| !silent.contains(sequence)) {
            self.note_interruption(*sequence);
        }
        for sequence in below.into_iter().rev() {
            if !silent.contains(&sequence) {
                self.cancelled_event(sequence);
            }
            self.close(sequence);
        }
    }

    /// An execution and all its descendants, each after its parent.
    pub fn with_all_below(&self, sequence: u32) -> Vec<u32> {
        let mut below = vec![sequence];
        let mut next = 0;
        while let Some(parent) = below.get(next).copied() {
            let range = self.scratch.children.range((parent, 0)..=(parent, u32::MAX));
            below.extend(range.map(|(_, child)| *child));
            next += 1;
        }
        below
    }

    fn cancelled_event(&mut self, sequence: u32) {
        if let Some(context) = self.context(sequence)
            && !matches!(context.memory, Memory::Unwinding(Unwinding::Instance(_)))
        {
            let node = self.program.node(context.node);
            self.event(EventKind::Canceled, sequence, node, None);
        }
    }

    /// Cancels the children of these executions that are not among them.
    pub(super) fn cancel_beside(&mut self, around: &BTreeSet<u32>) {
        for above in around {
            for child in self.children(*above).into_iter().filter(|child| !around.contains(&child.sequence)) {
                self.cancel(child.sequence);
            }
        }
    }

    /// Ends everything that is open or queued, except the instance's handlers. The executions in `around`, which end as
    /// ancestors, get no event.
    pub fn clear_beside_handlers(&mut self, around: &BTreeSet<u32>) {
        let Some(run) = self.scratch.unwinding.execution else { return self.clear_all(around) };
        let contexts = self.instance.state.contexts.iter();
        let tops = contexts.filter(|(sequence, context)| context.parent.is_none() && **sequence != run);
        for sequence in tops.map(|(sequence, _)| *sequence).collect::<Vec<_>>() {
            self.cancel_silently(sequence, around);
        }
        self.scratch.queue.clear();
        self.scratch.finishing.clear();
        self.scratch.ending = None;
    }

    /// Ends everything that is open or queued. The executions in `around`, which end as ancestors, get no event.
    pub fn clear_all(&mut self, around: &BTreeSet<u32>) {
        let open: Vec<u32> = self.instance.state.contexts.keys().copied().collect();
        for sequence in open.iter().filter(|sequence| !around.contains(sequence)) {
            self.note_interruption(*sequence);
            self.cancelled_event(*sequence);
        }
        let contexts = std::mem::take(&mut self.instance.state.contexts);
        let scratch = &mut *self.scratch;
        let deadline = self.instance.state.deadline.take();
        if deadline.is_some() || contexts.values().any(|context| context.bookmarks > 0) {
            scratch.delta.clear_all = true;
        }
        scratch.children.clear();
        scratch.queue.clear();
        scratch.unwinding.queue.clear();
        scratch.unwinding.execution = None;
        scratch.queued.clear();
        scratch.bookmarks.clear();
        scratch.finishing.clear();
        scratch.ending = None;
        // No unit is open here, so nothing of this can be undone.
        scratch.undo.clear();
    }

    /// Whether an execution is the trigger of its own run and has not run as the trigger yet.
    pub fn is_trigger(&self, sequence: u32) -> bool {
        let state = &self.instance.state;
        !state.trigger_used
            && state.trigger.is_some()
            && self.context(sequence).map(|context| context.node) == state.trigger
    }
}

//! Executions that the mapping cancels in the old version, before the instance is migrated.

use std::collections::{BTreeMap, BTreeSet};

use crate::activity::CompensationRole;
use crate::execution::Orphan;
use crate::instance::compensation::{Record, RecordAction, Unwinding};
use crate::instance::{Context, Instance, Memory};
use crate::migration::executions::ExecutionMigration;
use crate::migration::{Migration, Problem};
use crate::node_ix::NodeIx;

impl Migration {
    /// The uppermost executions that the mapping cancels.
    pub fn cancelled(&self, instance: &Instance) -> Vec<u32> {
        let cancelled = self.all_cancelled(&instance.state.contexts);
        cancelled.into_iter().filter(|(sequence, top)| sequence == top).map(|(top, _)| top).collect()
    }

    /// The executions that the mapping cancels, each with the uppermost one of them that it is part of.
    fn all_cancelled(&self, contexts: &BTreeMap<u32, Context>) -> BTreeMap<u32, u32> {
        let is_cancelled =
            |sequence: &u32| contexts.get(sequence).is_some_and(|context| self.counterparts.is_cancelled(context.node));
        let above = |sequence: &u32| contexts.get(sequence).and_then(|context| context.parent);
        let top = |sequence: u32| std::iter::successors(Some(sequence), above).filter(is_cancelled).last();
        contexts.keys().filter_map(|sequence| Some((*sequence, top(*sequence)?))).collect()
    }
}

impl ExecutionMigration<'_> {
    /// Checks the cancellations of the mapping, and records what continues without the cancelled executions. A
    /// cancellation that would start a compensation handler is refused, so nothing but the cancelled executions
    /// changes.
    pub(super) fn cancel(&mut self, records: &[Record]) -> BTreeSet<u32> {
        let all = self.of.all_cancelled(&self.contexts);
        for (sequence, top) in &all {
            if sequence == top {
                self.cancel_top(*top);
            } else if !self.is_in_handler(*top) {
                self.refuse_handling(*sequence);
            }
        }
        let all = all.into_keys().collect();
        self.refuse_handlers(&all, records);
        all
    }

    /// Records what continues without the uppermost cancelled execution.
    fn cancel_top(&mut self, top: u32) {
        let Some(context) = self.contexts.get(&top) else { return };
        match context.parent {
            None => {
                let node = self.of.old.node(context.node);
                let message = format!("\"{}\" is the root, and a migration does not cancel the instance", node.id);
                self.problems.push(Problem::error(&node.node_id, message));
            }
            Some(_) if self.is_in_handler(top) => self.refuse_handler(context.node),
            Some(parent) => self.moved.after.orphans.push(Orphan { parent, tag: context.tag }),
        }
    }

    /// Refuses to cancel an execution that runs handlers: another one may wait to run the same handlers.
    fn refuse_handling(&mut self, sequence: u32) {
        if let Some(context) = self.contexts.get(&sequence)
            && matches!(context.memory, Memory::Unwinding(Unwinding::Each { .. }))
        {
            self.refuse_handler(context.node);
        }
    }

    /// Refuses to cancel a handler. Its record would remain, and later handlers would not run.
    fn refuse_handler(&mut self, ix: NodeIx) {
        let node = self.of.old.node(ix);
        let message = format!("activity \"{}\" compensates or confirms, and cannot be cancelled", node.id);
        self.problems.push(Problem::error(&node.node_id, message));
    }

    /// Whether an execution runs handlers, or is part of one.
    fn is_in_handler(&self, sequence: u32) -> bool {
        let above = |sequence: &u32| self.contexts.get(sequence)?.parent;
        let mut all = std::iter::successors(Some(sequence), above).filter_map(|at| self.contexts.get(&at));
        all.any(|context| matches!(context.memory, Memory::Unwinding(_)))
    }

    /// Refuses to interrupt executions that have handlers for it: the handlers belong to activities that the new
    /// version may lack, and they may wait. Inner executions pass on what they hold before outer ones do.
    fn refuse_handlers(&mut self, cancelled: &BTreeSet<u32>, records: &[Record]) {
        let mut holders: BTreeSet<u32> = records.iter().map(|record| record.holder).collect();
        let parents: BTreeSet<u32> = self.contexts.values().filter_map(|context| context.parent).collect();
        // An execution with nothing open inside is not interrupted.
        for sequence in cancelled.iter().rev().filter(|sequence| parents.contains(sequence)) {
            let role = self.role(*sequence);
            let Some(context) = self.contexts.get(sequence).filter(|_| role.has_handlers()) else {
                continue;
            };
            let node = self.of.old.node(context.node);
            if node.handler(RecordAction::Cancel).is_none() {
                if !holders.contains(sequence) {
                    continue;
                }
                if role.is_scope() && !self.of.old.options.compensate_on.cancel {
                    holders.extend(self.scope_around(*sequence));
                    continue;
                }
            }
            let message = format!(
                "handlers run when \"{}\" is cancelled, and a migration runs none; cancel it with wf_cancel_activity first",
                node.id
            );
            self.problems.push(Problem::error(&node.node_id, message));
        }
    }

    /// The nearest enclosing execution that holds records.
    fn scope_around(&self, sequence: u32) -> Option<u32> {
        let above = |sequence: &u32| self.contexts.get(sequence)?.parent;
        std::iter::successors(above(&sequence), above).find(|at| self.role(*at).has_handlers())
    }

    /// The role of the activity of an execution, unless the execution runs handlers.
    fn role(&self, sequence: u32) -> CompensationRole {
        match self.contexts.get(&sequence) {
            Some(context) if !matches!(context.memory, Memory::Unwinding(_)) => {
                self.of.old.node(context.node).activity.descriptor().compensation
            }
            _ => CompensationRole::None,
        }
    }
}

//! Compensation records: completed and interrupted executions leave them so that their handlers can run later.
//!
//! Nothing here is undone: executions complete between units, and interruptions by a unit are recorded after it.

use std::collections::{BTreeMap, BTreeSet};

use crate::activity::CompensationRole;
use crate::execution::burst::Burst;
use crate::execution::visible_outputs::{is_inside, visible_outputs};
use crate::instance::compensation::RecordAction;
use crate::instance::compensation::{
    Ending, HELD_BY_INSTANCE, HELD_BY_INTERRUPTION, Record, RecordFilter, RecordSnapshot, Unwinding,
};
use crate::instance::outputs::Outputs;
use crate::instance::{Context, Memory};
use crate::node_ix::NodeIx;
use workflow_value::value::{Json, copy_or_null};

/// An execution that ended before its body had completed, and has no record yet.
#[derive(Debug)]
pub(crate) struct Interrupted {
    sequence: u32,
    /// The holder of the records of its activity.
    holder: u32,
    /// Whether only the end of the execution itself was missing.
    is_done: bool,
    kept: RecordSnapshot,
}

impl Burst<'_> {
    /// The role of the activity of an open execution, unless the execution runs handlers.
    fn role(&self, sequence: u32) -> CompensationRole {
        match self.context(sequence) {
            Some(context) if !matches!(context.memory, Memory::Unwinding(_)) => {
                self.program.node(context.node).activity.descriptor().compensation
            }
            _ => CompensationRole::None,
        }
    }

    /// The possible holders of the records of an activity that completes at an execution, nearest first.
    pub fn holders(&self, sequence: u32) -> Vec<u32> {
        let mut holders = Vec::new();
        let mut current = self.context(sequence).and_then(|context| context.parent);
        while let Some((at, context)) = current.and_then(|at| Some((at, self.context(at)?))) {
            match context.memory {
                // A handler reaches the records that its own record holds, and nothing around it.
                Memory::Unwinding(Unwinding::One { record, .. }) => {
                    holders.push(record);
                    return holders;
                }
                _ if self.role(at).has_handlers() => holders.push(at),
                _ => {}
            }
            current = context.parent;
        }
        holders.push(HELD_BY_INSTANCE);
        holders
    }

    /// The snapshot for the handlers of an activity.
    fn snapshot(&self, sequence: u32, node: NodeIx) -> RecordSnapshot {
        let reads = self.program.compensation();
        let (mut variables, mut seen) = (Vec::new(), BTreeSet::new());
        let mut current = self.context(sequence);
        while let Some(context) = current {
            for (name, value) in &context.variables {
                if seen.insert(name.as_str()) && reads.keeps(node, name, false) {
                    variables.push((name.clone(), Json(copy_or_null(&value.0))));
                }
            }
            current = context.parent.and_then(|parent| self.context(parent));
        }
        for (name, value) in &self.instance.variables {
            if !seen.contains(name.as_str()) && reads.keeps(node, name, true) {
                variables.push((name.clone(), Json(copy_or_null(value))));
            }
        }
        let outputs = self.keep_outputs(sequence, node);
        let reads_outputs = reads.reads_outputs(node);
        let result = self.context(sequence).filter(|_| reads_outputs).and_then(Context::latest_result);
        RecordSnapshot { node, variables, outputs, last_result: result.map(|result| result.value) }
    }

    /// The current outputs of the activities inside an execution, and of those around it that its handlers name.
    fn keep_outputs(&self, sequence: u32, above: NodeIx) -> Vec<(NodeIx, Outputs)> {
        let (program, reads) = (self.program, self.program.compensation());
        if !reads.reads_outputs(above) {
            return Vec::new();
        }
        let state = &self.instance.state;
        let mut kept: BTreeMap<NodeIx, &Outputs> = visible_outputs(program, state, sequence);
        kept.retain(|ix, _| is_inside(program, *ix, above) || reads.names(above, program.node(*ix)));
        // Executions that are still open inside will have ended then.
        for inner in self.with_all_below(sequence).into_iter().rev() {
            let Some(context) = self.context(inner) else { continue };
            let ended = context.ended_inside.iter().flat_map(|inside| &inside.outputs);
            let own = Some((&context.node, &context.outputs)).filter(|(_, outputs)| !outputs.is_empty());
            for (ix, outputs) in ended.chain(own) {
                if inner != sequence && is_inside(program, *ix, above) {
                    kept.insert(*ix, outputs);
                }
            }
        }
        kept.into_iter().map(|(ix, outputs)| (ix, outputs.clone())).collect()
    }

    /// Records the completion of a `Compensable`. A scope that completes passes the records that it holds to the
    /// enclosing one. Interruptions inside are recorded first; a `Compensable` that was itself interrupted gets its
    /// record then.
    pub fn leave_scope(&mut self, sequence: u32) {
        if !self.program.compensation().is_used {
            return;
        }
        let is_interrupted = self.scratch.unwinding.interrupted.iter().any(|one| one.sequence == sequence);
        self.record_interrupted();
        if is_interrupted {
            return;
        }
        let Some(node) = self.context(sequence).map(|context| context.node) else { return };
        match self.role(sequence) {
            CompensationRole::None | CompensationRole::Unwinds => {}
            CompensationRole::Scope => {
                let holder = self.holders(sequence)[0];
                self.host.move_records(sequence, holder);
            }
            CompensationRole::Compensable => {
                let (holder, kept) = (self.holders(sequence)[0], self.snapshot(sequence, node));
                self.record(sequence, holder, kept);
            }
        }
    }

    /// Records the end of executions that end as ancestors of one that ends the run: their other descendants are
    /// cancelled, the latest first.
    pub fn leave_scopes(&mut self, around: &BTreeSet<u32>) {
        if !self.program.compensation().is_used {
            return;
        }
        self.cancel_beside(around);
        for sequence in around.iter().rev() {
            self.leave_scope(*sequence);
        }
    }

    /// Stores a record that takes over the records which an execution has held.
    fn record(&mut self, sequence: u32, holder: u32, kept: RecordSnapshot) {
        let number = self.next_number();
        self.host.move_records(sequence, number);
        self.host.store_record(&Record { number, holder, kept });
    }

    /// Marks an execution that is about to end before its body has completed. The unit may still be undone.
    pub fn note_interruption(&mut self, sequence: u32) {
        if !self.program.compensation().is_used || !self.role(sequence).has_handlers() {
            return;
        }
        let is_done = self.scratch.finishing.iter().any(|(finishing, _)| *finishing == sequence);
        // A plan of alterations may have cancelled the body before.
        let held = RecordFilter { holder: sequence, node: None, newest: true };
        let has_begun =
            self.has_children(sequence) || self.has_queued(sequence) || self.host.find_record(held).is_some();
        let Some(node) = self.context(sequence).map(|context| context.node).filter(|_| is_done || has_begun) else {
            return;
        };
        let (holder, kept) = (self.holders(sequence)[0], self.snapshot(sequence, node));
        self.scratch.unwinding.interrupted.push(Interrupted { sequence, holder, is_done, kept });
    }

    /// Records interruptions. The latest start is handled first, so an execution is handled before its ancestors.
    pub fn record_interrupted(&mut self) {
        let mut interrupted = std::mem::take(&mut self.scratch.unwinding.interrupted);
        interrupted.sort_by_key(|one| one.sequence);
        let numbers: Vec<u32> = interrupted.iter().map(|_| self.next_number()).collect();
        // Inner executions pass on the records they hold before outer ones do.
        for (one, number) in interrupted.into_iter().zip(numbers).rev() {
            self.record_one(one, number);
        }
    }

    fn record_one(&mut self, one: Interrupted, number: u32) {
        let Interrupted { sequence, holder, is_done, kept } = one;
        let node = self.program.node(kept.node);
        let is_scope = node.activity.descriptor().compensation.is_scope();
        let has_handler = node.handler(RecordAction::Cancel).is_some();
        let passes_on = is_done || !self.program.options.compensate_on.cancel || self.ending() != Ending::None;
        if is_scope && passes_on && !has_handler {
            self.host.move_records(sequence, holder);
            return;
        }
        let held = self.host.move_records(sequence, number);
        let holder = if is_done { holder } else { HELD_BY_INTERRUPTION };
        if is_done || has_handler || held > 0 {
            self.host.store_record(&Record { number, holder, kept });
            self.scratch.unwinding.look = true;
        }
    }
}

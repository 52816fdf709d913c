//! The loop: takes items off the queue, calls activities in units, and closes completed executions.
//!
//! Completion uses a work list, not recursion: a child that completes calls its parent, which may complete and call its
//! own parent, up to the deepest nesting that a definition may have.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bookmark::Resumed;
use crate::execution::callback::call_back;
use crate::execution::context::Execution;
use crate::execution::core::{Core, Scratch, Task};
use crate::execution::{Child, Delta, Limits, NewTask, Outcomes};
use crate::fault::{Error, Fault};
use crate::host::Host;
use crate::instance::{ActivityStatus, Instance, Memory, SubStatus};
use crate::journal::EventKind;
use crate::node_ix::NodeIx;
use crate::program::{FlowGraph, IncidentStrategy, Node, Program};
use crate::value::{Bounds, copy_or_null};

/// Runs a burst, as a workflow runner of Elsa does; it lives from the beginning of the burst to its delta.
pub(crate) struct Runner<'a> {
    pub core: Core<'a>,
}

/// How a unit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitOutcome {
    Kept,
    Undone,
}

impl<'a> Runner<'a> {
    /// Begins a burst of an instance.
    pub fn begin(
        program: &'a Program,
        instance: &'a mut Instance,
        host: &'a mut dyn Host,
        limits: &'a Limits,
        scratch: &'a mut Scratch,
    ) -> Self {
        scratch.now = host.now();
        let contexts = &instance.state.contexts;
        scratch.children = contexts.iter().filter_map(|(s, c)| Some((c.parent?, *s))).collect();
        scratch.keep_trees();
        let mut core = Core { program, limits, instance, host, scratch };
        core.find_unwinding();
        Self { core }
    }

    /// Records that the instance runs on, and why.
    pub fn wake(&mut self, why: EventKind) {
        self.core.workflow_event(why, None);
        self.core.instance.sub_status = SubStatus::Executing;
    }

    /// Processes the queue until it is empty.
    pub fn drain(&mut self) -> Result<(), Error> {
        self.close_completed()?;
        loop {
            self.unwind();
            let unwinding = &mut self.core.scratch.unwinding.queue;
            let Some(task) = unwinding.pop_front().or_else(|| self.core.scratch.queue.pop_front()) else {
                if self.confirm_all() {
                    continue;
                }
                break;
            };
            if self.core.scratch.delta.refusal.is_some() {
                break;
            }
            match task {
                Task::Begin { parent, node, tag, variables } => {
                    if let Some(parent) = parent
                        && !self.core.dequeue(parent, node)
                    {
                        continue;
                    }
                    self.count_step(node)?;
                    let sequence = self.core.open(parent, node, tag, variables);
                    if !self.defer(sequence, node) {
                        self.execute(sequence, node);
                    }
                }
                Task::Again(sequence) => {
                    let Some(node) = self.core.context(sequence).map(|context| context.node) else {
                        continue;
                    };
                    self.count_step(node)?;
                    self.execute(sequence, node);
                }
                Task::Unwind(sequence) => {
                    let Some(node) = self.core.context(sequence).map(|context| context.node) else {
                        continue;
                    };
                    self.count_step(node)?;
                    self.handle_next(sequence);
                }
            }
            self.close_completed()?;
        }
        Ok(())
    }

    pub(super) fn count_step(&mut self, next: NodeIx) -> Result<(), Error> {
        let limit = self.core.limits.max_steps;
        if self.core.scratch.steps >= limit {
            let activity_id = self.core.program.node(next).id.clone();
            return Err(Error::TooManySteps { limit, activity_id });
        }
        self.core.scratch.steps += 1;
        self.core.host.check_interrupts();
        Ok(())
    }

    pub(super) fn execute(&mut self, sequence: u32, node: NodeIx) {
        let node = self.core.program.node(node);
        let was_trigger = self.core.is_trigger(sequence);
        if was_trigger {
            self.give_trigger_input(sequence);
        }
        if !self.begin_attempt(sequence, node) {
            return;
        }
        let bookmarks = self.core.scratch.next_bookmark;
        let unit = self.unit(sequence, node, |cx| {
            cx.evaluate_inputs()?;
            cx.journal_inputs();
            node.activity.execute(cx)
        });
        if unit == UnitOutcome::Undone {
            return;
        }
        self.core.instance.state.trigger_used |= was_trigger;
        // An activity that ended at once has its `Completed` event; a waiting activity has the event of its bookmark.
        let scratch = &self.core.scratch;
        let ended = scratch.ending.is_some() || scratch.finishing.iter().any(|(s, _)| *s == sequence);
        if !ended && scratch.next_bookmark == bookmarks {
            self.core.event(EventKind::Started, sequence, node, None);
        }
        self.give_input(sequence);
    }

    /// Resumes an execution at one of its bookmarks.
    pub fn resume(&mut self, sequence: u32, bookmark: &Resumed) -> Result<(), Error> {
        let Some(context) = self.core.context(sequence) else {
            return Ok(());
        };
        let (ix, status) = (context.node, context.status);
        self.count_step(ix)?;
        if status == ActivityStatus::Faulted {
            self.clear_fault(sequence);
        }
        if self.run_deferred(sequence, ix, bookmark) {
            return Ok(());
        }
        let is_own = self.begin_next_attempt(sequence, bookmark)
            || self.time_out(sequence, bookmark)
            || self.end_lease(sequence, bookmark)
            || self.go_on_unwinding(sequence, bookmark);
        if is_own {
            return Ok(());
        }
        let unit = self.resume_unit(sequence, bookmark);
        // If an ancestor took the fault or another attempt follows, the bookmark does not stay.
        let is_faulted = self.core.context(sequence).is_some_and(|context| context.status == ActivityStatus::Faulted);
        self.core.scratch.delta.keep_resumed = unit == UnitOutcome::Undone && is_faulted;
        Ok(())
    }

    /// Resumes an execution at a bookmark, stored or made in this burst, with the input of the resume.
    pub(super) fn resume_unit(&mut self, sequence: u32, bookmark: &Resumed) -> UnitOutcome {
        let Some(ix) = self.core.context(sequence).map(|context| context.node) else { return UnitOutcome::Undone };
        let node = self.core.program.node(ix);
        let input = self.core.scratch.resume_input.as_ref().map(copy_or_null);
        if node.retry.is_some() {
            let payload = bookmark.payload.as_ref().map(copy_or_null).unwrap_or_default();
            self.core.scratch.resuming = Some((sequence, bookmark.name.clone(), payload));
        }
        let unit = self.unit(sequence, node, |cx| {
            cx.burn(bookmark);
            match bookmark.callback.as_deref() {
                Some(callback) => call_back(cx, callback, bookmark, input.as_ref()),
                None => node.activity.resumed(cx, bookmark, input.as_ref()),
            }
        });
        self.core.scratch.resuming = None;
        unit
    }

    pub(super) fn clear_fault(&mut self, sequence: u32) {
        if let Some(context) = self.core.instance.state.contexts.get_mut(&sequence) {
            context.status = ActivityStatus::Running;
        }
        self.core.add_faults(sequence, -1);
    }

    /// Calls an activity. A fault undoes what the call did; then [`fault`](Self::fault) offers it to the ancestors or
    /// makes it an incident.
    pub(super) fn unit(
        &mut self,
        sequence: u32,
        node: &'a Node,
        call: impl FnOnce(&mut Execution<'_>) -> Result<(), Fault>,
    ) -> UnitOutcome {
        let mark = self.core.mark();
        // A flowchart evaluates the mode inputs of its joins.
        let flow = node.flow.as_deref();
        let uses_sql = node.uses_sql || flow.is_some_and(FlowGraph::joins_use_sql);
        if uses_sql {
            self.core.host.begin_step();
        }
        let mut cx = Execution::new(self.core.reborrow(), sequence, node);
        // A computation that was told to stop may have returned an incomplete result.
        let result = call(&mut cx).and_then(|()| Bounds::go_on());
        cx.give_back();
        if uses_sql {
            self.core.host.end_step(result.is_ok());
        }
        self.core.scratch.in_unit = false;
        match result {
            Ok(()) => UnitOutcome::Kept,
            Err(fault) => {
                // A computation that was told to stop does not know the reason: the host raises it here.
                self.core.host.check_interrupts();
                self.core.rollback(&mark);
                self.fault(sequence, node, fault);
                UnitOutcome::Undone
            }
        }
    }

    /// Closes completed executions, and their ancestors that complete because of them.
    fn close_completed(&mut self) -> Result<(), Error> {
        loop {
            if let Some(sequence) = self.core.scratch.ending {
                self.end_workflow(sequence);
                return Ok(());
            }
            let Some((sequence, outcomes)) = self.core.scratch.finishing.pop_front() else {
                return Ok(());
            };
            self.finish(sequence, &outcomes)?;
        }
    }

    fn finish(&mut self, sequence: u32, outcomes: &Outcomes) -> Result<(), Error> {
        let Some(context) = self.core.context(sequence) else {
            return Ok(());
        };
        let (ix, parent, tag) = (context.node, context.parent, context.tag);
        let node = self.core.program.node(ix);
        self.finish_below(sequence);
        self.core.cancel_children(sequence);
        if !self.note_handled(sequence, node) {
            self.completed_event(sequence, node, outcomes);
            self.core.leave_scope(sequence);
        }
        self.core.close(sequence);
        let Some(parent) = parent else { return Ok(()) };
        let Some(above) = self.core.context(parent) else {
            return Ok(());
        };
        if matches!(above.memory, Memory::Unwinding(_)) {
            self.core.push(parent, Task::Unwind(parent));
            return Ok(());
        }
        // A faulted parent is not called: its retry cancels all its children.
        if above.status != ActivityStatus::Running {
            return Ok(());
        }
        let above = above.node;
        self.count_step(above)?;
        let above = self.core.program.node(above);
        let child = Child { node: ix, sequence, tag, terminal: node.terminal };
        self.unit(parent, above, |cx| above.activity.child_completed(cx, &child, outcomes));
        Ok(())
    }

    /// Closes executions that completed together with a composite around them. The executions between them and the
    /// composite are not called, because they end with it.
    fn finish_below(&mut self, composite: u32) {
        // Nearly always nothing else has completed.
        if self.core.scratch.finishing.is_empty() {
            return;
        }
        for (sequence, outcomes) in std::mem::take(&mut self.core.scratch.finishing) {
            match self.core.context(sequence).map(|context| context.node) {
                Some(node) if self.core.is_below(sequence, composite) => {
                    self.core.cancel_children(sequence);
                    self.completed_event(sequence, self.core.program.node(node), &outcomes);
                    self.core.leave_scope(sequence);
                    self.core.close(sequence);
                }
                _ => self.core.scratch.finishing.push_back((sequence, outcomes)),
            }
        }
    }

    fn completed_event(&mut self, sequence: u32, node: &Node, outcomes: &Outcomes) {
        let data = match outcomes {
            Outcomes::Done => None,
            Outcomes::Named(names) => Some(Value::from(names.as_slice())),
            Outcomes::Empty => Some(Value::Array(Vec::new())),
        };
        self.core.journal_outputs(sequence, node);
        self.core.event(EventKind::Completed, sequence, node, data);
    }

    /// Ends the workflow after `Finish`, or after `Complete` without a composite around it: all other executions are
    /// cancelled.
    fn end_workflow(&mut self, by: u32) {
        self.core.scratch.ending = None;
        if let Some(context) = self.core.context(by) {
            let (node, own) = (self.core.program.node(context.node), by);
            let finishing = std::mem::take(&mut self.core.scratch.finishing);
            let outcomes = finishing.into_iter().find(|(sequence, _)| *sequence == own);
            let outcomes = outcomes.map(|(_, outcomes)| outcomes).unwrap_or_default();
            self.completed_event(by, node, &outcomes);
        }
        let mut around = BTreeSet::new();
        let mut current = Some(by);
        while let Some(sequence) = current {
            around.insert(sequence);
            current = self.core.context(sequence).and_then(|context| context.parent);
        }
        self.core.leave_scopes(&around);
        self.core.clear_beside_handlers(&around);
        self.core.instance.state.continuation = self.core.scratch.continuation.take();
        self.core.instance.sub_status = SubStatus::Finished;
    }

    /// Cancels the instance. What it would have compensated becomes an incident.
    pub fn cancel(&mut self, reason: Option<&str>) {
        if self.core.program.compensation().is_used {
            self.abandon_handlers();
        }
        self.core.clear_all(&BTreeSet::new());
        self.core.scratch.delta.clear_all = true;
        self.core.instance.sub_status = SubStatus::Cancelled;
        let data = reason.map(|reason| Value::String(reason.to_owned()));
        self.core.workflow_event(EventKind::WorkflowCancelled, data);
    }

    /// Sets the sub-status of the instance and returns the delta to store.
    pub fn conclude(mut self) -> Delta {
        self.make_timeouts();
        let bookmarks = std::mem::take(&mut self.core.scratch.bookmarks);
        let mut created: Vec<_> = bookmarks.into_iter().collect();
        created.sort_by_key(|((_, order), _)| *order);
        for ((sequence, _), _) in &created {
            if let Some(context) = self.core.instance.state.contexts.get_mut(sequence) {
                context.bookmarks = context.bookmarks.saturating_add(1);
            }
        }
        let delta = &mut self.core.scratch.delta;
        delta.created = created.into_iter().map(|(_, bookmark)| bookmark).collect();
        if !delta.tasks.is_empty() {
            let open: BTreeSet<_> = delta.created.iter().map(|bookmark| bookmark.id).collect();
            delta.tasks.retain(|task: &NewTask| open.contains(&task.bookmark_id));
        }
        let (status, event) = self.status();
        self.update_deadline(status);
        self.core.instance.sub_status = status;
        self.hand_over(status);
        self.core.workflow_event(event, None);
        self.into_delta()
    }

    fn status(&self) -> (SubStatus, EventKind) {
        if self.core.scratch.has_failed {
            return (SubStatus::Faulted, EventKind::WorkflowFaulted);
        }
        let mut open = self.core.instance.state.contexts.values().peekable();
        if open.peek().is_none() {
            return self.end_status();
        }
        let faulted = open.any(|context| context.status == ActivityStatus::Faulted);
        match self.core.program.options.incidents {
            IncidentStrategy::Fault if faulted => (SubStatus::Faulted, EventKind::WorkflowFaulted),
            IncidentStrategy::Fault | IncidentStrategy::ContinueWithIncidents => {
                (SubStatus::Suspended, EventKind::WorkflowSuspended)
            }
        }
    }

    /// What is to be stored. Of an instance that has ended the outputs of activities are forgotten.
    pub fn into_delta(self) -> Delta {
        let instance = &self.core.instance;
        if matches!(instance.sub_status, SubStatus::Finished | SubStatus::Cancelled) || instance.has_failed() {
            // No later burst can read them.
            self.core.instance.state.outputs.clear();
            self.core.instance.state.last_result = None;
            self.core.instance.state.continuation = None;
        }
        std::mem::take(&mut self.core.scratch.delta)
    }
}

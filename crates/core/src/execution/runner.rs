//! The loop: takes items from the queue, calls activities in units, and closes completed executions.
//!
//! Completion uses a work list, not recursion: a child that completes calls its parent, which may complete and call its
//! own parent, up to the maximum nesting.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bookmark::Resumed;
use crate::execution::burst::{Burst, Cause, Scratch, Task};
use crate::execution::callback::call_back;
use crate::execution::context::Execution;
use crate::execution::{Child, Delta, Limits, NewTask, Outcomes};
use crate::host::Host;
use crate::instance::{ActivityStatus, Context, Instance, Memory, SubStatus};
use crate::journal::EventKind;
use crate::node_ix::NodeIx;
use crate::program::{FlowGraph, IncidentStrategy, Node, Program};
use workflow_value::fault::{Error, Fault};
use workflow_value::value::{Bounds, copy_or_null};

/// Runs a burst, like Elsa's workflow runner; lives from the start of the burst to its delta.
pub(crate) struct Runner<'a> {
    pub burst: Burst<'a>,
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
        let mut burst = Burst { program, limits, instance, host, scratch };
        burst.find_unwinding();
        Self { burst }
    }

    /// Marks the instance as executing, and records the reason in the journal.
    pub fn set_executing(&mut self, why: EventKind) {
        self.burst.workflow_event(why, None);
        self.burst.instance.sub_status = SubStatus::Executing;
    }

    /// Processes the queue until it is empty.
    pub fn drain(&mut self) -> Result<(), Error> {
        self.close_completed()?;
        loop {
            self.unwind();
            let unwinding = &mut self.burst.scratch.unwinding.queue;
            let Some(task) = unwinding.pop_front().or_else(|| self.burst.scratch.queue.pop_front()) else {
                if self.confirm_all() {
                    continue;
                }
                break;
            };
            if self.burst.scratch.delta.refusal.is_some() {
                break;
            }
            match task {
                Task::Begin { parent, node, tag, variables, last_result, request } => {
                    if let Some(parent) = parent
                        && !self.burst.dequeue(parent, node)
                    {
                        continue;
                    }
                    self.count_step(node)?;
                    let sequence = self.burst.open(parent, node, tag, variables, last_result);
                    if let (Some(request), Some(context)) =
                        (request, self.burst.instance.state.contexts.get_mut(&sequence))
                    {
                        context.request = request;
                    }
                    if !self.defer(sequence, node) {
                        self.execute(sequence, node);
                    }
                }
                Task::Again(sequence) => {
                    let Some(context) = self.burst.context(sequence) else {
                        continue;
                    };
                    let (node, begins_anew) = (context.node, context.memory == Memory::None);
                    self.count_step(node)?;
                    if begins_anew {
                        self.burst.forget_inside(sequence);
                    }
                    self.execute(sequence, node);
                }
                Task::Unwind(sequence) => {
                    let Some(node) = self.burst.context(sequence).map(|context| context.node) else {
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
        let limit = self.burst.limits.max_steps;
        if self.burst.scratch.steps >= limit {
            let activity_id = self.burst.program.node(next).id.clone();
            return Err(Error::TooManySteps { limit, activity_id });
        }
        self.burst.scratch.steps += 1;
        self.burst.host.check_interrupts();
        Ok(())
    }

    pub(super) fn execute(&mut self, sequence: u32, node: NodeIx) {
        let node = self.burst.program.node(node);
        let was_trigger = self.burst.is_trigger(sequence);
        if was_trigger {
            self.give_trigger_input(sequence);
        }
        if !self.begin_attempt(sequence, node) {
            return;
        }
        let bookmarks = self.burst.scratch.next_bookmark;
        let unit = self.unit(sequence, node, |cx| {
            cx.evaluate_inputs()?;
            cx.journal_inputs();
            node.activity.execute(cx)
        });
        if unit == UnitOutcome::Undone {
            return;
        }
        self.burst.instance.state.trigger_used |= was_trigger;
        // An activity that ended immediately has its `Completed` event; a waiting activity has the event of its
        // bookmark.
        let scratch = &self.burst.scratch;
        let ended = scratch.ending.is_some() || scratch.finishing.iter().any(|(s, _)| *s == sequence);
        if !ended && scratch.next_bookmark == bookmarks {
            self.burst.event(EventKind::Started, sequence, node, None);
        }
        self.give_input(sequence);
    }

    /// Resumes an execution at one of its bookmarks.
    pub fn resume(&mut self, sequence: u32, bookmark: &Resumed) -> Result<(), Error> {
        let Some(context) = self.burst.context(sequence) else {
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
            || self.resume_unwinding(sequence, bookmark);
        if is_own {
            return Ok(());
        }
        let unit = self.resume_unit(sequence, bookmark);
        // If an ancestor handled the fault or another attempt follows, the bookmark does not stay.
        let is_faulted = self.burst.context(sequence).is_some_and(|context| context.status == ActivityStatus::Faulted);
        self.burst.scratch.delta.keep_resumed = unit == UnitOutcome::Undone && is_faulted;
        Ok(())
    }

    /// Resumes an execution at a bookmark, stored or made in this burst, with the input of the resume.
    pub(super) fn resume_unit(&mut self, sequence: u32, bookmark: &Resumed) -> UnitOutcome {
        let Some(ix) = self.burst.context(sequence).map(|context| context.node) else { return UnitOutcome::Undone };
        let node = self.burst.program.node(ix);
        let input = self.burst.scratch.resume_input.as_ref().map(copy_or_null);
        if node.retry.is_some() {
            let payload = bookmark.payload.as_ref().map(copy_or_null).unwrap_or_default();
            self.burst.scratch.resuming = Some((sequence, bookmark.name.clone(), payload));
        }
        let unit = self.unit(sequence, node, |cx| {
            cx.burn(bookmark);
            match bookmark.callback.as_deref() {
                Some(callback) => call_back(cx, callback, bookmark, input.as_ref()),
                None => node.activity.resumed(cx, bookmark, input.as_ref()),
            }
        });
        self.burst.scratch.resuming = None;
        unit
    }

    pub(super) fn clear_fault(&mut self, sequence: u32) {
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) {
            context.status = ActivityStatus::Running;
        }
        self.burst.add_faults(sequence, -1);
    }

    /// Calls an activity. A fault undoes the call's effects; then [`fault`](Self::fault) offers it to the ancestors or
    /// makes it an incident.
    pub(super) fn unit(
        &mut self,
        sequence: u32,
        node: &'a Node,
        call: impl FnOnce(&mut Execution<'_>) -> Result<(), Fault>,
    ) -> UnitOutcome {
        let savepoint = self.burst.savepoint();
        // A flowchart evaluates the mode inputs of its joins.
        let flow = node.flow.as_deref();
        let uses_sql = node.uses_sql || flow.is_some_and(FlowGraph::joins_use_sql);
        if uses_sql {
            self.burst.host.begin_step();
        }
        let mut cx = Execution::new(self.burst.reborrow(), sequence, node);
        // A computation that was interrupted may have returned an incomplete result.
        let result = call(&mut cx).and_then(|()| Bounds::check_interrupts());
        cx.give_back();
        if uses_sql {
            self.burst.host.end_step(result.is_ok());
        }
        self.burst.scratch.in_unit = false;
        match result {
            Ok(()) => UnitOutcome::Kept,
            Err(fault) => {
                // A computation that was interrupted does not know the reason: the host raises it here.
                self.burst.host.check_interrupts();
                self.burst.rollback(&savepoint);
                self.fault(sequence, node, fault);
                UnitOutcome::Undone
            }
        }
    }

    /// Closes completed executions, and ancestors that complete because of them.
    fn close_completed(&mut self) -> Result<(), Error> {
        loop {
            if let Some(sequence) = self.burst.scratch.ending {
                self.end_workflow(sequence);
                return Ok(());
            }
            let Some((sequence, outcomes)) = self.burst.scratch.finishing.pop_front() else {
                return Ok(());
            };
            self.finish(sequence, &outcomes)?;
        }
    }

    fn finish(&mut self, sequence: u32, outcomes: &Outcomes) -> Result<(), Error> {
        let Some(context) = self.burst.context(sequence) else {
            return Ok(());
        };
        let (ix, parent, tag) = (context.node, context.parent, context.tag);
        let node = self.burst.program.node(ix);
        self.finish_below(sequence);
        self.burst.cancel_children(sequence);
        if !self.note_handled(sequence, node) {
            self.completed_event(sequence, node, outcomes);
            self.burst.leave_scope(sequence);
        }
        let last_result = self.burst.context(sequence).and_then(Context::latest_result);
        let request = self.burst.context(sequence).and_then(|context| context.request);
        self.burst.close(sequence);
        let Some(parent) = parent else { return Ok(()) };
        let Some(above) = self.burst.context(parent) else {
            return Ok(());
        };
        if matches!(above.memory, Memory::Unwinding(_)) {
            self.burst.push(parent, Task::Unwind(parent));
            return Ok(());
        }
        // A faulted parent is not called: its retry cancels all its children.
        if above.status != ActivityStatus::Running {
            return Ok(());
        }
        let above = above.node;
        self.count_step(above)?;
        let above = self.burst.program.node(above);
        let child = Child { node: ix, sequence, tag, terminal: node.terminal };
        if !above.runs_bodies_beside() {
            self.burst.hand_on_request(parent, request);
        }
        self.burst.scratch.cause = Some(Cause { parent, last_result, request });
        self.unit(parent, above, |cx| above.activity.child_completed(cx, &child, outcomes));
        self.burst.scratch.cause = None;
        Ok(())
    }

    /// Closes executions that completed together with an enclosing composite. The executions between them and the
    /// composite are not called, because they end with it.
    fn finish_below(&mut self, composite: u32) {
        // Nearly always nothing else has completed.
        if self.burst.scratch.finishing.is_empty() {
            return;
        }
        for (sequence, outcomes) in std::mem::take(&mut self.burst.scratch.finishing) {
            match self.burst.context(sequence).map(|context| context.node) {
                Some(node) if self.burst.is_below(sequence, composite) => {
                    self.burst.cancel_children(sequence);
                    self.completed_event(sequence, self.burst.program.node(node), &outcomes);
                    self.burst.leave_scope(sequence);
                    let request = self.burst.context(sequence).and_then(|context| context.request);
                    self.burst.hand_on_request(composite, request);
                    self.burst.close(sequence);
                }
                _ => self.burst.scratch.finishing.push_back((sequence, outcomes)),
            }
        }
    }

    fn completed_event(&mut self, sequence: u32, node: &Node, outcomes: &Outcomes) {
        let data = match outcomes {
            Outcomes::Done => None,
            Outcomes::Named(names) => Some(Value::from(names.as_slice())),
            Outcomes::Empty => Some(Value::Array(Vec::new())),
        };
        self.burst.journal_outputs(sequence, node);
        self.burst.event(EventKind::Completed, sequence, node, data);
    }

    /// Ends the workflow after `Finish`, or after `Complete` without an enclosing composite: all other executions are
    /// cancelled.
    fn end_workflow(&mut self, by: u32) {
        self.burst.scratch.ending = None;
        if let Some(context) = self.burst.context(by) {
            let (node, own) = (self.burst.program.node(context.node), by);
            let finishing = std::mem::take(&mut self.burst.scratch.finishing);
            let outcomes = finishing.into_iter().find(|(sequence, _)| *sequence == own);
            let outcomes = outcomes.map(|(_, outcomes)| outcomes).unwrap_or_default();
            self.completed_event(by, node, &outcomes);
        }
        let mut around = BTreeSet::new();
        let mut current = Some(by);
        while let Some(sequence) = current {
            around.insert(sequence);
            current = self.burst.context(sequence).and_then(|context| context.parent);
        }
        self.burst.leave_scopes(&around);
        self.burst.clear_beside_handlers(&around);
        self.burst.instance.state.continuation = self.burst.scratch.continuation.take();
        self.burst.instance.sub_status = SubStatus::Finished;
    }

    /// Cancels the instance. Work that would have been compensated becomes an incident.
    pub fn cancel(&mut self, reason: Option<&str>) {
        if self.burst.program.compensation().is_used {
            self.abandon_handlers();
        }
        self.burst.clear_all(&BTreeSet::new());
        self.burst.scratch.delta.clear_all = true;
        self.burst.instance.sub_status = SubStatus::Cancelled;
        let data = reason.map(|reason| Value::String(reason.to_owned()));
        self.burst.workflow_event(EventKind::WorkflowCancelled, data);
    }

    /// Sets the sub-status of the instance and returns the delta to store.
    pub fn conclude(mut self) -> Delta {
        self.make_timeouts();
        let bookmarks = std::mem::take(&mut self.burst.scratch.bookmarks);
        let mut created: Vec<_> = bookmarks.into_iter().collect();
        created.sort_by_key(|((_, order), _)| *order);
        for ((sequence, _), _) in &created {
            if let Some(context) = self.burst.instance.state.contexts.get_mut(sequence) {
                context.bookmarks = context.bookmarks.saturating_add(1);
            }
        }
        let delta = &mut self.burst.scratch.delta;
        delta.created = created.into_iter().map(|(_, bookmark)| bookmark).collect();
        if !delta.tasks.is_empty() {
            let open: BTreeSet<_> = delta.created.iter().map(|bookmark| bookmark.id).collect();
            delta.tasks.retain(|task: &NewTask| open.contains(&task.bookmark_id));
        }
        if !self.burst.scratch.notices.is_empty() {
            let opened = std::mem::take(&mut self.burst.scratch.delta.tasks);
            self.send_notices(&opened);
            self.burst.scratch.delta.tasks = opened;
        }
        let (status, event) = self.status();
        self.update_deadline(status);
        self.burst.instance.sub_status = status;
        self.hand_over(status);
        self.burst.workflow_event(event, None);
        self.into_delta()
    }

    fn status(&self) -> (SubStatus, EventKind) {
        if self.burst.scratch.has_failed {
            return (SubStatus::Faulted, EventKind::WorkflowFaulted);
        }
        let mut open = self.burst.instance.state.contexts.values().peekable();
        if open.peek().is_none() {
            return self.end_status();
        }
        let faulted = open.any(|context| context.status == ActivityStatus::Faulted);
        match self.burst.program.options.incidents {
            IncidentStrategy::Fault if faulted => (SubStatus::Faulted, EventKind::WorkflowFaulted),
            IncidentStrategy::Fault | IncidentStrategy::ContinueWithIncidents => {
                (SubStatus::Suspended, EventKind::WorkflowSuspended)
            }
        }
    }

    /// The delta to store. For an ended instance, the outputs of activities are dropped.
    pub fn into_delta(self) -> Delta {
        let instance = &self.burst.instance;
        if matches!(instance.sub_status, SubStatus::Finished | SubStatus::Cancelled) || instance.has_failed() {
            // No later burst can read them.
            self.burst.instance.state.outputs.clear();
            self.burst.instance.state.outputs_shared_below = 0;
            self.burst.instance.state.armed_spans.clear();
            for context in self.burst.instance.state.contexts.values_mut() {
                (context.outputs, context.last_result, context.ended_inside) = Default::default();
            }
            self.burst.instance.state.continuation = None;
        }
        std::mem::take(&mut self.burst.scratch.delta)
    }
}

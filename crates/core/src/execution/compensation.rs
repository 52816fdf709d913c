//! Running the handlers of compensation records, one after the other.
//!
//! Three kinds of executions do this, all marked by [`Memory::Unwinding`]: that of the instance, which cancels
//! interrupted work and at the end of a run confirms or compensates the rest; those of `Compensate` and `Confirm`; and
//! one for each record being handled. The burst never calls the activity of such an execution. Everything here happens
//! between units.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use crate::bookmark::Resumed;
use crate::execution::Outcomes;
use crate::execution::burst::{Burst, Task};
use crate::execution::context::Execution;
use crate::execution::interruption::Interrupted;
use crate::execution::runner::Runner;
use crate::instance::compensation::{
    Ending, HELD_BY_INSTANCE, HELD_BY_INTERRUPTION, Record, RecordAction, RecordFilter, Unwinding,
};
use crate::instance::outputs::{EndedInside, LastResult};
use crate::instance::{Context, Memory, SubStatus};
use crate::journal::EventKind;
use crate::node_ix::NodeIx;
use crate::program::Node;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::Json;

/// Code of the incident that names the work dropped by a forced cancel.
pub const COMPENSATION_DROPPED: &str = "compensation_dropped";

/// Maximum number of activities named in a message.
pub(super) const MAX_NAMED: usize = 10;

/// A burst's data about handlers.
#[derive(Default)]
pub(crate) struct UnwindState {
    /// The execution that runs the handlers of the instance, if it is open.
    pub execution: Option<u32>,
    /// Tasks of these handlers. They come before all others.
    pub queue: VecDeque<Task>,
    /// Interrupted executions without a record yet.
    pub interrupted: Vec<Interrupted>,
    /// Whether the instance may have another record to handle.
    pub look: bool,
    /// Whether an execution that handled a record has ended, for which others may wait.
    pub has_ended_one: bool,
    /// How the run has ended, once its final handlers have run.
    pub ended: Option<Ending>,
    /// Number of incidents of this burst that ended the run, so that no later attempt resolves them.
    pub final_incidents: usize,
}

impl Burst<'_> {
    /// Finds the execution that runs the instance's handlers.
    pub fn find_unwinding(&mut self) {
        if self.program.compensation().is_used {
            let mut contexts = self.instance.state.contexts.iter();
            let found = contexts.find(|(_, context)| ending_of(context).is_some());
            self.scratch.unwinding.execution = found.map(|(sequence, _)| *sequence);
        }
    }

    /// How the run is about to end.
    pub fn ending(&self) -> Ending {
        let context = self.scratch.unwinding.execution.and_then(|run| self.context(run));
        context.and_then(ending_of).unwrap_or(Ending::None)
    }

    /// Opens an execution that runs handlers.
    fn open_unwinding(&mut self, parent: Option<u32>, node: NodeIx, kept: Vec<(String, Json)>, of: Unwinding) -> u32 {
        let sequence = self.next_number();
        let context = Context { node, parent, variables: kept, memory: Memory::Unwinding(of), ..Context::default() };
        self.instance.state.contexts.insert(sequence, context);
        if let Some(parent) = parent {
            self.scratch.children.insert((parent, sequence));
        }
        sequence
    }

    /// Makes the execution that runs the instance's handlers end it in this way; opens it if there is none.
    fn unwind_to(&mut self, ending: Ending) -> u32 {
        let of = Unwinding::Instance(ending);
        self.scratch.unwinding.look = true;
        let Some(run) = self.scratch.unwinding.execution else {
            let run = self.open_unwinding(None, NodeIx(0), Vec::new(), of);
            self.scratch.unwinding.execution = Some(run);
            return run;
        };
        if let Some(context) = self.instance.state.contexts.get_mut(&run) {
            context.memory = Memory::Unwinding(of);
        }
        run
    }

    /// The next record that the instance itself handles.
    fn next_record(&mut self) -> Option<(Record, RecordAction)> {
        let newest = |holder| RecordFilter { holder, node: None, newest: true };
        if let Some(record) = self.host.find_record(newest(HELD_BY_INTERRUPTION)) {
            return Some((record, RecordAction::Cancel));
        }
        let action = match self.ending() {
            Ending::None => return None,
            Ending::Cancelled if !self.program.options.compensate_on.cancel => RecordAction::Confirm,
            Ending::Finished => RecordAction::Confirm,
            Ending::Cancelled | Ending::Faulted => RecordAction::Compensate,
        };
        let wanted = RecordFilter { newest: action == RecordAction::Compensate, ..newest(HELD_BY_INSTANCE) };
        self.host.find_record(wanted).map(|record| (record, action))
    }

    /// The ids of these activities for a message; `all` is the total number of activities.
    pub(super) fn names(&self, activities: &[NodeIx], all: u64) -> String {
        let names: Vec<String> = activities.iter().map(|node| format!("\"{}\"", self.program.node(*node).id)).collect();
        match all.saturating_sub(activities.len() as u64) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }

    /// Whether an execution handles a record.
    fn is_handled(&self, number: u32) -> bool {
        self.instance.state.contexts.values().any(
            |context| matches!(context.memory, Memory::Unwinding(Unwinding::One { record, .. }) if record == number),
        )
    }

    /// Continues executions whose next record was being handled by another execution.
    fn wake_waiting(&mut self) {
        let contexts = self.instance.state.contexts.iter();
        let each = contexts.filter(|(_, context)| matches!(context.memory, Memory::Unwinding(Unwinding::Each { .. })));
        for sequence in each.map(|(sequence, _)| *sequence).collect::<Vec<_>>() {
            if !self.has_children(sequence) {
                self.push(sequence, Task::Unwind(sequence));
            }
        }
    }

    /// The execution of the handler that contains an execution, and what is done with its record.
    pub fn handler_around(&self, sequence: u32) -> Option<(u32, NodeIx, RecordAction)> {
        let mut below = sequence;
        while let Some(parent) = self.context(below)?.parent {
            let above = self.context(parent)?;
            if let Memory::Unwinding(Unwinding::One { action, .. }) = above.memory {
                return Some((below, above.node, action));
            }
            below = parent;
        }
        None
    }
}

/// How the run is about to end, if this is the execution that runs the instance's handlers.
fn ending_of(context: &Context) -> Option<Ending> {
    match context.memory {
        Memory::Unwinding(Unwinding::Instance(ending)) => Some(ending),
        _ => None,
    }
}

impl Runner<'_> {
    /// Makes the instance handle its next record, unless it is handling one.
    pub(super) fn unwind(&mut self) {
        if !self.burst.program.compensation().is_used {
            return;
        }
        self.burst.record_interrupted();
        if std::mem::take(&mut self.burst.scratch.unwinding.has_ended_one) {
            self.burst.wake_waiting();
        }
        let run = self.burst.scratch.unwinding.execution;
        if !self.burst.scratch.unwinding.look || run.is_some_and(|run| self.burst.has_children(run)) {
            return;
        }
        self.burst.scratch.unwinding.look = false;
        match self.burst.next_record() {
            Some((record, action)) => {
                let run = run.unwrap_or_else(|| self.burst.unwind_to(Ending::None));
                self.burst.scratch.unwinding.look = false;
                self.handle(run, record, action);
            }
            None => self.end_unwinding(),
        }
    }

    /// Closes the execution that runs the instance's handlers, when nothing is left for it.
    fn end_unwinding(&mut self) {
        let ending = self.burst.ending();
        if let Some(run) = self.burst.scratch.unwinding.execution.take() {
            self.burst.close(run);
            self.burst.scratch.unwinding.ended = Some(ending).filter(|ending| *ending != Ending::None);
        }
    }

    /// Starts to confirm the work of the run, if everything has ended and no other ending was requested. `false`:
    /// nothing needs to run for that.
    pub(super) fn confirm_all(&mut self) -> bool {
        let compensation = self.burst.program.compensation();
        let is_end = self.burst.instance.state.contexts.is_empty() && self.burst.scratch.unwinding.ended.is_none();
        if !compensation.is_used || !is_end {
            return false;
        }
        let oldest = RecordFilter { holder: HELD_BY_INSTANCE, node: None, newest: false };
        let has_any = compensation.has_confirmation && self.burst.host.find_record(oldest).is_some();
        if has_any {
            self.burst.unwind_to(Ending::Finished);
        } else {
            self.burst.host.remove_records();
        }
        has_any
    }

    /// Starts to handle a record for an execution that requested it.
    fn handle(&mut self, parent: u32, record: Record, action: RecordAction) {
        let Record { number, kept, .. } = record;
        let handler = self.burst.program.node(kept.node).handler(action);
        let one = Unwinding::One { action, record: number, has_handler: handler.is_some() };
        let sequence = self.burst.open_unwinding(Some(parent), kept.node, kept.variables, one);
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) {
            context.last_result = kept.last_result.map(|value| LastResult { order: 0, value });
            let outputs = kept.outputs.into_iter().collect();
            context.ended_inside = Some(Box::new(EndedInside { outputs, ..EndedInside::default() }));
            context.drop_if_nothing_ended();
        }
        match handler {
            Some(handler) => self.burst.enqueue(sequence, handler, 0, Vec::new()),
            None => self.burst.push(sequence, Task::Unwind(sequence)),
        }
    }

    /// Continues with the next record of an execution that handles records.
    pub(super) fn handle_next(&mut self, sequence: u32) {
        let Some(context) = self.burst.context(sequence) else { return };
        let Memory::Unwinding(of) = &context.memory else { return };
        let (action, holder, node) = match *of {
            Unwinding::Instance(_) => {
                self.burst.scratch.unwinding.look = true;
                return;
            }
            Unwinding::Each { action, holder, node } => (action, holder, node),
            Unwinding::One { action, record, has_handler } => {
                let is_scope = self.burst.program.node(context.node).activity.descriptor().compensation.is_scope();
                if is_scope && self.burst.ending() != Ending::None {
                    // Whatever the scope still holds takes its turn among all work of the instance.
                    self.burst.host.move_records(record, HELD_BY_INSTANCE);
                }
                // The handler of a Compensable is responsible for everything inside: what it leaves stays.
                let is_confirmed = action == RecordAction::Confirm || has_handler && !is_scope;
                (if is_confirmed { RecordAction::Confirm } else { RecordAction::Compensate }, record, None)
            }
        };
        match self.burst.host.find_record(RecordFilter { holder, node, newest: action == RecordAction::Compensate }) {
            // Another execution is handling it: this execution continues when the other has ended.
            Some(record) if self.burst.is_handled(record.number) => {}
            Some(record) => self.handle(sequence, record, action),
            None => self.burst.scratch.finishing.push_back((sequence, Outcomes::Done)),
        }
    }

    /// Removes the record that an execution has handled, and writes the event. `false`: it has handled none.
    pub(super) fn note_handled(&mut self, sequence: u32, node: &Node) -> bool {
        let Some(context) = self.burst.context(sequence) else { return false };
        let Memory::Unwinding(Unwinding::One { action, record, .. }) = context.memory else { return false };
        self.burst.host.remove_record(record);
        let kind = match action {
            RecordAction::Compensate => EventKind::Compensated,
            RecordAction::Confirm => EventKind::Confirmed,
            RecordAction::Cancel => EventKind::CancellationHandled,
        };
        self.burst.event(kind, sequence, node, None);
        true
    }

    /// Continues the instance's handlers, if the resumed bookmark is for that.
    pub(super) fn resume_unwinding(&mut self, sequence: u32, bookmark: &Resumed) -> bool {
        let is_it = bookmark.name == stimulus::COMPENSATION;
        if let Some(context) = self.burst.context(sequence).filter(|_| is_it) {
            let node = self.burst.program.node(context.node);
            Execution::new(self.burst.reborrow(), sequence, node).burn(bookmark);
            self.burst.scratch.unwinding.look = true;
        }
        is_it
    }

    /// Whether an execution is part of a handler that the instance runs.
    pub(super) fn is_handling_for_instance(&self, sequence: u32) -> bool {
        self.burst.scratch.unwinding.execution.is_some_and(|run| self.burst.is_below(sequence, run))
    }

    /// Ends everything except the instance's handlers, which then compensate the completed work.
    pub(super) fn unwind_after_fault(&mut self) {
        self.burst.scratch.unwinding.final_incidents = self.burst.scratch.delta.incidents.len();
        self.burst.unwind_to(Ending::Faulted);
        self.burst.clear_beside_handlers(&BTreeSet::new());
    }

    /// Cancels an instance that has records to handle first: its handlers become due immediately. `false`: there is
    /// nothing to handle.
    pub(super) fn begin_cancelling(&mut self, reason: Option<&str>) -> bool {
        if !self.burst.program.compensation().is_used {
            return false;
        }
        let was_finished = self.burst.ending() == Ending::Finished;
        let run = self.burst.unwind_to(Ending::Cancelled);
        if was_finished {
            // Unconfirmed work will not be confirmed any more.
            self.burst.cancel_children(run);
        }
        self.burst.clear_beside_handlers(&BTreeSet::new());
        self.burst.record_interrupted();
        let is_busy = self.burst.has_children(run);
        if !is_busy && self.burst.next_record().is_none() {
            self.burst.close(run);
            self.burst.scratch.unwinding.execution = None;
            return false;
        }
        let reason = reason.map(|reason| Value::String(reason.to_owned()));
        self.burst.workflow_event(EventKind::WorkflowCancelling, reason);
        if !is_busy {
            let now = self.burst.scratch.now;
            self.create_due(run, stimulus::COMPENSATION, now, None);
        }
        true
    }

    /// Drops the remaining records, and names them in an incident.
    pub(super) fn abandon_handlers(&mut self) {
        let (activities, all) = self.burst.host.list_records(MAX_NAMED);
        let Some(first) = activities.first() else { return };
        let node = self.burst.program.node(*first);
        let fault = Fault::new("55000", "workflow was cancelled before all it had done was compensated")
            .detail(format!("Not compensated: {}.", self.burst.names(&activities, all)));
        let fault = Fault { code: Some(COMPENSATION_DROPPED.to_owned()), ..fault };
        self.burst.add_incident(self.burst.instance.state.next_context, node, fault);
        self.burst.host.remove_records();
    }

    /// Adds the remaining work to the fault of a handler.
    pub(super) fn name_what_is_left(&mut self, sequence: u32, fault: Fault) -> Fault {
        let Some((_, node, action)) = self.burst.handler_around(sequence) else { return fault };
        let what = match action {
            RecordAction::Compensate => "compensated",
            RecordAction::Confirm => "confirmed",
            RecordAction::Cancel => "cancelled",
        };
        let id = &self.burst.program.node(node).id;
        let (activities, all) = self.burst.host.list_records(MAX_NAMED);
        let left =
            format!("Activity \"{id}\" is not {what}. Still to be handled: {}.", self.burst.names(&activities, all));
        let detail = fault.detail.iter().map(String::as_str).chain([left.as_str()]).collect::<Vec<_>>().join("\n");
        Fault { detail: Some(detail), ..fault }
    }

    /// The final status of an instance without open executions.
    pub(super) fn end_status(&self) -> (SubStatus, EventKind) {
        match self.burst.scratch.unwinding.ended {
            Some(Ending::Cancelled) => (SubStatus::Cancelled, EventKind::WorkflowCancelled),
            Some(Ending::Faulted) => (SubStatus::Faulted, EventKind::WorkflowFaulted),
            Some(Ending::Finished | Ending::None) | None => (SubStatus::Finished, EventKind::WorkflowFinished),
        }
    }
}

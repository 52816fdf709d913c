//! Faults: an ancestor of the faulted execution may handle one, otherwise it becomes an incident.

use serde_json::json;

use crate::execution::Faulted;
use crate::execution::burst::Cause;
use crate::execution::runner::{Runner, UnitOutcome};
use crate::instance::compensation::Unwinding;
use crate::instance::{ActivityStatus, Context, Memory};
use crate::journal::EventKind;
use crate::program::Node;
use workflow_value::fault::Fault;

impl Runner<'_> {
    /// Handles the fault of an execution whose call was undone: its policy may repeat it, or an ancestor may handle it.
    pub(super) fn fault(&mut self, sequence: u32, node: &Node, fault: Fault) {
        if !self.repeat(sequence, sequence, &fault) {
            self.pass_on(sequence, node, fault);
        }
    }

    /// Offers a fault that is not followed by another attempt to the ancestors, or makes it an incident.
    pub(super) fn pass_on(&mut self, sequence: u32, node: &Node, fault: Fault) {
        let data = json!({ "sqlstate": fault.sqlstate, "message": fault.message });
        self.burst.event(EventKind::Faulted, sequence, node, Some(data));
        if self.is_taken(sequence, &fault) {
            return;
        }
        let fault = self.name_what_is_left(sequence, fault);
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) {
            context.status = ActivityStatus::Faulted;
        }
        self.burst.end_timeout(sequence);
        self.burst.add_faults(sequence, 1);
        self.burst.add_incident(sequence, node, fault);
        // A failed handler of the instance can be retried.
        if self.burst.program.options.compensate_on.fault && !self.is_handling_for_instance(sequence) {
            self.end_run();
        }
    }

    /// Offers a fault to the ancestors, innermost first, each in its own unit. The ancestor that handles it continues
    /// without its child on the path to the fault; that child is cancelled with all its descendants. An ancestor that
    /// does not handle it may be repeated by its policy. An ancestor that faults in the process ends the search.
    fn is_taken(&mut self, faulted: u32, fault: &Fault) -> bool {
        let Some(context) = self.burst.context(faulted) else { return false };
        let attempts = context.attempt();
        let (last_result, request) = (context.latest_result(), context.request);
        let activity_id = self.burst.program.node(context.node).id.as_str();
        let told = Faulted { fault, activity_id, attempts };
        let mut below = faulted;
        while let Some(sequence) = self.burst.context(below).and_then(|context| context.parent) {
            let (Some(child), Some(context)) = (self.burst.child(below), self.burst.context(sequence)) else {
                return false;
            };
            let is_running = context.status == ActivityStatus::Running && !is_handling(context);
            let node = context.node;
            below = sequence;
            if !is_running {
                continue;
            }
            let node = self.burst.program.node(node);
            let mut is_taken = false;
            let last_result = last_result.clone();
            self.burst.scratch.cause = Some(Cause { parent: sequence, last_result, request });
            let unit = self.unit(sequence, node, |cx| {
                is_taken = node.activity.child_faulted(cx, &child, &told)?;
                Ok(())
            });
            self.burst.scratch.cause = None;
            if unit == UnitOutcome::Undone {
                // If an ancestor handled the second fault, it has cancelled the first execution as well.
                return self.burst.context(faulted).is_none();
            }
            if is_taken {
                self.burst.abandon_children(child.sequence);
                self.burst.cancel(child.sequence);
                self.drop_superseded();
                return true;
            }
            if self.repeat(sequence, faulted, fault) {
                return true;
            }
        }
        false
    }
}

/// Whether an execution handles a record, or records of the instance: it has no activity or policy to ask.
fn is_handling(context: &Context) -> bool {
    matches!(context.memory, Memory::Unwinding(Unwinding::Instance(_) | Unwinding::One { .. }))
}

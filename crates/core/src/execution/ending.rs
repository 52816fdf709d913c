//! Ending a run by a fault of the whole, and the time limit of a run.
//!
//! The time limit belongs to the instance: its bookmark has no execution, so no end or restart of an activity affects
//! it, and a faulted instance keeps it. The bookmark exists from the end of the first burst until the run ends.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use crate::bookmark::{Bookmark, Resumed};
use crate::execution::burst::{NO_EXECUTION, Scratch};
use crate::execution::runner::Runner;
use crate::execution::{Delta, Limits, timeout};
use crate::host::Host;
use crate::instance::compensation::Ending;
use crate::instance::{Instance, SubStatus, Timeout};
use crate::journal::{EventKind, RUN_UNTIL};
use crate::node_ix::NodeIx;
use crate::program::Program;
use workflow_http::stimulus::{self, RUN_TIMEOUT};
use workflow_value::fault::{Error, Fault};
use workflow_value::value::instant_text;

impl Runner<'_> {
    /// Ends the run with a fault of the whole.
    fn end_by_fault(&mut self, fault: Fault) {
        let Some(root) = self.root() else { return };
        let program = self.burst.program;
        let node = program.node(NodeIx(0));
        let data = json!({ "sqlstate": fault.sqlstate, "message": fault.message });
        self.burst.event(EventKind::Faulted, root, node, Some(data));
        self.burst.add_incident(root, node, fault);
        self.end_run();
    }

    /// Ends the run after a fault that has become an incident: open work is cancelled, then completed work is
    /// compensated, and the instance is faulted for good.
    pub(super) fn end_run(&mut self) {
        // The instance's handlers continue, and so do the children for which they wait.
        let handlers = self.burst.scratch.unwinding.execution;
        if let Some(root) = self.root().filter(|root| Some(*root) != handlers) {
            self.burst.abandon_children(root);
        }
        if self.burst.program.compensation().is_used {
            return self.unwind_after_fault();
        }
        self.burst.clear_all(&BTreeSet::new());
        self.burst.scratch.has_failed = true;
    }

    /// Ends the run because its time limit is exceeded.
    fn end_by_time(&mut self, bookmark: &Resumed) {
        let Some(root) = self.root() else { return };
        let program = self.burst.program;
        let node = program.node(NodeIx(0));
        self.burst.bookmark_event(EventKind::Resumed, root, node, Some(bookmark.id), None);
        self.burst.instance.state.deadline = None;
        self.burst.scratch.delta.burned.push(bookmark.id);
        if self.burst.ending() != Ending::None {
            return;
        }
        let armed = self.burst.take_armed_span((NO_EXECUTION, false));
        // Ignore a bookmark left over from a version with a timeout if the current version has none.
        let Some(span) = armed.or(program.options.timeout) else { return };
        let (name, seconds) = (&program.definition_id, timeout::seconds(span));
        self.end_by_fault(timeout::fault(format!("a run of workflow \"{name}\" took longer than {seconds} s")));
    }

    /// Creates the bookmark for the time limit of a run that has started, or burns it when the run has ended.
    pub(super) fn update_deadline(&mut self, sub_status: SubStatus) {
        let (until, stored) = (self.burst.scratch.run_until.take(), self.burst.instance.state.deadline);
        let is_open = !self.burst.instance.state.contexts.is_empty();
        match (sub_status, until, stored) {
            (SubStatus::Finished | SubStatus::Cancelled, _, Some(deadline)) => {
                self.burst.instance.state.deadline = None;
                self.burst.scratch.delta.burned.push(deadline.bookmark);
            }
            (SubStatus::Faulted, _, Some(deadline)) if !is_open => {
                self.burst.instance.state.deadline = None;
                self.burst.scratch.delta.burned.push(deadline.bookmark);
            }
            (SubStatus::Suspended | SubStatus::Faulted, Some(until), None) if is_open => self.make_deadline(until),
            _ => {}
        }
    }

    fn make_deadline(&mut self, until: DateTime<Utc>) {
        let Some(root) = self.root() else { return };
        let node = self.burst.program.node(NodeIx(0));
        let (id, execution) = (self.burst.host.new_id(), self.burst.id_of(NO_EXECUTION));
        self.burst.instance.state.deadline = Some(Timeout { bookmark: id, until: until.timestamp_micros() });
        let data = json!({ RUN_UNTIL: instant_text(until) });
        self.burst.bookmark_event(EventKind::BookmarkCreated, root, node, Some(id), Some(data));
        self.burst.scratch.delta.created.push(Bookmark {
            id,
            activity_id: node.id.clone(),
            node_id: node.node_id.clone(),
            activity_type: node.type_name.clone(),
            activity_instance_id: execution,
            name: RUN_TIMEOUT.to_owned(),
            hash: Some(stimulus::hash(RUN_TIMEOUT, None, Some(&execution.to_string()))),
            payload: None,
            metadata: None,
            callback: None,
            auto_burn: true,
            auto_complete: false,
            due_at: Some(until),
        });
    }

    /// The execution of the root, which is open until the run has ended.
    fn root(&self) -> Option<u32> {
        self.burst.instance.state.contexts.iter().find(|(_, context)| context.parent.is_none()).map(|(root, _)| *root)
    }
}

/// Ends a run whose time limit is exceeded.
///
/// # Errors
/// As `resume`: handlers may run.
pub(super) fn run_out(
    program: &Program,
    instance: &mut Instance,
    bookmark: &Resumed,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    runner.set_executing(EventKind::WorkflowResumed);
    runner.end_by_time(bookmark);
    runner.drain()?;
    Ok(runner.conclude())
}

/// The deadline of a run that starts now.
pub(super) fn run_until(program: &Program, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    program.options.timeout.and_then(|timeout: TimeDelta| now.checked_add_signed(timeout))
}

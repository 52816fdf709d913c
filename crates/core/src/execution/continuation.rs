//! Ending a run so that another one starts in its place.
//!
//! The run ends as by `Finish`. The continuation is kept in the state until the run has ended, because confirmations
//! may have to wait first.

use serde_json::{Map, Value, json};

use crate::execution::Execution;
use crate::execution::burst::Burst;
use crate::execution::compensation::MAX_NAMED;
use crate::execution::runner::Runner;
use crate::instance::SubStatus;
use crate::instance::continuation::Continuation;
use crate::journal::EventKind;
use workflow_value::fault::Fault;
use workflow_value::value::{Json, check_extent};

impl Execution<'_> {
    /// Ends the whole workflow, and starts an instance of a definition (by default, of the same one) in its place. With
    /// `confirm`, completed work is confirmed as at the end of any run.
    ///
    /// # Errors
    /// 55000 inside a handler, while child workflows run, and while work could be compensated and `confirm` is not set.
    /// The faults of [`continuation_version`](crate::host::Host::continuation_version).
    pub fn continue_as(
        &mut self,
        definition_id: Option<String>,
        input: Map<String, Value>,
        confirm: bool,
    ) -> Result<(), Fault> {
        if self.end_of_handler().is_some() {
            return Err(Fault::new("55000", "a workflow cannot continue as another one from inside a handler")
                .detail("The handlers of what has completed or was interrupted belong to the run that did it."));
        }
        self.burst.refuse_children()?;
        if !confirm {
            self.burst.refuse_records()?;
        }
        input.values().try_for_each(check_extent)?;
        let definition_id = definition_id.unwrap_or_else(|| self.burst.program.definition_id.clone());
        let version_id = self.burst.host.continuation_version(&definition_id, &input)?;
        let id = self.burst.host.new_id();
        let continuation = Continuation { id, version_id, definition_id, input: Json(Value::Object(input)) };
        self.finish_workflow();
        self.burst.scratch.continuation = Some(Box::new(continuation));
        Ok(())
    }
}

impl Burst<'_> {
    fn refuse_children(&mut self) -> Result<(), Fault> {
        // Children that notify people of tasks do not belong to the work of this instance.
        let notified = self.program.nodes.iter().filter_map(|node| node.notify.as_ref()?.workflow.as_deref());
        let notified: Vec<&str> = if self.program.notifies { notified.collect() } else { Vec::new() };
        // Children requested by this burst start when it is over.
        if self.scratch.delta.children.is_empty() && !self.host.has_children(&notified) {
            return Ok(());
        }
        Err(Fault::new("55000", "a workflow with running child workflows cannot continue as another one")
            .detail("The instance that begins would not be their parent.")
            .hint("Wait until they have ended, or cancel them."))
    }

    fn refuse_records(&mut self) -> Result<(), Fault> {
        if !self.program.compensation().is_used {
            return Ok(());
        }
        let (activities, all) = self.host.list_records(MAX_NAMED);
        if activities.is_empty() {
            return Ok(());
        }
        Err(Fault::new("55000", "a workflow with work that can be compensated cannot continue as another one")
            .detail(format!("Nothing could compensate it any more: {}.", self.names(&activities, all)))
            .hint("Confirm it first, or set \"confirm\" to true."))
    }
}

impl Runner<'_> {
    /// Hands over the continuation, if the run has ended and has one.
    pub(super) fn hand_over(&mut self, ended: SubStatus) {
        if ended != SubStatus::Finished {
            return;
        }
        let Some(next) = self.burst.instance.state.continuation.take() else { return };
        let data = json!({ "instance_id": next.id.to_string(), "definition_id": next.definition_id });
        self.burst.workflow_event(EventKind::WorkflowContinued, Some(data));
        self.burst.scratch.delta.continuation = Some(next);
    }
}

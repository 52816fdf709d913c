//! Starting and abandoning child workflows.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::child::{Begin, NewChild};
use crate::execution::Execution;
use crate::execution::burst::Burst;
use crate::instance::check_correlation_id;
use crate::journal::EventKind;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::check_extent;

/// Input that Elsa passes to every child workflow.
const PARENT: &str = "ParentInstanceId";

/// A request of an activity to start a child workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct StartChild {
    /// Id of the child, made by [`Execution::new_id`].
    pub id: Uuid,
    /// Input of the child; [`Execution::start_child`] adds the id of the parent.
    pub input: Map<String, Value>,
    /// Correlation id of the child at its start, if any.
    pub correlation_id: Option<String>,
    /// The bookmark of this execution that the child's report resumes; `None`: it does not wait for the child.
    pub bookmark_id: Option<Uuid>,
    /// In which transaction the child runs, and when it reports.
    pub begin: Begin,
}

impl Execution<'_> {
    /// Starts a child workflow of the published version of a definition after the burst. The activity faults here if
    /// the definition does not exist or does not accept the input.
    pub fn start_child(&mut self, definition_id: &str, child: StartChild) -> Result<(), Fault> {
        let StartChild { id, mut input, correlation_id, bookmark_id, begin } = child;
        check_correlation_id(correlation_id.as_deref())?;
        if correlation_id.is_some() {
            self.burst.host.check_key(correlation_id.as_deref())?;
        }
        input.values().try_for_each(check_extent)?;
        let version_id = self.burst.host.child_version(definition_id, &input)?;
        input.entry(PARENT).or_insert_with(|| Value::String(self.burst.instance.id.to_string()));
        self.journal(
            EventKind::ChildStarted,
            Some(json!({ "instance_id": id.to_string(), "definition_id": definition_id })),
        );
        let is_notice = false;
        let child = NewChild { id, version_id, input, correlation_id, bookmark_id, begin, is_notice };
        self.burst.scratch.delta.children.push(child);
        Ok(())
    }
}

impl Burst<'_> {
    /// Abandons the child workflows for which an execution or a descendant waits: a timeout, another attempt or a catch
    /// ends the wait. A child that this burst requested is not started; the extension cancels one that has started.
    pub fn abandon_children(&mut self, sequence: u32) {
        for sequence in self.with_all_below(sequence) {
            let Some(context) = self.context(sequence) else { continue };
            let waits = stimulus::built_in(&self.program.node(context.node).type_name).is_some_and(|it| it.is_of_child);
            if !waits {
                continue;
            }
            if context.bookmarks > 0 {
                let id = self.id_of(sequence);
                self.scratch.delta.abandoned.push(id);
            }
            let made: Vec<Uuid> = self.scratch.made_by(sequence).map(|(_, made)| made.id).collect();
            self.drop_requests(&made);
        }
    }

    /// Withdraws this burst's requests for children that were to report to these bookmarks.
    fn drop_requests(&mut self, bookmarks: &[Uuid]) {
        let delta = &mut self.scratch.delta;
        let is_dropped = |child: &NewChild| child.bookmark_id.is_some_and(|id| bookmarks.contains(&id));
        let dropped: Vec<Value> =
            delta.children.iter().filter(|child| is_dropped(child)).map(|child| child.id.to_string().into()).collect();
        if dropped.is_empty() {
            return;
        }
        delta.children.retain(|child| !is_dropped(child));
        delta.events.retain(|event| {
            let data = event.data.as_ref().filter(|_| event.kind == EventKind::ChildStarted);
            data.is_none_or(|data| !dropped.contains(&data.0["instance_id"]))
        });
    }
}

//! Starting child workflows.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::child::{Begin, NewChild};
use crate::execution::Execution;
use crate::fault::Fault;
use crate::instance::refuse_everyone;
use crate::journal::EventKind;
use crate::value::check_extent;

/// Input that Elsa passes to every child workflow.
const PARENT: &str = "ParentInstanceId";

/// A child workflow as an activity requests it.
#[derive(Clone, Debug, PartialEq)]
pub struct StartChild {
    /// Its id.
    pub id: Uuid,
    /// Its input.
    pub input: Map<String, Value>,
    /// Its correlation id.
    pub correlation_id: Option<String>,
    /// The bookmark of this execution that the child's report resumes.
    pub bookmark_id: Option<Uuid>,
    /// When it runs.
    pub begin: Begin,
}

impl Execution<'_> {
    /// Starts a child workflow of the published version of a definition after the burst. The activity faults here if
    /// the definition does not exist or does not accept the input.
    pub fn start_child(&mut self, definition_id: &str, child: StartChild) -> Result<(), Fault> {
        let StartChild { id, mut input, correlation_id, bookmark_id, begin } = child;
        refuse_everyone(correlation_id.as_deref())?;
        input.values().try_for_each(check_extent)?;
        let version_id = self.core.host.child_version(definition_id, &input)?;
        input.entry(PARENT).or_insert_with(|| Value::String(self.core.instance.id.to_string()));
        self.journal(
            EventKind::ChildStarted,
            Some(json!({ "instance_id": id.to_string(), "definition_id": definition_id })),
        );
        self.core.scratch.delta.children.push(NewChild { id, version_id, input, correlation_id, bookmark_id, begin });
        Ok(())
    }
}

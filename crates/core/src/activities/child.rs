//! Inputs and functions shared by the activities for child workflows.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::activity::{Input, InputDescriptor, NonEmpty};
use crate::bookmark::NewBookmark;
use crate::child::{Begin, Report};
use crate::execution::{Execution, StartChild};
use workflow_value::fault::Fault;

/// An input common to these activities.
pub(super) const DEFINITION: InputDescriptor =
    InputDescriptor::new("workflowDefinitionId", "String", "Definition to start, in its published version.")
        .needed()
        .hint("workflow-definition-picker");
/// An input of the activities that start one child.
pub(super) const CORRELATION: InputDescriptor =
    InputDescriptor::new("correlationId", "String", "Correlation id of the child.");
/// An input common to these activities.
pub(super) const INPUT: InputDescriptor =
    InputDescriptor::new("input", "ObjectDictionary", "Input of the child, an object.");
/// Accepted because Elsa's exports contain it.
pub(super) const NEW_TRACE: InputDescriptor =
    InputDescriptor::new("startNewTrace", "Boolean", "Has no effect here; part of Elsa's exports.");
/// Accepted because Elsa's exports contain it.
pub(super) const CHANNEL: InputDescriptor =
    InputDescriptor::new("channelName", "String", "Has no effect here; part of Elsa's exports.");

/// The input that makes the activity wait for the child.
pub(super) const fn wait(default: &'static str) -> InputDescriptor {
    InputDescriptor::new("waitForCompletion", "Boolean", "Whether to wait until the child has ended.").default(default)
}

/// The inputs that describe one child.
pub(super) struct ChildInputs {
    /// [`DEFINITION`].
    pub definition: Input<NonEmpty>,
    /// [`CORRELATION`].
    pub correlation: Input<String>,
    /// [`INPUT`].
    pub input: Input<Value>,
}

/// Starts the child that these inputs describe. With `waits`, a bookmark waits for the child's report.
pub(super) fn start_one(cx: &mut Execution<'_>, inputs: &ChildInputs, begin: Begin, waits: bool) -> Result<(), Fault> {
    let definition_id = cx.get(inputs.definition)?;
    let correlation_id = Some(cx.get(inputs.correlation)?).filter(|id| !id.is_empty());
    let input = object(cx.take(inputs.input))?;
    let id = cx.new_id();
    let bookmark_id = if waits { Some(bookmark(cx, id)?) } else { None };
    cx.start_child(&definition_id, StartChild { id, input, correlation_id, bookmark_id, begin })
}

fn bookmark(cx: &mut Execution<'_>, child: Uuid) -> Result<Uuid, Fault> {
    cx.create_bookmark(NewBookmark {
        payload: Some(json!({ "ChildInstanceId": child.to_string() })),
        ..NewBookmark::default()
    })
}

/// The input for a child; null is an empty object.
pub(super) fn object(value: Value) -> Result<Map<String, Value>, Fault> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(members) => Ok(members),
        _ => Err(Fault::new("22023", "input \"input\" must be an object")),
    }
}

/// The report with which a bookmark was resumed. A rejected child is a fault of the activity.
pub(super) fn report(input: Option<&Value>) -> Result<Option<Report<'_>>, Fault> {
    let report = Report::read(input);
    match report.and_then(|report| report.refused()) {
        Some(reason) => Err(Fault::new("23505", reason)),
        None => Ok(report),
    }
}

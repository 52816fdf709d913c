//! The journal for the views, and `workflow.activity_executions`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::NodeIx;
use workflow_engine::activities::catalogue;
use workflow_engine::execution::activity_instance_id;
use workflow_engine::execution_records::{ExecutionRecord, ExecutionRecords, ExecutionStatus};
use workflow_engine::instance::State;
use workflow_engine::journal::{self, ActKind, EventKind};

use crate::access::instance;
use crate::api::pictures::readable;
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, interrupt, json, memory, role};
use crate::store::history::explained;

sql_functions! {
    wf_events(instance: Uuid, events: Bytea) => events;
    wf_node_id(instance: Uuid, activity: Text) => node_id;
    wf_activity_executions(instance_id: Uuid) => executions;
}

/// Packed journal events as an array of objects, for the view.
fn events(call: &Call) -> Result<Returned, PgError> {
    let (Some(instance), Some(bytes)) = (call.arg::<Uuid>("instance"), call.stored::<Vec<u8>>("events")) else {
        return Ok(Returned::Null);
    };
    let events = journal::decode(&bytes).map_err(|error| error::journal(error, instance))?;
    let act = journal::decode_act(&bytes).map_err(|error| error::journal(error, instance))?;
    let by = act.as_ref().map(|act| &act.by);
    let (role, actor) = (by.map(|by| by.role), by.and_then(|by| by.actor.as_deref()));
    let is_start = act.as_ref().is_some_and(|act| act.kind == ActKind::Start);
    let rows = events.into_iter().map(|event| {
        interrupt::check();
        json!({
            "event": name(event.kind),
            "activity_id": Some(event.activity_id).filter(|id| !id.is_empty()),
            "activity_type": Some(event.activity_type).filter(|kind| !kind.is_empty()),
            "activity_instance_id": event.execution.map(|number| activity_instance_id(instance, number)),
            "bookmark_id": event.bookmark_id,
            "data": event.data.map(|data| data.0),
            "node_id": event.node_id,
            "role": role,
            "actor": actor,
            "is_start": is_start,
        })
    });
    Ok(Returned::Json(Value::Array(rows.collect())))
}

/// The name of an event kind, as the journal shows it.
fn name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::WorkflowStarted => "Workflow started",
        EventKind::WorkflowResumed => "Workflow resumed",
        EventKind::WorkflowSuspended => "Workflow suspended",
        EventKind::WorkflowFinished => "Workflow finished",
        EventKind::WorkflowFaulted => "Workflow faulted",
        EventKind::WorkflowCancelled => "Workflow cancelled",
        EventKind::WorkflowRetried => "Workflow retried",
        EventKind::Started => "Started",
        EventKind::Resumed => "Resumed",
        EventKind::BookmarkCreated => "Bookmark created",
        EventKind::Completed => "Completed",
        EventKind::Canceled => "Canceled",
        EventKind::Faulted => "Faulted",
        EventKind::Line => "Line",
        EventKind::Published => "Published",
        EventKind::Note => "Note",
        EventKind::StartRefused => "Start refused",
        EventKind::ChildStarted => "Child started",
        EventKind::OwnerChanged => "Owner changed",
        EventKind::Logged => "Logged",
        EventKind::Retrying => "Retrying",
        EventKind::Caught => "Caught",
        EventKind::WorkflowCancelling => "Workflow cancelling",
        EventKind::Compensated => "Compensated",
        EventKind::Confirmed => "Confirmed",
        EventKind::CancellationHandled => "Cancellation handled",
        EventKind::Assigned => "Assigned",
        EventKind::WorkflowContinued => "Workflow continued",
        EventKind::Paused => "Paused",
        EventKind::Unpaused => "Unpaused",
        EventKind::Migrated => "Migrated",
        EventKind::Altered => "Altered",
        EventKind::InputsEvaluated => "Inputs evaluated",
        EventKind::OutputsSet => "Outputs set",
        EventKind::LeftWaiting => "Left waiting",
    }
}

/// The node id of an activity of an instance; NULL if the version has several with this id, or none, or cannot be read,
/// and NULL if the current role may not read the instance. The view calls it once per event, so rights are asked once
/// for the events of an instance.
fn node_id(call: &Call) -> Result<Returned, PgError> {
    let (Some(instance), Some(activity)) = (call.arg::<Uuid>("instance"), call.arg::<String>("activity")) else {
        return Ok(Returned::Null);
    };
    let who = role::current();
    let readable = call.once((who, instance), || instance::readable_version(who, instance).ok().flatten());
    let Some(Ok(compiled)) = readable.map(compiled::of_version) else { return Ok(Returned::Null) };
    let program = &compiled.program;
    let own = program.find(&activity).map(|ix| program.node(ix));
    let found = own.or_else(|| program.nodes.iter().find(|node| node.id == activity));
    Ok(Returned::of(found.filter(|node| !node.shares_id).map(|node| node.node_id.clone()), Returned::Text))
}

/// What the journal tells of each execution of an activity, in the order in which they began.
fn executions(call: &Call) -> Result<Returned, PgError> {
    let (row, compiled) = readable(call, "instance_id")?;
    let id = row.instance.id;
    let mut records = ExecutionRecords::new(&compiled.program);
    explained::journal(id, |at, _, events| records.burst(at, events)).map_err(|error| error::journal(error, id))?;
    let records = records.end();
    let mut context = RecordContext {
        id,
        compiled: &compiled,
        state: &row.instance.state,
        waiting: explained::waiting_executions(id).into_iter().collect(),
        faults: explained::faults(id).into_iter().collect(),
        last: records.iter().enumerate().filter_map(|(at, record)| Some((record.node?, at))).collect(),
        parents: records.iter().filter_map(|record| Some((record.number, record.parent?))).collect(),
    };
    let rows = records.into_iter().enumerate().map(|(at, record)| {
        memory::check();
        interrupt::check();
        context.row(at, record)
    });
    Ok(Returned::Rows(rows.collect()))
}

/// What rows of executions are made of, beside their records.
struct RecordContext<'a> {
    id: Uuid,
    compiled: &'a Compiled,
    state: &'a State,
    /// Executions with open bookmarks.
    waiting: HashSet<Uuid>,
    /// The last incident of each execution.
    faults: HashMap<Uuid, Value>,
    /// The last execution of each activity, by its position among the records.
    last: HashMap<NodeIx, usize>,
    /// The execution around each execution.
    parents: HashMap<u32, u32>,
}

impl RecordContext<'_> {
    /// The latest outputs of an activity that ended inside an execution, or inside the innermost one around it that is
    /// still open.
    fn outputs_of(&self, around: Option<u32>, node: NodeIx) -> Option<Map<String, Value>> {
        let contexts = &self.state.contexts;
        let around = std::iter::successors(around, |inner| self.parents.get(inner).copied());
        let mut open = around.filter_map(|sequence| contexts.get(&sequence));
        let inside = match open.next() {
            Some(context) => self.state.outputs_inside(context)?,
            None => &self.state.outputs,
        };
        let outputs = inside.get(&node)?.iter();
        Some(outputs.map(|(name, value)| (name.clone(), json::copy(&value.0))).collect())
    }

    fn row(&mut self, at: usize, record: ExecutionRecord) -> Vec<Returned> {
        let id = activity_instance_id(self.id, record.number);
        let node = record.node.map(|ix| self.compiled.program.node(ix));
        let kept =
            || record.node.filter(|ix| record.status == ExecutionStatus::Completed && self.last.get(ix) == Some(&at));
        // The state has the latest outputs of each activity until the instance ends.
        let outputs = record.outputs.or_else(|| self.outputs_of(record.parent, kept()?));
        let fault = record.fault.map(|fault| self.faults.remove(&id).unwrap_or(fault));
        let built_in =
            || catalogue::find(&record.activity_type).map(|activity| activity.descriptor().type_name.to_owned());
        let kind = node.map(|node| node.type_name.clone()).or_else(built_in).unwrap_or(record.activity_type);
        vec![
            Returned::Uuid(id),
            Returned::of(record.parent.map(|parent| activity_instance_id(self.id, parent)), Returned::Uuid),
            Returned::Text(record.activity_id),
            Returned::of(node.and_then(|node| node.name.clone()), Returned::Text),
            Returned::of(node.map(|node| node.node_id.clone()), Returned::Text),
            Returned::Text(kind),
            Returned::Text(record.status.name().to_owned()),
            Returned::Timestamptz(record.started_at.into()),
            Returned::of(record.ended_at, |at| Returned::Timestamptz(at.into())),
            Returned::Texts(record.outcomes),
            Returned::of(record.inputs, Returned::Object),
            Returned::of(outputs, Returned::Object),
            Returned::of(fault, Returned::Json),
            Returned::Boolean(self.waiting.contains(&id)),
        ]
    }
}

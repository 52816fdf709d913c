//! `wf_explain`, `wf_diagram`, `wf_svg`, the lists of instances, and the journal and its acts for the views.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use chrono::DateTime;
use pgrx::pg_sys::Oid;
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::NodeIx;
use workflow_engine::activities::catalogue;
use workflow_engine::alteration::InstanceFilter;
use workflow_engine::definition::Appearance;
use workflow_engine::execution::{ForPeople, activity_instance_id};
use workflow_engine::execution_records::{ExecutionRecord, ExecutionRecords, ExecutionStatus};
use workflow_engine::explain::{Caused, Explanation, OpenBookmark, Pause};
use workflow_engine::instance::State;
use workflow_engine::journal::{self, Act, ActKind, Event, EventKind};
use workflow_engine::picture::{Caption, Picture, Progress};

use crate::access::{self, Operation, Privilege, instance, task_consent};
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::session::literal;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, interrupt, json, memory, role, zone};
use crate::run::definitions::publish;
use crate::run::history::lists::{Order, WINDOW, Window};
use crate::run::instances::resume;
use crate::store::definitions;
use crate::store::history::explained;
use crate::store::instances::{self, InstanceRow};
use crate::store::repair::pauses;
use crate::store::repair::selection::listed::ListRow;
use crate::store::rights::owners;
use crate::store::tasks;

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

sql_functions! {
    wf_instance_page(filter: Jsonb, order_by: Text, descending: Boolean, page: Integer, page_size: Integer) => page;
    wf_instance_count(filter: Jsonb) => count;
}

/// Instances on one page, at most.
const LARGEST: u16 = 1000;

fn page(call: &Call) -> Result<Returned, PgError> {
    let filter = filter(call)?;
    let order = order(&call.required::<String>("order_by")?)?;
    let descending: bool = call.required("descending")?;
    let (page, size) = page_and_size(call)?;
    // The oldest instances of all are wanted in one order only; in the others the list is of the newest.
    let window = Window::of(&filter, order, descending || order != Order::Created);
    let (count, is_exact) = (window.count(), window.is_complete);
    let row = |item: ListRow| {
        let mut row = columns(item);
        row.extend([Returned::Integer(i32::try_from(count).unwrap_or(i32::MAX)), Returned::Boolean(is_exact)]);
        row
    };
    Ok(Returned::Rows(window.page(order, descending, page, size).into_iter().map(row).collect()))
}

fn count(call: &Call) -> Result<Returned, PgError> {
    let window = Window::of(&filter(call)?, Order::Created, true);
    let count = i32::try_from(window.count()).unwrap_or(i32::MAX);
    Ok(Returned::Row(vec![Returned::Integer(count), Returned::Boolean(window.is_complete)]))
}

fn filter(call: &Call) -> Result<InstanceFilter, PgError> {
    InstanceFilter::of_list(&call.required("filter")?).map_err(|fault| error::fault(&fault))
}

fn order(name: &str) -> Result<Order, PgError> {
    let known = Order::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, order)| *order).ok_or_else(|| {
        PgError::new("22023", format!("unknown order \"{name}\""))
            .hint("Known are Created, LastExecuted, Finished and Name.")
    })
}

/// The number of the page and its size.
fn page_and_size(call: &Call) -> Result<(usize, usize), PgError> {
    let (page, size): (i32, usize) = (call.required("page")?, call.required_count("page_size", LARGEST)?);
    let number = usize::try_from(page)
        .map_err(|_| PgError::new("22023", format!("argument \"page\" must not be negative: {page}")))?;
    if number.saturating_mul(size) >= WINDOW {
        return Err(PgError::new("22023", format!("page {page} lies behind the first {WINDOW} instances"))
            .hint("Narrow the filter, or turn the order around."));
    }
    Ok((number, size))
}

fn columns(item: ListRow) -> Vec<Returned> {
    vec![
        Returned::Uuid(item.id),
        Returned::Text(item.definition),
        Returned::Integer(item.number),
        Returned::Uuid(item.version),
        Returned::of(item.name, Returned::Text),
        Returned::of(item.correlation, Returned::Text),
        Returned::Text(item.status),
        Returned::Text(item.sub_status),
        Returned::Integer(item.incidents),
        Returned::Text(owners::by_id(item.owner).title()),
        Returned::of(item.parent, Returned::Uuid),
        Returned::Timestamptz(item.created),
        Returned::Timestamptz(item.updated),
        Returned::of(item.finished, Returned::Timestamptz),
        Returned::of(item.paused, Returned::Timestamptz),
    ]
}

sql_functions! {
    wf_diagram(definition_id: Text, version: Integer) => diagram;
    wf_svg_definition(definition_id: Text, version: Integer) => svg_of_definition;
    wf_svg_instance(instance: Uuid) => svg_of_instance;
    wf_explain(instance: Uuid) => explain;
}

fn diagram(call: &Call) -> Result<Returned, PgError> {
    of_definition(call).map(|picture| Returned::Text(picture.mermaid()))
}

fn svg_of_definition(call: &Call) -> Result<Returned, PgError> {
    of_definition(call).map(|picture| Returned::Text(picture.svg()))
}

fn of_definition(call: &Call) -> Result<Picture, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let row =
        publish::find(&definition_id, call.arg("version")).map_err(|error| match Uuid::parse_str(&definition_id) {
            Ok(_) => error.hint("For the picture of an instance, pass its id as a uuid: wf_svg(instance => …)."),
            Err(_) => error,
        })?;
    access::require(Privilege::Read, &row)?;
    let compiled = compiled::of_version(row.id)?;
    let caption = Caption { title: title(&compiled), subtitle: format!("{definition_id}, version {}", row.version) };
    Ok(Picture::new(&compiled.program, &appearances(&compiled)?, caption, None))
}

fn svg_of_instance(call: &Call) -> Result<Returned, PgError> {
    let (row, compiled) = readable(call, "instance")?;
    let instance = &row.instance;
    let mut progress = Progress::new(&compiled.program);
    let read = explained::journal(instance.id, |_, _, events| events.iter().for_each(|event| progress.event(event)));
    read.map_err(|error| error::journal(error, instance.id))?;
    progress.open(&instance.state);
    let (appearances, zone) = (appearances(&compiled)?, zone::session());
    let story = Explanation::new(&compiled.program, &appearances, instance, &*zone);
    for (node, remark) in story.remarks(&explained::open_bookmarks(instance.id)) {
        progress.remark(node, &remark);
    }
    if row.paused_at.is_some() {
        progress.paused();
    }
    if instance.has_failed() {
        progress.failed();
    }
    let records = explained::open_records(instance.id);
    let completed = records.iter().filter(|open| !open.interrupted).map(|open| open.node_id.as_str());
    progress.compensable(&compiled.program, completed);
    let about =
        instance.correlation_id.as_ref().map_or_else(|| instance.id.to_string(), |id| format!("correlation id {id}"));
    let caption = Caption {
        title: instance.name.clone().unwrap_or_else(|| title(&compiled)),
        subtitle: format!(
            "{}, version {}, {about}: {}{}",
            row.definition_id,
            instance.version,
            instance.sub_status.name(),
            if row.paused_at.is_some() { ", paused" } else { "" }
        ),
    };
    let picture = Picture::new(&compiled.program, &appearances, caption, Some(&progress));
    Ok(Returned::Text(picture.svg()))
}

/// The lines of the story, as a JSON array.
fn explain(call: &Call) -> Result<Returned, PgError> {
    let (row, compiled) = readable(call, "instance")?;
    let (appearances, zone) = (appearances(&compiled)?, zone::session());
    let mut story = Explanation::new(&compiled.program, &appearances, &row.instance, &*zone);
    row.continued_from.into_iter().for_each(|before| story.continues(before));
    let id = row.instance.id;
    let starter = row.starter.actor.clone();
    explained::journal(id, |at, act, events| {
        let act = act.map(|act| caused(act, starter.as_deref(), events));
        story.burst(at, act, events);
    })
    .map_err(|error| error::journal(error, id))?;
    if let Some(pause) = row.paused_at.and_then(|_| pauses::of(id)) {
        story.paused(Pause {
            since: pause.since.into(),
            by: pause.by.title(),
            reason: pause.reason,
            is_ending: pause.is_ending,
        });
    }
    story.records(&explained::open_records(id));
    let waiting = explained::open_bookmarks(id);
    let mut lines = story.end(&waiting, &explained::open_incidents(id));
    lines.extend(not_accepted(&compiled, &waiting));
    Ok(Returned::Json(Value::from(lines)))
}

/// Which workers hold a grant of the open tasks and do not accept tasks of the owner of the definition. Only members of
/// that owner are told.
fn not_accepted(compiled: &Compiled, waiting: &[OpenBookmark]) -> BTreeSet<String> {
    let definition = &compiled.row;
    if !access::is_member(role::current(), &definition.owner) {
        return BTreeSet::new();
    }
    let is_assigned = |given: &ForPeople| given.assignee.is_some() || !given.candidates.is_empty();
    let is_for_people = |open: &&OpenBookmark| open.for_people.as_ref().is_some_and(is_assigned);
    let names: BTreeSet<&String> =
        waiting.iter().filter(|open| !is_for_people(open)).filter_map(|open| open.task.as_ref()).collect();
    let line = |name: &String, worker: Oid| {
        let (worker, owner) = (role::name(worker).unwrap_or_default(), definition.owner.title());
        format!(
            "Role \"{worker}\" has a grant for task \"{name}\", but does not accept tasks of role \"{owner}\": wf_accept_tasks({}, {}).",
            literal(&owner),
            literal(&worker)
        )
    };
    let lines = names.into_iter().flat_map(|name| {
        let workers = access::work::workers(definition, name).into_iter().filter_map(|worker| worker.role());
        workers.filter(|worker| !task_consent::accepts(*worker, &definition.owner)).map(|worker| line(name, worker))
    });
    lines.collect()
}

/// Who caused a burst, in words, and the answer if it answered a task.
fn caused(act: Act, starter: Option<&str>, events: &[Event]) -> Caused {
    let actor = match act.kind {
        ActKind::Start => starter.map(ToOwned::to_owned),
        _ => act.by.actor,
    };
    let role = || i32::try_from(act.by.role).map_or_else(|_| String::new(), |id| owners::by_id(id).title());
    let answers = matches!(act.kind, ActKind::Complete | ActKind::Override);
    let named = events.iter().find(|event| is_about(act.kind, event)).and_then(|event| event.bookmark_id);
    let task = named.or(act.subject).filter(|_| answers);
    Caused {
        kind: act.kind,
        has_actor: actor.is_some(),
        by: actor.unwrap_or_else(role),
        answer: task.and_then(tasks::answer),
    }
}

/// The instance that a call names, if the current role may read it.
pub(super) fn readable(call: &Call, argument: &str) -> Result<(InstanceRow, Rc<Compiled>), PgError> {
    let instance_id: Uuid = call.required(argument)?;
    let row = instances::get(instance_id).ok_or_else(|| resume::unknown(instance_id))?;
    let compiled = compiled::of_instance(&row)?;
    access::instance::require(Operation::Read, &row, &compiled)?;
    Ok((row, compiled))
}

fn title(compiled: &Compiled) -> String {
    let name = compiled.program.name.clone();
    name.unwrap_or_else(|| compiled.program.definition_id.clone())
}

fn appearances(compiled: &Compiled) -> Result<Vec<Appearance>, PgError> {
    Ok(compiled::appearances(&definitions::whole(compiled.row.id)?.document, &compiled.program))
}

sql_functions! {
    wf_act(events: Bytea) => act;
}

/// What the audit shows for a row of the journal that is damaged: the row may have recorded an act.
const UNREADABLE: &str = "unreadable";

/// The act that a row of the journal records; NULL if it records none, or one that an earlier row has recorded.
fn act(call: &Call) -> Result<Returned, PgError> {
    let Some(bytes) = call.stored::<Vec<u8>>("events") else { return Ok(Returned::Null) };
    let read = journal::decode_act(&bytes).and_then(|act| match act {
        Some(act) if !act.is_recorded => journal::decode(&bytes).map(|events| Some((act, events))),
        _ => Ok(None),
    });
    // A lack of memory is no damage.
    interrupt::check();
    Ok(match read {
        Ok(None) => Returned::Null,
        Ok(Some((act, events))) => Returned::Row(act_columns(act, events)),
        // What removes rows of the journal keeps their acts, and a damaged row must not keep it from that.
        Err(_) => {
            let mut columns = vec![Returned::Null, Returned::Text(UNREADABLE.to_owned())];
            columns.extend((0..6).map(|_| Returned::Null));
            Returned::Row(columns)
        }
    })
}

fn act_columns(act: Act, events: Vec<Event>) -> Vec<Returned> {
    let id = |id: u32| Returned::Integer(id.cast_signed());
    let mut about: Vec<Event> = events.into_iter().filter(|event| is_about(act.kind, event)).collect();
    let detail = detail(&about);
    let first = (!about.is_empty()).then(|| about.swap_remove(0));
    let bookmark = act.subject.or(first.as_ref().and_then(|event| event.bookmark_id));
    vec![
        Returned::of(act.at.and_then(DateTime::from_timestamp_micros), |at| Returned::Timestamptz(at.into())),
        Returned::Text(act.kind.name().to_owned()),
        id(act.by.role),
        Returned::of(act.by.login, id),
        Returned::of(act.by.actor, Returned::Text),
        Returned::of(first.map(|event| event.activity_id).filter(|id| !id.is_empty()), Returned::Text),
        Returned::of(bookmark, Returned::Uuid),
        Returned::of(detail, Returned::Json),
    ]
}

/// Whether an event says what an act was done to, and why.
fn is_about(act: ActKind, event: &Event) -> bool {
    match act {
        ActKind::Complete | ActKind::Fail | ActKind::Resume | ActKind::Send => event.kind == EventKind::Resumed,
        ActKind::Assign => event.kind == EventKind::Assigned,
        ActKind::Cancel => matches!(event.kind, EventKind::WorkflowCancelled | EventKind::WorkflowCancelling),
        ActKind::Pause => event.kind == EventKind::Paused,
        ActKind::Unpause => event.kind == EventKind::Unpaused,
        ActKind::Override | ActKind::Alter => event.kind == EventKind::Altered,
        ActKind::Migrate => event.kind == EventKind::Migrated,
        ActKind::SetOwner => event.kind == EventKind::OwnerChanged,
        ActKind::Start | ActKind::Retry | ActKind::Claim => false,
    }
}

/// What events say of an act: of one event an object, of several an array of them.
fn detail(events: &[Event]) -> Option<Value> {
    let details = events.iter().filter_map(|event| {
        let mut members = match &event.data.as_ref()?.0 {
            Value::Object(members) => json::copy_members(members),
            // The data of a cancel is the reason alone.
            reason => Map::from_iter([("reason".to_owned(), json::copy(reason))]),
        };
        // The role is a column of its own.
        members.remove("by");
        (!members.is_empty()).then_some(Value::Object(members))
    });
    let mut details: Vec<Value> = details.collect();
    match details.len() {
        0 | 1 => details.pop(),
        _ => Some(Value::Array(details)),
    }
}

//! Making the row of a new instance, and beginning one that was stored to begin later: in a session of its owner, or when
//! it is its turn.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::execution::{self, activity_instance_id};
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::program::GivenInput;
use workflow_engine::{Bookmark, Program, stimulus};
use workflow_plan::Resumed;

use crate::compiled::Compiled;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json, rows};
use crate::run::CallContext;
use crate::run::burst::save::{BurstEnd, Consumed, RowState};
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::call::notices::notice_no_worker;
use crate::run::call::running;
use crate::run::history::acts;
use crate::run::instances::activation::activation_key;
use crate::run::instances::admission::{self, Start};
use crate::store::definitions::triggers::TriggerRow;
use crate::store::events::queue;
use crate::store::instances::bookmarks::{self, BookmarkKind, Waiting};
use crate::store::instances::{self, InstanceRow, Parent, Starter, search_attributes};
use crate::store::nodes::route;
use crate::store::rights::owners::Owner;
use crate::store::tasks::Answer;
use crate::store::tasks::leases::Lease;
use crate::{error, wake};

/// A new instance, whose key, or else its parent's, has to belong to this node.
pub(in crate::run) fn new_row(
    id: Uuid,
    compiled: &Compiled,
    owner: Owner,
    correlation_id: Option<String>,
    name: Option<String>,
    input: impl Into<GivenInput>,
    parent: Option<Parent>,
    starter: Starter,
) -> Result<InstanceRow, PgError> {
    route::require_start(&compiled.row.definition_id, correlation_id.as_deref(), parent.map(|it| it.instance))?;
    let activation_key = activation_key(compiled, correlation_id.as_deref());
    let instance = Instance::new(id, &compiled.program, compiled.row.version, correlation_id, name, input);
    Ok(InstanceRow {
        instance: instance.map_err(|fault| error::fault(&fault))?,
        definition_version_id: compiled.row.id,
        definition_id: compiled.row.definition_id.clone(),
        owner,
        activation_key,
        schedule_id: None,
        parent,
        continued_from: None,
        paused_at: None,
        starter,
        traceparent: None,
        open: None,
    })
}

/// Where an instance begins.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct StartPoint<'a> {
    /// Id of the trigger's activity; empty is the root, as wf_start begins.
    activity_id: &'a str,
    /// Path of its node.
    node_id: &'a str,
}

impl<'a> StartPoint<'a> {
    /// At the first activity.
    pub const ROOT: Self = Self { activity_id: "", node_id: "" };

    /// At the activity of a trigger.
    pub fn at(trigger: &'a TriggerRow) -> Self {
        Self { activity_id: &trigger.activity_id, node_id: &trigger.node_id }
    }
}

/// Creates an instance whose start is due at an instant. `login` is the login role of the starter, as of an act.
pub(in crate::run) fn create_pending(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    start_point: &StartPoint<'_>,
    stimulus: Option<&Value>,
    login: Option<u32>,
    due_at: DateTime<Utc>,
) -> BurstEnd {
    let now = context.timestamp();
    row.instance.sub_status = SubStatus::Pending;
    let is_new = insert(row, &compiled.program, now, row.activation_key.is_some());
    forget_deferred(row.instance.id);
    if !is_new {
        return BurstEnd::Taken;
    }
    let bookmark = Bookmark {
        id: context.new_id(),
        activity_id: start_point.activity_id.to_owned(),
        node_id: start_point.node_id.to_owned(),
        activity_type: stimulus::START.into(),
        activity_instance_id: activity_instance_id(row.instance.id, 0),
        name: stimulus::START.into(),
        hash: Some(stimulus::hash(stimulus::START, None, None)),
        payload: stimulus.map(json::copy),
        metadata: Some(bookmarks::with_login(json!({ "trigger": start_point.activity_id }), login)),
        callback: None,
        auto_burn: true,
        auto_complete: true,
        due_at: Some(due_at),
    };
    rows::write(|writer| bookmarks::insert(writer, &bookmark, &Lease::default(), row, Some(&compiled.row.owner), now));
    BurstEnd::Saved
}

/// Inserts an instance before it runs. `false`: its id or activation key is taken.
pub(in crate::run) fn insert(row: &InstanceRow, program: &Program, now: Timestamp, may_be_taken: bool) -> bool {
    // Row triggers on the table count as inside the burst: the instance that they see has no bookmark yet.
    let _running = running::RunningGuard::burst(row.instance.id);
    if !may_be_taken {
        rows::write(|writer| instances::insert(writer, row, now));
    } else if !instances::insert_unless_taken(row, now) {
        return false;
    }
    // The first burst stores the values of an instance that does not wait for it.
    if row.instance.sub_status == SubStatus::Pending {
        search_attributes::save(&row.instance, program);
    }
    true
}

/// Drops stimuli that row triggers sent while the row of an instance was inserted: it has no bookmark to match them
/// yet.
pub fn forget_deferred(instance: Uuid) {
    if running::may_have_deferred() {
        drop(queue::take_deferred(instance));
    }
}

/// Creates an instance of an owner that is due now. A session of the owner runs it.
pub fn create_due(
    context: &mut CallContext,
    compiled: &Compiled,
    owner: Owner,
    correlation_id: String,
    input: Map<String, Value>,
) -> Result<(), PgError> {
    let id = context.new_id();
    let by = context.identity()?;
    let starter = Starter::of(&by, &owner);
    let mut row = new_row(id, compiled, owner, Some(correlation_id), None, input, None, starter)?;
    row.traceparent = context.traceparent;
    let now = context.now;
    create_pending(context, &mut row, compiled, &StartPoint::ROOT, None, by.login, now);
    notice_no_worker();
    Ok(())
}

/// Starts an instance that was created for a session of its owner.
pub fn start_pending(
    context: &mut CallContext,
    waiting: &mut Waiting,
    compiled: &Compiled,
    on_fault: OnFault,
) -> Result<(), PgError> {
    // A schedule that has no activity of its own starts the workflow as wf_start does.
    let trigger = Some(waiting.bookmark.activity_id.clone()).filter(|id| !id.is_empty());
    let is_called = waiting.kind == BookmarkKind::Admission;
    let kept = match is_called {
        true => waiting.resumed.metadata.as_ref().map(|metadata| &metadata["stimulus"]),
        false => waiting.resumed.payload.as_ref(),
    };
    let stimulus = kept.filter(|stimulus| !stimulus.is_null()).map(json::copy);
    if !admission::enter(&waiting.row, compiled, false) {
        if is_called && !waiting.by_time {
            return Err(admission::not_yet(waiting.row.instance.id));
        }
        let (activity_id, node_id) = (waiting.bookmark.activity_id.as_str(), waiting.bookmark.node_id.as_str());
        let login = bookmarks::login_of(&waiting.bookmark);
        let start = Start { activity_id, node_id, stimulus: stimulus.as_ref(), login };
        admission::wait(context, &waiting.row, compiled, start);
        return Ok(());
    }
    if is_called {
        // There may be room for the next one.
        wake::report_pending_starts(true);
    }
    let row = &mut waiting.row;
    let resumed = Resumed {
        bookmark: &waiting.bookmark,
        kind: waiting.kind,
        is_locked: waiting.is_locked,
        by_time: false,
        is_taken: waiting.bookmark.auto_burn,
    };
    let consumed =
        Consumed { resumed, lease: &waiting.lease, answer: Answer::Completed(None, None), in_place_of: None };
    let act = acts::of_pending_start(row, bookmarks::login_of(&waiting.bookmark));
    let burst = StoredBurst { row, compiled, state: RowState::Stored, on_fault, consumed: Some(consumed), act };
    burst::run(context, burst, |program, instance, host, limits| {
        execution::start(program, instance, trigger.as_deref(), stimulus.as_ref(), host, limits)
    })?;
    Ok(())
}

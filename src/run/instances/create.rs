//! Making the row of a new instance, and storing one that begins later.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::execution::activity_instance_id;
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::program::GivenInput;
use workflow_engine::stimulus;
use workflow_engine::{Bookmark, NodeIx};

use crate::compiled::Compiled;
use crate::error;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json, rows};
use crate::run::Session;
use crate::run::burst::save::BurstEnd;
use crate::run::call::running;
use crate::run::instances::activation::activation_key;
use crate::store::definitions::triggers::TriggerRow;
use crate::store::events::queue;
use crate::store::instances::bookmarks;
use crate::store::instances::{self, InstanceRow, Parent, Starter};
use crate::store::nodes::route;
use crate::store::rights::owners::Owner;
use crate::store::tasks::leases::Lease;

/// Name of the bookmark of an instance that was created and waits for its owner's session to start it.
pub const START_BOOKMARK: &str = "Workflow.Start";

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
    session: &mut Session,
    row: &mut InstanceRow,
    compiled: &Compiled,
    start_point: &StartPoint<'_>,
    stimulus: Option<&Value>,
    login: Option<u32>,
    due_at: DateTime<Utc>,
) -> BurstEnd {
    let now = session.timestamp();
    row.instance.sub_status = SubStatus::Pending;
    let is_new = insert(row, now, row.activation_key.is_some());
    forget_deferred(row.instance.id);
    if !is_new {
        return BurstEnd::Taken;
    }
    let node = compiled.program.find(start_point.activity_id).unwrap_or(NodeIx(0));
    let bookmark = Bookmark {
        id: session.new_id(),
        node,
        activity_id: start_point.activity_id.to_owned(),
        node_id: start_point.node_id.to_owned(),
        activity_type: START_BOOKMARK.into(),
        activity_instance_id: activity_instance_id(row.instance.id, 0),
        name: START_BOOKMARK.into(),
        hash: stimulus::hash(START_BOOKMARK, None, None),
        payload: stimulus.map(json::copy),
        metadata: Some(bookmarks::with_login(json!({ "trigger": start_point.activity_id }), login)),
        callback: None,
        auto_burn: true,
        auto_complete: true,
        due_at: Some(due_at),
    };
    rows::write(|writer| bookmarks::insert(writer, &bookmark, &Lease::default(), &row.instance, now));
    BurstEnd::Saved
}

/// Inserts an instance before it runs. `false`: its id or activation key is taken.
pub(in crate::run) fn insert(row: &InstanceRow, now: Timestamp, may_be_taken: bool) -> bool {
    // Row triggers on the table count as inside the burst: the instance that they see has no bookmark yet.
    let _mark = running::Mark::set(row.instance.id);
    if may_be_taken {
        return instances::insert_unless_taken(row, now);
    }
    rows::write(|writer| instances::insert(writer, row, now));
    true
}

/// Drops stimuli that row triggers sent while the row of an instance was inserted: it has no bookmark to match them
/// yet.
pub fn forget_deferred(instance: Uuid) {
    if running::may_have_deferred() {
        drop(queue::take_deferred(instance));
    }
}

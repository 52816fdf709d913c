//! Starting instances: by name, by a trigger that a stimulus matches, and later, in a session of the owner.

use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::execution;
use workflow_engine::http::Response;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::Identity;
use workflow_engine::program::{Activation, GivenInput};

use crate::access::{self, Privilege, lending};
use crate::compiled::{self, Compiled};
use crate::pg::error::notice;
use crate::pg::{PgError, json};
use crate::run::CallContext;
use crate::run::burst::save::{BurstEnd, RowState};
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::call::notices::notice_no_worker;
use crate::run::history::acts;
use crate::run::instances::activation::{key_of, refused};
use crate::run::instances::admission::Start;
use crate::run::instances::create::{StartPoint, create_pending, forget_deferred, insert, new_row};
use crate::run::instances::{admission, version};
use crate::store::definitions::triggers::TriggerRow;
use crate::store::instances::{self, InstanceRow, Starter};
use crate::store::nodes::route;
use crate::store::rights::owners;

mod refusal;

pub use refusal::journal_refusal;
use refusal::{record_misfit, record_refusal, same_definition};

/// The arguments of a start.
#[derive(Debug)]
pub struct StartRequest {
    /// Logical id of the definition.
    pub definition_id: String,
    /// Version; the published one if not given.
    pub version: Option<i32>,
    /// Values of inputs by name, as the caller gave them; they are not checked yet.
    pub input: Map<String, Value>,
    /// What the instance is about; `None`: it has no correlation id.
    pub correlation_id: Option<String>,
    /// Name of the instance.
    pub name: Option<String>,
    /// Id that the caller wants.
    pub instance_id: Option<Uuid>,
    /// Trigger to start at, as if it had fired.
    pub trigger: Option<String>,
    /// What a fault does.
    pub on_fault: OnFault,
}

/// Starts an instance for a caller that names the definition, and runs it until every branch waits or ends. Also
/// returns whether the instance is new: a second start with a known id runs nothing.
pub fn start_by_name(context: &mut CallContext, request: StartRequest) -> Result<(InstanceRow, bool), PgError> {
    let (definition, my_id) = version::find(context, &request.definition_id, request.version)?;
    access::require(Privilege::Start, &definition)?;
    if let Some(id) = request.instance_id {
        route::require_start(&definition.definition_id, request.correlation_id.as_deref(), None)?;
        if let Some(existing) = instances::get(id) {
            return Ok((same_definition(existing, &definition)?, false));
        }
    }
    let compiled = compiled::of_version(definition.id)?;
    let id = request.instance_id.unwrap_or_else(|| context.new_id());
    let (owner, by) = (context.caller_as_owner(my_id), context.identity()?);
    acts::require_actor(&by, &compiled)?;
    let starter = Starter::of(&by, &owner);
    let mut row = new_row(id, &compiled, owner, request.correlation_id, request.name, request.input, None, starter)?;
    row.traceparent = context.traceparent;
    let trigger = request.trigger.as_deref();
    let beginning = Beginning {
        trigger,
        stimulus: None,
        on_fault: request.on_fault,
        id_given: request.instance_id.is_some(),
        by: Some(&by),
    };
    let ended = run(context, &mut row, &compiled, beginning)?;
    if ended == BurstEnd::Taken {
        // A concurrent transaction committed an instance with this id, or one that holds the activation key.
        if let Some(existing) = request.instance_id.and_then(instances::get) {
            return Ok((same_definition(existing, &definition)?, false));
        }
        return Err(refused(&definition.definition_id, &key_of(&row, &compiled))?);
    }
    if trigger.is_none() {
        notice_if_trigger_waits(&row, &compiled);
    }
    Ok((row, true))
}

/// How a new instance begins.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct Beginning<'a> {
    /// Trigger to start at; at the root if not given.
    trigger: Option<&'a str>,
    /// What the trigger was fired with.
    stimulus: Option<&'a Value>,
    /// What a fault does.
    on_fault: OnFault,
    /// Whether the caller gave the id, so that another instance may have it.
    id_given: bool,
    /// Who starts it, if not the engine.
    by: Option<&'a Identity>,
}

/// Runs a new instance. Its row is inserted before the burst if user SQL, or another instance that takes the same
/// correlation id, must see it during the burst, or if the burst may write other rows for it. Otherwise it is written
/// once, at the end.
pub(in crate::run) fn run(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    beginning: Beginning,
) -> Result<BurstEnd, PgError> {
    if admission::enter(row, compiled, true) {
        return begin(context, row, compiled, beginning);
    }
    wait_for_turn(context, row, compiled, beginning)
}

/// Creates a new instance that waits for its turn.
fn wait_for_turn(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    beginning: Beginning,
) -> Result<BurstEnd, PgError> {
    let Beginning { trigger, stimulus, id_given, by, .. } = beginning;
    row.instance.sub_status = SubStatus::Pending;
    if !insert(row, &compiled.program, context.timestamp(), id_given || row.activation_key.is_some()) {
        return Ok(BurstEnd::Taken);
    }
    let activity_id = trigger.unwrap_or_default();
    let node = compiled.program.find(activity_id).filter(|_| trigger.is_some());
    let node_id = node.map_or("", |node| compiled.program.node(node).node_id.as_str());
    let login = by.and_then(|by| by.login);
    admission::wait(context, row, compiled, Start { activity_id, node_id, stimulus, login });
    notice_no_worker();
    Ok(BurstEnd::Saved)
}

/// Runs a new instance whose turn it is.
fn begin(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    beginning: Beginning,
) -> Result<BurstEnd, PgError> {
    let Beginning { trigger, stimulus, on_fault, id_given, by } = beginning;
    let may_be_taken = id_given || row.activation_key.is_some();
    if row.activation_key.is_some() {
        // Other transactions may wait for the key from here on, so this call must not wait for further locks of theirs.
        context.has_waited = true;
    }
    let activation = compiled.program.options.activation;
    let stores_records = compiled.program.compensation().is_used;
    let first = compiled.row.uses_sql
        || stores_records
        || matches!(activation, Activation::Correlated | Activation::CorrelatedSingleton);
    let state = if first {
        row.instance.sub_status = SubStatus::Executing;
        if !insert(row, &compiled.program, context.timestamp(), may_be_taken) {
            forget_deferred(row.instance.id);
            return Ok(BurstEnd::Taken);
        }
        RowState::Stored
    } else {
        RowState::New { may_be_taken }
    };
    let burst = StoredBurst { row, compiled, state, on_fault, consumed: None, act: by.map(acts::of_start) };
    burst::run(context, burst, |program, instance, host, limits| {
        execution::start(program, instance, trigger, stimulus, host, limits)
    })
}

fn notice_if_trigger_waits(row: &InstanceRow, compiled: &Compiled) {
    let waits = row
        .instance
        .state
        .contexts
        .values()
        .find(|context| context.bookmarks > 0 && compiled.program.node(context.node).can_start_workflow);
    if let Some(context) = waits {
        let activity = &compiled.program.node(context.node).id;
        notice(
            PgError::new("00000", format!("workflow instance {} waits at its trigger \"{activity}\"", row.instance.id))
                .hint(format!("To start as if it had fired, pass trigger_activity_id => '{activity}'.")),
        );
    }
}

/// Where an instance that a stimulus starts is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunIn {
    /// In this session, if its SQL may run here.
    ThisSession,
    /// In a session of its owner, later.
    OwnersSession,
}

/// Starts an instance by a trigger that a stimulus matches. `None`: an activation strategy refused it, or the input
/// does not fit.
pub fn start_by_trigger(
    context: &mut CallContext,
    trigger: &TriggerRow,
    stimulus: Option<&Value>,
    correlation_id: Option<&str>,
    run_in: RunIn,
    by: &Identity,
) -> Result<Option<Uuid>, PgError> {
    let compiled = compiled::of_version(trigger.definition_version_id)?;
    version::refuse_deleted(&compiled.row)?;
    let id = context.new_id();
    let owner = compiled.row.owner.clone();
    let input = match stimulus {
        Some(input @ Value::Object(_)) => json::copy(input).as_object_mut().map(std::mem::take).unwrap_or_default(),
        _ => Map::new(),
    };
    let input = GivenInput::by_stimulus(input);
    let (key, starter) = (correlation_id.map(ToOwned::to_owned), Starter::of(by, &owner));
    let mut row = match new_row(id, &compiled, owner, key, None, input, None, starter) {
        Ok(row) => row,
        Err(error) if error.aborts_transaction() => return Err(error),
        Err(error) => {
            record_misfit(context, id, &compiled, trigger, &error);
            return Ok(None);
        }
    };
    row.traceparent = context.traceparent;
    let activity = Some(trigger.activity_id.as_str());
    let ended = if run_in == RunIn::ThisSession && lending::runs_here(context.serves, &compiled.row.owner, &compiled) {
        run(
            context,
            &mut row,
            &compiled,
            Beginning { trigger: activity, stimulus, by: Some(by), ..Beginning::default() },
        )?
    } else {
        create_for_owner(context, &mut row, &compiled, trigger, stimulus, by)
    };
    if ended == BurstEnd::Taken {
        record_refusal(context, &row, &compiled, trigger);
        return Ok(None);
    }
    Ok(Some(id))
}

/// Starts an instance at the endpoint that a request matches, and runs it in this session, because the client waits for
/// the answer. `None`: the endpoint or an activation strategy refused it, or its id is taken.
pub fn start_for_request(
    context: &mut CallContext,
    trigger: &TriggerRow,
    compiled: &Compiled,
    correlation_id: Option<&str>,
    id: Option<Uuid>,
) -> Result<Option<Uuid>, PgError> {
    let is_given = id.is_some();
    let id = id.unwrap_or_else(|| context.new_id());
    let owner = compiled.row.owner.clone();
    let by = context.identity()?;
    let (key, starter) = (correlation_id.map(ToOwned::to_owned), Starter::of(&by, &owner));
    let mut row = new_row(id, compiled, owner, key, None, Map::new(), None, starter)?;
    row.traceparent = context.traceparent;
    let activity = Some(trigger.activity_id.as_str());
    if !admission::enter(&row, compiled, true) {
        context.http.refusal = Some(Response::message(503, "The workflow is busy.").with("Retry-After", "1"));
        return Ok(None);
    }
    let beginning = Beginning { trigger: activity, id_given: is_given, by: Some(&by), ..Beginning::default() };
    match begin(context, &mut row, compiled, beginning)? {
        BurstEnd::Saved => return Ok(Some(id)),
        BurstEnd::Taken => record_refusal(context, &row, compiled, trigger),
        BurstEnd::TurnedAway => {}
    }
    Ok(None)
}

/// An instance that time starts.
#[derive(Debug)]
pub struct Scheduled<'a> {
    /// The trigger that fires; its activity, if it has one, is where the instance starts.
    pub trigger: &'a TriggerRow,
    /// Owner of the instance.
    pub owner: owners::Owner,
    /// Correlation id.
    pub correlation_id: Option<String>,
    /// Name of the schedule, which the instance gets as its own; `None`: the trigger is one of a definition.
    pub name: Option<String>,
    /// Input, which is also what the trigger's activity gets.
    pub input: Map<String, Value>,
    /// Who made the schedule, if that is on record.
    pub by: Option<Identity>,
    /// The instant that it is for.
    pub at: DateTime<Utc>,
}

/// Creates an instance that time starts. `None`: an activation strategy refused it.
pub fn start_scheduled(
    context: &mut CallContext,
    compiled: &Rc<Compiled>,
    new: Scheduled<'_>,
) -> Result<Option<Uuid>, PgError> {
    let id = context.new_id();
    let input = Value::Object(new.input);
    let stimulus = (!new.trigger.activity_id.is_empty()).then(|| json::copy(&input));
    let input = if let Value::Object(members) = input { members } else { Map::new() };
    let starter = new.by.as_ref().map(|by| Starter::of(by, &new.owner)).unwrap_or_default();
    let login = new.by.and_then(|by| by.login);
    let mut row = new_row(id, compiled, new.owner, new.correlation_id, new.name, input, None, starter)?;
    row.schedule_id = Some(new.trigger.id);
    let start_point = StartPoint::at(new.trigger);
    let ended = create_pending(context, &mut row, compiled, &start_point, stimulus.as_ref(), login, new.at);
    if ended == BurstEnd::Taken {
        record_refusal(context, &row, compiled, new.trigger);
        return Ok(None);
    }
    Ok(Some(id))
}

/// Creates the instance, due now. A session of the owner runs it.
fn create_for_owner(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Rc<Compiled>,
    trigger: &TriggerRow,
    stimulus: Option<&Value>,
    by: &Identity,
) -> BurstEnd {
    let ended = create_pending(context, row, compiled, &StartPoint::at(trigger), stimulus, by.login, context.now);
    if ended == BurstEnd::Saved {
        notice_no_worker();
    }
    ended
}

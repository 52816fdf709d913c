//! Pausing and unpausing instances.
//!
//! A pause takes the lock of the instance, so it comes before or after a burst, never during one. A session that wants
//! to resume the instance takes that lock as well and finds it paused: a stimulus is stored for it, an answer with a
//! valid token closes the task and waits, a resume by bookmark id is rejected. Claims and heartbeats lock the rows of
//! tasks without the instance. So the pause may wait for one, as a cancel may; a later claim finds the task held.
//!
//! The end of a pause delivers what was stored, if users' SQL may run in this session. Otherwise the instance stays
//! paused until a session of its owner fires a bookmark that the call makes due. So nothing overtakes the stored
//! stimuli.

use std::collections::VecDeque;
use std::rc::Rc;

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::{ActKind, Event, EventKind};

use crate::access::{self, Operation, instance, lending};
use crate::compiled::{self, Compiled};
use crate::pg::error::notice;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, interrupt, role, rows};
use crate::run::CallContext;
use crate::run::call::notices::notice_no_worker;
use crate::run::call::running;
use crate::run::history::acts;
use crate::run::instances::{not_found, resume};
use crate::run::timers::due_bookmark::{end_pause, is_ending};
use crate::store::events::queue;
use crate::store::history::journal;
use crate::store::instances::{self, InstanceRow};
use crate::store::repair::pauses;
use crate::store::rights::owners;
use crate::wake;

/// Pauses an instance, and on request its descendants. `false`: all of them were paused already, or have ended.
///
/// Locks are taken level by level, siblings in the order of their ids, as by a cancel.
///
/// # Errors
/// 42704 if it does not exist; 42501 without the right to alter it or one of the children.
pub fn pause(
    context: &mut CallContext,
    instance_id: Uuid,
    reason: Option<&str>,
    with_children: bool,
) -> Result<bool, PgError> {
    let named = pause_if_there(context, instance_id, reason, None)?;
    let mut is_any = named.ok_or_else(|| resume::unknown(instance_id))?;
    let mut below = VecDeque::new();
    if with_children {
        below.extend(instances::children(instance_id));
    }
    while let Some(child) = below.pop_front() {
        interrupt::check();
        is_any |= pause_if_there(context, child, reason, Some(&instance_id))?.unwrap_or_default();
        below.extend(instances::children(child));
    }
    Ok(is_any)
}

/// Pauses one instance. `None`: it does not exist.
fn pause_if_there(
    context: &mut CallContext,
    instance_id: Uuid,
    reason: Option<&str>,
    with: Option<&Uuid>,
) -> Result<Option<bool>, PgError> {
    let Some((mut row, compiled)) = lock(context, instance_id)? else { return Ok(None) };
    if row.instance.has_ended() {
        return Ok(Some(false));
    }
    let by = owners::reference_to(context.caller);
    match row.paused_at {
        None => pauses::begin(instance_id, by, reason, with, context.timestamp()),
        Some(_) if is_ending(instance_id) => pauses::pause_again(instance_id, by, reason),
        Some(_) => return Ok(Some(false)),
    }
    // If it was about to be admitted, another instance is admitted instead.
    wake::report_pending_starts(true);
    record_event(context, &mut row, &compiled, ActKind::Pause, reason)?;
    Ok(Some(true))
}

/// Locks an instance that the current role may alter.
fn lock(context: &mut CallContext, instance_id: Uuid) -> Result<Option<(InstanceRow, Rc<Compiled>)>, PgError> {
    running::refuse(instance_id)?;
    context.has_waited = true;
    let Some(row) = instances::lock(instance_id) else { return Ok(None) };
    let compiled = compiled::of_instance(&row)?;
    access::instance::require(Operation::Alter, &row, &compiled)?;
    Ok(Some((row, compiled)))
}

/// Records a pause or its end in the journal.
fn record_event(
    context: &CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    act: ActKind,
    reason: Option<&str>,
) -> Result<(), PgError> {
    let kind = if act == ActKind::Pause { EventKind::Paused } else { EventKind::Unpaused };
    let act = acts::of_call(context, act, compiled)?;
    let mut data = Map::from_iter([("by".to_owned(), Value::from(role::name(role::current())))]);
    data.extend(reason.map(|reason| ("reason".to_owned(), Value::from(reason))));
    let event = Event::of_workflow(kind, Some(Value::Object(data)));
    let instance = &mut row.instance;
    let seq = journal::take_rows(instance, Some(&act), 1);
    instances::save_state(instance);
    rows::write(|writer| journal::append(writer, &instance.id, seq, Some(&act), &[event], context.timestamp()));
    Ok(())
}

/// Ends the pause of an instance and of those that were paused with it. The locks of these come after that of the
/// instance, in the order of ids over all levels.
///
/// # Errors
/// 42704 if it does not exist, 55000 if it is not paused; 42501 without the right to alter it or one of the others.
pub fn unpause(context: &mut CallContext, instance_id: Uuid) -> Result<InstanceRow, PgError> {
    let (row, _) = lock(context, instance_id)?.ok_or_else(|| resume::unknown(instance_id))?;
    if row.paused_at.is_none() {
        return Err(PgError::new("55000", format!("workflow instance {instance_id} is not paused")));
    }
    let children = pauses::paused_with(instance_id);
    // All locks come first: continuing one of them may reach another.
    for child in &children {
        lock(context, *child)?;
    }
    for id in [instance_id].into_iter().chain(children) {
        interrupt::check();
        end(context, id)?;
    }
    instances::get(instance_id).ok_or_else(|| resume::unknown(instance_id))
}

/// Ends the pause of a locked instance, or leaves that to a session of its owner.
fn end(context: &mut CallContext, instance_id: Uuid) -> Result<(), PgError> {
    // Previous work may have changed or ended it.
    let Some((mut row, compiled)) = lock(context, instance_id)?.filter(|(row, _)| row.paused_at.is_some()) else {
        return Ok(());
    };
    record_event(context, &mut row, &compiled, ActKind::Unpause, None)?;
    if lending::runs_here(context.serves, &row.owner, &compiled) || !has_kept(instance_id) {
        return end_pause(context, row, &compiled);
    }
    pauses::hand_to_owner(instance_id, context.timestamp());
    notice_no_worker();
    Ok(())
}

/// Whether answers or stimuli were stored for an instance.
fn has_kept(instance_id: Uuid) -> bool {
    !pauses::answers(instance_id).is_empty() || !queue::items_for(instance_id, Timestamp::MINUS_INFINITY).is_empty()
}

/// Rejects a call that would resume a paused instance (55000). A caller that may not read the instance does not learn
/// the reason.
pub fn refuse(row: &InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    if row.paused_at.is_none() {
        return Ok(());
    }
    let id = row.instance.id;
    let refused = PgError::new("55000", format!("workflow instance {id} is paused"))
        .hint(format!("SELECT * FROM wf_unpause('{id}') lets it go on."));
    let Some(pause) = pauses::of(id).filter(|_| instance::allows(Operation::Read, row, compiled)) else {
        return Err(refused);
    };
    let (by, since) = (pause.by.title(), not_found::format_instant(pause.since.into()));
    let reason = pause.reason.map_or_else(String::new, |reason| format!(": {reason}"));
    Err(refused.detail(format!("Role \"{by}\" paused it at {since}{reason}.")))
}

/// Tells a caller that has cancelled a paused instance that its compensation handlers wait for the end of the pause.
pub fn notice_if_paused(row: &InstanceRow) {
    let id = row.instance.id;
    if row.paused_at.is_some() && row.instance.sub_status != SubStatus::Cancelled {
        let message = format!("workflow instance {id} is paused, and is cancelled when the pause has ended");
        notice(PgError::new("00000", message).hint(format!(
            "SELECT * FROM wf_unpause('{id}') lets its handlers run; wf_cancel with force => true drops them."
        )));
    }
}

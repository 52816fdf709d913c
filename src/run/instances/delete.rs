//! Deleting an instance with all that belongs to it.

use std::collections::HashSet;

use uuid::Uuid;
use workflow_engine::execution;
use workflow_engine::instance::compensation::Ending;

use crate::access::{self, Operation, instance};
use crate::compiled;
use crate::pg::error::{notice, warning};
use crate::pg::{PgError, role};
use crate::run::CallContext;
use crate::run::call::running;
use crate::run::history::acts;
use crate::run::instances::cancel::cancel_tree;
use crate::store::instances::{self, InstanceRow};
use crate::store::maintenance::removal::{self, Tally};
use crate::store::repair::incidents;
use crate::store::rights::owners;

/// What a deletion did.
#[derive(Debug, Default)]
pub struct Deletion {
    /// The instances that it removed.
    pub instances: Vec<Uuid>,
    /// Their correlation ids.
    pub keys: Vec<String>,
    /// The rows that it removed, and those that stay because the caller may not delete them.
    pub tally: Tally,
}

/// Cancels an instance and removes it with its children and with all that belongs to them, and tells the caller what
/// that was. `false`: it does not exist.
///
/// # Errors
/// 55006 if it or a child has work to compensate, unless it is removed by force: a WARNING then names the work.
pub fn delete(context: &mut CallContext, instance_id: Uuid, force: bool) -> Result<bool, PgError> {
    let mut deletion = match delete_tree(context, instance_id, force)? {
        Removal::Gone => return Ok(false),
        Removal::HasWork(id) => return Err(has_work(id)),
        Removal::Done(deletion) => deletion,
    };
    let unused = removal::unused_keys(&deletion.keys);
    deletion.remove_keyed(&unused);
    deletion.notice(instance_id);
    Ok(true)
}

/// What became of an instance that was to be removed.
#[derive(Debug)]
pub enum Removal {
    /// It did not exist.
    Gone,
    /// This one of the instances has work to compensate. The caller rolls back what was done to the others.
    HasWork(Uuid),
    /// It is removed.
    Done(Deletion),
}

/// Cancels an instance and removes it with its children, as far as the caller may delete them.
///
/// # Errors
/// 42501 if the caller may not delete it; 55006 if its burst, or that of a child, is running.
pub fn delete_tree(context: &mut CallContext, instance_id: Uuid, force: bool) -> Result<Removal, PgError> {
    running::refuse(instance_id)?;
    context.has_waited = true;
    let Some(row) = instances::get(instance_id) else { return Ok(Removal::Gone) };
    instance::require(Operation::Delete, &row, &*compiled::of_version(row.definition_version_id)?)?;
    // Another session may delete the instance while this one waits for its lock.
    if instances::lock(instance_id).is_none() {
        return Ok(Removal::Gone);
    }
    cancel_tree(context, instance_id, None, force, Operation::Delete)?;
    let (rows, children_kept) = deletable(instance_id)?;
    if let Some(row) = rows.iter().find(|row| row.instance.state.ending() != Ending::None) {
        return Ok(Removal::HasWork(row.instance.id));
    }
    let ids: Vec<Uuid> = rows.iter().map(|row| row.instance.id).collect();
    for id in &ids {
        warn_of_dropped_work(*id);
    }
    let mut tally = removal::remove(&ids);
    tally.add_kept("instances", children_kept);
    rows.iter().try_for_each(acts::record_deletion)?;
    let keys = rows.into_iter().filter_map(|row| row.instance.correlation_id).collect();
    Ok(Removal::Done(Deletion { instances: ids, keys, tally }))
}

/// An instance, which the caller may delete, with those below it, as far as the caller may delete them, and the number
/// of those that it may not. They are locked.
///
/// # Errors
/// 55006 if the burst of one of them is running.
fn deletable(instance_id: Uuid) -> Result<(Vec<InstanceRow>, u64), PgError> {
    let (mut rows, mut kept) = (Vec::new(), 0);
    let (mut level, mut seen) = (vec![instance_id], HashSet::new());
    while !level.is_empty() {
        let mut below = Vec::new();
        for id in level.into_iter().filter(|id| seen.insert(*id)) {
            running::refuse(id)?;
            let Some(row) = instances::lock(id) else { continue };
            if id != instance_id && !instance::allows(Operation::Delete, &row, &*compiled::of_instance(&row)?) {
                kept += 1;
                continue;
            }
            below.extend(instances::children(id));
            rows.push(row);
        }
        level = below;
    }
    Ok((rows, kept))
}

fn has_work(instance_id: Uuid) -> PgError {
    PgError::new("55006", format!("workflow instance {instance_id} has work to compensate"))
        .detail("What it has done would stay, and nothing would tell of it.")
        .hint("Cancel it with wf_cancel, and delete it when it has ended. With force => true its work stays as it is.")
}

/// Says which work of an instance that was cancelled by force stays as it is: its incidents go with it.
fn warn_of_dropped_work(instance_id: Uuid) {
    for incident in incidents::open(instance_id) {
        if incident["code"] == execution::COMPENSATION_DROPPED {
            let detail = incident["detail"].as_str().unwrap_or_default();
            let message = format!("workflow instance {instance_id} was removed before its work was compensated");
            warning(PgError::new("01000", message).detail(detail));
        }
    }
}

impl Deletion {
    /// Adds another deletion.
    pub fn add(&mut self, other: Self) {
        self.instances.extend(other.instances);
        self.keys.extend(other.keys);
        self.tally.add(&other.tally);
    }

    /// Removes stimuli and answers for correlation ids, of roles whose rights the caller has. Those of other roles are
    /// counted for callers that may read everything.
    pub fn remove_keyed(&mut self, keys: &[String]) {
        if keys.is_empty() {
            return;
        }
        let who = role::current();
        let mut senders = removal::owners_of_keys(keys);
        senders.retain(|sender| access::is_member(who, &owners::by_id(*sender)));
        let tally = removal::remove_keyed(keys, &senders);
        for (table, rows) in tally.tables() {
            self.tally.add_done(table, rows.done);
            self.tally.add_kept(table, if role::reads_all_data(who) { rows.kept } else { 0 });
        }
    }

    /// Tells the caller what went with the instance that it named, and what stays.
    fn notice(&self, instance_id: Uuid) {
        let deleted = listed(|table| match table {
            "instances" => self.instances.len() as u64 - 1,
            _ => self.tally.rows_of(table).done,
        });
        if !deleted.is_empty() {
            let message = format!("deletion of workflow instance {instance_id} cascades to other rows");
            notice(PgError::new("00000", message).detail(format!("Deleted {deleted}.")));
        }
        let kept = listed(|table| self.tally.rows_of(table).kept);
        if !kept.is_empty() {
            let message = format!("not all that belongs to workflow instance {instance_id} was deleted");
            notice(
                PgError::new("00000", message)
                    .detail(format!("Of other roles it leaves {kept}."))
                    .hint("Members of these roles and superusers can delete it."),
            );
        }
    }
}

/// Numbers of rows in words, such as `2 child instances, 1 answer of wf_call`.
fn listed(count: impl Fn(&'static str) -> u64) -> String {
    let tables = [
        ("instances", "child instance", "child instances"),
        ("bookmark_queue", "stimulus in the queue", "stimuli in the queue"),
        ("dead_letters", "dead letter", "dead letters"),
        ("messages", "answer of wf_call", "answers of wf_call"),
    ];
    let there = tables.into_iter().map(|(table, one, more)| (count(table), one, more)).filter(|(count, ..)| *count > 0);
    let words = there.map(|(count, one, more)| format!("{count} {}", if count == 1 { one } else { more }));
    words.collect::<Vec<_>>().join(", ")
}

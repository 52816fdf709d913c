//! The functions that the current role may call for an instance or for an open task. User interfaces offer only these.
//!
//! Only rights count. Whether the instance is paused or has ended is checked by each function.

use super::exclusion::Exclusion;
use super::person::Person;
use super::{Operation, instance, lending, people, substitution};
use crate::clock;
use crate::compiled::Compiled;
use crate::pg::{PgError, role};
use crate::store::instances::InstanceRow;
use crate::store::instances::bookmarks::Waiting;

/// Functions that change an instance, with the operation that each performs.
const OF_INSTANCE: [(&str, Operation); 10] = [
    ("wf_cancel", Operation::Cancel),
    ("wf_cancel_activity", Operation::Alter),
    ("wf_delete_instance", Operation::Delete),
    ("wf_migrate", Operation::Migrate),
    ("wf_pause", Operation::Alter),
    ("wf_resume", Operation::Resume),
    ("wf_retry", Operation::Resume),
    ("wf_schedule_activity", Operation::Alter),
    ("wf_set_variable", Operation::Alter),
    ("wf_unpause", Operation::Alter),
];
/// Functions that determine what is done with the rights of the instance's owner.
const STEERING: [&str; 4] = ["wf_cancel_activity", "wf_migrate", "wf_schedule_activity", "wf_set_variable"];

/// The functions that the current role may call for an instance, sorted by name.
pub fn of_instance(row: &InstanceRow, compiled: &Compiled) -> Vec<&'static str> {
    let may_steer = lending::may_steer(role::current(), row, compiled);
    let is_permitted = |(name, operation): &(&str, Operation)| {
        instance::allows(*operation, row, compiled) && (may_steer || !STEERING.contains(name))
    };
    OF_INSTANCE.iter().filter(|entry| is_permitted(entry)).map(|(name, _)| *name).collect()
}

/// The functions that the current role, acting for this person, may call for an open task, sorted by name.
///
/// # Errors
/// 22023 if the version's declaration of excluded people is invalid.
pub fn of_task(waiting: &Waiting, compiled: &Compiled, who: &Person) -> Result<Vec<&'static str>, PgError> {
    let (row, task, node_id) = (&waiting.row, waiting.bookmark.id, &waiting.bookmark.node_id);
    if !waiting.kind.is_task() {
        return Ok(Vec::new());
    }
    let assignment = waiting.lease.assignment.as_deref();
    let exclusion = Exclusion::of(row, compiled, task, node_id)?;
    let is_excluded = exclusion.as_ref().is_some_and(|exclusion| exclusion.excludes(who));
    let needs_actor = exclusion.as_ref().is_some_and(|exclusion| exclusion.require_answer(who, assignment).is_err());
    let may_work = !needs_actor && people::require_work(row, compiled, task, assignment).is_ok();
    let is_vote = compiled.program.asks_for_votes(node_id);
    let is_excluded_for = |absent: &String| exclusion.as_ref().is_some_and(|given| given.excludes_absent(absent));
    let may_answer = !needs_actor
        && substitution::stands_for(row, compiled, task, assignment, clock::now().into())
            .is_ok_and(|absent| absent.is_empty() || !absent.iter().all(is_excluded_for));
    let itself = role::name(role::current()).map(|name| format!("role:{name}"));
    let may_assign = |to| match people::assigner(row, compiled, node_id, assignment, to) {
        Some(people::Assigner::Operator) => !is_excluded,
        Some(people::Assigner::Candidate | people::Assigner::Colleague) => !needs_actor,
        None => false,
    };
    let permitted = [
        ("wf_assign_task", may_assign(itself.as_deref())),
        ("wf_claim_task", may_work && !is_vote),
        ("wf_comment_task", people::sees(row, compiled, assignment)),
        ("wf_complete_task", may_answer),
        ("wf_fail_task", may_work && !is_vote),
        ("wf_override_task", !is_excluded && people::require_override(row, compiled, task, assignment).is_ok()),
        ("wf_unassign_task", people::assigner(row, compiled, node_id, assignment, None).is_some()),
    ];
    Ok(permitted.into_iter().filter(|(_, may)| *may).map(|(name, _)| name).collect())
}

/// Whether the current role, acting for this person, may assign an open task to others.
///
/// # Errors
/// 22023 if the version's declaration of excluded people is invalid.
pub fn may_reassign(waiting: &Waiting, compiled: &Compiled, who: &Person) -> Result<bool, PgError> {
    let (row, task, node_id) = (&waiting.row, waiting.bookmark.id, &waiting.bookmark.node_id);
    let assignment = waiting.lease.assignment.as_deref();
    let Some(assigner) = people::assigner_to_others(row, compiled, node_id, assignment) else { return Ok(false) };
    let Some(exclusion) = Exclusion::of(row, compiled, task, node_id)? else { return Ok(true) };
    Ok(match assigner {
        people::Assigner::Operator => !exclusion.excludes(who),
        people::Assigner::Candidate | people::Assigner::Colleague => exclusion.require_answer(who, assignment).is_ok(),
    })
}

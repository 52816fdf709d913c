//! Tasks for certain people: who may answer them, and who may assign them.
//!
//! Such a task is answered by its assignee and its candidates, and by no other role; operators override it with a
//! separate call and a reason. A role as assignee or candidate means its members. A label means a person whom only the
//! application knows: any role that may resume the instance can act for such people. If the session vouches for the
//! actor and its groups, it acts only for these.

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::execution::ForPeople;

use super::instance::{self, Subject};
use super::{Operation, denied, is_member, substitution, work};
use crate::clock;
use crate::compiled::{self, Compiled};
use crate::pg::{PgError, actor, role};
use crate::store::instances::InstanceRow;
use crate::store::instances::bookmarks;
use crate::store::rights::owners::Owner;
use crate::store::tasks::assignments::{Assignment, Entry};
use crate::store::tasks::leases;

/// Whether a role may act for an assignee or candidate; `may_resume`: whether it may resume the instance.
pub fn acts_for(who: Oid, entry: &Entry<'_>, may_resume: bool) -> bool {
    match entry {
        Entry::Role(owner) => is_member(who, owner),
        Entry::Label(label) => may_resume && actor::acts_for(label),
    }
}

/// Whether a claim of any task may return this one to a role. Such a claim skips tasks of people whom only the
/// application knows, and tasks that the role may answer only because it is an owner.
pub fn is_claimed_by(who: Oid, assignment: &Assignment) -> bool {
    assignment.entries().any(|entry| match entry {
        Entry::Role(owner) => match role::is_superuser(who) {
            true => owner.role() == Some(who),
            false => is_member(who, &owner),
        },
        Entry::Label(_) => false,
    })
}

fn may_answer(who: Oid, subject: Subject<'_>, assignment: &Assignment) -> bool {
    let may_resume = instance::permits(who, Operation::Resume, subject);
    assignment.entries().any(|entry| acts_for(who, &entry, may_resume))
}

/// Rejects the current role unless it may answer a task of the instance (42501).
pub fn require_answer(
    row: &InstanceRow,
    compiled: &Compiled,
    task: Uuid,
    assignment: Option<&Assignment>,
) -> Result<(), PgError> {
    let Some(assignment) = assignment.filter(|given| given.is_assigned()) else {
        return instance::require_resume_of_task(row, compiled);
    };
    let who = role::current();
    if may_answer(who, Subject::of(row, compiled), assignment) {
        return Ok(());
    }
    // Other roles must not learn that the task is for certain people.
    if !instance::allows(Operation::Read, row, compiled) {
        instance::require_resume_of_task(row, compiled)?;
    }
    let name = role::name(who).unwrap_or_default();
    Err(denied(&format!("task {task}"))
        .detail(format!("It is for certain people, and role \"{name}\" is none of them."))
        .hint(match instance::allows(Operation::Alter, row, compiled) {
            true => "wf_override_task completes it in their place, and says why.",
            false => "wf_assign_task, called by a role that may alter the instance, gives it to another person.",
        }))
}

/// Rejects the current role unless it may complete a task in place of its people (42501).
///
/// # Errors
/// 55000 if it has no assignee and no candidates.
pub fn require_override(
    row: &InstanceRow,
    compiled: &Compiled,
    task: Uuid,
    assignment: Option<&Assignment>,
) -> Result<(), PgError> {
    instance::require(Operation::Alter, row, compiled)?;
    if assignment.is_some_and(Assignment::is_assigned) {
        return Ok(());
    }
    Err(PgError::new("55000", format!("task {task} is not for certain people")).hint("wf_complete_task completes it."))
}

/// The capacity in which a role changes the assignment of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigner {
    /// It may alter the instance.
    Operator,
    /// It takes the task itself, or returns it.
    Candidate,
    /// It passes on a task that is its own, where the definition allows that.
    Colleague,
}

/// The capacity in which the current role may assign a task, which the activity at this path has opened, to this person
/// or, without a person, unassign it.
pub fn assigner(
    row: &InstanceRow,
    compiled: &Compiled,
    node_id: &str,
    assignment: Option<&Assignment>,
    to: Option<&str>,
) -> Option<Assigner> {
    if instance::allows(Operation::Alter, row, compiled) {
        return Some(Assigner::Operator);
    }
    let (who, given) = (role::current(), assignment?);
    let may_resume = instance::allows(Operation::Resume, row, compiled);
    let acts_for = |entry: &Entry<'_>| acts_for(who, entry, may_resume);
    let may = match to {
        None => given.assignee().as_ref().is_some_and(acts_for),
        // The role itself, not a role of which it is a member.
        Some(to) if to.starts_with(ForPeople::ROLE) => {
            role::name(who).is_some_and(|name| to.strip_prefix(ForPeople::ROLE) == Some(&name))
                && given.candidates().any(|candidate| acts_for(&candidate))
        }
        Some(to) => given
            .candidates()
            .any(|candidate| (candidate == Entry::Label(to) || actor::is_vouched_for(to)) && acts_for(&candidate)),
    };
    if may {
        return Some(Assigner::Candidate);
    }
    (to.is_some() && passes_on(compiled, node_id, given, may_resume)).then_some(Assigner::Colleague)
}

/// Whether the current role may assign a task to others because it is the role's own, and the definition allows that.
fn passes_on(compiled: &Compiled, node_id: &str, assignment: &Assignment, may_resume: bool) -> bool {
    let who = role::current();
    let is_own = match assignment.assignee() {
        Some(assignee) => acts_for(who, &assignee, may_resume),
        None => assignment.candidates().any(|candidate| acts_for(who, &candidate, may_resume)),
    };
    is_own && compiled.program.is_reassignable(node_id)
}

/// The capacity in which the current role may assign a task to others.
pub fn assigner_to_others(
    row: &InstanceRow,
    compiled: &Compiled,
    node_id: &str,
    assignment: Option<&Assignment>,
) -> Option<Assigner> {
    if instance::allows(Operation::Alter, row, compiled) {
        return Some(Assigner::Operator);
    }
    let may_resume = instance::allows(Operation::Resume, row, compiled);
    passes_on(compiled, node_id, assignment?, may_resume).then_some(Assigner::Colleague)
}

/// Rejects the current role unless it may work on a task of the instance (42501).
pub fn require_work(
    row: &InstanceRow,
    compiled: &Compiled,
    task: Uuid,
    assignment: Option<&Assignment>,
) -> Result<(), PgError> {
    match assignment.filter(|given| given.is_assigned()) {
        Some(assignment) => require_answer(row, compiled, task, Some(assignment)),
        None => work::require(row, compiled, task),
    }
}

/// Whether a sender that may resume an instance of this version and owner may answer the bookmark's task, if it belongs
/// to a task.
pub(super) fn may_meet(sender: &Owner, bookmark: &Bookmark, version: Uuid, owner: &Owner) -> Result<bool, PgError> {
    match assignment_of(bookmark) {
        Some(assignment) => {
            let subject = Subject { owner, is_child: true, compiled: &*compiled::of_version(version)? };
            Ok(sender.role().is_some_and(|who| may_answer(who, subject, &assignment)))
        }
        None => Ok(true),
    }
}

/// The assignment of the bookmark's task, if it is a task for certain people.
pub fn assignment_of(bookmark: &Bookmark) -> Option<Box<Assignment>> {
    let held = bookmarks::is_task(bookmark).then(|| leases::read(bookmark.id)).flatten();
    held.and_then(|held| held.lease.assignment).filter(|given| given.is_assigned())
}

/// Whether the current role sees an open task in the views: it may read the instance, is asked, or is the substitute of
/// somebody who is. A role that acts for people whom only the application knows sees their tasks, too.
pub fn sees(row: &InstanceRow, compiled: &Compiled, assignment: Option<&Assignment>) -> bool {
    let who = role::current();
    instance::allows(Operation::Read, row, compiled)
        || assignment.is_some_and(|given| {
            may_answer(who, Subject::of(row, compiled), given)
                || !substitution::absent_roles(who, given, clock::now().into()).is_empty()
        })
}

/// Whether a role may know that an open task is for this assignee or candidate: it may read the instance, or the task
/// is for the role as well, or for somebody whose substitute it is.
pub fn may_know(who: Oid, task: Uuid, entry: &Entry<'_>) -> bool {
    let Some(held) = leases::read(task) else { return false };
    let Some(assignment) = held.lease.assignment else { return false };
    let is_named = |entry: Entry<'_>| matches!(entry, Entry::Role(owner) if is_member(who, &owner));
    assignment.entries().any(|known| known == *entry)
        && (assignment.entries().any(is_named)
            || !substitution::absent_roles(who, &assignment, clock::now().into()).is_empty()
            || instance::readable_version(who, held.instance).is_ok_and(|found| found.is_some()))
}

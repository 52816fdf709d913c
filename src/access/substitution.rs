//! Substitutes: people who answer tasks for certain people in place of somebody absent.
//!
//! A substitute is looked for only where the caller does not answer in its own name:
//!
//! - A role that may not answer a task may do so for an absent role that may, as a member of a group or by name. It gets
//!   no other right by that. What a superuser may answer only as a superuser, a substitute may not.
//! - An actor whom the task does not name answers for the absent person whom it names. Its role may do so anyway,
//!   unless the session vouches for the actor; the record says for whom. Such a period counts for instances that the
//!   role which set it may resume, or alter if that was not the person: another application can have people of the same
//!   names.
//!
//! There are no chains: a substitute's substitute answers nothing of the first person. Neither of the two may be in
//! `not` of the task, nor have voted in its approval.

use std::collections::HashSet;

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::approval::{Approval, Rule};
use workflow_engine::execution::ForPeople;

use super::exclusion::Exclusion;
use super::instance::{self, Subject};
use super::person::{self, Person};
use super::{Operation, Privilege, people};
use crate::compiled::Compiled;
use crate::pg::membership::{self, belongs_to};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, actor, role};
use crate::store::instances::InstanceRow;
use crate::store::rights::owners;
use crate::store::tasks::assignments::{Assignment, Entry};
use crate::store::tasks::substitutes::{self, Absence};

/// The prefix of a group that only the application knows.
pub const GROUP: &str = "group:";

/// Rejects the caller unless it may answer a task, in its own name or in that of an absent person, who is returned as
/// rows name people.
///
/// # Errors
/// 42501; 55000 if the actor would outlive the transaction.
pub fn require_answer(
    row: &InstanceRow,
    compiled: &Compiled,
    bookmark: &Bookmark,
    assignment: Option<&Assignment>,
    now: Timestamp,
) -> Result<Option<String>, PgError> {
    let absent = stands_for(row, compiled, bookmark.id, assignment, now)?;
    choose(row, compiled, bookmark, assignment, absent)
}

/// The same for a caller who resumes the bookmark of a task, which a role may do only in its own name.
///
/// # Errors
/// As [`require_answer`].
pub fn require_resume(
    row: &InstanceRow,
    compiled: &Compiled,
    bookmark: &Bookmark,
    assignment: Option<&Assignment>,
    now: Timestamp,
) -> Result<Option<String>, PgError> {
    people::require_answer(row, compiled, bookmark.id, assignment)?;
    let absent = match assignment.filter(|given| given.is_assigned()) {
        Some(assignment) => absent_actors(Subject::of(row, compiled), assignment, now)?,
        None => Vec::new(),
    };
    choose(row, compiled, bookmark, assignment, absent)
}

/// Rejects the caller, and absent people, whom the task excludes. Returns the first one of whom that is not so.
fn choose(
    row: &InstanceRow,
    compiled: &Compiled,
    bookmark: &Bookmark,
    assignment: Option<&Assignment>,
    absent: Vec<String>,
) -> Result<Option<String>, PgError> {
    if !absent.is_empty() {
        refuse_with_own_vote(row, compiled, bookmark)?;
    }
    let exclusion = Exclusion::of_bookmark(row, compiled, bookmark)?;
    let Some(exclusion) = exclusion else { return Ok(absent.into_iter().next()) };
    exclusion.require_answer(&Person::from(&person::current()?), assignment)?;
    let chosen = absent.iter().position(|person| !exclusion.excludes_absent(person)).unwrap_or_default();
    let absent = absent.into_iter().nth(chosen);
    absent.as_deref().map(|person| exclusion.require_absent(person)).transpose()?;
    Ok(absent)
}

/// Rejects a substitute whom the same approval asks for a vote of its own if all must approve: one person has one vote,
/// so no one would be left for the other vote (55000).
fn refuse_with_own_vote(row: &InstanceRow, compiled: &Compiled, bookmark: &Bookmark) -> Result<(), PgError> {
    let Some(approval) = Approval::of_task(&compiled.program, &row.instance, bookmark.id) else { return Ok(()) };
    let actor = actor::of_call()?;
    let is_caller = |name: &str| match name.strip_prefix(ForPeople::ROLE) {
        Some(role_name) => role::name(role::current()).as_deref() == Some(role_name),
        None => actor.as_deref() == Some(name),
    };
    if !matches!(approval.rule, Rule::All) {
        return Ok(());
    }
    let is_open = |task: Option<Uuid>| task != Some(bookmark.id);
    let own =
        approval.voters.iter().find(|voter| voter.vote.is_none() && is_open(voter.task) && is_caller(&voter.name));
    let Some(own) = own else { return Ok(()) };
    Err(PgError::new("55000", format!("{} has a vote of its own in \"{}\"", own.name, bookmark.activity_id))
        .detail("One person has one vote, as a substitute included.")
        .hint("Give your own vote, and let another substitute or an operator answer this task."))
}

/// The absent people in whose place the caller would answer a task, as rows name people; none: it would answer in its
/// own name. Whom the task excludes is not considered.
///
/// # Errors
/// As [`require_answer`].
pub fn stands_for(
    row: &InstanceRow,
    compiled: &Compiled,
    task: Uuid,
    assignment: Option<&Assignment>,
    now: Timestamp,
) -> Result<Vec<String>, PgError> {
    let refused = people::require_work(row, compiled, task, assignment).err();
    let absent = match assignment.filter(|given| given.is_assigned()) {
        Some(assignment) if refused.is_some() => {
            let mut absent = absent_roles(role::current(), assignment, now);
            absent.extend(absent_of_vouched(Subject::of(row, compiled), assignment, now)?);
            absent
        }
        Some(assignment) => absent_actors(Subject::of(row, compiled), assignment, now)?,
        None => Vec::new(),
    };
    match refused {
        Some(refused) if absent.is_empty() => Err(refused),
        _ => Ok(absent),
    }
}

/// The people whom only the application knows, and for whom an actor is the substitute now, if the session vouches for
/// the actor: then its role alone acts for no other person.
fn absent_of_vouched(subject: Subject<'_>, assignment: &Assignment, now: Timestamp) -> Result<Vec<String>, PgError> {
    let acts_only_for_actor = actor::groups().is_some();
    match acts_only_for_actor && instance::permits(role::current(), Operation::Resume, subject) {
        true => absent_actors(subject, assignment, now),
        false => Ok(Vec::new()),
    }
}

/// The roles that may answer a task of these people and for whom a role is the substitute now.
pub fn absent_roles(who: Oid, assignment: &Assignment, now: Timestamp) -> Vec<String> {
    let asked: Vec<Oid> = assignment.entries().filter_map(|entry| role_of(&entry)).collect();
    let may_answer = |person: &String| {
        role_of(&Entry::read(person)).is_some_and(|absent| asked.iter().any(|asked| belongs_to(absent, *asked)))
    };
    let mut absent = absent_for(who, now);
    absent.retain(may_answer);
    absent
}

fn role_of(entry: &Entry<'_>) -> Option<Oid> {
    match entry {
        Entry::Role(owner) => owner.role(),
        Entry::Label(_) => None,
    }
}

fn label_of(entry: Entry<'_>) -> Option<String> {
    match entry {
        Entry::Role(_) => None,
        Entry::Label(name) => Some(name.to_owned()),
    }
}

/// The roles, as rows name them, for which a role is the substitute now.
fn absent_for(who: Oid, now: Timestamp) -> Vec<String> {
    let mut absent: Vec<String> =
        substitutes::in_force(&names_of(who), None, now).into_iter().map(|absence| absence.person).collect();
    absent.dedup();
    absent
}

/// All texts by which rows name a role.
pub fn names_of(who: Oid) -> Vec<String> {
    owners::ids_of(&HashSet::from([who])).into_iter().map(|id| format!("{}{id}", ForPeople::ROLE)).collect()
}

/// The entries of tasks that a role sees because it is a substitute now: the absent roles and their groups.
pub fn visible_entries(who: Oid, now: Timestamp) -> Vec<String> {
    let absent = absent_for(who, now);
    let roles = absent.iter().filter_map(|person| role_of(&Entry::read(person)));
    let groups: HashSet<Oid> = roles.flat_map(membership::groups).collect();
    if groups.is_empty() {
        return Vec::new();
    }
    owners::ids_of(&groups).into_iter().map(|id| format!("{}{id}", ForPeople::ROLE)).collect()
}

/// The people whom a task names and for whom the actor is the substitute now. None if the task names the actor, a group
/// of the application, or a role of the caller: then the actor answers in its own name.
fn absent_actors(subject: Subject<'_>, assignment: &Assignment, now: Timestamp) -> Result<Vec<String>, PgError> {
    let Some(actor) = actor::of_call()? else { return Ok(Vec::new()) };
    let who = role::current();
    let names_caller = |entry: Entry<'_>| match entry {
        Entry::Label(name) => name == actor || name.starts_with(GROUP) && actor::acts_for(name),
        Entry::Role(owner) => super::is_member(who, &owner),
    };
    if assignment.entries().any(names_caller) {
        return Ok(Vec::new());
    }
    let named: Vec<String> = assignment.entries().filter_map(label_of).collect();
    let mut absent = substitutes::in_force(&[actor], Some(&named), now);
    absent.retain(|absence| counts_for(absence, subject));
    Ok(absent.into_iter().map(|absence| absence.person).collect())
}

/// Whether the period of a person of an application counts for an instance.
fn counts_for(absence: &Absence, subject: Subject<'_>) -> bool {
    let operation = if absence.is_by_person { Operation::Resume } else { Operation::Alter };
    absence.set_by.role().is_some_and(|set_by| instance::permits(set_by, operation, subject))
}

/// The substitutes who may now answer a task in place of this person, as rows name them. `person` is a name in the form
/// of an assignee.
pub fn substitutes_of(person: &str, subject: Subject<'_>, now: Timestamp) -> Vec<String> {
    let role = person.strip_prefix(ForPeople::ROLE).map(role::by_name);
    let names = match role {
        Some(role) => role.map(names_of).unwrap_or_default(),
        None => vec![person.to_owned()],
    };
    if names.is_empty() {
        return Vec::new();
    }
    let found = substitutes::of(&names, now).into_iter();
    let found = found.filter(|(absence, _)| role.is_some() || counts_for(absence, subject));
    let mut substitutes: Vec<String> = found.map(|(_, substitute)| substitute).collect();
    substitutes.dedup();
    substitutes
}

/// Rejects the caller unless it may set and remove substitutes of a person (42501): the person, and an operator. The
/// operator of a role is who can grant that role; that of a person of an application is who may alter instances. A
/// member does not appoint somebody in place of a whole group.
///
/// Returns whether it is the person.
///
/// # Errors
/// 55000 if the actor would outlive the transaction.
pub fn require_set(person: &Entry<'_>) -> Result<bool, PgError> {
    let who = role::current();
    let refused = |detail: &str| {
        Err(PgError::new("42501", format!("permission denied to set substitutes of {}", person.title())).detail(detail))
    };
    match person {
        Entry::Role(owner) => match owner.role() {
            Some(role) if role == who && role::can_connect(role) => Ok(true),
            Some(role) if membership::administers(who, role) => Ok(false),
            _ => refused("The role itself may do that if it can log in, and roles that can grant it to others."),
        },
        Entry::Label(name) => {
            let is_person = actor::of_call()?.as_deref() == Some(*name);
            let privilege = if is_person { Privilege::Resume } else { Privilege::Alter };
            let owners = owners::ids_of(&membership::groups(who));
            match role::is_superuser(who) || substitutes::have_privilege_anywhere(&owners, privilege.name()) {
                true => Ok(is_person),
                false => refused(
                    "The person may do that, named by workflow.actor in a role with \"resume\" on a definition, and roles with \"alter\".",
                ),
            }
        }
    }
}

//! Tasks that exclude people: the starter of the instance, those who answered another of its activities, or those who
//! gave another vote of the same approval.
//!
//! Configured by the input `not`, a constant, which is read from the instance's version. Every way to
//! answer a task is checked here: claims, assignments, answers with and without a token, overrides, resumes by id, and
//! stimuli. For a version without such a task the check is one comparison.

use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::activity::Excluded;
use workflow_engine::approval::Approval;
use workflow_engine::journal::Identity;

use super::people;
use super::person::{self, Person};
use crate::compiled::Compiled;
use crate::pg::PgError;
use crate::store::history::audit;
use crate::store::instances::InstanceRow;
use crate::store::instances::bookmarks;
use crate::store::rights::owners::Owner;
use crate::store::tasks;
use crate::store::tasks::assignments::{Assignment, Entry};

/// The people excluded from a task.
pub struct Exclusion {
    task: Uuid,
    people: Vec<ExcludedPerson>,
    /// The only person who may answer it, because the task changes this person's vote.
    only: Option<Person>,
}

struct ExcludedPerson {
    person: Person,
    /// Why they are excluded, as the predicate of a sentence.
    did: String,
}

/// Rejects the caller if the bookmark belongs to a task that excludes this person.
///
/// # Errors
/// 42501; 55000 if the actor would outlive the transaction.
pub fn require(
    row: &InstanceRow,
    compiled: &Compiled,
    bookmark: &Bookmark,
    assignment: Option<&Assignment>,
) -> Result<(), PgError> {
    match Exclusion::of_bookmark(row, compiled, bookmark)? {
        Some(exclusion) => exclusion.require_answer(&Person::from(&person::current()?), assignment),
        None => Ok(()),
    }
}

/// Rejects the sender of a stimulus if the bookmark belongs to a task that excludes this person (42501). Of an event
/// that a workflow sends, only the owner is known.
pub fn require_sender(
    row: &InstanceRow,
    compiled: &Compiled,
    bookmark: &Bookmark,
    sender: &Owner,
    sent_by: Option<&Identity>,
) -> Result<(), PgError> {
    let Some(exclusion) = Exclusion::of_bookmark(row, compiled, bookmark)? else { return Ok(()) };
    let sender = sent_by.map_or_else(|| Person::recorded(sender.id, None, None), Person::from);
    exclusion.require_answer(&sender, people::assignment_of(bookmark).as_deref())
}

impl Exclusion {
    /// The people excluded from a task that the activity at this path has opened. `None`: it excludes no one.
    ///
    /// # Errors
    /// 22023 if the version's declaration of excluded people is invalid.
    pub fn of(row: &InstanceRow, compiled: &Compiled, task: Uuid, node_id: &str) -> Result<Option<Self>, PgError> {
        let program = &compiled.program;
        if !program.excludes_people {
            return Ok(None);
        }
        let Some(node) = program.nodes.iter().find(|node| node.node_id == node_id) else { return Ok(None) };
        let excluded = node.activity.excluded(&node.inputs);
        let excluded = excluded.map_err(|fault| PgError::new(&fault.sqlstate, fault.message))?;
        if excluded.is_empty() {
            return Ok(None);
        }
        let (mut people, mut only) = (Vec::new(), None);
        for excluded in excluded {
            match excluded {
                Excluded::Starter => people.push(starter(row)),
                Excluded::Answered(activity) => people.extend(answerers(row.instance.id, &activity)),
                Excluded::OtherVoters => {
                    let Some(approval) = approval_of(row, compiled, task, node_id) else { continue };
                    let others = approval.tasks_of_others(task);
                    people.extend(voters(row.instance.id, &node.id, &others));
                    let own = approval.replaced_by(task).map(|own| voters(row.instance.id, &node.id, &[own]));
                    only = own.and_then(|own| own.into_iter().next()).map(|own| own.person);
                }
            }
        }
        Ok(Some(Self { task, people, only }))
    }

    /// The people excluded from a bookmark's task, if it belongs to a task.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn of_bookmark(row: &InstanceRow, compiled: &Compiled, bookmark: &Bookmark) -> Result<Option<Self>, PgError> {
        match bookmarks::is_task(bookmark) {
            true => Self::of(row, compiled, bookmark.id, &bookmark.node_id),
            false => Ok(None),
        }
    }

    /// Rejects an excluded person (42501).
    pub fn require(&self, who: &Person) -> Result<(), PgError> {
        if let Some(only) = self.only.as_ref().filter(|only| !only.is_same(who)) {
            return Err(PgError::new("42501", format!("task {} excludes {}", self.task, who.title()))
                .detail(format!("It changes the vote of {}.", only.title())));
        }
        let Some(ExcludedPerson { person, did }) = self.find(who) else { return Ok(()) };
        let same = match (&person.actor, &who.actor) {
            (Some(_), Some(_)) => "The same person".to_owned(),
            _ => capitalized(&person.title()),
        };
        let hint = match (&person.actor, &who.actor) {
            (Some(_), None) | (None, Some(_)) => {
                "Without an actor on both sides the same role is the same person: set workflow.actor in each call."
            }
            (None, None) if !person.has_role_of(who) => {
                "Both acted in sessions of the same login role. One that acts for many people has NOINHERIT, or SET on the parameter workflow.actor."
            }
            _ => "Another person must do it.",
        };
        Err(PgError::new("42501", format!("task {} excludes {}", self.task, who.title()))
            .detail(format!("{same} {did}."))
            .hint(hint))
    }

    /// Rejects an excluded person, and a caller that names no actor although it answers for people whom only the
    /// application knows (42501).
    pub fn require_answer(&self, who: &Person, assignment: Option<&Assignment>) -> Result<(), PgError> {
        if who.actor.is_none() && assignment.is_some_and(is_for_names_only) {
            return Err(PgError::new("42501", format!("task {} requires an actor", self.task))
                .detail("It is for names that only the application knows, and excludes people.")
                .hint("Set workflow.actor with SET LOCAL, or call wf_set_actor in the FROM clause of the statement."));
        }
        self.require(who)
    }

    /// Rejects an excluded assignee as far as the entry identifies the person: a label is compared with actors, and a
    /// role stands for itself, not for its members (42501).
    pub fn require_assignee(&self, entry: &Entry<'_>) -> Result<(), PgError> {
        self.require(&match entry {
            Entry::Role(owner) => Person { role: Some(owner.id), ..Person::default() },
            Entry::Label(name) => Person { actor: Some((*name).to_owned()), ..Person::default() },
        })
    }

    /// Whether a person is excluded.
    pub fn excludes(&self, who: &Person) -> bool {
        self.find(who).is_some() || self.only.as_ref().is_some_and(|only| !only.is_same(who))
    }

    fn find(&self, who: &Person) -> Option<&ExcludedPerson> {
        self.people.iter().find(|excluded| excluded.person.is_same(who))
    }
}

fn is_for_names_only(assignment: &Assignment) -> bool {
    assignment.is_assigned() && assignment.entries().all(|entry| matches!(entry, Entry::Label(_)))
}

fn capitalized(text: &str) -> String {
    text.strip_prefix("role").map_or_else(|| text.to_owned(), |rest| format!("Role{rest}"))
}

fn starter(row: &InstanceRow) -> ExcludedPerson {
    let person = Person::from(&person::starter_of(row));
    ExcludedPerson { person, did: format!("started workflow instance {}", row.instance.id) }
}

/// The people who completed the tasks of an activity. A task that the engine ended has none.
fn answerers(instance: Uuid, activity: &str) -> Vec<ExcludedPerson> {
    people_of(instance, tasks::answered(&instance, activity), &format!("answered \"{activity}\""))
}

/// The people who gave these votes of an approval.
fn voters(instance: Uuid, activity: &str, votes: &[Uuid]) -> Vec<ExcludedPerson> {
    if votes.is_empty() {
        return Vec::new();
    }
    let mut answered = tasks::answered(&instance, activity);
    answered.retain(|answered| votes.contains(&answered.task));
    people_of(instance, answered, &format!("has voted in \"{activity}\""))
}

fn people_of(instance: Uuid, answered: Vec<tasks::AnsweredTask>, did: &str) -> Vec<ExcludedPerson> {
    let ids: Vec<Uuid> = answered.iter().map(|answered| answered.task).collect();
    let logins = audit::logins_of_answers(&instance, &ids);
    let person = |answered: tasks::AnsweredTask| {
        let person = Person::recorded(answered.role, logins.get(&answered.task).copied(), answered.actor);
        ExcludedPerson { person, did: did.to_owned() }
    };
    answered.into_iter().map(person).collect()
}

/// The open approval to which a task belongs, if the activity at this path is one.
fn approval_of(row: &InstanceRow, compiled: &Compiled, task: Uuid, node_id: &str) -> Option<Approval> {
    let contexts = row.instance.state.contexts.values();
    let of_node = contexts.filter(|context| compiled.program.node(context.node).node_id == node_id);
    of_node.filter_map(|context| Approval::of(&context.memory)).find(|approval| approval.open_tasks().contains(&task))
}

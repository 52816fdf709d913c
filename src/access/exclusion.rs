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
    /// Whose vote the task changes, and who gave it in this person's place: only these may answer it.
    reserved_for: Vec<Person>,
}

/// A person excluded from a task.
pub struct ExcludedPerson {
    /// The person.
    pub person: Person,
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
        let instance = row.instance.id;
        let mut people = named(instance, &excluded, || person::starter_of(row));
        let mut reserved_for = Vec::new();
        if excluded.contains(&Excluded::OtherVoters)
            && let Some(approval) = Approval::of_task(program, &row.instance, task)
        {
            let did = format!("has voted in \"{}\"", node.id);
            people.extend(people_of(instance, tasks::answered_of(&approval.tasks_of_others(task)), &did));
            let own = approval.replaced_by(task).map(|own| voters(instance, &[own])).unwrap_or_default();
            reserved_for.extend(own.into_iter().map(|(_, person)| person));
        }
        Ok(Some(Self { task, people, reserved_for }))
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
        if let Some(voter) = self.reserved_for.first().filter(|_| self.is_for_another(who)) {
            return Err(PgError::new("42501", format!("task {} excludes {}", self.task, who.title()))
                .detail(format!("It changes the vote of {}.", voter.title())));
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
        self.require(&Person::from(entry))
    }

    /// Rejects an answer in place of an absent person whom the task excludes (42501). `entry`: as rows name the person.
    pub fn require_absent(&self, entry: &str) -> Result<(), PgError> {
        let Some(ExcludedPerson { did, .. }) = self.find(&Person::named(entry)) else { return Ok(()) };
        let title = Entry::read(entry).title();
        Err(PgError::new("42501", format!("task {} excludes {title}", self.task))
            .detail(format!("{title} {did}, so nobody answers in this person's place.")))
    }

    /// Whether an absent person is excluded.
    pub fn excludes_absent(&self, entry: &str) -> bool {
        self.find(&Person::named(entry)).is_some()
    }

    /// Whether a person is excluded.
    pub fn excludes(&self, who: &Person) -> bool {
        self.find(who).is_some() || self.is_for_another(who)
    }

    /// Whether the task changes a vote that this person has not given.
    fn is_for_another(&self, who: &Person) -> bool {
        !self.reserved_for.is_empty() && !self.reserved_for.iter().any(|voter| voter.is_same(who))
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

/// The people whom the input `not` of an activity excludes from its tasks. `starter` tells who started the instance.
pub fn named(instance: Uuid, excluded: &[Excluded], starter: impl Fn() -> Identity) -> Vec<ExcludedPerson> {
    let mut people = Vec::new();
    for excluded in excluded {
        match excluded {
            Excluded::Starter => {
                let did = format!("started workflow instance {instance}");
                people.push(ExcludedPerson { person: Person::from(&starter()), did });
            }
            // A task that the engine ended has no answerer.
            Excluded::Answered(activity) => {
                let answered = tasks::answered(&instance, activity);
                people.extend(people_of(instance, answered, &format!("answered \"{activity}\"")));
            }
            Excluded::OtherVoters => {}
        }
    }
    people
}

/// The people who gave these votes, of those that were given, and those for whom a substitute gave them.
pub fn voters(instance: Uuid, votes: &[Uuid]) -> Vec<(Uuid, Person)> {
    recorded(instance, tasks::answered_of(votes))
}

fn people_of(instance: Uuid, answered: Vec<tasks::AnsweredTask>, did: &str) -> Vec<ExcludedPerson> {
    let people = recorded(instance, answered).into_iter();
    people.map(|(_, person)| ExcludedPerson { person, did: did.to_owned() }).collect()
}

fn recorded(instance: Uuid, answered: Vec<tasks::AnsweredTask>) -> Vec<(Uuid, Person)> {
    let ids: Vec<Uuid> = answered.iter().map(|answered| answered.task).collect();
    let logins = audit::logins_of_answers(&instance, &ids);
    let people = |answered: tasks::AnsweredTask| {
        let login = logins.get(&answered.task).copied();
        let absent = answered.in_place_of.map(|entry| Person::named(&entry));
        [Some(Person::recorded(answered.role, login, answered.actor)), absent]
            .into_iter()
            .flatten()
            .map(move |person| (answered.task, person))
    };
    answered.into_iter().flat_map(people).collect()
}

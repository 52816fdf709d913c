//! What an approval asks its host about people.

use chrono::{DateTime, Utc};
use uuid::Uuid;
use workflow_engine::activity::Excluded;
use workflow_engine::execution::ForPeople;
use workflow_engine::journal::{Act, Identity};

use crate::access::person::Person;
use crate::pg::{PgError, role};
use crate::store::instances::InstanceRow;
use crate::store::rights::members::{self, Member};
use crate::store::rights::owners;
use crate::store::tasks;
use crate::store::tasks::assignments::Entry;
use crate::store::tasks::leases;

/// The people of a burst whose program has tasks that exclude people.
#[derive(Default)]
pub struct People {
    starter: Person,
    /// Who acts, if someone does.
    by: Option<Identity>,
    /// Whether the answer was given earlier, and is carried out now.
    is_kept: bool,
}

impl People {
    /// Of a burst of this instance, with what someone did.
    pub fn of(row: &InstanceRow, act: Option<&Act>) -> Self {
        let starter = Person {
            actor: row.starter.actor.clone(),
            role: Some(row.starter.role.unwrap_or(row.owner.id)),
            login: None,
        };
        Self { starter, by: act.map(|act| act.by.clone()), is_kept: act.is_some_and(|act| act.is_recorded) }
    }

    /// Who answered: the actor, or else the role.
    pub fn answerer(&self) -> Option<String> {
        let by = self.by.as_ref()?;
        let role = || owners::by_id(i32::try_from(by.role).unwrap_or_default()).title();
        Some(by.actor.clone().unwrap_or_else(|| format!("{}{}", ForPeople::ROLE, role())))
    }

    /// When a task was answered, if not in this burst.
    pub fn answered_before(&self, task: Uuid) -> Option<DateTime<Utc>> {
        let at = if self.is_kept { tasks::completed_at(task) } else { None };
        at.map(Into::into)
    }

    /// The names of the members of a role whom a task with these exclusions would accept.
    ///
    /// # Errors
    /// 42704 if there is no such role.
    pub fn members(&self, instance: Uuid, name: &str, excluded: &[Excluded]) -> Result<Vec<String>, PgError> {
        let mut left_out = Vec::new();
        for excluded in excluded {
            match excluded {
                Excluded::Starter => left_out.push(self.starter.clone()),
                Excluded::Answered(activity) => {
                    let answered = tasks::answered(&instance, activity).into_iter();
                    left_out.extend(answered.map(|by| Person::recorded(by.role, None, by.actor)));
                }
                Excluded::OtherVoters => {}
            }
        }
        let is_left_out = |member: &Member| {
            let person = Person { role: owners::known_id_of(member.oid), ..Person::default() };
            left_out.iter().any(|other| other.is_same(&person))
        };
        let members = members::of(role::required(name)?).into_iter();
        Ok(members.filter(|member| !is_left_out(member)).map(|member| member.name).collect())
    }
}

/// Whether somebody can answer an open task: it is for a name of the application, or for a role with people. A task that
/// this burst opens has no row yet.
pub fn can_be_answered(task: Uuid) -> bool {
    let Some(assignment) = leases::read(task).and_then(|held| held.lease.assignment) else { return true };
    assignment.entries().any(|entry| match entry {
        Entry::Role(owner) => owner.role().is_some_and(members::has_people),
        Entry::Label(_) => true,
    })
}

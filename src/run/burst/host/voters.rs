//! What approvals and notices ask their host about people.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::activity::Excluded;
use workflow_engine::approval::{Approval, Voter, unmatched};
use workflow_engine::execution::ForPeople;
use workflow_engine::journal::{Act, ActKind, Identity};

use crate::access::instance::Subject;
use crate::access::person::{Person, Start};
use crate::access::{exclusion, substitution};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, actor, role};
use crate::store::instances::InstanceRow;
use crate::store::rights::members::{self, Member};
use crate::store::rights::owners;
use crate::store::tasks;
use crate::store::tasks::assignments::Entry;
use crate::store::tasks::leases;

/// The most people whom one notice names in place of roles. Each costs a look-up in the directory.
const MAX_MEMBERS: usize = 100;

/// The people of a burst whose program has tasks that exclude people, or of which people are notified.
pub struct People {
    instance: Uuid,
    start: Start,
    /// Who acts, if someone does.
    by: Option<Identity>,
    /// Whether this act starts the instance.
    is_start: bool,
    /// Whether the answer was given earlier, and is carried out now.
    is_kept: bool,
    /// The absent person in whose place a substitute acts, as rows name people.
    in_place_of: Option<String>,
}

impl People {
    /// Of a burst of this instance, with what someone did.
    pub fn of(row: &InstanceRow, act: Option<&Act>, in_place_of: Option<&str>) -> Self {
        Self {
            instance: row.instance.id,
            start: Start::from(row),
            by: act.map(|act| act.by.clone()),
            is_start: act.is_some_and(|act| act.kind == ActKind::Start),
            is_kept: act.is_some_and(|act| act.is_recorded),
            in_place_of: in_place_of.map(str::to_owned),
        }
    }

    /// The parent of the instance, or its predecessor.
    pub fn above(&self) -> Option<Uuid> {
        self.start.before()
    }

    /// Who answered: the actor, or else the role.
    pub fn answerer(&self) -> Option<String> {
        let by = self.by.as_ref()?;
        let role = || owners::by_id(i32::try_from(by.role).unwrap_or_default()).title();
        Some(by.actor.clone().unwrap_or_else(|| format!("{}{}", ForPeople::ROLE, role())))
    }

    /// In whose place a substitute answered this task.
    pub fn answered_for(&self, task: Uuid) -> Option<String> {
        let stored = if self.is_kept { tasks::completed_for(task) } else { None };
        self.in_place_of.as_deref().or(stored.as_deref()).map(|entry| Entry::read(entry).title())
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
    pub fn members(&self, name: &str, excluded: &[Excluded]) -> Result<Vec<String>, PgError> {
        let left_out = self.excluded(excluded);
        let members = members::of(role::required(name)?).into_iter();
        let is_left_out = |member: &Member| is_any_of(member.oid, &left_out);
        Ok(members.filter(|member| !is_left_out(member)).map(|member| member.name).collect())
    }

    /// Whether a task with these exclusions refuses a person, written as an assignee.
    pub fn refuses(&self, person: &str, excluded: &[Excluded]) -> bool {
        !excluded.is_empty() && is_any_person(person, &self.excluded(excluded))
    }

    /// Who is to be notified of a task, each once: those who are asked and whom the task would accept, with the members
    /// whom it would accept in place of a role that cannot log in, unless they are too many; then their substitutes, each
    /// with the absent person. The task has these exclusions, and its approval these other votes.
    pub fn addressees(
        &self,
        asked: &[String],
        excluded: &[Excluded],
        voted: &[Uuid],
        subject: Subject<'_>,
        now: Timestamp,
    ) -> Vec<(String, Option<String>)> {
        let mut busy = self.excluded(excluded);
        if !voted.is_empty() {
            busy.extend(self.who_gave(voted, &exclusion::voters(self.instance, voted)));
        }
        let mut people: Vec<(String, Option<String>)> = Vec::new();
        let mut add = |person: String, in_place_of: Option<String>| {
            if !people.iter().any(|(known, _)| *known == person) {
                people.push((person, in_place_of));
            }
        };
        let mut each: Vec<String> = Vec::new();
        for entry in asked {
            match free_members(entry, &busy) {
                Some(members) if each.len() + members.len() <= MAX_MEMBERS => each.extend(members),
                _ if is_one_person(entry) && is_any_person(entry, &busy) => {}
                _ => each.push(entry.clone()),
            }
        }
        each.iter().for_each(|person| add(person.clone(), None));
        for absent in each {
            for substitute in substitution::substitutes_of(&absent, subject, now) {
                let substitute = Entry::read(&substitute);
                if !busy.iter().any(|other| other.is_same(&Person::from(&substitute))) {
                    add(substitute.title(), Some(absent.clone()));
                }
            }
        }
        people
    }

    /// The people of these votes, of which `given` have rows. The vote that this burst carries out has no row yet.
    fn who_gave(&self, votes: &[Uuid], given: &[(Uuid, Person)]) -> Vec<Person> {
        let mut people: Vec<Person> = given.iter().map(|(_, person)| person.clone()).collect();
        if !votes.iter().all(|vote| given.iter().any(|(of, _)| of == vote)) {
            people.extend(self.by.as_ref().map(Person::from));
            people.extend(self.in_place_of.as_deref().map(Person::named));
        }
        people
    }

    /// The positions of the undecided voters for whom nobody is left who can vote.
    pub fn unreachable(&self, approval: &Approval, excluded: &[Excluded]) -> BTreeSet<usize> {
        // Who can act for a name of the application is not known here.
        if !approval.undecided().any(|voter| voter.name.starts_with(ForPeople::ROLE)) {
            return BTreeSet::new();
        }
        if let [voter] = approval.voters.as_slice()
            && excluded == [Excluded::OtherVoters]
            && is_login(voter)
        {
            return BTreeSet::new();
        }
        let votes: Vec<Uuid> = approval.voters.iter().filter_map(|voter| Some(voter.vote.as_ref()?.task)).collect();
        // Answers that wait for a session of the owner count.
        let given = exclusion::voters(self.instance, &[votes.clone(), approval.open_tasks()].concat());
        let is_given = |task: &Uuid| given.iter().any(|(of, _)| of == task);
        let busy = [self.excluded(excluded), self.who_gave(&votes, &given)].concat();
        let waits = |at: &usize| {
            let voter = &approval.voters[*at];
            voter.vote.is_none() && !voter.task.as_ref().is_some_and(is_given)
        };
        let waiting: Vec<usize> = (0..approval.voters.len()).filter(waits).collect();
        let mut known = BTreeMap::new();
        let asked = waiting.iter().filter_map(|at| {
            let voter = &approval.voters[*at];
            let name = voter.name.strip_prefix(ForPeople::ROLE)?;
            if voter.task.is_some_and(|task| is_for_others(task, &voter.name)) {
                return None;
            }
            let people = known.entry(name).or_insert_with(|| people_behind(name, &busy, waiting.len()));
            Some((*at, people.clone()?))
        });
        let (asked, choices): (Vec<usize>, Vec<Vec<u32>>) = asked.unzip();
        unmatched(&choices).into_iter().map(|position| asked[position]).collect()
    }

    fn excluded(&self, excluded: &[Excluded]) -> Vec<Person> {
        let login = self.by.as_ref().filter(|_| self.is_start).and_then(|by| by.login).map(u32::cast_signed);
        // Of an instance that starts now, without a parent or a predecessor, nothing else is recorded.
        let is_first = self.is_start && self.start.before().is_none();
        let starter = || match is_first {
            true => self.start.identity_of_session(login),
            false => self.start.identity(login),
        };
        exclusion::named(self.instance, excluded, starter).into_iter().map(|excluded| excluded.person).collect()
    }
}

/// The members of a role that cannot log in, of whom none is busy, in the form of an assignee. `None`: the entry stands
/// for itself, because it is no such role, or because the role has no such member.
fn free_members(entry: &str, busy: &[Person]) -> Option<Vec<String>> {
    let group = entry.strip_prefix(ForPeople::ROLE).and_then(role::by_name).filter(|role| !role::can_log_in(*role))?;
    let free = members::of(group).into_iter().filter(|member| !is_any_of(member.oid, busy));
    let names: Vec<String> = free.map(|member| format!("{}{}", ForPeople::ROLE, member.name)).collect();
    (!names.is_empty()).then_some(names)
}

/// Whether a voter who is to be asked is a role that can log in itself.
fn is_login(voter: &Voter) -> bool {
    let role = voter.name.strip_prefix(ForPeople::ROLE).filter(|_| voter.task.is_none() && voter.vote.is_none());
    role.and_then(role::by_name).is_some_and(role::can_log_in)
}

/// Whether an open vote has come to other people than the role that was asked: colleagues, whom an operator or the role
/// itself has named.
fn is_for_others(task: Uuid, name: &str) -> bool {
    let Some(assignment) = leases::read(task).and_then(|held| held.lease.assignment) else { return false };
    assignment.entries().any(|entry| entry.title() != name)
}

/// The login roles that can act as a role, each for one person who is not among the busy ones. As many as there are
/// votes are enough. `None`: a login role may act for any number of people.
fn people_behind(name: &str, busy: &[Person], votes: usize) -> Option<Vec<u32>> {
    let Ok(group) = role::required(name) else { return Some(Vec::new()) };
    let logins = members::logins_of(group);
    if logins.iter().any(|login| !role::has_rights_of(*login, group) || actor::may_be_set_by(*login)) {
        return None;
    }
    Some(logins.into_iter().filter(|login| !is_any_of(*login, busy)).take(votes).map(Oid::to_u32).collect())
}

/// Whether an assignee stands for a single person: a login role, or a name that the application knows.
fn is_one_person(name: &str) -> bool {
    name.strip_prefix(ForPeople::ROLE).is_none_or(|role| role::by_name(role).is_none_or(role::can_log_in))
}

/// Whether an assignee is one of these people, as far as it identifies a person.
fn is_any_person(name: &str, people: &[Person]) -> bool {
    let person = match name.strip_prefix(ForPeople::ROLE) {
        Some(role) => Person { role: role::by_name(role).and_then(owners::known_id_of), ..Person::default() },
        None => Person { actor: Some(name.to_owned()), ..Person::default() },
    };
    people.iter().any(|other| other.is_same(&person))
}

/// Whether a login role is one of these people.
fn is_any_of(login: Oid, people: &[Person]) -> bool {
    if people.is_empty() {
        return false;
    }
    let person = Person { role: owners::known_id_of(login), ..Person::default() };
    people.iter().any(|other| other.is_same(&person))
}

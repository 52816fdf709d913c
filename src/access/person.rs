//! The person who acts, the person who started an instance, and whether they are the same.

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::journal::Identity;

use crate::pg::{PgError, actor, guc, role, session};
use crate::store::history::audit;
use crate::store::instances::{self, InstanceRow};
use crate::store::rights::owners;
use crate::store::tasks::assignments::Entry;

/// The identity of the caller.
///
/// # Errors
/// 55000 if the actor would outlive the transaction.
pub fn current() -> Result<Identity, PgError> {
    let actor = actor::of_call()?;
    let (role, login) = (role::current(), session::login());
    let id = |role| owners::reference_to(role).unsigned_abs();
    Ok(Identity { role: id(role), login: (login != role).then(|| id(login)), actor })
}

/// The identity of a caller that only reads: a role that has no row yet has done nothing, and gets none.
pub fn reader() -> Person {
    let (role, login) = (role::current(), session::login());
    let login = (login != role).then(|| owners::known_id_of(login)).flatten();
    Person::of_parts(owners::known_id_of(role), login, actor::of_call().ok().flatten())
}

/// The recorded identity of a person. Unrecorded parts are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// The actor, for whom an application vouches. A pseudonym does not count: it may stand for anybody.
    pub actor: Option<String>,
    /// The login role of the session, by its id in `workflow.owners`, if it differs from `role` and may not set actors.
    /// A login role that may set actors acts for many people.
    pub login: Option<i32>,
    /// The role whose rights applied, by its id.
    pub role: Option<i32>,
}

impl From<&Identity> for Person {
    fn from(who: &Identity) -> Self {
        let id = |id: u32| i32::try_from(id).unwrap_or_default();
        Self::recorded(id(who.role), who.login.map(id), who.actor.clone())
    }
}

impl From<&Entry<'_>> for Person {
    /// As far as an assignee or candidate identifies a person.
    fn from(entry: &Entry<'_>) -> Self {
        match entry {
            Entry::Role(owner) => Self { role: Some(owner.id), ..Self::default() },
            Entry::Label(name) => Self { actor: Some((*name).to_owned()), ..Self::default() },
        }
    }
}

impl Person {
    /// A person as rows name an assignee or candidate.
    pub fn named(entry: &str) -> Self {
        Self::from(&Entry::read(entry))
    }

    /// The recorded person who acted as a role, possibly in a session of another login role.
    pub fn recorded(role: i32, login: Option<i32>, actor: Option<String>) -> Self {
        Self::of_parts(Some(role), login, actor)
    }

    fn of_parts(role: Option<i32>, login: Option<i32>, actor: Option<String>) -> Self {
        let names_actors = |login: &i32| role_of(*login).is_some_and(actor::may_be_set_by);
        let actor = actor.filter(|actor| !guc::is_pseudonym(actor));
        Self { actor, login: login.filter(|login| !names_actors(login)), role }
    }

    /// Whether both are the same person. If both have an actor, the actors decide. Otherwise they are the same if a
    /// role of one is a role of the other, unless both have set their role from a login role like that of a gateway.
    pub fn is_same(&self, other: &Self) -> bool {
        if let (Some(one), Some(other)) = (&self.actor, &other.actor) {
            return one == other;
        }
        self.has_role_of(other)
            || equal(self.login, other.role)
            || equal(self.role, other.login)
            || equal(self.login, other.login) && self.inherits_role_of_either(other)
    }

    /// Whether both acted as the same role.
    pub fn has_role_of(&self, other: &Self) -> bool {
        equal(self.role, other.role)
    }

    /// Whether the login role inherits the rights of the roles that were set. A gateway's login role inherits none of
    /// its users'.
    fn inherits_role_of_either(&self, other: &Self) -> bool {
        let Some(login) = self.login.and_then(role_of) else { return false };
        let inherits = |role: i32| role_of(role).is_none_or(|role| role::has_rights_of(login, role));
        self.role.into_iter().chain(other.role).any(inherits)
    }

    /// The actor, or else the role, for messages.
    pub fn title(&self) -> String {
        match (&self.actor, self.role) {
            (Some(actor), _) => format!("\"{actor}\""),
            (None, Some(role)) => format!("role \"{}\"", owners::by_id(role).title()),
            (None, None) => "an unknown role".to_owned(),
        }
    }
}

fn equal(one: Option<i32>, other: Option<i32>) -> bool {
    one.zip(other).is_some_and(|(one, other)| owners::are_same(one, other))
}

fn role_of(owner: i32) -> Option<Oid> {
    owners::by_id(owner).role()
}

/// Maximum number of parents and predecessors followed to find the session that started the first of them.
const MAX_GENERATIONS: usize = 100;

/// What an instance knows about its start.
#[derive(Clone, Debug)]
pub struct Start {
    instance: Uuid,
    /// The role that started it, by its id.
    role: i32,
    actor: Option<String>,
    /// Its parent or predecessor.
    before: Option<Uuid>,
}

impl From<&InstanceRow> for Start {
    fn from(row: &InstanceRow) -> Self {
        Self {
            instance: row.instance.id,
            role: row.starter.role.unwrap_or(row.owner.id),
            actor: row.starter.actor.clone(),
            before: before(row),
        }
    }
}

impl Start {
    /// The person on whose behalf the instance runs: the one who started it, or started the first of its ancestors.
    /// `login`: the login role of the session, if it starts now.
    pub fn identity(&self, login: Option<i32>) -> Identity {
        self.identity_of_session(login.or_else(|| self.login()))
    }

    /// The same if the login role of the session is known, or known not to differ from the role (`None`).
    pub fn identity_of_session(&self, login: Option<i32>) -> Identity {
        let login = login.filter(|login| *login != self.role).map(i32::unsigned_abs);
        Identity { role: self.role.unsigned_abs(), login, actor: self.actor.clone() }
    }

    /// Its parent or predecessor.
    pub fn before(&self) -> Option<Uuid> {
        self.before
    }

    /// The login role of the session that started it or its first ancestor, if recorded.
    fn login(&self) -> Option<i32> {
        audit::login_of_start(&self.instance).or_else(|| audit::login_of_start(&self.first_before()?))
    }

    /// The first ancestor (parent or predecessor), or the last one that still has records.
    fn first_before(&self) -> Option<Uuid> {
        let mut first = self.before;
        for _ in 1..MAX_GENERATIONS {
            // The start of a removed instance is in the audit.
            let next = first.and_then(instances::get).as_ref().and_then(before);
            if next.is_none() {
                break;
            }
            first = next;
        }
        first
    }
}

fn before(row: &InstanceRow) -> Option<Uuid> {
    row.parent.map(|parent| parent.instance).or(row.continued_from)
}

/// The person on whose behalf an instance runs.
pub fn starter_of(row: &InstanceRow) -> Identity {
    Start::from(row).identity(None)
}

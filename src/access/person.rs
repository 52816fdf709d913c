//! Who acts, and whether two who act are the same person.

use workflow_engine::journal::Identity;

use crate::pg::{PgError, actor, role, session};
use crate::store::instances::InstanceRow;
use crate::store::owners;

/// Who acts in this call.
///
/// # Errors
/// 55000 if the actor is set for longer than the transaction.
pub fn current() -> Result<Identity, PgError> {
    let actor = actor::of_call()?;
    let (role, login) = (role::current(), session::login());
    let id = |role| owners::recorded_id_of(role).unsigned_abs();
    Ok(Identity { role: id(role), login: (login != role).then(|| id(login)), actor })
}

#[allow(dead_code, reason = "the comparison of people stands on it")]
/// What is known of someone who acted. A part that was not recorded is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// The name for which an application vouches.
    pub actor: Option<String>,
    /// The role of the session, by its id in `workflow.owners`.
    pub login: Option<i32>,
    /// The role whose rights were in force, by its id.
    pub role: Option<i32>,
}

impl From<&Identity> for Person {
    fn from(who: &Identity) -> Self {
        let id = |id: u32| i32::try_from(id).ok();
        Self { actor: who.actor.clone(), login: id(who.login.unwrap_or(who.role)), role: id(who.role) }
    }
}

#[allow(dead_code, reason = "the comparison of people stands on it")]
impl Person {
    /// Whoever started an instance.
    pub fn starter_of(row: &InstanceRow) -> Self {
        Self { actor: row.starter.actor.clone(), login: None, role: Some(row.starter.role.unwrap_or(row.owner.id)) }
    }

    /// Whether both are the same person. Between two who have actors, these decide. Otherwise they are the same if
    /// their login roles, or their roles, are equal.
    pub fn is_same(&self, other: &Self) -> bool {
        let equal = |one: Option<i32>, other: Option<i32>| {
            one.zip(other).is_some_and(|(one, other)| owners::are_same(one, other))
        };
        match (&self.actor, &other.actor) {
            (Some(one), Some(other)) => one == other,
            _ => equal(self.login, other.login) || equal(self.role, other.role),
        }
    }
}

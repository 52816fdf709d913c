//! Setting and removing substitutes.

use serde_json::json;
use workflow_engine::execution::ForPeople;

use crate::access::substitution;
use crate::error;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, membership, role};
use crate::run::CallContext;
use crate::run::call::running;
use crate::run::history::acts;
use crate::store::rights::owners;
use crate::store::tasks::assignments::{Entry, stored};
use crate::store::tasks::substitutes::{self, Substitution};

/// Lets one person answer tasks in place of another until an instant, from another one or from now on.
pub fn set(
    context: &CallContext,
    person: &str,
    substitute: &str,
    until: Timestamp,
    since: Option<Timestamp>,
) -> Result<(), PgError> {
    let (person, substitute) = (read(person, "person")?, read(substitute, "substitute")?);
    let (person_entry, substitute_entry) = (Entry::read(&person), Entry::read(&substitute));
    running::refuse_inside("wf_set_substitute")?;
    let is_by_person = substitution::require_set(&person_entry)?;
    let starts_at = since.unwrap_or(context.timestamp());
    check_period(starts_at, until, context.timestamp())?;
    match (&person_entry, &substitute_entry) {
        (one, other) if one == other => {
            return Err(PgError::new("22023", format!("{} cannot be its own substitute", person_entry.title())));
        }
        (Entry::Role(_), Entry::Role(owner)) if owner.role().is_some_and(role::can_connect) => {}
        (Entry::Role(_), Entry::Role(_)) => {
            return Err(PgError::new("22023", format!("{} is no person", substitute_entry.title()))
                .hint("A substitute is a role that can log in to this database."));
        }
        (Entry::Label(_), Entry::Label(_)) => {}
        _ => {
            return Err(PgError::new(
                "22023",
                "a role and a name that only the application knows cannot replace each other",
            )
            .hint("Name both as role:<name>, or none of them."));
        }
    }
    let substitution =
        Substitution { person: &person, substitute: &substitute, is_by_person, starts_at, ends_at: until };
    substitutes::set(&substitution, owners::current_id(), context.timestamp());
    let at = |at: Timestamp| json!(chrono::DateTime::<chrono::Utc>::from(at));
    let (title, instead) = (person_entry.title(), substitute_entry.title());
    let detail = json!({ "person": title, "substitute": instead, "since": at(starts_at), "until": at(until) });
    acts::record_of(owner_of(&person_entry), "set substitute", None, &detail)
}

/// Ends that. `false`: there was nothing.
pub fn remove(person: &str, substitute: &str) -> Result<bool, PgError> {
    let (person, substitute) = (read(person, "person")?, read(substitute, "substitute")?);
    let (person_entry, substitute_entry) = (Entry::read(&person), Entry::read(&substitute));
    substitution::require_set(&person_entry)?;
    let names = |stored: &str, entry: &Entry<'_>| match entry {
        Entry::Role(owner) => owner.role().map(substitution::names_of).unwrap_or_default(),
        Entry::Label(_) => vec![stored.to_owned()],
    };
    // Of the people of an application only its own: another application can have people of the same names.
    let set_by = match person_entry {
        Entry::Label(_) if !role::is_superuser(role::current()) => {
            Some(owners::ids_of(&membership::groups(role::current())))
        }
        _ => None,
    };
    let (people, instead) = (names(&person, &person_entry), names(&substitute, &substitute_entry));
    let was_there = substitutes::remove(&people, &instead, set_by.as_deref());
    if was_there {
        let detail = json!({ "person": person_entry.title(), "substitute": substitute_entry.title() });
        acts::record_of(owner_of(&person_entry), "remove substitute", None, &detail)?;
    }
    Ok(was_there)
}

/// A person as rows name people.
fn read(text: &str, what: &str) -> Result<String, PgError> {
    let entry = ForPeople::entry(text, what).map_err(|fault| error::fault(&fault))?;
    if entry.starts_with(substitution::GROUP) {
        return Err(PgError::new("22023", format!("argument \"{what}\" must be a person, not a group")));
    }
    stored(&entry)
}

/// Whose members see the record: the absent role, or the application.
fn owner_of(person: &Entry<'_>) -> i32 {
    match person {
        Entry::Role(owner) => owner.id,
        Entry::Label(_) => owners::current_id(),
    }
}

/// Refuses a period that is over, is none, or does not end (22023).
fn check_period(starts_at: Timestamp, ends_at: Timestamp, now: Timestamp) -> Result<(), PgError> {
    if ends_at <= starts_at {
        return Err(PgError::new("22023", "argument \"until\" must be after \"since\""));
    }
    if starts_at == Timestamp::MINUS_INFINITY || ends_at == Timestamp::INFINITY {
        return Err(PgError::new("22023", "a substitute is set for a limited time"));
    }
    if ends_at <= now {
        return Err(PgError::new("22023", "argument \"until\" must be in the future"));
    }
    Ok(())
}

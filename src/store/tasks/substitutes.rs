//! Substitutes: who answers tasks in place of whom, and for how long.
//!
//! A person and a substitute are texts like those of an [assignment](super::assignments): `role:` and an id of
//! `workflow.owners`, or a label.

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::rights::owners::{self, Owner};

static SET: Statement = Statement::new(
    "INSERT INTO workflow.substitutes (person, substitute, set_by, is_by_person, starts_at, ends_at) \
     VALUES ($1, $2, $3, $4, $5, $6) \
     ON CONFLICT (person, substitute, set_by) DO UPDATE \
     SET is_by_person = EXCLUDED.is_by_person, starts_at = EXCLUDED.starts_at, ends_at = EXCLUDED.ends_at",
    &[Type::Text, Type::Text, Type::Integer, Type::Boolean, Type::Timestamp, Type::Timestamp],
);
static REMOVE_ENDED: Statement = Statement::new(
    "DELETE FROM workflow.substitutes WHERE person = $1 AND ends_at <= $2",
    &[Type::Text, Type::Timestamp],
);
static REMOVE: Statement = Statement::new(
    "DELETE FROM workflow.substitutes WHERE person = ANY ($1) AND substitute = ANY ($2) AND ($3 IS NULL OR set_by = ANY ($3))",
    &[Type::TextArray, Type::TextArray, Type::IntegerArray],
);
static IN_FORCE: Statement = Statement::new(
    "SELECT s.person, s.set_by, s.is_by_person FROM workflow.substitutes s \
     WHERE s.substitute = ANY ($1) AND s.starts_at <= $2 AND s.ends_at > $2 AND ($3 IS NULL OR s.person = ANY ($3)) \
     ORDER BY s.person, s.set_by",
    &[Type::TextArray, Type::Timestamp, Type::TextArray],
);
static SUBSTITUTES: Statement = Statement::new(
    "SELECT s.person, s.substitute, s.set_by, s.is_by_person FROM workflow.substitutes s \
     WHERE s.person = ANY ($1) AND s.starts_at <= $2 AND s.ends_at > $2 ORDER BY s.person, s.substitute, s.set_by",
    &[Type::TextArray, Type::Timestamp],
);
static HAVE_PRIVILEGE: Statement = Statement::new(
    "SELECT 1 WHERE EXISTS (SELECT FROM workflow.definitions d WHERE d.is_latest AND d.owner = ANY ($1)) \
         OR EXISTS (SELECT FROM workflow.grants g WHERE g.privilege = $2 AND g.role = ANY ($1))",
    &[Type::IntegerArray, Type::Text],
);

/// A period in which one person answers in place of another.
#[derive(Clone, Copy, Debug)]
pub struct Substitution<'a> {
    /// Who is absent.
    pub person: &'a str,
    /// Who answers instead.
    pub substitute: &'a str,
    /// Whether the person has set it, not an operator.
    pub is_by_person: bool,
    /// The first instant.
    pub starts_at: Timestamp,
    /// The instant at which it is over.
    pub ends_at: Timestamp,
}

/// Sets the period of a substitute, in place of the period that the same role has set for both. Removes what is over.
pub fn set(substitution: &Substitution<'_>, set_by: i32, now: Timestamp) {
    let Substitution { person, substitute, is_by_person, starts_at, ends_at } = *substitution;
    REMOVE_ENDED.run(&[Arg::Text(person), Arg::Timestamp(now)]);
    let (starts_at, ends_at) = (Arg::Timestamp(starts_at), Arg::Timestamp(ends_at));
    let (set_by, is_by_person) = (Arg::Integer(set_by), Arg::Boolean(is_by_person));
    SET.run(&[Arg::Text(person), Arg::Text(substitute), set_by, is_by_person, starts_at, ends_at]);
}

/// Removes the periods of a substitute, those that these owners have set or, without owners, all. Returns whether there
/// were any.
pub fn remove(person: &[String], substitute: &[String], set_by: Option<&[i32]>) -> bool {
    let set_by = set_by.map_or(Arg::Null, Arg::Integers);
    REMOVE.run(&[Arg::Texts(person), Arg::Texts(substitute), set_by]) > 0
}

/// Somebody who is absent now.
#[derive(Debug)]
pub struct Absence {
    /// Who is absent.
    pub person: String,
    /// The role that set the substitute.
    pub set_by: Owner,
    /// Whether the person has set it, not an operator.
    pub is_by_person: bool,
}

/// Who is absent now and has this substitute, of these people or of all. The first texts are all names of one person.
pub fn in_force(substitute: &[String], people: Option<&[String]>, now: Timestamp) -> Vec<Absence> {
    let args = [Arg::Texts(substitute), Arg::Timestamp(now), people.map_or(Arg::Null, Arg::Texts)];
    let found: Vec<(String, i32, bool)> = IN_FORCE.rows(&args, |row| (row.get(), row.get(), row.get()));
    let absence = |(person, set_by, is_by_person)| Absence { person, set_by: owners::by_id(set_by), is_by_person };
    found.into_iter().map(absence).collect()
}

/// The substitutes that absent people have now, each as rows name it.
pub fn of(people: &[String], now: Timestamp) -> Vec<(Absence, String)> {
    let args = [Arg::Texts(people), Arg::Timestamp(now)];
    let found: Vec<(String, String, i32, bool)> =
        SUBSTITUTES.rows(&args, |row| (row.get(), row.get(), row.get(), row.get()));
    let absence = |(person, substitute, set_by, is_by_person)| {
        (Absence { person, set_by: owners::by_id(set_by), is_by_person }, substitute)
    };
    found.into_iter().map(absence).collect()
}

/// Whether these owners have a privilege on any definition, as its owner or by a grant.
pub fn have_privilege_anywhere(owners: &[i32], privilege: &str) -> bool {
    HAVE_PRIVILEGE.first(&[Arg::Integers(owners), Arg::Text(privilege)], |_| ()).is_some()
}

//! Access rights on definitions.
//!
//! Members of a definition's owner may do everything with the definition. Other roles need a grant on it. [`instance`]
//! describes what they may do with its instances.

use pgrx::pg_sys::{InvalidOid, Oid};

use crate::compiled::Compiled;
use crate::pg::session::literal;
use crate::pg::{PgError, role};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::instances::InstanceRow;
use crate::store::rights::owners::Owner;
use crate::store::timers::schedules::COMMANDS;

pub mod calls;
pub mod child;
pub mod event_consent;
pub mod exclusion;
pub mod instance;
pub mod lending;
pub mod people;
pub mod person;
mod reach;
pub mod substitution;
pub mod task_consent;
pub mod visibility;
pub mod work;

pub use instance::Operation;

/// A privilege on a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// Start instances of it.
    Start,
    /// Resume, retry and cancel its instances.
    Resume,
    /// See it and its instances.
    Read,
    /// Alter and pause its instances; assign their tasks, and complete those that are assigned to others.
    Alter,
}

impl Privilege {
    /// All of them. A role that has one of them may see the name of the definition.
    pub const ALL: [Self; 4] = [Self::Start, Self::Resume, Self::Read, Self::Alter];

    /// The keyword that `wf_grant` takes and `workflow.grants` stores.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Resume => "resume",
            Self::Read => "read",
            Self::Alter => "alter",
        }
    }

    /// Parses such a keyword; `None` if it names no privilege.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|privilege| privilege.name() == name)
    }
}

/// Whether a role has the rights of an owner.
pub fn is_member(who: Oid, owner: &Owner) -> bool {
    owner.is(who) || role::has_rights_of(who, owner.role().unwrap_or(InvalidOid))
}

/// Whether a role has a privilege on a definition. A role that may read all tables may read every definition, as in the
/// views.
pub fn may(who: Oid, privilege: Privilege, definition: &DefinitionRow) -> bool {
    is_member(who, &definition.owner)
        || privilege == Privilege::Read && role::reads_all_data(who)
        || definitions::granted(&definition.definition_id, privilege.name())
            .iter()
            .any(|grant| is_member(who, &grant.holder))
}

/// Rejects the current role unless it has the privilege on the definition (42501).
pub fn require(privilege: Privilege, definition: &DefinitionRow) -> Result<(), PgError> {
    if may(role::current(), privilege, definition) {
        return Ok(());
    }
    Err(denied(&format!("workflow definition \"{}\"", definition.definition_id)).hint(format!(
        "Its owner can run wf_grant({}, {}, '{{{}}}').",
        literal(&definition.definition_id),
        literal(&role::name(role::current()).unwrap_or_default()),
        privilege.name()
    )))
}

/// Rejects the current role unless it is a member of the definition's owner (42501).
pub fn require_owner(definition: &DefinitionRow) -> Result<(), PgError> {
    if is_member(role::current(), &definition.owner) {
        return Ok(());
    }
    Err(not_owner(&definition.definition_id))
}

/// Rejects the current role unless it may SET ROLE to a new owner (42501). Otherwise a role could give a workflow to
/// any other role, and the workflow's SQL would run with that role's rights.
pub fn require_may_become(new: Oid) -> Result<(), PgError> {
    if role::may_become(role::current(), new) {
        return Ok(());
    }
    let new = role::name(new).unwrap_or_default();
    Err(PgError::new("42501", format!("must be able to SET ROLE \"{new}\"")))
}

/// The error for a role that does not own the definition (42501).
pub fn not_owner(definition_id: &str) -> PgError {
    PgError::new("42501", format!("must be owner of workflow definition \"{definition_id}\""))
}

/// The relation of an instance to the one that starts it. Both have the same owner, except for a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedAs {
    /// A child workflow.
    Child,
    /// The instance that `ContinueAs` starts once this one has ended.
    Successor,
    /// A workflow that notifies people of a task. It belongs to the owner of the definition that names it.
    Notice,
}

impl StartedAs {
    /// A sentence that names its owner.
    pub fn keeps_owner(self) -> &'static str {
        match self {
            Self::Child => "A child belongs to its parent's owner.",
            Self::Successor => "What goes on in place of an instance belongs to the same owner.",
            Self::Notice => "What notifies people of a task belongs to the owner of the definition that names it.",
        }
    }

    /// The parts of an error message: how it would run, whose rights it would have, and what it is.
    fn describe(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Child => ("as a child of", "parent's", "child"),
            Self::Successor => ("in place of an instance of", "instance's", "workflow"),
            Self::Notice => ("as a notice of", "notifying definition's", "workflow"),
        }
    }
}

/// Rejects a child, or a successor, that would act with the rights of the instance's owner although that owner never
/// trusted its definition (42501). A child acts with those rights if it has invoker SQL, starts children of its own or
/// publishes events.
///
/// A child's definition id is looked up when the child starts. An id that was unused when the parent was stored may
/// belong to any role by then. A role that starts a workflow trusts the owner of the workflow's definition and lends
/// that owner its rights, except if the definition is a `definer`, whose SQL has its own rights.
pub fn require_trusted(owner: &Owner, parent: &DefinitionRow, child: &Compiled, how: StartedAs) -> Result<(), PgError> {
    let row = &child.row;
    let borrows = row.uses_sql && !row.definer || child.program.acts_for_owner();
    let is_trusted = || {
        !parent.definer && parent.owner.id == row.owner.id
            || row.owner.role().is_some_and(|role| is_member(role, owner))
    };
    if !borrows || is_trusted() {
        return Ok(());
    }
    let (id, name) = (&row.definition_id, owner.title());
    let (runs, whose, what) = how.describe();
    Err(PgError::new("42501", format!("workflow definition \"{id}\" may not run {runs} role \"{name}\""))
        .detail(format!(
            "It belongs to another role, and its SQL, children and events would have the rights of the {whose} owner.",
        ))
        .hint(format!(
            "Such a {what} may run SQL with the rights of its own owner, but start no children and publish no events.",
        )))
}

/// Rejects a call that would resume or retry the command of a schedule, unless the caller is the owner (42501). A
/// caller that names a workflow runs it with its own rights and can read the definition first. The text of a command is
/// SQL: a caller could otherwise run someone else's SQL with its own rights without knowing it.
pub fn require_own_command(row: &InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    if compiled.row.definition_id != COMMANDS || row.owner.is_current() {
        return Ok(());
    }
    let owner = row.owner.title();
    Err(PgError::new("42501", format!("only the owner of the schedule, role \"{owner}\", may run its command"))
        .hint("Take the role of the owner with SET ROLE."))
}

fn denied(what: &str) -> PgError {
    PgError::new("42501", format!("permission denied for {what}"))
}

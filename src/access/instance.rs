//! Who may do what with an instance. Every call and every list checks here, or has the same conditions in SQL
//! (`sql/views`, `store/tasks/leases.rs`). The table is in `docs/security.md`.
//!
//! Three kinds of roles have rights:
//!
//! - The *operators* are the members of the definition's owner, and the roles with a privilege on the definition, for
//!   the operations of that privilege.
//! - The *requester* is the role that started the instance, which owns it. Starting another role's workflow gives the
//!   right to see how it ends and to cancel it, and no other: the definition decides what happens in between. The owner
//!   of a child, or of an instance that works on behalf of another, is not its requester.
//! - The people of a task answer that task ([`people`](super::people)), and workers work on it ([`work`](super::work)).
//!
//! Instances of the built-in definitions run commands and migrations for their owner, who is their operator.

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::activities::migrate_instances::MIGRATE_INSTANCES;

use super::{Privilege, denied, is_member, may};
use crate::compiled::{self, Compiled};
use crate::pg::session::literal;
use crate::pg::{PgError, role};
use crate::store::definitions::DefinitionRow;
use crate::store::instances::{self, InstanceRow};
use crate::store::rights::owners::Owner;
use crate::store::timers::schedules::COMMANDS;

/// An operation on an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// See its status, its outputs, and the codes and messages of its incidents.
    SeeOutcome,
    /// See all of it: variables, journal, bookmarks, tasks.
    Read,
    /// Cancel it, with compensation.
    Cancel,
    /// Cancel it at once, without compensation.
    ForceCancel,
    /// Resume it at a bookmark, retry it, answer tasks that have no assignee and no candidates.
    Resume,
    /// Set variables, schedule and cancel activities, pause and unpause it; assign and override its tasks. Whose rights
    /// apply afterwards is decided in [`lending`](super::lending).
    Alter,
    /// Move it to another version of its definition.
    Migrate,
    /// Remove it.
    Delete,
    /// Give it to another role.
    SetOwner,
}

/// The properties of an instance on which rights depend.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The role that started it, or that of its parent.
    pub owner: &'a Owner,
    /// Whether another instance started it as a child workflow.
    pub is_child: bool,
    /// The version that it runs.
    pub compiled: &'a Compiled,
}

impl<'a> Subject<'a> {
    /// An instance and its version.
    pub fn of(row: &'a InstanceRow, compiled: &'a Compiled) -> Self {
        Self { owner: &row.owner, is_child: row.parent.is_some(), compiled }
    }

    fn has_requester(&self, who: Oid) -> bool {
        !self.is_child && is_member(who, self.owner)
    }

    /// Whether a role may perform all operations that do not need the rights of the instance's owner.
    fn is_managed_by(&self, who: Oid) -> bool {
        is_member(who, &self.compiled.row.owner)
            || is_built_in(&self.compiled.row.definition_id) && is_member(who, self.owner)
    }
}

/// Whether a definition came with the extension. Its instances work for their own owners.
pub fn is_built_in(definition_id: &str) -> bool {
    [COMMANDS, MIGRATE_INSTANCES].contains(&definition_id)
}

/// Whether a role may perform an operation on an instance.
pub fn permits(who: Oid, operation: Operation, subject: Subject<'_>) -> bool {
    let holds = |privilege| subject.is_managed_by(who) || may(who, privilege, &subject.compiled.row);
    match operation {
        Operation::SeeOutcome => subject.has_requester(who) || holds(Privilege::Read),
        Operation::Read => holds(Privilege::Read),
        Operation::Cancel => subject.has_requester(who) || holds(Privilege::Resume),
        Operation::ForceCancel | Operation::Resume => holds(Privilege::Resume),
        Operation::Alter => holds(Privilege::Alter),
        Operation::Migrate | Operation::Delete => subject.is_managed_by(who),
        // The new owner's rights replace the current owner's.
        Operation::SetOwner => subject.is_managed_by(who) && is_member(who, subject.owner),
    }
}

/// Whether the current role may perform an operation on an instance.
pub fn allows(operation: Operation, row: &InstanceRow, compiled: &Compiled) -> bool {
    permits(role::current(), operation, Subject::of(row, compiled))
}

/// Rejects the current role unless it may perform an operation on an instance (42501).
pub fn require(operation: Operation, row: &InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    let (who, subject) = (role::current(), Subject::of(row, compiled));
    if permits(who, operation, subject) {
        return Ok(());
    }
    let id = row.instance.id;
    let error = match operation {
        Operation::Migrate | Operation::Delete | Operation::SetOwner => must_manage(id),
        _ => denied(&format!("workflow instance {id}")),
    };
    let error = match subject.has_requester(who) {
        true => error.detail(
            "A role that starts a workflow of another role may see the status and the outputs of its instance, \
             and cancel it.",
        ),
        false => error,
    };
    Err(match privilege_for(operation) {
        Some(privilege) => hint(error, who, privilege, &compiled.row),
        None => error,
    })
}

/// Rejects the current role unless it may resume the instance of a task (42501). A role that may not read the instance
/// gets the same hint for each task: it must not learn whether the task is for certain people.
pub fn require_resume_of_task(row: &InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    let error = match require(Operation::Resume, row, compiled) {
        Err(error) if !allows(Operation::Read, row, compiled) => error,
        other => return other,
    };
    Err(error.hint(
        "A task that names people is for them alone. For any other task, the owner of the definition can grant the \
         privilege \"resume\" with wf_grant, or the task alone with wf_grant_worker.",
    ))
}

/// The privilege that permits an operation, if one does.
fn privilege_for(operation: Operation) -> Option<Privilege> {
    match operation {
        Operation::SeeOutcome | Operation::Read => Some(Privilege::Read),
        Operation::Cancel | Operation::ForceCancel | Operation::Resume => Some(Privilege::Resume),
        Operation::Alter => Some(Privilege::Alter),
        Operation::Migrate | Operation::Delete | Operation::SetOwner => None,
    }
}

/// Adds a hint that names the definition, but only for a role that has a privilege on it.
fn hint(error: PgError, who: Oid, privilege: Privilege, definition: &DefinitionRow) -> PgError {
    let (name, id) = (privilege.name(), &definition.definition_id);
    if !Privilege::ALL.into_iter().any(|privilege| may(who, privilege, definition)) {
        return error.hint(format!("The owner of its definition can grant the privilege \"{name}\" with wf_grant."));
    }
    let who = role::name(who).unwrap_or_default();
    error.hint(format!(
        "The owner of the definition can run wf_grant({}, {}, '{{{name}}}').",
        literal(id),
        literal(&who)
    ))
}

/// The error for a role that is no member of the owner of the instance's definition (42501).
pub fn must_manage(instance: Uuid) -> PgError {
    PgError::new("42501", format!("must be owner of the definition of workflow instance {instance}"))
}

/// Whether a role may see the outcome of an instance, so that an error may name it. `false`: there is no such instance.
pub fn may_see(who: Oid, instance: Uuid) -> Result<bool, PgError> {
    let Some(row) = instances::get(instance) else { return Ok(false) };
    let compiled = compiled::of_version(row.definition_version_id)?;
    Ok(permits(who, Operation::SeeOutcome, Subject::of(&row, &compiled)))
}

/// Whether a role may read instances of this owner and version.
pub fn may_read(who: Oid, owner: &Owner, compiled: &Compiled) -> bool {
    // Treating it as a child makes no difference for a role that may read everything.
    permits(who, Operation::Read, Subject { owner, is_child: true, compiled })
}

/// The version of an instance that a role may read.
pub fn readable_version(who: Oid, instance: Uuid) -> Result<Option<Uuid>, PgError> {
    let Some((version, owner)) = instances::owner(instance) else { return Ok(None) };
    Ok(may_read(who, &owner, &*compiled::of_version(version)?).then_some(version))
}

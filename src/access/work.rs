//! Which roles may work on a task: claim it, extend the lease, release it, complete it.
//!
//! Those that may resume the instance, and those with a grant of `wf_grant_worker` that covers the task. Such a grant
//! is valid only while its grantor has the rights of the definition's owner.

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use super::instance::{self, Subject};
use super::{Operation, is_member};
use crate::compiled::Compiled;
use crate::pg::{PgError, role};
use crate::store::definitions::DefinitionRow;
use crate::store::instances::InstanceRow;
use crate::store::rights::owners::Owner;
use crate::store::tasks;
use crate::store::tasks::task_grants;

/// Whether a role may work on a task of an instance. `name` returns the task's name, if the task exists.
pub fn may_work(who: Oid, subject: Subject<'_>, name: impl FnOnce() -> Option<String>) -> bool {
    instance::permits(who, Operation::Resume, subject)
        || name().is_some_and(|name| is_given(who, &subject.compiled.row, &name))
}

/// Rejects the current role unless it may work on a task of the instance (42501).
pub fn require(row: &InstanceRow, compiled: &Compiled, task: Uuid) -> Result<(), PgError> {
    if may_work(role::current(), Subject::of(row, compiled), || tasks::name(task)) {
        return Ok(());
    }
    instance::require_resume_of_task(row, compiled)
}

fn is_given(who: Oid, definition: &DefinitionRow, name: &str) -> bool {
    workers(definition, name).iter().any(|holder| is_member(who, holder))
}

/// The roles with a valid grant for tasks of this name of a definition.
pub fn workers(definition: &DefinitionRow, name: &str) -> Vec<Owner> {
    let manages = |grantor: Oid| is_member(grantor, &definition.owner);
    let covering = task_grants::covering(&definition.definition_id, name).into_iter();
    covering.filter(|grant| grant.grantor.role().is_some_and(manages)).map(|grant| grant.holder).collect()
}

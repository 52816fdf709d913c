//! Whose tasks a claim may return.
//!
//! Whatever lets a role claim a task (a grant of `wf_grant_worker`, the privilege `resume`, being a candidate, a
//! membership) is granted by the side that opens the task. Any role could grant it, and thereby choose the payload that
//! a worker processes. So a claim that names no task returns only tasks of owners that the worker's side has accepted.
//! These are
//!
//! - the worker's role, and owners that have its rights: they could accept for it;
//! - the owner of the database, and members of that role;
//! - roles that superusers made the worker a member of;
//! - owners named by `wf_accept_tasks`, or by a grant that a role with the worker's rights made, and their members.
//!   What a superuser accepted for a group applies to the roles that superusers put into the group. A member that
//!   accepts for the group does not decide for the others.
//!
//! A claim of a task by its id needs no consent: the worker chose the task.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;

use pgrx::pg_sys::Oid;

use crate::pg::membership::{belongs_to, database_owner, put_into};
use crate::pg::role::has_rights_of;
use crate::store::rights::owners;
use crate::store::rights::owners::Owner;
use crate::store::tasks::accepted_owners;
use crate::store::tasks::leases::Claimant;

/// The worker's side of the check.
struct Worker {
    role: Oid,
    database_owner: Option<Oid>,
    put_into: HashSet<Oid>,
    listed: OnceCell<Vec<Owner>>,
}

impl Worker {
    fn of(role: Oid) -> Self {
        let groups = put_into(role).into_iter().filter(|group| belongs_to(role, *group));
        Self { role, database_owner: database_owner(), put_into: groups.collect(), listed: OnceCell::new() }
    }

    /// Whether it has accepted the tasks of a definition owner.
    fn accepts(&self, owner: &Owner) -> bool {
        // A dropped role can still be accepted by a grant of its definitions.
        let Some(role) = owner.role() else { return self.listed().iter().any(|accepted| accepted.id == owner.id) };
        has_rights_of(role, self.role)
            || self.database_owner.is_some_and(|trusted| belongs_to(role, trusted))
            || self.put_into.contains(&role)
            || self.listed().iter().filter_map(Owner::role).any(|accepted| belongs_to(role, accepted))
    }

    /// The owners accepted by name.
    fn listed(&self) -> &[Owner] {
        self.listed.get_or_init(|| {
            let groups: Vec<i32> = self.put_into.iter().filter_map(|role| owners::known_id_of(*role)).collect();
            accepted_owners::of(owners::known_id_of(self.role), &groups)
        })
    }
}

/// A role that claims tasks. Its accepted owners are read once, so this serves one call only.
pub fn claimant(role: Oid) -> Rc<Claimant> {
    let worker = Worker::of(role);
    Rc::new(Claimant::new(role, move |owner| worker.accepts(owner)))
}

/// Whether a role accepts the tasks of a definition owner.
pub fn accepts(worker: Oid, owner: &Owner) -> bool {
    Worker::of(worker).accepts(owner)
}

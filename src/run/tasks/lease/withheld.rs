//! Tells a worker without tasks of those that it could claim if it accepted tasks of their owner.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use pgrx::pg_sys::Oid;

use super::FEW_NAMES;
use crate::access::instance::Subject;
use crate::access::{people, task_consent, work};
use crate::compiled;
use crate::pg::role;
use crate::run::BACKEND;
use crate::run::tasks::acceptance;
use crate::store::definitions::{self, DefinitionOwner};
use crate::store::rights::owners;
use crate::store::tasks::leases::{self, ClaimableTask, Front};

/// How often claims of a session look for such tasks.
const INTERVAL: Duration = Duration::from_secs(60);
/// Tasks that they read.
const FEW_TASKS: usize = 8;

/// What the session has looked at and was told of.
#[derive(Default)]
pub(in crate::run) struct Withheld {
    /// When claims of a role looked last.
    checked: HashMap<Oid, Instant>,
    /// The workers and owners of which the session got a NOTICE.
    notified: HashSet<(Oid, Oid)>,
}

/// Searches the first tasks of these names for one that the current role may claim, and whose owner it does not
/// accept, and raises a NOTICE once in a session. It reads few tasks, and searches once a minute.
pub fn notice_withheld(names: Option<&[String]>) {
    let worker = role::current();
    let is_due = |at: &Instant| at.elapsed() >= INTERVAL;
    if !BACKEND.withheld.borrow().checked.get(&worker).is_none_or(is_due) {
        return;
    }
    BACKEND.withheld.borrow_mut().checked.insert(worker, Instant::now());
    let (all, claimant) = (definitions::owners(), task_consent::claimant(worker));
    let others = all.iter().filter(|known| !claimant.accepts(&known.owner));
    let owners: Vec<i32> = others.flat_map(DefinitionOwner::ids).collect();
    let mut names = names.map_or_else(|| leases::few_names(&owners, FEW_NAMES), <[String]>::to_vec);
    names.truncate(FEW_NAMES);
    let found = leases::first(&names, &vec![Front::ALL; names.len()], FEW_TASKS, &owners);
    let Some(owner) = found.iter().find_map(|(claimable, owner)| withholding_owner(worker, claimable, *owner)) else {
        return;
    };
    let is_new = BACKEND.withheld.borrow_mut().notified.insert((worker, owner));
    if is_new {
        acceptance::notice_not_accepted(worker, &[role::name(owner).unwrap_or_default()]);
    }
}

/// The owner of the definition of a task that is withheld only because the worker does not accept the owner's tasks.
fn withholding_owner(worker: Oid, claimable: &ClaimableTask, owner: i32) -> Option<Oid> {
    let compiled = compiled::of_version(claimable.version).ok()?;
    if task_consent::accepts(worker, &compiled.row.owner) {
        return None;
    }
    let may_claim = match claimable.is_assigned {
        true => {
            let assignment = leases::read(claimable.task).and_then(|held| held.lease.assignment);
            assignment.is_some_and(|assignment| people::is_claimed_by(worker, &assignment))
        }
        false => {
            let subject = Subject { owner: &owners::by_id(owner), is_child: true, compiled: &compiled };
            work::may_work(worker, subject, || Some(claimable.name.clone()))
        }
    };
    compiled.row.owner.role().filter(|_| may_claim)
}

//! Who started an instance.

use uuid::Uuid;
use workflow_engine::journal::Identity;

use crate::store::audit;
use crate::store::instances::{self, InstanceRow};

/// Parents and predecessors that are asked at most for the session that started the first of them.
const MOST_ABOVE: usize = 100;

/// The person on whose behalf an instance runs: who started it, or what it was started by in turn.
pub fn of(row: &InstanceRow) -> Identity {
    let role = row.starter.role.unwrap_or(row.owner.id);
    let login = login(row).filter(|login| *login != role);
    Identity { role: role.unsigned_abs(), login: login.map(i32::unsigned_abs), actor: row.starter.actor.clone() }
}

/// The login role of the session that started it, or the first instance above or before it, if that is on record.
fn login(row: &InstanceRow) -> Option<i32> {
    audit::login_of_start(&row.instance.id).or_else(|| audit::login_of_start(&first_before(row)?))
}

/// The first instance above or before this one, or the last one of which something is left.
fn first_before(row: &InstanceRow) -> Option<Uuid> {
    let before = |row: &InstanceRow| row.parent.map(|parent| parent.instance).or(row.continued_from);
    let mut first = before(row);
    for _ in 1..MOST_ABOVE {
        // The audit has the start of an instance that was removed.
        let next = first.and_then(instances::get).as_ref().and_then(before);
        if next.is_none() {
            break;
        }
        first = next;
    }
    first
}

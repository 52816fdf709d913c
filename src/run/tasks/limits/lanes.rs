//! The lanes of the tasks of some names, in the order of their first tasks.
//!
//! A claim that finds no free slot in a lane searches the other lanes, and there may be as many as the key has values. It
//! remembers their order, and for a second the claims of this session read only the first lanes. These claims may skip a
//! task that precedes them, as long as there are others. With 1,000 values a claim that reads the lanes reads 3,300 pages,
//! and the next ones 500.

use std::rc::Rc;
use std::time::{Duration, Instant};

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::run::BACKEND;
use crate::store::tasks::leases::{self, ClaimableTask, Claimant, Lane};
use crate::store::tasks::limits;

/// For how long the lanes count.
const VALID: Duration = Duration::from_secs(1);
/// Lanes that are remembered, at most.
const MAX_REMEMBERED: usize = 10_000;

/// Lanes in the order of their first tasks.
type OrderedLanes = Rc<[Lane]>;

/// The lanes of some names as a claim of a role has found them.
pub(in crate::run) struct Lanes {
    role: Oid,
    names: Vec<String>,
    lanes: OrderedLanes,
    until: Instant,
}

/// The first tasks that `search` finds in the lanes of these names. If it finds fewer than `max` in the known ones, a
/// lane may have got its first task since they were read, and it searches those that there are now.
pub(super) fn first(
    names: &[String],
    max: usize,
    claimant: &Claimant,
    search: impl Fn(&[Lane]) -> Vec<ClaimableTask>,
) -> Vec<ClaimableTask> {
    let found = known(names, claimant.role).map(|lanes| search(&lanes));
    found.filter(|found| found.len() == max).unwrap_or_else(|| search(&read(names, claimant)))
}

/// Gives tasks the lanes that follow from the limits. `true`: some had others, so the lanes are not known any more.
pub(super) fn assign(tasks: &[Uuid]) -> bool {
    let has_assigned = limits::assign(tasks) > 0;
    if has_assigned {
        BACKEND.lanes.replace(None);
    }
    has_assigned
}

/// The lanes of the tasks of these names for a role, as they were within the last second. `None`: that is not known.
fn known(names: &[String], role: Oid) -> Option<OrderedLanes> {
    let known = BACKEND.lanes.borrow();
    let is_it = |known: &&Lanes| known.names == names && known.role == role && known.until > Instant::now();
    known.as_ref().filter(is_it).map(|known| Rc::clone(&known.lanes))
}

/// The same as they are now. Remembers them, unless they are so many that they would take much memory.
fn read(names: &[String], claimant: &Claimant) -> OrderedLanes {
    let lanes: OrderedLanes = leases::lanes_of(names, claimant.stored_under()).into();
    let known = (lanes.len() <= MAX_REMEMBERED).then(|| Lanes {
        role: claimant.role,
        names: names.to_vec(),
        lanes: Rc::clone(&lanes),
        until: Instant::now() + VALID,
    });
    BACKEND.lanes.replace(known);
    lanes
}

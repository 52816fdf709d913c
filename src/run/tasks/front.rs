//! Where the open tasks of a name begin that a role accepts, as this session has found it.
//!
//! A task that was claimed leaves a dead entry at the front of the inbox until a vacuum removes it, and none can while
//! an old snapshot might see it. A search that has read past many of them notes where it found the first task of each
//! name. The searches of this session begin there for a second. Within it they may pass over an older task of the same
//! priority that comes back or whose transaction commits late, as long as there are others. Dead entries of a higher
//! priority are read each time. The ends of leases leave dead entries as well, and are looked at once a second if these
//! are many. After 6,000 completed tasks a claim reads more than 200 pages, and those of the next second fewer than 150
//! (`regress/tasks/claim_front`).
//!
//! A claim of tasks of any name would read the first tasks of each. So it notes which task is the first of each name,
//! and those of this session in the next second read only the names whose first tasks come first. A task that comes
//! before the one that was noted for its name waits for the end of that second, as long as there are others.
//!
//! A claim that finds the slots of a lane taken looks at the other lanes, of which there may be as many as there are
//! values of a key. It notes in which order their first tasks come, and those of the next second read only the first
//! lanes. They may pass over a task that comes before that, in the same way.
//!
//! A claim that finds first tasks of a name held by other claims notes it, if all that it found were for its role. In
//! the next second the claims of this session lock the tasks of that name as they find them, and so pass over those at
//! once. A claim that cannot have what it has locked gives it back, and notes that as well.

use std::cell::{Cell, LazyCell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

use pgrx::pg_sys::Oid;

use crate::pg::process;
use crate::pg::spi::Timestamp;
use crate::run::BACKEND;
use crate::store::tasks::leases::{self, ClaimableTask, Claimant, Front, Held, Lane};

/// For how long a front counts.
const VALID: Duration = Duration::from_secs(1);
/// Pages that a search may read for each task that it wants of a name, those of its instance and of the indexes
/// included.
const PAGES_PER_TASK: i64 = 10;
/// Names or lanes of which the first task is noted, at most.
const MOST_NOTED: usize = 10_000;
/// Pages that it may read beyond that.
const SPARE_PAGES: i64 = 100;

/// Tasks that a claim reads at least beyond those that it wants.
const SPARE: usize = 8;

/// The position of a task in the order of the inbox, and its name.
type Head = (Reverse<i32>, Timestamp, String);

/// Lanes in the order of their first tasks.
type OrderedLanes = Rc<[Lane]>;

/// What a claim has noted of the first tasks of all names.
struct Heads {
    role: Oid,
    heads: BTreeSet<Head>,
    until: Instant,
}

/// What a claim has noted of the lanes of some names.
struct Lanes {
    role: Oid,
    names: Vec<String>,
    lanes: OrderedLanes,
    until: Instant,
}

/// A note for tasks of a name, as a role finds them, and until when it counts.
type ByRoleAndName<T> = LazyCell<RefCell<HashMap<(Oid, String), (T, Instant)>>>;

/// What a session has noted.
pub(in crate::run) struct Noted {
    fronts: ByRoleAndName<Front>,
    heads: RefCell<Option<Heads>>,
    lanes: RefCell<Option<Lanes>>,
    /// Until when ends of leases are not looked for.
    ends: Cell<Option<Instant>>,
    /// Tasks that the claim before could not have.
    passed: Cell<usize>,
    /// Whether searches of a role for tasks of a name lock what they find.
    locks: ByRoleAndName<bool>,
    /// The first search of each kind reads the catalog as well.
    has_searched: Cell<bool>,
    has_locked: Cell<bool>,
}

impl Noted {
    pub(in crate::run) const fn nothing() -> Self {
        Self {
            fronts: LazyCell::new(RefCell::default),
            heads: RefCell::new(None),
            lanes: RefCell::new(None),
            ends: Cell::new(None),
            passed: Cell::new(0),
            locks: LazyCell::new(RefCell::default),
            has_searched: Cell::new(false),
            has_locked: Cell::new(false),
        }
    }
}

fn noted() -> &'static Noted {
    &BACKEND.front
}

/// The first tasks of these names from their fronts on, at most `max`, as [`leases::first`] gives them. If the search
/// reads too many pages the fronts are noted anew. A front that follows on another counts no longer than that: the
/// tasks before it are looked at again each second. Says as well whether the search began with the first task of each
/// name.
pub fn first(names: &[String], max: usize, claimant: &Claimant) -> (Vec<(ClaimableTask, i32)>, bool) {
    let before = process::pages_read();
    let fronts = fronts(names, claimant.role);
    let is_whole = fronts.iter().all(|front| *front == Front::ALL);
    let owners = claimant.stored_under();
    let found = leases::first(names, &fronts, max, owners);
    let is_long = is_long(before, names.len().saturating_mul(max).saturating_mul(owners.len().max(1)));
    if noted().has_searched.replace(true) && is_long {
        note_fronts(claimant.role, found.iter().map(|(claimable, _)| claimable));
    }
    (found, is_whole)
}

/// Whether a search of a role for tasks of a name locks them as it finds them. It begins before all of them.
pub fn locks(role: Oid, name: &str) -> bool {
    let noted = noted().locks.borrow().get(&(role, name.to_owned())).copied();
    noted.is_some_and(|(locks, until)| locks && until > Instant::now())
        && fronts(&[name.to_owned()], role) == [Front::ALL]
}

/// Notes whether it is to do so. For a second after a search that was in vain none does.
pub fn note_locks(role: Oid, name: &str, locks: bool) {
    let mut all = noted().locks.borrow_mut();
    let now = Instant::now();
    all.retain(|_, (_, until)| *until > now);
    let note = all.entry((role, name.to_owned())).or_insert((true, now));
    if note.0 {
        *note = (locks, now + VALID);
    }
}

/// The first tasks of a name, locked, as [`leases::lock_first`] gives them. If the search reads too many pages the
/// front is noted. `None`: several owners have tasks of this name, among which those in front are not known.
pub fn lock_first(name: &str, max: usize, claimant: &Claimant) -> Option<Vec<(ClaimableTask, i32, Held)>> {
    let owner = match claimant.stored_under() {
        [owner] => *owner,
        owners => match leases::owners_of(name, owners)[..] {
            [owner] => owner,
            _ => return None,
        },
    };
    let before = process::pages_read();
    let found = leases::lock_first(name, max, owner);
    // Those that other claims hold are read as well.
    let is_long = is_long(before, max.saturating_mul(4));
    if noted().has_locked.replace(true) && is_long {
        note_fronts(claimant.role, found.iter().map(|(claimable, _, _)| claimable));
    }
    Some(found)
}

/// Notes where the tasks of each name begin.
fn note_fronts<'a>(role: Oid, found: impl Iterator<Item = &'a ClaimableTask>) {
    let mut fronts = noted().fronts.borrow_mut();
    for (name, front) in firsts(found) {
        let of = (role, name.to_owned());
        let until = fronts.get(&of).map_or_else(|| Instant::now() + VALID, |(_, until)| *until);
        fronts.insert(of, (front, until));
    }
}

/// Whether more pages were read since there were `before` than so many tasks need.
fn is_long(before: i64, tasks: usize) -> bool {
    let few = i64::try_from(tasks).unwrap_or(i64::MAX).saturating_mul(PAGES_PER_TASK).saturating_add(SPARE_PAGES);
    process::pages_read() - before > few
}

fn fronts(names: &[String], role: Oid) -> Vec<Front> {
    let mut fronts = noted().fronts.borrow_mut();
    let now = Instant::now();
    fronts.retain(|_, (_, until)| *until > now);
    let front = |name: &String| fronts.get(&(role, name.clone())).map_or(Front::ALL, |(front, _)| *front);
    names.iter().map(front).collect()
}

fn position(claimable: &ClaimableTask) -> Front {
    Front { priority: claimable.priority, since: claimable.opened_at }
}

/// The position of the first task of each name.
fn firsts<'a>(found: impl Iterator<Item = &'a ClaimableTask>) -> HashMap<&'a str, Front> {
    let mut firsts = HashMap::new();
    for claimable in found {
        firsts.entry(claimable.name.as_str()).or_insert(position(claimable));
    }
    firsts
}

/// Runs `release`, which ends the leases of tasks of these names that have ended and says whether there were any,
/// unless it has just read past many dead entries in vain. Says whether it has run.
pub fn release_due(names: &[String], release: impl FnOnce() -> bool) -> bool {
    if noted().ends.get().is_some_and(|until| until > Instant::now()) {
        return false;
    }
    let before = process::pages_read();
    let is_vain = !release() && is_long(before, names.len()) && noted().has_searched.get();
    noted().ends.set(is_vain.then(|| Instant::now() + VALID));
    true
}

/// The names of the first tasks of any name for a role, at most so many, in no order. `None`: they are not known.
pub fn names(max: usize, role: Oid) -> Option<Vec<String>> {
    let mut known = noted().heads.borrow_mut();
    if known.as_ref().is_some_and(|known| known.until <= Instant::now()) {
        *known = None;
    }
    let known = known.as_ref().filter(|known| known.role == role)?;
    let mut names: Vec<String> = known.heads.iter().take(max).map(|(_, _, name)| name.clone()).collect();
    names.sort_unstable();
    Some(names)
}

/// Notes the first task of each of all names, if they are many and not known. So many that they would take much memory
/// are not kept.
pub fn note_names(all: &[String], claimant: &Claimant) {
    const MANY: std::ops::RangeInclusive<usize> = 17..=MOST_NOTED;
    if names(0, claimant.role).is_some() {
        return;
    }
    let heads = MANY.contains(&all.len()).then(|| {
        let firsts = leases::heads(all, claimant.stored_under()).into_iter();
        let heads = firsts.map(|(name, front)| (Reverse(front.priority), front.since, name)).collect();
        Heads { role: claimant.role, heads, until: Instant::now() + VALID }
    });
    noted().heads.replace(heads);
}

/// Notes which tasks of these names, which are those of [`names`], are first now. `found` are their first ones, in
/// their order, `is_there` says of each whether it is still there, and `is_full` whether there may be more.
pub fn move_heads(names: &[String], found: &[ClaimableTask], is_full: bool, is_there: impl Fn(&ClaimableTask) -> bool) {
    let firsts = firsts(found.iter().filter(|claimable| is_there(claimable)));
    // A name of which nothing was found has its tasks, if any, behind the last one that was, or before its front.
    let last = found.last().filter(|_| is_full).map(position);
    let end = Front { priority: i32::MIN, since: Timestamp::INFINITY };
    let mut known = noted().heads.borrow_mut();
    let Some(Heads { role, heads, .. }) = &mut *known else { return };
    let asked: Vec<Head> =
        heads.iter().filter(|(_, _, name)| names.contains(name)).take(names.len()).cloned().collect();
    for head in asked {
        heads.remove(&head);
        let has_front = || noted().fronts.borrow().contains_key(&(*role, head.2.clone()));
        let position = firsts.get(head.2.as_str()).copied().or(last).or_else(|| has_front().then_some(end));
        if let Some(position) = position {
            heads.insert((Reverse(position.priority), position.since, head.2));
        }
    }
}

/// The lanes of the tasks of these names for a role, as they were within the last second. `None`: that is not known.
pub fn known_lanes(names: &[String], role: Oid) -> Option<OrderedLanes> {
    let known = noted().lanes.borrow();
    let is_it = |known: &&Lanes| known.names == names && known.role == role && known.until > Instant::now();
    known.as_ref().filter(is_it).map(|known| Rc::clone(&known.lanes))
}

/// The same as they are now. Notes them, unless they are so many that they would take much memory.
pub fn read_lanes(names: &[String], claimant: &Claimant) -> OrderedLanes {
    let lanes: OrderedLanes = leases::lanes_of(names, claimant.stored_under()).into();
    let known = (lanes.len() <= MOST_NOTED).then(|| Lanes {
        role: claimant.role,
        names: names.to_vec(),
        lanes: Rc::clone(&lanes),
        until: Instant::now() + VALID,
    });
    noted().lanes.replace(known);
    lanes
}

/// Tasks that a claim of so many tasks reads at first. Other workers hold some of the first ones until they have
/// committed, about as many as the claim before found held. A claim that finds too few begins anew with a search that
/// costs more.
pub fn page_for(max: usize) -> usize {
    of_lane_for(max).max(max.saturating_add(SPARE))
}

/// The same of one lane, of which a claim wants no more tasks than of all.
pub fn of_lane_for(max: usize) -> usize {
    max.saturating_add(noted().passed.get().saturating_mul(2).min(max.saturating_mul(3)))
}

/// How many tasks the claim before could not have.
pub fn passed() -> usize {
    noted().passed.get()
}

/// Notes how many tasks a claim could not have.
pub fn note_passed(count: usize) {
    noted().passed.set(count);
}

/// Forgets the lanes: tasks have got other ones.
pub fn forget_lanes() {
    noted().lanes.replace(None);
}

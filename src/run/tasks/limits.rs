//! Limits of tasks: which of the tasks that a claim finds get the slots that they need.
//!
//! Lanes are an index: what a task needs follows from the limits of its definition's owner. A task whose lane does not
//! fit them gets the right one first, so a limit holds whether or not a task had a lane when it was set.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use uuid::Uuid;
use workflow_engine::execution::NewTask;

use crate::pg::spi::Timestamp;
use crate::pg::{PgError, interrupt, session};
use crate::store::rights::owners;
use crate::store::tasks::leases::{self, ClaimableTask, Claimant, Lane, Lease};
use crate::store::tasks::limits::{self, Limit, LockedSlot, Need, SlotAvailability};
use crate::{clock, compiled, wake};

pub(in crate::run) mod lanes;

/// The limits that a caller sets.
#[derive(Debug)]
pub struct Setting {
    /// Name of the tasks.
    pub name: String,
    /// The member of the payload each value of which has the limits for itself.
    pub key: Option<String>,
    /// Leases at the same time.
    pub concurrency: Option<i32>,
    /// Claims in each period.
    pub rate: Option<i32>,
    /// The period in microseconds.
    pub per: i64,
}

/// Sets or removes limits of the tasks of a name in the definitions of the current role.
pub fn set(setting: &Setting) -> Result<(), PgError> {
    session::require_read_committed("limit tasks")?;
    let Setting { name, key, concurrency, rate, per } = setting;
    let owner = owners::current_id();
    limits::lock_owner(owner);
    limits::lock(owner, name);
    match (concurrency, rate) {
        (None, None) => limits::remove(owner, name, key.as_deref()),
        _ => limits::set(owner, name, key.as_deref(), *concurrency, *rate, *per),
    }
    limits::assign_all(owner, name);
    limits::rebuild(owner, name, Timestamp::from(clock::now()));
    limits::forget(owner, name);
    wake::report_any_task();
    Ok(())
}

/// Changes the owner of a definition. The limits of both owners count its leases as they are afterwards.
pub fn change_owner(from: i32, to: i32, change: impl FnOnce()) {
    let mut both = [from, to];
    both.sort_unstable();
    both.into_iter().for_each(limits::lock_owner);
    let names = limits::names_of(&both);
    for name in &names {
        both.into_iter().for_each(|owner| limits::lock(owner, name));
    }
    change();
    for name in &names {
        both.into_iter().for_each(|owner| limits::rebuild(owner, name, Timestamp::from(clock::now())));
    }
}

/// Gives tasks that a burst has opened in an instance of a definition of this owner their lanes. Without limits of their
/// names nothing is done. While a session changes the limits nothing is done, either: a claim gives such a task its
/// lane.
pub fn assign_opened(tasks: &[NewTask], owner: i32) {
    if tasks.is_empty() || !limits::has_any() {
        return;
    }
    // A limit that is removed at the same time must know of the lanes.
    let limited =
        tasks.iter().filter(|task| !limits::of_name(&task.name).is_empty() && limits::try_share(owner, &task.name));
    let limited: Vec<Uuid> = limited.map(|task| task.bookmark_id).collect();
    if !limited.is_empty() {
        limits::assign(&limited);
    }
}

/// Wakes those who wait for the slots of a task whose lease ends, when this transaction commits.
pub fn wake_waiters(name: Option<&str>, lease: &Lease) {
    if let Some(name) = name.filter(|_| lease.token.is_some() && lease.lane.is_some()) {
        wake::report_task(name);
    }
}

/// The same for all tasks of an instance.
pub fn wake_waiters_of(instance: Uuid) {
    if limits::has_any() {
        leases::wake_waiters_of(instance);
    }
}

/// The limits for tasks of these names of the owners under whom tasks are stored that a role accepts.
fn counting(names: &[String], claimant: &Claimant) -> Rc<[Limit]> {
    let all = limits::of_names(names);
    let counts = |limit: &&Limit| claimant.stored_under().contains(&limit.owner);
    match all.iter().all(|limit| counts(&limit)) {
        true => all,
        false => all.iter().filter(counts).cloned().collect(),
    }
}

/// The search of a claim for tasks of some names.
pub struct Search {
    names: Vec<String>,
    /// Those of the names that have limits.
    limited: Vec<String>,
    limits: Rc<[Limit]>,
    limits_of: fn(&[String], &Claimant) -> Rc<[Limit]>,
    claimant: Rc<Claimant>,
    now: Timestamp,
    /// What is known of lanes, by name of the tasks and lane.
    lanes: HashMap<(String, String), SlotAvailability>,
    /// Transactions that are changing limits of tasks that this search has met, and whether it has met any such task.
    changing: (Vec<u32>, bool),
    /// Whether limits have changed since the search began.
    is_outdated: bool,
}

impl Search {
    /// Begins a search with limits as they are now, of the owners under whom tasks are stored that the role accepts.
    pub fn new(names: Vec<String>, now: Timestamp, claimant: &Rc<Claimant>) -> Self {
        Self::with(names, now, claimant, counting)
    }

    /// The same for a task that the role names, whoever owns its definition.
    pub fn for_named(name: String, now: Timestamp, claimant: &Rc<Claimant>) -> Self {
        Self::with(vec![name], now, claimant, |names, _| limits::of_names(names))
    }

    fn with(
        names: Vec<String>,
        now: Timestamp,
        claimant: &Rc<Claimant>,
        limits_of: fn(&[String], &Claimant) -> Rc<[Limit]>,
    ) -> Self {
        let limits = limits_of(&names, claimant);
        let limited = names.iter().filter(|name| limits.iter().any(|limit| limit.name == **name)).cloned().collect();
        let (claimant, lanes) = (Rc::clone(claimant), HashMap::new());
        Self {
            names,
            limited,
            limits,
            limits_of,
            claimant,
            now,
            lanes,
            changing: (Vec::new(), false),
            is_outdated: false,
        }
    }

    /// The first tasks, at most `max`, and whether there are no more. Once a lane is known to be held, those lanes are
    /// left out, however many tasks they have, and of each other one there are at most `most`.
    pub fn page(&mut self, max: usize, most: usize) -> (Vec<ClaimableTask>, bool) {
        loop {
            interrupt::check();
            let mut found = leases::claimable(&self.names, max, &self.claimant);
            let is_all = found.len() < max;
            if self.limited.is_empty() {
                return (found, is_all);
            }
            let (within, is_all_within) = match self.skips_lanes() {
                true => self.in_free_lanes(max, most),
                false => {
                    let within = leases::in_order(&self.limited, max, &self.claimant);
                    let is_all = within.len() < max;
                    (within, is_all)
                }
            };
            // Tasks of other names come no sooner than those of a lane that may have more.
            let last = if is_all_within { None } else { within.last().map(order) };
            let is_all = is_all && is_all_within;
            found.extend(within);
            if self.assign_lanes(&found) {
                continue;
            }
            found.retain(|claimable| last.is_none_or(|last| order(claimable) <= last));
            found.sort_by_key(order);
            found.truncate(max);
            return (found, is_all);
        }
    }

    /// Gives the found tasks the lanes that follow from the limits. `true`: some had others, and have to be read again.
    pub fn assign_lanes(&self, found: &[ClaimableTask]) -> bool {
        let misplaced = found.iter().filter(|claimable| self.needs(claimable).is_none() && keep_limits(claimable));
        let misplaced: Vec<Uuid> = misplaced.map(|claimable| claimable.task).collect();
        !misplaced.is_empty() && lanes::assign(&misplaced)
    }

    /// The names, if none of them has limits.
    pub fn unlimited(&self) -> Option<&[String]> {
        self.limited.is_empty().then_some(&self.names)
    }

    /// For whom the search is.
    pub fn claimant(&self) -> &Claimant {
        &self.claimant
    }

    /// The first tasks in lanes that are not known to be held, and whether there are no more.
    fn in_free_lanes(&self, max: usize, most: usize) -> (Vec<ClaimableTask>, bool) {
        let mut found = lanes::first(&self.limited, max, &self.claimant, |lanes| self.in_lanes(lanes, max, most));
        // The next task of a lane that may have more comes before what is behind the last one that it gave.
        let mut counts = HashMap::new();
        let end = found.iter().position(|claimable| {
            let count = counts.entry(&claimable.lane).or_insert(0);
            *count += 1;
            *count == most
        });
        let is_all = found.len() < max && end.is_none();
        found.truncate(end.map_or(max, |end| end + 1));
        (found, is_all)
    }

    /// The same in these lanes. Each has a task, so the first lanes have the first tasks, unless the role may not claim
    /// some.
    fn in_lanes(&self, lanes: &[Lane], max: usize, most: usize) -> Vec<ClaimableTask> {
        let is_free = |lane: &&Lane| !self.knows_held(&(lane.name.clone(), lane.lane.clone()));
        let free: Vec<&Lane> = lanes.iter().filter(is_free).collect();
        let mut count = max;
        loop {
            interrupt::check();
            let found = leases::in_lanes(free.iter().take(count).copied(), most, max, &self.claimant);
            if found.len() == max || count >= free.len() {
                return found;
            }
            count = count.saturating_mul(4);
        }
    }

    /// The slots that a task needs. `None`: its lane is not the one that follows from the limits.
    fn needs(&self, claimable: &ClaimableTask) -> Option<Vec<Need>> {
        if !self.limited.contains(&claimable.name) {
            return Some(Vec::new());
        }
        // A definition that cannot be read is reported when the task is to be taken.
        let Ok(compiled) = compiled::of_version(claimable.version) else { return Some(Vec::new()) };
        needs(&self.limits, compiled.row.owner.id, &claimable.name, claimable.lane.as_deref())
    }

    /// Whether the next page skips lanes.
    pub fn skips_lanes(&self) -> bool {
        self.lanes.keys().any(|lane| self.knows_held(lane))
    }

    fn knows_held(&self, lane: &(String, String)) -> bool {
        matches!(self.lanes.get(lane), Some(SlotAvailability::Held { .. }))
    }

    /// Whether a claim would get the slots of a lane, as far as could be seen without locks when it was asked first.
    fn is_free(&mut self, name: &str, lane: &str) -> bool {
        let of = (name.to_owned(), lane.to_owned());
        if !self.lanes.contains_key(&of) {
            let limit = self.limits.iter().find(|limit| Some(limit.id) == limit_id(lane) && limit.name == name);
            // The tasks of a lane that does not fit any more get another one when a search finds them.
            let needs = limit.and_then(|limit| needs(&self.limits, limit.owner, name, Some(lane)));
            self.lanes.insert(of.clone(), ask(&needs.unwrap_or_default(), self.now));
        }
        matches!(self.lanes.get(&of), Some(SlotAvailability::Free))
    }

    /// Whether a claim of a task would get its slots.
    pub fn is_open(&mut self, claimable: &ClaimableTask) -> bool {
        if !keep_limits(claimable) {
            let (changing, is_any) = &mut self.changing;
            let owner = owner_of(claimable);
            changing.extend(owner.and_then(|owner| limits::changing(owner, &claimable.name)));
            *is_any = true;
            return false;
        }
        match &claimable.lane {
            Some(lane) => self.is_free(&claimable.name, lane),
            None => true,
        }
    }

    /// Whether a lane is known to be held.
    pub fn is_held(&self, claimable: &ClaimableTask) -> bool {
        claimable.lane.as_ref().is_some_and(|lane| self.knows_held(&(claimable.name.clone(), lane.clone())))
    }

    /// Locks the slots that a task needs. `None`: there are none, it needs others than its lane says, or the limits are
    /// being changed or were changed.
    pub fn take(&mut self, claimable: &ClaimableTask) -> Option<Vec<LockedSlot>> {
        let owner = owner_of(claimable);
        if !keep_limits(claimable) {
            return None;
        }
        // What was committed before the lock was taken is known only now.
        let now = (self.limits_of)(&self.names, &self.claimant);
        let is_same = Rc::ptr_eq(&now, &self.limits) || now == self.limits;
        if owner_of(claimable) != owner || !is_same {
            self.is_outdated = true;
            return None;
        }
        let needs = self.needs(claimable)?;
        match limits::take(&needs, self.now) {
            Ok(taken) => Some(taken),
            Err(_) => {
                if let Some(lane) = &claimable.lane {
                    let held = SlotAvailability::Held { until: None, blockers: Vec::new() };
                    self.lanes.insert((claimable.name.clone(), lane.clone()), held);
                }
                None
            }
        }
    }

    /// Whether limits have changed since the search began, so that a new one may find more.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// Whether limits of tasks that it has met are being changed, by which transactions as far as that is known.
    pub fn changing(&self) -> Option<&[u32]> {
        let (changing, is_any) = &self.changing;
        is_any.then_some(changing)
    }

    /// When and after which transactions a lane that is held may be free.
    pub fn held_until(&self) -> (Option<Timestamp>, Vec<u32>) {
        let held = self.lanes.values().filter_map(|availability| match availability {
            SlotAvailability::Held { until, blockers } => Some((*until, blockers)),
            SlotAvailability::Free => None,
        });
        held.fold((None, Vec::new()), |(first, mut all), (until, blockers)| {
            all.extend(blockers);
            (earlier(first, until), all)
        })
    }
}

/// The owner of a task's definition, whose limits count. `None`: the definition cannot be read, which is reported when
/// the task is to be taken.
fn owner_of(claimable: &ClaimableTask) -> Option<i32> {
    compiled::of_version(claimable.version).ok().map(|compiled| compiled.row.owner.id)
}

/// Keeps the limits that count for a task as they are until this transaction ends. `false`: another one changes them.
fn keep_limits(claimable: &ClaimableTask) -> bool {
    owner_of(claimable).is_none_or(|owner| limits::try_share(owner, &claimable.name))
}

/// The position of a task in the order of the inbox.
fn order(claimable: &ClaimableTask) -> (Reverse<i32>, Timestamp) {
    (Reverse(claimable.priority), claimable.opened_at)
}

fn limit_id(lane: &str) -> Option<i32> {
    lane.split([':', '#']).next()?.parse().ok()
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The slots that tasks of a lane need, those for its key first. `None`: tasks of this name in definitions of this
/// owner do not have such a lane.
fn needs(all: &[Limit], owner: i32, name: &str, lane: Option<&str>) -> Option<Vec<Need>> {
    let live = || all.iter().filter(|limit| limit.owner == owner && limit.name == name && limit.is_live());
    let (with_key, without) = (live().find(|limit| limit.key.is_some()), live().find(|limit| limit.key.is_none()));
    let (limit, lane) = match (with_key.or(without), lane) {
        (None, None) => return Some(Vec::new()),
        (Some(limit), Some(lane)) if limit_id(lane) == Some(limit.id) => (limit, lane),
        _ => return None,
    };
    let value = &lane[limit.id.to_string().len()..];
    let with_key = with_key.filter(|_| !value.is_empty()).into_iter().flat_map(|limit| of_limit(limit, value));
    Some(with_key.chain(without.into_iter().flat_map(|limit| of_limit(limit, ""))).collect())
}

fn of_limit(limit: &Limit, value: &str) -> impl Iterator<Item = Need> {
    let need = |most: Option<i32>, kind: &str, per: Option<i64>| {
        Some(Need { limit: limit.id, place: format!("{kind}{value}"), most: most?, per })
    };
    [need(limit.concurrency, "c", None), need(limit.rate, "r", Some(limit.per))].into_iter().flatten()
}

fn ask(needs: &[Need], now: Timestamp) -> SlotAvailability {
    let mut availability = SlotAvailability::Free;
    for need in needs {
        let SlotAvailability::Held { until, blockers } = limits::ask(need, now) else { continue };
        availability = match availability {
            SlotAvailability::Free => SlotAvailability::Held { until, blockers },
            SlotAvailability::Held { until: first, blockers: mut all } => {
                all.extend(blockers);
                SlotAvailability::Held { until: earlier(first, until), blockers: all }
            }
        };
    }
    availability
}

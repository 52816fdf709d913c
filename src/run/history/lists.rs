//! Lists of instances that stay fast with any number of instances.
//!
//! No index is ordered by end or name, and none contains the status: every burst would have to update it. So a list is
//! built from a *window*: the newest 10,000 instances that match the filter, in the order of their ids, which is that
//! of time. The window is sorted and paged in memory. The number of rows read to fill it is limited: first those that
//! indexes find for the condition (a correlation id, a bookmark, an incident, a burst), then the instances in the order
//! of ids. The list reports whether more instances may match the filter.

mod found;
mod sources;
mod walk;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use uuid::Uuid;
use workflow_engine::alteration::{InstanceFilter, Moment};

use crate::access::visibility::InstanceVisibility;
use crate::store::repair::selection::listed::{self, ListRow, Listed};
use found::FoundInstances;
pub use found::WINDOW;
use walk::Walk;

/// The sort order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// When an instance was created.
    Created,
    /// When it last changed.
    LastExecuted,
    /// When it ended.
    Finished,
    /// Its name; instances without one come last.
    Name,
}

impl Order {
    /// All orders, by the names that Elsa's clients use.
    pub const NAMES: [(&str, Self); 5] = [
        ("Created", Self::Created),
        ("LastExecuted", Self::LastExecuted),
        ("UpdatedAt", Self::LastExecuted),
        ("Finished", Self::Finished),
        ("Name", Self::Name),
    ];

    /// Instances without a value come last. Equal values are ordered by id.
    fn compare(self, a: &Listed, b: &Listed, descending: bool) -> Ordering {
        let turn = |order: Ordering| if descending { order.reverse() } else { order };
        let times = |moment| match (a.time(moment), b.time(moment)) {
            (Some(a), Some(b)) => turn(a.cmp(&b)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        let order = match self {
            Self::Created => times(Moment::CreatedAt),
            Self::LastExecuted => times(Moment::UpdatedAt),
            Self::Finished => times(Moment::FinishedAt),
            Self::Name => match (&a.name, &b.name) {
                (Some(a), Some(b)) => turn(a.cmp(b)),
                (a, b) => b.is_some().cmp(&a.is_some()),
            },
        };
        order.then_with(|| turn(a.id.cmp(&b.id)))
    }
}

/// The instances that satisfy a filter.
#[derive(Debug)]
pub struct Window {
    instances: Vec<Listed>,
    /// Whether the window contains all matches.
    pub is_complete: bool,
}

impl Window {
    /// The instances that match the filter and that the current role may read: the newest ones, or the oldest if
    /// `newest` is false.
    pub fn of(filter: &InstanceFilter, order: Order, newest: bool) -> Self {
        let visibility = InstanceVisibility::current();
        let mut filter = filter.clone();
        let versions = take_versions(&mut filter, &visibility);
        let with_names = order == Order::Name;
        let mut found = FoundInstances::new(&visibility, versions, with_names);
        let is_complete = search(&filter, newest, &mut found);
        found.tidy();
        let mut instances = found.instances;
        let is_complete = is_complete && instances.len() <= WINDOW;
        match newest {
            true => drop(instances.drain(..instances.len().saturating_sub(WINDOW))),
            false => instances.truncate(WINDOW),
        }
        Self { instances, is_complete }
    }

    /// The number of instances.
    pub fn count(&self) -> usize {
        self.instances.len()
    }

    /// A page of them, in an order.
    pub fn page(mut self, order: Order, descending: bool, page: usize, size: usize) -> Vec<ListRow> {
        self.instances.sort_unstable_by(|a, b| order.compare(a, b, descending));
        let ids: Vec<Uuid> =
            self.instances.iter().skip(page.saturating_mul(size)).take(size).map(|one| one.id).collect();
        let mut rows: HashMap<Uuid, ListRow> = listed::list_rows(&ids).into_iter().map(|one| (one.id, one)).collect();
        ids.iter().filter_map(|id| rows.remove(id)).collect()
    }
}

/// Removes the conditions on definitions and versions from a filter, which depend on the version only. Returns the ids
/// of the matching versions, or `None` without such conditions.
fn take_versions(filter: &mut InstanceFilter, visibility: &InstanceVisibility) -> Option<HashSet<Uuid>> {
    let (ids, definitions, number) = (filter.version_ids.take(), filter.definition_ids.take(), filter.version.take());
    if ids.is_none() && definitions.is_none() && number.is_none() {
        return None;
    }
    let (ids, definitions): (Option<HashSet<Uuid>>, Option<HashSet<String>>) =
        (ids.map(|ids| ids.into_iter().collect()), definitions.map(|ids| ids.into_iter().collect()));
    let wanted = visibility.versions.iter().filter(|version| {
        ids.as_ref().is_none_or(|ids| ids.contains(&version.id))
            && definitions.as_ref().is_none_or(|ids| ids.contains(&version.definition))
            && number.is_none_or(|number| number == version.number)
    });
    Some(wanted.map(|version| version.id).collect())
}

/// From this number of versions on, all instances are read first: many of them are likely to match.
const MANY: usize = 50;

/// Searches first where the fewest rows have to be read. Returns whether it has found all matches.
fn search(filter: &InstanceFilter, newest: bool, found: &mut FoundInstances<'_>) -> bool {
    if let Some(is_complete) = sources::by_attributes(filter, newest, found) {
        return is_complete;
    }
    if let Some(is_complete) = sources::by_key(filter, found) {
        return is_complete;
    }
    let (all, of_versions) = (found.visibility.all, found.versions.as_ref().map(HashSet::len));
    // For a role that may read few instances these are the fewest rows; for others, traces are fewer.
    let mut budget = walk::BUDGET;
    if all && of_versions.is_none_or(|count| count >= MANY) {
        if let Some(is_complete) = sources::by_traces(filter, newest, found) {
            return is_complete;
        }
        if of_versions.is_some() && many_versions(filter, newest, found) {
            return false;
        }
    }
    let mut walk = Walk::of(found);
    let ranges = sources::time_ranges(filter);
    if !ranges.is_empty() {
        budget = walk::BUDGET / 30;
    } else if filter.search_term.is_some() {
        budget = walk::BUDGET * 2 / 5;
    }
    if walk.run(filter, newest, budget, found) {
        return true;
    }
    if !all && let Some(is_complete) = sources::by_traces(filter, newest, found) {
        return is_complete;
    }
    if filter.search_term.is_some() {
        sources::by_term(filter, newest, found);
    }
    // A condition on time restricts the ids only if few instances are read otherwise, because an id need not contain
    // the time.
    let mut is_complete = !ranges.is_empty();
    for (low, high) in ranges {
        is_complete &= walk.unfinished_within(low, high).run(filter, newest, walk::BUDGET / 2, found);
    }
    is_complete
}

/// Reads all instances to find those of many versions, for as long as at least a quarter of them match. Returns whether
/// the window is full.
fn many_versions(filter: &InstanceFilter, newest: bool, found: &mut FoundInstances<'_>) -> bool {
    let mut all = Walk::all();
    let is_over = all.run(filter, newest, walk::BUDGET / 3, found);
    if !is_over && found.instances.len() >= walk::BUDGET / 12 {
        all.run(filter, newest, walk::BUDGET, found);
    }
    found.is_full()
}

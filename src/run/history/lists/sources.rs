//! Index look-ups for a filter, so that few instances have to be read.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;
use workflow_engine::alteration::{InstanceFilter, Moment, Relation};

use super::found::{FoundInstances, WINDOW};
use super::walk::{BUDGET, Walk};
use crate::clock;
use crate::pg::interrupt;
use crate::store::instances::search_attributes;
use crate::store::repair::selection::listed::{self, Scan, Traces};

/// Reads the instances that the filter names by id or correlation id. Returns whether these are all matches, or `None`
/// if it names none.
pub fn by_key(filter: &InstanceFilter, found: &mut FoundInstances<'_>) -> Option<bool> {
    if let Some(ids) = &filter.instance_ids {
        let portion = listed::read_portion(filter, Scan::Ids(ids), found.with_names, usize::MAX);
        found.add(portion.matching);
        return Some(true);
    }
    let ids = filter.correlation_ids.as_ref()?;
    let portion = listed::read_portion(filter, Scan::Correlated(ids), found.with_names, WINDOW + 1);
    found.add(portion.matching);
    Some(portion.rows_read <= WINDOW)
}

/// Reads the instances that have the search attributes of the filter. Returns whether these are all matches, or `None`
/// if the filter has no search attributes. Only those who may read an instance find it by its values.
pub fn by_attributes(filter: &InstanceFilter, newest: bool, found: &mut FoundInstances<'_>) -> Option<bool> {
    if filter.attributes.is_empty() {
        return None;
    }
    let visibility = found.visibility;
    let is_wanted = |id: &Uuid| found.versions.as_ref().is_none_or(|versions| versions.contains(id));
    let readable = visibility.versions.iter().filter(|of| visibility.may_read(of.id) && is_wanted(&of.id));
    let definitions: BTreeSet<&str> = readable.map(|version| version.definition.as_str()).collect();
    let (mut ids, mut is_complete): (BTreeSet<Uuid>, bool) = (BTreeSet::new(), true);
    for definition in definitions {
        let (matching, is_all) = with_attributes(definition, filter, newest);
        is_complete &= is_all;
        ids.extend(matching);
        while ids.len() > WINDOW {
            is_complete = false;
            let _ = if newest { ids.pop_first() } else { ids.pop_last() };
        }
    }
    let ids: Vec<Uuid> = ids.into_iter().collect();
    let portion = listed::read_portion(filter, Scan::Ids(&ids), found.with_names, usize::MAX);
    found.add(portion.matching.into_iter().filter(|one| visibility.may_read(one.version)).collect());
    Some(is_complete)
}

/// Ids of instances of a definition that have all search attributes of the filter, and whether these are all of them.
fn with_attributes(definition: &str, filter: &InstanceFilter, newest: bool) -> (BTreeSet<Uuid>, bool) {
    let (mut ids, mut is_complete): (Option<BTreeSet<Uuid>>, bool) = (None, true);
    for wanted in &filter.attributes {
        interrupt::check();
        let mut some = search_attributes::find(definition, &wanted.name, &wanted.condition, newest, WINDOW + 1);
        is_complete &= some.len() <= WINDOW;
        if let Some(before) = &ids {
            some.retain(|id| before.contains(id));
        }
        if some.is_empty() {
            return (BTreeSet::new(), is_complete);
        }
        ids = Some(some.into_iter().collect());
    }
    (ids.unwrap_or_default(), is_complete)
}

/// The tables in which every matching instance has left a row, given the conditions on status and incidents.
fn traces_of(filter: &InstanceFilter) -> Option<Vec<Traces>> {
    if filter.has_incidents == Some(true) {
        return Some(vec![Traces::Incidents]);
    }
    let is_among = |list: &Option<Vec<String>>, known: &[&str]| {
        list.as_ref().is_some_and(|list| list.iter().all(|one| known.contains(&one.as_str())))
    };
    // A suspended instance waits at a bookmark or has only faults. One that is executing is in a burst of this very
    // session.
    if is_among(&filter.statuses, &["Running"]) || is_among(&filter.sub_statuses, &["Pending", "Suspended"]) {
        return Some(vec![Traces::Bookmarks, Traces::OpenIncidents]);
    }
    if is_among(&filter.sub_statuses, &["Faulted"]) {
        return Some(vec![Traces::OpenIncidents]);
    }
    is_among(&filter.sub_statuses, &["Pending", "Suspended", "Faulted"])
        .then(|| vec![Traces::Bookmarks, Traces::OpenIncidents])
}

/// Reads the instances whose traces show that they may match the filter. Returns whether these are all, or `None` if
/// instances without traces may match as well.
pub fn by_traces(filter: &InstanceFilter, newest: bool, found: &mut FoundInstances<'_>) -> Option<bool> {
    let (mut ids, mut is_complete) = (Vec::new(), true);
    for traces in traces_of(filter)? {
        let some = listed::traces(traces, newest, WINDOW + 1);
        is_complete &= some.len() <= WINDOW;
        ids.extend(some);
    }
    ids.sort_unstable();
    ids.dedup();
    let portion = listed::read_portion(filter, Scan::Ids(&ids), found.with_names, usize::MAX);
    found.add(portion.matching);
    Some(is_complete)
}

/// Adds the instances found by key look-ups of a search term. Otherwise only names and correlation ids can contain it.
pub fn by_term(filter: &InstanceFilter, newest: bool, found: &mut FoundInstances<'_>) {
    let Some(term) = &filter.search_term else { return };
    if let Ok(id) = Uuid::parse_str(term) {
        let portion = listed::read_portion(filter, Scan::Ids(&[id]), found.with_names, 1);
        found.add(portion.matching);
    }
    let portion = listed::read_portion(filter, Scan::Correlated(std::slice::from_ref(term)), found.with_names, WINDOW);
    found.add(portion.matching);
    let term = term.to_lowercase();
    let mut walk = Walk::of_versions(found.visibility, |version| version.definition.to_lowercase().contains(&term));
    // The definition matches the term, so names need not be read.
    walk.run(&InstanceFilter { search_term: None, ..filter.clone() }, newest, BUDGET / 3, found);
}

/// The maximum delay between the assignment of an id and the creation of its instance.
const DELAY: TimeDelta = TimeDelta::minutes(1);

/// The ranges of ids that the filter's times permit; empty if they do not help. An instance changes and ends after it
/// was created. The first two ranges contain ids without a time, since callers may choose any; the last contains those
/// of long calls.
pub fn time_ranges(filter: &InstanceFilter) -> Vec<(Uuid, Uuid)> {
    let (mut from, mut to) = (None, None);
    for time in &filter.times {
        let at = time.instant;
        if matches!(time.relation, Relation::Is | Relation::LessThan | Relation::LessThanOrEqual) {
            to = Some(to.map_or(at, |other: DateTime<Utc>| other.min(at)));
        }
        let is_after = matches!(time.relation, Relation::Is | Relation::GreaterThan | Relation::GreaterThanOrEqual);
        if is_after && time.moment == Moment::CreatedAt {
            from = Some(from.map_or(at, |other: DateTime<Utc>| other.max(at)));
        }
    }
    if from.is_none() && to.is_none() {
        return Vec::new();
    }
    let (first, last) =
        (id_at(DateTime::UNIX_EPOCH + TimeDelta::days(10_957)), id_at(clock::now() + TimeDelta::days(1)));
    let low = from.map_or(first, |at| id_at(at).clamp(first, last));
    let ends_at = |delay| to.and_then(|at| at.checked_add_signed(delay)).map(|at| id_at(at).clamp(first, last));
    let high = ends_at(TimeDelta::milliseconds(1)).unwrap_or(last);
    let late = ends_at(DELAY).unwrap_or(last);
    let ranges = [(last, Uuid::max()), (Uuid::nil(), first), (low, high), (high.max(low), late)];
    ranges.into_iter().filter(|(low, high)| low < high).collect()
}

/// The lowest id that can be generated at an instant.
fn id_at(at: DateTime<Utc>) -> Uuid {
    Uuid::from_u128(u128::from(at.timestamp_millis().clamp(0, (1 << 48) - 1).unsigned_abs()) << 80)
}

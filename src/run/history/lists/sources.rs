//! What indexes know of a filter, so that few instances have to be looked at.

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;
use workflow_engine::alteration::{InstanceFilter, Moment, Relation};

use super::found::{FoundInstances, WINDOW};
use super::walk::{BUDGET, Walk};
use crate::clock;
use crate::store::repair::selection::listed::{self, Scan, Traces};

/// Looks at the instances that the filter names by id or correlation id. Returns whether these are all, or nothing if
/// it names none.
pub fn by_key(filter: &InstanceFilter, found: &mut FoundInstances<'_>) -> Option<bool> {
    if let Some(ids) = &filter.instance_ids {
        let portion = listed::look(filter, Scan::Ids(ids), found.with_names, usize::MAX);
        found.add(portion.matching);
        return Some(true);
    }
    let ids = filter.correlation_ids.as_ref()?;
    let portion = listed::look(filter, Scan::Correlated(ids), found.with_names, WINDOW + 1);
    found.add(portion.matching);
    Some(portion.looked <= WINDOW)
}

/// Where every instance has left a trace that satisfies the conditions on status and incidents.
fn traces_of(filter: &InstanceFilter) -> Option<Vec<Traces>> {
    if filter.has_incidents == Some(true) {
        return Some(vec![Traces::Incidents]);
    }
    let is_among = |list: &Option<Vec<String>>, known: &[&str]| {
        list.as_ref().is_some_and(|list| list.iter().all(|one| known.contains(&one.as_str())))
    };
    // A suspended instance waits at a bookmark or has faults only. One that executes is in a burst of this very
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

/// Looks at the instances whose traces say that they may satisfy the filter. Returns whether these are all, or nothing
/// if it is for instances without traces, too.
pub fn by_traces(filter: &InstanceFilter, newest: bool, found: &mut FoundInstances<'_>) -> Option<bool> {
    let (mut ids, mut is_whole) = (Vec::new(), true);
    for traces in traces_of(filter)? {
        let some = listed::traces(traces, newest, WINDOW + 1);
        is_whole &= some.len() <= WINDOW;
        ids.extend(some);
    }
    ids.sort_unstable();
    ids.dedup();
    let portion = listed::look(filter, Scan::Ids(&ids), found.with_names, usize::MAX);
    found.add(portion.matching);
    Some(is_whole)
}

/// Adds what keys know of a search term. Elsewhere only names and correlation ids can have it.
pub fn by_term(filter: &InstanceFilter, newest: bool, found: &mut FoundInstances<'_>) {
    let Some(term) = &filter.search_term else { return };
    if let Ok(id) = Uuid::parse_str(term) {
        let portion = listed::look(filter, Scan::Ids(&[id]), found.with_names, 1);
        found.add(portion.matching);
    }
    let portion = listed::look(filter, Scan::Correlated(std::slice::from_ref(term)), found.with_names, WINDOW);
    found.add(portion.matching);
    let term = term.to_lowercase();
    let mut walk = Walk::of_versions(found.sight, |version| version.definition.to_lowercase().contains(&term));
    // The definition of these has the term, so no name is read.
    walk.run(&InstanceFilter { search_term: None, ..filter.clone() }, newest, BUDGET / 3, found);
}

/// How much later than its creation an instance can have been given its id.
const DELAY: TimeDelta = TimeDelta::minutes(1);

/// Ranges of ids in which the times of a filter let instances be; none if they are no help. An instance changes and
/// ends after it was created. The first two ranges have ids that tell no time, for callers may choose any; the last has
/// those of a call that took long.
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

/// The lowest id that is made at an instant.
fn id_at(at: DateTime<Utc>) -> Uuid {
    Uuid::from_u128(u128::from(at.timestamp_millis().clamp(0, (1 << 48) - 1).unsigned_abs()) << 80)
}

//! Reads instances in the order of their ids, up to a limit.
//!
//! A role that may read everything has one stream, the primary key. For another role, or a filter by definition, there
//! is a stream for each relevant version and owner, in the order of an index. Streams are read in portions, and only
//! those whose next row could still belong to the window.

use uuid::Uuid;
use workflow_engine::alteration::InstanceFilter;

use super::found::{FoundInstances, WINDOW};
use crate::access::visibility::InstanceVisibility;
use crate::pg::interrupt;
use crate::store::repair::selection::listed::{self, Scan, Version};

/// How many instances one walk reads.
pub const BUDGET: usize = 30_000;

/// Minimum size of the first portion of each of many streams, in rows.
const MIN_PORTION: usize = 8;

#[derive(Clone, Debug)]
struct Stream {
    of: Option<(Uuid, i32)>,
    low: Uuid,
    high: Uuid,
    is_over: bool,
}

/// Streams of instances.
#[derive(Clone, Debug)]
pub struct Walk(Vec<Stream>);

impl Walk {
    /// One stream of all instances, for a role that may read all and a filter without versions.
    pub fn all() -> Self {
        Self(vec![Stream::new(None)])
    }

    /// The streams of the instances that a role may read, of the versions in the filter.
    pub fn of(found: &FoundInstances<'_>) -> Self {
        match &found.versions {
            None if found.visibility.all => Self::all(),
            None => Self::of_versions(found.visibility, |_| true),
            Some(versions) => Self::of_versions(found.visibility, |version| versions.contains(&version.id)),
        }
    }

    /// The streams of the instances of some versions that a role may read.
    pub fn of_versions(visibility: &InstanceVisibility, is_wanted: impl Fn(&Version) -> bool) -> Self {
        let mut streams = Vec::new();
        for version in visibility.versions.iter().filter(|version| is_wanted(version)) {
            interrupt::check();
            let owners =
                if visibility.may_read(version.id) { listed::owners_of(version.id) } else { visibility.owners.clone() };
            streams.extend(owners.into_iter().map(|owner| Stream::new(Some((version.id, owner)))));
        }
        Self(streams)
    }

    /// The parts of this walk that were not read completely, between two ids.
    pub fn unfinished_within(&self, low: Uuid, high: Uuid) -> Self {
        let unfinished = self.0.iter().filter(|stream| !stream.is_over);
        Self(unfinished.map(|stream| Stream { low, high, ..*stream }).collect())
    }

    /// Reads at most `budget` instances, plus the first portion of each stream. Returns whether it has read all.
    pub fn run(
        &mut self,
        filter: &InstanceFilter,
        newest: bool,
        budget: usize,
        found: &mut FoundInstances<'_>,
    ) -> bool {
        let mut remaining = budget;
        loop {
            let edge = found.edge(newest);
            let mut open: Vec<&mut Stream> =
                self.0.iter_mut().filter(|stream| !stream.is_over && stream.is_before(edge, newest)).collect();
            if open.is_empty() {
                return self.0.iter().all(|stream| stream.is_over);
            }
            if remaining == 0 {
                return false;
            }
            let share = (remaining.min(WINDOW) / open.len()).max(MIN_PORTION);
            for stream in &mut open {
                interrupt::check();
                remaining = remaining.saturating_sub(stream.read_portion(filter, newest, share, found));
            }
        }
    }
}

impl Stream {
    fn new(of: Option<(Uuid, i32)>) -> Self {
        Self { of, low: Uuid::nil(), high: Uuid::max(), is_over: false }
    }

    /// Whether its next row could come before the edge of the window.
    fn is_before(&self, edge: Option<Uuid>, newest: bool) -> bool {
        edge.is_none_or(|edge| if newest { self.high > edge } else { self.low < edge })
    }

    /// Reads a portion. Returns how many rows it read.
    fn read_portion(
        &mut self,
        filter: &InstanceFilter,
        newest: bool,
        at_most: usize,
        found: &mut FoundInstances<'_>,
    ) -> usize {
        let scan = Scan::Range { low: self.low, high: self.high, newest, of: self.of };
        let portion = listed::read_portion(filter, scan, found.with_names, at_most);
        found.add(portion.matching);
        self.is_over = portion.rows_read < at_most;
        match portion.last {
            Some(last) if newest && last > self.low => self.high = Uuid::from_u128(last.as_u128() - 1),
            Some(last) if !newest && last < self.high => self.low = Uuid::from_u128(last.as_u128() + 1),
            _ => self.is_over = true,
        }
        portion.rows_read
    }
}

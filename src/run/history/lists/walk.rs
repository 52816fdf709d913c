//! Looking at instances in the order of their ids, with a bound on how many.
//!
//! A role that may read everything has one stream, the primary key. Another role, or a filter by definition, has a
//! stream for each version and owner whose instances come into question: an index is in that order. Streams are read in
//! portions, and only those whose next row could still belong to the window.

use uuid::Uuid;
use workflow_engine::alteration::InstanceFilter;

use super::found::{FoundInstances, WINDOW};
use crate::access::sight::Sight;
use crate::pg::interrupt;
use crate::store::repair::selection::listed::{self, Scan, Version};

/// How many instances one walk looks at.
pub const BUDGET: usize = 30_000;

/// Rows of the first portion of each of many streams, at least.
const LEAST: usize = 8;

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
    /// One stream of all instances, for a role that may read every one and a filter that is for all versions.
    pub fn all() -> Self {
        Self(vec![Stream::new(None)])
    }

    /// Where the instances are that a role may read, of the versions that the filter is for.
    pub fn of(found: &FoundInstances<'_>) -> Self {
        match &found.versions {
            None if found.sight.all => Self::all(),
            None => Self::of_versions(found.sight, |_| true),
            Some(versions) => Self::of_versions(found.sight, |version| versions.contains(&version.id)),
        }
    }

    /// Where the instances of some versions are that a role may read.
    pub fn of_versions(sight: &Sight, is_wanted: impl Fn(&Version) -> bool) -> Self {
        let mut streams = Vec::new();
        for version in sight.versions.iter().filter(|version| is_wanted(version)) {
            interrupt::check();
            let owners = if sight.reads(version.id) { listed::owners_of(version.id) } else { sight.owners.clone() };
            streams.extend(owners.into_iter().map(|owner| Stream::new(Some((version.id, owner)))));
        }
        Self(streams)
    }

    /// What this walk has not looked at whole, from the beginning, between two ids.
    pub fn unfinished_within(&self, low: Uuid, high: Uuid) -> Self {
        let unfinished = self.0.iter().filter(|stream| !stream.is_over);
        Self(unfinished.map(|stream| Stream { low, high, ..*stream }).collect())
    }

    /// Looks at `budget` instances at most, plus what begins each stream. Returns whether it has looked at all.
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
            let share = (remaining.min(WINDOW) / open.len()).max(LEAST);
            for stream in &mut open {
                interrupt::check();
                remaining = remaining.saturating_sub(stream.look(filter, newest, share, found));
            }
        }
    }
}

impl Stream {
    fn new(of: Option<(Uuid, i32)>) -> Self {
        Self { of, low: Uuid::nil(), high: Uuid::max(), is_over: false }
    }

    /// Whether its next row could be nearer than the edge of the window.
    fn is_before(&self, edge: Option<Uuid>, newest: bool) -> bool {
        edge.is_none_or(|edge| if newest { self.high > edge } else { self.low < edge })
    }

    /// Reads a portion. Returns how many rows it looked at.
    fn look(&mut self, filter: &InstanceFilter, newest: bool, at_most: usize, found: &mut FoundInstances<'_>) -> usize {
        let scan = Scan::Range { low: self.low, high: self.high, newest, of: self.of };
        let portion = listed::look(filter, scan, found.with_names, at_most);
        found.add(portion.matching);
        self.is_over = portion.looked < at_most;
        match portion.last {
            Some(last) if newest && last > self.low => self.high = Uuid::from_u128(last.as_u128() - 1),
            Some(last) if !newest && last < self.high => self.low = Uuid::from_u128(last.as_u128() + 1),
            _ => self.is_over = true,
        }
        portion.looked
    }
}

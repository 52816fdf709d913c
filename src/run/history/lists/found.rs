//! What a search for instances has found so far.

use std::collections::HashSet;

use uuid::Uuid;

use crate::access::sight::Sight;
use crate::store::repair::selection::listed::Listed;

/// The most instances that are ordered and counted.
pub const WINDOW: usize = 10_000;

/// What a search has found that the current role may read, each instance once.
pub struct FoundInstances<'a> {
    /// What the current role may read.
    pub sight: &'a Sight,
    /// The versions that the filter is for, unless it is for all.
    pub versions: Option<HashSet<Uuid>>,
    /// Whether names are read, because the list is ordered by them.
    pub with_names: bool,
    /// Whether `instances` is in the order of ids, each once.
    is_tidy: bool,
    /// The instances, in no order before `tidy`.
    pub instances: Vec<Listed>,
}

impl<'a> FoundInstances<'a> {
    /// Nothing, before a search begins.
    pub fn new(sight: &'a Sight, versions: Option<HashSet<Uuid>>, with_names: bool) -> Self {
        Self { sight, versions, with_names, is_tidy: true, instances: Vec::new() }
    }

    /// Adds those that the current role may read and the filter is for.
    pub fn add(&mut self, matching: Vec<Listed>) {
        let is_wanted = |one: &Listed| self.versions.as_ref().is_none_or(|versions| versions.contains(&one.version));
        let seen = matching.into_iter().filter(|one| is_wanted(one) && self.sight.sees(one));
        self.instances.extend(seen);
        self.is_tidy = false;
    }

    /// Puts the instances into the order of their ids, each once.
    pub fn tidy(&mut self) {
        if !self.is_tidy {
            self.instances.sort_by_key(|one| one.id);
            self.instances.dedup_by_key(|one| one.id);
            self.is_tidy = true;
        }
    }

    /// Whether there are as many as a window holds.
    pub fn is_full(&mut self) -> bool {
        if self.instances.len() >= WINDOW {
            self.tidy();
        }
        self.instances.len() >= WINDOW
    }

    /// The id of the last instance of a full window.
    pub fn edge(&mut self, newest: bool) -> Option<Uuid> {
        let at = |found: &Self| if newest { found.instances.len() - WINDOW } else { WINDOW - 1 };
        self.is_full().then(|| self.instances[at(self)].id)
    }
}

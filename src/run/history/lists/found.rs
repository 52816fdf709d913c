//! The intermediate result of a search for instances.

use std::collections::HashSet;

use uuid::Uuid;

use crate::access::visibility::InstanceVisibility;
use crate::store::repair::selection::listed::Listed;

/// Maximum number of instances that are sorted and counted.
pub const WINDOW: usize = 10_000;

/// The instances found that the current role may read, without duplicates.
pub struct FoundInstances<'a> {
    /// What the current role may read.
    pub visibility: &'a InstanceVisibility,
    /// The versions in the filter, or `None` for all.
    pub versions: Option<HashSet<Uuid>>,
    /// Whether names are read, because the list is sorted by them.
    pub with_names: bool,
    /// Whether `instances` is sorted by id and free of duplicates.
    is_tidy: bool,
    /// The instances, unsorted before `tidy`.
    pub instances: Vec<Listed>,
}

impl<'a> FoundInstances<'a> {
    /// The state before a search.
    pub fn new(visibility: &'a InstanceVisibility, versions: Option<HashSet<Uuid>>, with_names: bool) -> Self {
        Self { visibility, versions, with_names, is_tidy: true, instances: Vec::new() }
    }

    /// Adds those that the current role may read and whose version is in the filter.
    pub fn add(&mut self, matching: Vec<Listed>) {
        let is_wanted = |one: &Listed| self.versions.as_ref().is_none_or(|versions| versions.contains(&one.version));
        let seen = matching.into_iter().filter(|one| is_wanted(one) && self.visibility.may_see(one));
        self.instances.extend(seen);
        self.is_tidy = false;
    }

    /// Sorts the instances by id and removes duplicates.
    pub fn tidy(&mut self) {
        if !self.is_tidy {
            self.instances.sort_by_key(|one| one.id);
            self.instances.dedup_by_key(|one| one.id);
            self.is_tidy = true;
        }
    }

    /// Whether the window is full.
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

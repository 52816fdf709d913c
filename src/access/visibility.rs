//! Which instances a role sees in lists: those of versions that it may read, and those that it has requested. The view
//! `workflow.instance_list` has the same condition in SQL.

use std::collections::HashSet;

use uuid::Uuid;

use crate::access::{self, Privilege, instance};
use crate::pg::role;
use crate::store::definitions;
use crate::store::repair::selection::listed::{self, Listed, Version};
use crate::store::rights::owners;

/// What the current role may read.
#[derive(Debug)]
pub struct InstanceVisibility {
    /// Whether it may read every instance.
    pub all: bool,
    /// Ids of the owners whose rights it has.
    pub owners: Vec<i32>,
    /// Every version of every definition, with its owner.
    pub versions: Vec<Version>,
    readable: HashSet<Uuid>,
    built_in: HashSet<Uuid>,
}

impl InstanceVisibility {
    /// What the current role may read now.
    pub fn current() -> Self {
        let who = role::current();
        let all = role::is_superuser(who) || role::reads_all_data(who);
        let is_mine = |id: &i32| access::is_member(who, &owners::by_id(*id));
        let owners: Vec<i32> = owners::ids().into_iter().filter(is_mine).collect();
        let granted = definitions::holders(Privilege::Read.name()).into_iter();
        let granted: HashSet<String> =
            granted.filter(|(_, holder)| owners.contains(holder)).map(|(definition, _)| definition).collect();
        let versions = listed::versions();
        let may_read =
            |version: &&Version| all || owners.contains(&version.owner) || granted.contains(&version.definition);
        let readable = versions.iter().filter(may_read).map(|version| version.id).collect();
        let is_built_in = |version: &&Version| instance::is_built_in(&version.definition);
        let built_in = versions.iter().filter(is_built_in).map(|version| version.id).collect();
        Self { all, owners, versions, readable, built_in }
    }

    /// Whether it may read all instances of a version.
    pub fn may_read(&self, version: Uuid) -> bool {
        self.readable.contains(&version)
    }

    /// Whether it may see the outcome of an instance: it may read the instance, has requested it, or the instance works
    /// for it.
    pub fn may_see(&self, instance: &Listed) -> bool {
        self.all
            || self.may_read(instance.version)
            || self.owners.contains(&instance.owner)
                && (!instance.is_child || self.built_in.contains(&instance.version))
    }
}

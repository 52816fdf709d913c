//! Memberships of roles, not counting the implicit membership of superusers in every role.

use std::collections::HashSet;

use pgrx::FromDatum;
use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::role::has_rights_of;
use crate::pg::version::{AUTH_MEMBERS_INHERIT, AUTH_MEMBERS_ROLEID};

/// Whether a role is a superuser.
pub fn is_superuser(role: Oid) -> bool {
    // SAFETY: takes an oid, looks in the catalog; an unknown one is none.
    unsafe { pg_sys::superuser_arg(role) }
}

/// Whether `member` has the rights of `role` because it is that role or a member of it.
pub fn belongs_to(member: Oid, role: Oid) -> bool {
    if member == role || !is_superuser(member) {
        return has_rights_of(member, role);
    }
    // SAFETY: takes oids, looks in the catalog; unknown oids are members of nothing.
    unsafe { pg_sys::is_member_of_role_nosuper(member, role) }
}

/// Whether a role can grant another one, or is a superuser.
pub fn administers(who: Oid, role: Oid) -> bool {
    // SAFETY: takes oids, looks in the catalog.
    unsafe { pg_sys::is_admin_of_role(who, role) }
}

/// Whether superusers made `member` a member of `role`, directly or through other roles. A role can grant membership in
/// itself, or in roles that it created, without the consent of the member, so such grants do not count.
pub fn was_put_into(member: Oid, role: Oid) -> bool {
    belongs_to(member, role) && put_into(member).contains(&role)
}

/// The role itself, and the roles of which superusers made it an inheriting member. Memberships without inheritance do
/// not count: a role that creates another role becomes a member of it through the bootstrap superuser, and may then let
/// itself inherit.
pub fn put_into(member: Oid) -> HashSet<Oid> {
    closure(member, |role| groups_of(role, is_superuser))
}

/// The roles that a role [belongs to](belongs_to), itself among them.
pub fn groups(member: Oid) -> HashSet<Oid> {
    let mut groups = closure(member, |role| groups_of(role, |_| true));
    if database_owner().is_some_and(|owner| groups.contains(&owner)) {
        groups.insert(pg_sys::ROLE_PG_DATABASE_OWNER.into());
    }
    groups.retain(|group| belongs_to(member, *group));
    groups
}

/// The role itself, and its members, directly or through other roles, that can act as it: they inherit its rights or may
/// set it. From PostgreSQL 16 on, a membership may give nothing but the right to grant it.
pub fn members(group: Oid) -> HashSet<Oid> {
    closure(group, members_of)
}

/// A role, and all roles to which `next` leads from it.
fn closure<I: Iterator<Item = Oid>>(first: Oid, next: impl Fn(Oid) -> I) -> HashSet<Oid> {
    let (mut known, mut pending) = (HashSet::from([first]), vec![first]);
    while let Some(role) = pending.pop() {
        for found in next(role) {
            if known.insert(found) {
                pending.push(found);
            }
        }
    }
    known
}

/// The roles of which a role is a direct, inheriting member, by memberships whose grantors count.
fn groups_of(member: Oid, counts: impl Fn(Oid) -> bool) -> impl Iterator<Item = Oid> {
    let found = memberships(pg_sys::SysCacheIdentifier::AUTHMEMMEMROLE, member).into_iter();
    found.filter(move |membership| membership.inherits && counts(membership.grantor)).map(|membership| membership.group)
}

/// The direct members of a role that can act as it.
fn members_of(group: Oid) -> impl Iterator<Item = Oid> {
    let found = memberships(pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM, group).into_iter();
    found.filter(|membership| membership.inherits || membership.may_set).map(|membership| membership.member)
}

/// A direct membership.
struct Membership {
    group: Oid,
    member: Oid,
    grantor: Oid,
    /// Whether the member inherits the rights of the group. Before version 16 the attribute of the member says so.
    inherits: bool,
    /// Whether the member may set the role of the group.
    may_set: bool,
}

/// The direct memberships of a role, which is the first key of the cache.
fn memberships(cache: pg_sys::SysCacheIdentifier::Type, role: Oid) -> Vec<Membership> {
    let (cache, key) = (cache as i32, Datum::from(role));
    // SAFETY: a catalog look-up through the syscache, released after reading; the list has so many members. The columns
    // are roleid, member, grantor in every version, and set_option follows inherit_option.
    unsafe {
        let list = pg_sys::SearchSysCacheList(cache, 1, key, Datum::null(), Datum::null());
        let count = usize::try_from((*list).n_members).unwrap_or_default();
        let found = (*list).members.as_slice(count).iter().map(|&entry| {
            let tuple = &raw mut (*entry).tuple;
            let mut is_null = false;
            let mut value = |column| pg_sys::SysCacheGetAttr(cache, tuple, column, &mut is_null);
            let inherits = AUTH_MEMBERS_INHERIT.is_none_or(|column| value(column).value() != 0);
            let may_set = AUTH_MEMBERS_INHERIT.is_none_or(|column| value(column + 1).value() != 0);
            let mut oid = |column| Oid::from_datum(value(column), false).unwrap_or(Oid::INVALID);
            Membership {
                group: oid(AUTH_MEMBERS_ROLEID),
                member: oid(AUTH_MEMBERS_ROLEID + 1),
                grantor: oid(AUTH_MEMBERS_ROLEID + 2),
                inherits,
                may_set,
            }
        });
        let found = found.collect();
        pg_sys::ReleaseCatCacheList(list);
        found
    }
}

/// The owner of the current database, the only member of `pg_database_owner`.
pub fn database_owner() -> Option<Oid> {
    let key = Datum::from(crate::pg::process::database());
    // SAFETY: a catalog look-up through the syscache, released after reading.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::DATABASEOID as i32, key);
        if tuple.is_null() {
            return None;
        }
        let owner = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_database>()).datdba;
        pg_sys::ReleaseSysCache(tuple);
        Some(owner)
    }
}

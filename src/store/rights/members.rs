//! The people behind a role: who can act for it.

use pgrx::pg_sys::Oid;

use crate::pg::spi::{Arg, Statement, Type};
use crate::pg::{membership, role};

/// A role that can log in, and is a member of another one.
#[derive(Debug)]
pub struct Member {
    /// The member.
    pub oid: Oid,
    /// Its name.
    pub name: String,
}

static MEMBERS: Statement = Statement::new(
    "WITH RECURSIVE m (oid) AS (SELECT a.member FROM pg_auth_members a WHERE a.roleid = $1 \
                                UNION SELECT a.member FROM pg_auth_members a JOIN m ON a.roleid = m.oid) \
     SELECT r.oid, r.rolname::text FROM m JOIN pg_roles r ON r.oid = m.oid WHERE r.rolcanlogin ORDER BY r.rolname",
    &[Type::Oid],
);

/// The members of a role that can log in and have its rights, directly or through other roles, by name.
pub fn of(group: Oid) -> Vec<Member> {
    let members = MEMBERS.rows(&[Arg::Oid(group)], |row| Member { oid: row.get(), name: row.get() });
    members.into_iter().filter(|member| role::has_rights_of(member.oid, group)).collect()
}

/// The roles that can log in and act as a role, in the order of their oids: itself and its members, also those that do
/// not inherit its rights.
pub fn logins_of(group: Oid) -> Vec<Oid> {
    let mut logins: Vec<Oid> = membership::members(group).into_iter().filter(|role| role::can_log_in(*role)).collect();
    logins.sort_unstable_by_key(|role| role.to_u32());
    logins
}

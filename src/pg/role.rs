//! Whose rights are in force.

use std::ffi::CStr;

use pgrx::pg_sys;
use pgrx::pg_sys::Oid;

use crate::pg::error::{PgError, catch, unwind};
use crate::pg::{catalog, raw};

/// The role whose rights are in force.
pub fn current() -> Oid {
    // SAFETY: reads the backend's state.
    unsafe { raw::GetUserId() }
}

/// Whether `member` has the rights of `role`. A superuser has everybody's.
pub fn has_rights_of(member: Oid, role: Oid) -> bool {
    // SAFETY: takes oids, looks in the catalog; unknown oids have and give nothing.
    unsafe { pg_sys::has_privs_of_role(member, role) }
}

/// Whether a role has the rights of `pg_read_all_data`.
pub fn reads_all_data(who: Oid) -> bool {
    has_rights_of(who, pg_sys::ROLE_PG_READ_ALL_DATA.into())
}

/// The name of a role, if it exists.
pub fn name(role: Oid) -> Option<String> {
    // SAFETY: gives a palloc'd string or null.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// The rights of the extension's owner, in force until they are given back.
pub struct OwnerRights {
    user: Oid,
    context: i32,
}

impl OwnerRights {
    /// Takes the rights. An error gives them back by the (sub)transaction's end.
    ///
    /// What is written is a row of ours, and a deferred trigger or foreign key on our tables belongs to a superuser: the
    /// restriction under which SQL of a definer runs is not for them. It keeps that SQL from leaving code of its own to
    /// whoever commits; with it, a call from there could not write a row that such a trigger watches.
    pub fn take() -> Self {
        let restricted = pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
        switch(catalog::extension_owner(), pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32, restricted)
    }

    /// Goes back to the caller's rights.
    pub fn give_back(self) {
        // SAFETY: what `switch` read.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

/// The rights of a role for its own code, in force until they are given back: under
/// SECURITY_RESTRICTED_OPERATION, so that no deferred trigger, temporary object or SET ROLE carries them out of
/// here, with settings of its own, and with `pg_catalog, pg_temp` as its search path. As PostgreSQL's maintenance
/// commands run index functions.
pub struct RestrictedRights {
    before: OwnerRights,
    level: std::ffi::c_int,
}

impl RestrictedRights {
    /// Runs `body` with them. They are given back however it ends: nothing that comes between an error and the end of
    /// its (sub)transaction has them.
    pub fn during<R>(role: Oid, search_path: &CStr, body: impl FnOnce() -> R) -> R {
        let rights = Self::take(role, search_path);
        let outcome = catch(body);
        rights.give_back();
        outcome.unwrap_or_else(|error| unwind(error))
    }

    fn take(role: Oid, search_path: &CStr) -> Self {
        let flags = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION;
        // SAFETY: opens a level of settings that `give_back` closes, or the (sub)transaction's end.
        let level = unsafe { pg_sys::NewGUCNestLevel() };
        crate::pg::version::set_search_path(search_path);
        Self { before: switch(role, flags as i32, 0), level }
    }

    /// Goes back to the caller's rights and settings.
    fn give_back(self) {
        // SAFETY: the level that `take` opened; what was set in it is undone. It takes back levels further in that an
        // error left open, as the end of a subtransaction does.
        unsafe { pg_sys::AtEOXact_GUC(false, self.level) };
        self.before.give_back();
    }
}

/// Runs `body` under another search path, as a function with a SET clause: other settings that it makes stay.
pub fn with_search_path<R>(search_path: &CStr, body: impl FnOnce() -> R) -> R {
    // SAFETY: opens a level of settings, closed below or by the (sub)transaction's end.
    let level = unsafe { pg_sys::NewGUCNestLevel() };
    crate::pg::version::set_search_path(search_path);
    let outcome = catch(body);
    // SAFETY: as above; an error takes back all that was set.
    unsafe { pg_sys::AtEOXact_GUC(outcome.is_ok(), level) };
    outcome.unwrap_or_else(|error| unwind(error))
}

fn switch(role: Oid, flags: i32, without: i32) -> OwnerRights {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: reads and sets the backend's current user.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(role, context & !without | flags);
    }
    OwnerRights { user, context }
}

/// Whether a role may become another one with SET ROLE. A superuser may become any.
pub fn may_become(member: Oid, role: Oid) -> bool {
    crate::pg::version::may_set_role(member, role)
}

/// Whether a role is a superuser.
pub fn is_superuser(role: Oid) -> bool {
    // SAFETY: takes an oid, looks in the catalog.
    unsafe { pg_sys::superuser_arg(role) }
}

/// The role of this name, which must exist (42704).
pub fn required(name: &str) -> Result<Oid, PgError> {
    by_name(name).ok_or_else(|| PgError::new("42704", format!("role \"{name}\" does not exist")))
}

/// The role of this name.
pub fn by_name(name: &str) -> Option<Oid> {
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: takes a C string, looks in the catalog.
    let oid = unsafe { pg_sys::get_role_oid(name.as_ptr(), true) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Whether a role may have a session in this database.
pub fn can_connect(role: Oid) -> bool {
    // SAFETY: a catalog look-up through the syscache, released after reading; then a check of rights by oid.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::AUTHOID as i32, pg_sys::Datum::from(role));
        if tuple.is_null() {
            return false;
        }
        let can_login = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_authid>()).rolcanlogin;
        pg_sys::ReleaseSysCache(tuple);
        can_login && crate::pg::version::may_connect(pg_sys::MyDatabaseId, role)
    }
}

/// Refuses who is not a superuser (42501).
pub fn require_superuser(what: &str) -> Result<(), PgError> {
    // SAFETY: looks at the current user.
    if unsafe { pg_sys::superuser() } {
        return Ok(());
    }
    Err(PgError::new("42501", format!("permission denied to {what}")).detail("Only superusers may do that."))
}

/// Whether the current role may drop the extension.
pub fn owns_extension() -> bool {
    // SAFETY: takes a C string, looks in the catalog; then a check of rights by oid.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"workflow".as_ptr(), true);
        schema != pg_sys::InvalidOid && has_rights_of(current(), catalog::extension_owner())
    }
}

/// Whether the current role may drop, rename or copy a database.
pub fn owns_database(database: Oid) -> bool {
    crate::pg::version::owns_database(database, current())
}

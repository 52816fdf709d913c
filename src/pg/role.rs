//! Roles, and the role whose rights apply.

use std::ffi::CStr;

use pgrx::pg_sys;
use pgrx::pg_sys::Oid;

use crate::pg::error::{PgError, catch, throw};
use crate::pg::{catalog, process, raw};

/// The role whose rights apply.
pub fn current() -> Oid {
    // SAFETY: reads the backend's state.
    unsafe { raw::GetUserId() }
}

/// Whether `member` has the rights of `role`. A superuser has the rights of every role.
pub fn has_rights_of(member: Oid, role: Oid) -> bool {
    // SAFETY: takes oids, looks in the catalog; unknown oids have and give nothing.
    unsafe { pg_sys::has_privs_of_role(member, role) }
}

/// Whether a role has the rights of `pg_read_all_data`.
pub fn reads_all_data(who: Oid) -> bool {
    has_rights_of(who, pg_sys::ROLE_PG_READ_ALL_DATA.into())
}

/// Whether a role has the rights of `pg_monitor`.
pub fn monitors(who: Oid) -> bool {
    has_rights_of(who, pg_sys::ROLE_PG_MONITOR.into())
}

/// The name of a role, if it exists.
pub fn name(role: Oid) -> Option<String> {
    // SAFETY: gives a palloc'd string or null.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// Whether a role exists.
pub fn exists(role: Oid) -> bool {
    let (cache, null) = (pg_sys::SysCacheIdentifier::AUTHOID as i32, pg_sys::Datum::null());
    // SAFETY: looks in the catalog for an oid.
    unsafe { pg_sys::SearchSysCacheExists(cache, role.into(), null, null, null) }
}

/// The rights of the extension's owner, which apply until `give_back`.
pub struct OwnerRights {
    user: Oid,
    context: i32,
}

impl OwnerRights {
    /// Switches to these rights. After an error the end of the (sub)transaction restores the caller's.
    ///
    /// Lifts SECURITY_RESTRICTED_OPERATION, under which a definer's SQL runs. That restriction keeps the SQL from
    /// queuing deferred triggers with its own code, which the committing session would run. Here we write only our own
    /// rows, and only a superuser can put a deferred trigger or foreign key on our tables. Under the restriction, calls
    /// from a definer's SQL could not write rows of a table with such a trigger.
    pub fn take() -> Self {
        let restricted = pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
        switch(catalog::extension_owner(), pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32, restricted)
    }

    /// Restores the caller's rights.
    pub fn give_back(self) {
        // SAFETY: what `switch` read.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

/// The rights of a role for running that role's code, until `give_back`. As when PostgreSQL's maintenance commands run
/// index functions, SECURITY_RESTRICTED_OPERATION applies, so that no deferred trigger, temporary object or SET ROLE
/// uses the rights later; settings have a nesting level of their own, with the search path that the caller gives.
pub struct RestrictedRights {
    before: OwnerRights,
    level: std::ffi::c_int,
    /// The session user before, and whether it is a superuser, if the session user was changed to the role.
    session: Option<(Oid, bool)>,
}

impl RestrictedRights {
    /// Runs `body` with these rights. Restores the caller's even after an error, so that no code between the error and
    /// the end of its (sub)transaction has them.
    pub fn during<R>(role: Oid, search_path: &CStr, body: impl FnOnce() -> R) -> R {
        let rights = Self::take(role, search_path);
        let outcome = catch(body);
        rights.give_back();
        outcome.unwrap_or_else(|error| throw(error))
    }

    fn take(role: Oid, search_path: &CStr) -> Self {
        let flags = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION;
        // SAFETY: opens a level of settings that `give_back` closes, or the (sub)transaction's end.
        let level = unsafe { pg_sys::NewGUCNestLevel() };
        crate::pg::version::set_search_path(search_path);
        let before = switch(role, flags as i32, 0);
        // The engine's own session belongs to the bootstrap superuser, and SQL of another role may have made this call.
        // A policy or function that checks `session_user` must see the role whose SQL it is, in nested calls as well.
        let session = process::is_engine().then(|| {
            // SAFETY: reads the backend's state.
            let user = unsafe { raw::GetSessionUserId() };
            let known = (user, is_superuser(user));
            set_session_user(role, is_superuser(role));
            switch(role, flags as i32, 0);
            known
        });
        Self { before, level, session }
    }

    /// Restores the caller's rights and settings.
    fn give_back(self) {
        // SAFETY: closes the level that `take` opened and undoes its settings. It also closes inner levels that an
        // error left open, as the end of a subtransaction does.
        unsafe { pg_sys::AtEOXact_GUC(false, self.level) };
        if let Some((user, is_superuser)) = self.session {
            set_session_user(user, is_superuser);
        }
        self.before.give_back();
    }
}

/// Changes the session user of the engine's own session, which also makes it the current user.
fn set_session_user(user: Oid, is_superuser: bool) {
    // SAFETY: sets the backend's state. PostgreSQL changes the session user outside of all security contexts only; the
    // caller sets the current user and its context afterwards.
    unsafe {
        pg_sys::SetUserIdAndSecContext(user, 0);
        raw::SetSessionAuthorization(user, is_superuser);
    }
}

/// Whether SQL runs as a security-restricted operation, as that of [`RestrictedRights`] does. That of a row trigger on
/// our tables does not.
pub fn is_restricted() -> bool {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: reads the backend's state.
    unsafe { pg_sys::GetUserIdAndSecContext(&mut user, &mut context) };
    context & pg_sys::SECURITY_RESTRICTED_OPERATION as i32 != 0
}

/// Runs `body` under another search path, like a function with a SET clause. Other settings that it changes are kept.
pub fn with_search_path<R>(search_path: &CStr, body: impl FnOnce() -> R) -> R {
    // SAFETY: opens a level of settings, closed below or by the (sub)transaction's end.
    let level = unsafe { pg_sys::NewGUCNestLevel() };
    crate::pg::version::set_search_path(search_path);
    let outcome = catch(body);
    // SAFETY: as above; an error undoes all settings.
    unsafe { pg_sys::AtEOXact_GUC(outcome.is_ok(), level) };
    outcome.unwrap_or_else(|error| throw(error))
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

/// The role with this name, which must exist (42704).
pub fn required(name: &str) -> Result<Oid, PgError> {
    by_name(name).ok_or_else(|| PgError::new("42704", format!("role \"{name}\" does not exist")))
}

/// OID of the role that currently has this name, if any.
pub fn by_name(name: &str) -> Option<Oid> {
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: takes a C string, looks in the catalog.
    let oid = unsafe { pg_sys::get_role_oid(name.as_ptr(), true) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Whether a role may connect to this database.
pub fn can_connect(role: Oid) -> bool {
    // SAFETY: a check of rights by oid.
    can_log_in(role) && unsafe { crate::pg::version::may_connect(pg_sys::MyDatabaseId, role) }
}

/// Whether a role has LOGIN.
pub fn can_log_in(role: Oid) -> bool {
    // SAFETY: a catalog look-up through the syscache, released after reading.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::AUTHOID as i32, pg_sys::Datum::from(role));
        if tuple.is_null() {
            return false;
        }
        let can_login = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_authid>()).rolcanlogin;
        pg_sys::ReleaseSysCache(tuple);
        can_login
    }
}

/// Raises an error unless the current role is a superuser (42501).
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

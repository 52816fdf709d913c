//! Whose rights are in force.

use std::ffi::CStr;

use pgrx::pg_sys;
use pgrx::pg_sys::Oid;

use crate::pg::error::{PgError, unwind};

/// The role whose rights are in force.
pub fn current() -> Oid {
    // SAFETY: reads the backend's state.
    unsafe { pg_sys::GetUserId() }
}

/// Whether `member` has the rights of `role`. A superuser has everybody's.
pub fn has_rights_of(member: Oid, role: Oid) -> bool {
    // SAFETY: takes oids, looks in the catalog; unknown oids have and give nothing.
    unsafe { pg_sys::has_privs_of_role(member, role) }
}

/// Whether a role is a superuser.
pub fn is_superuser(role: Oid) -> bool {
    // SAFETY: takes an oid, looks in the catalog.
    unsafe { pg_sys::superuser_arg(role) }
}

/// The name of a role, if it exists.
pub fn name(role: Oid) -> Option<String> {
    // SAFETY: gives a palloc'd string or null.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// The owner of the extension: the owner of its schema.
fn extension_owner() -> Oid {
    // SAFETY: catalog look-ups through the syscache.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"workflow".as_ptr(), true);
        if schema == pg_sys::InvalidOid {
            unwind(
                PgError::new("55000", "extension \"workflow\" is not installed in this database")
                    .hint("Run CREATE EXTENSION workflow."),
            );
        }
        let tuple =
            pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::NAMESPACEOID as i32, pg_sys::Datum::from(schema));
        if tuple.is_null() {
            unwind(PgError::new("XX000", "schema \"workflow\" vanished"));
        }
        let form = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_namespace>();
        let owner = (*form).nspowner;
        pg_sys::ReleaseSysCache(tuple);
        owner
    }
}

/// The rights of the extension's owner, in force until they are given back.
pub struct OwnerRights {
    user: Oid,
    context: i32,
}

impl OwnerRights {
    /// Takes the rights. An error gives them back by the (sub)transaction's end.
    pub fn take() -> Self {
        switch(extension_owner(), pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32)
    }

    /// Takes the rights of `role` under SECURITY_RESTRICTED_OPERATION: no deferred triggers, temporary
    /// objects or SET ROLE can carry them out of here.
    pub fn restricted(role: Oid) -> Self {
        switch(role, (pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION) as i32)
    }

    /// Goes back to the caller's rights.
    pub fn give_back(self) {
        // SAFETY: what `switch` read.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

fn switch(role: Oid, flags: i32) -> OwnerRights {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: reads and sets the backend's current user.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(role, context | flags);
    }
    OwnerRights { user, context }
}

/// The role of this name.
pub fn by_name(name: &str) -> Option<Oid> {
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: takes a C string, looks in the catalog.
    let oid = unsafe { pg_sys::get_role_oid(name.as_ptr(), true) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

//! Differences between server versions, each behind one function.

use pgrx::pg_sys;

#[cfg(not(feature = "pg16"))]
use crate::pg::state::BACKEND;

mod update;

pub use update::{Entries, insert_index_entries, recheck, say_updated, update_row};

/// A search path of our own, active while the guard lives.
///
/// PostgreSQL revalidates a cached plan against the search path. Under a fixed path of our own, our statements are not
/// replanned when a caller changes theirs.
pub struct OwnSearchPath {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    pushed: (),
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    level: std::ffi::c_int,
}

#[cfg(any(feature = "pg15", feature = "pg16"))]
impl OwnSearchPath {
    /// Pushes `pg_catalog` alone.
    pub fn push() -> Self {
        // The list of schemas is empty: pg_catalog is searched implicitly, and the temporary schema is not
        // searched at all unless it is named.
        let mut path = pg_sys::OverrideSearchPath {
            schemas: std::ptr::null_mut(),
            addCatalog: true,
            addTemp: false,
            generation: 0,
        };
        // SAFETY: PushOverrideSearchPath copies the path.
        unsafe { pg_sys::PushOverrideSearchPath(&mut path) };
        Self { pushed: () }
    }

    /// Pops it. After an error the end of the (sub)transaction pops it.
    pub fn pop(self) {
        let () = self.pushed;
        // SAFETY: pushed by `push`, popped once.
        unsafe { pg_sys::PopOverrideSearchPath() };
    }
}

/// Sets the search path at the current level of settings.
pub fn set_search_path(path: &std::ffi::CStr) {
    set_at_level(c"search_path", path);
}

/// What this process has looked up in PostgreSQL.
pub(super) struct Found {
    /// The last setting that was found: they are not sorted by name, and an entry never moves.
    #[cfg(feature = "pg15")]
    setting: std::cell::Cell<*const pg_sys::config_generic>,
    /// The number of our wait event; 0: not asked yet.
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    wait_event: std::cell::Cell<u32>,
}

impl Found {
    pub(super) const fn nothing() -> Self {
        Self {
            #[cfg(feature = "pg15")]
            setting: std::cell::Cell::new(std::ptr::null()),
            #[cfg(not(any(feature = "pg15", feature = "pg16")))]
            wait_event: std::cell::Cell::new(0),
        }
    }
}

/// The entry of a setting in PostgreSQL's table of settings.
#[cfg(feature = "pg15")]
pub fn setting(name: &std::ffi::CStr) -> Option<*const pg_sys::config_generic> {
    let found = &BACKEND.version.setting;
    let is_it = |setting: &*const pg_sys::config_generic| {
        // SAFETY: the record of a setting, with its name.
        unsafe { !setting.is_null() && std::ffi::CStr::from_ptr((**setting).name) == name }
    };
    if !is_it(&found.get()) {
        // SAFETY: the backend's array of settings, and its length.
        let all =
            unsafe { std::slice::from_raw_parts(pg_sys::get_guc_variables(), pg_sys::GetNumConfigOptions() as usize) };
        found.set(all.iter().map(|setting| setting.cast_const()).find(is_it)?);
    }
    Some(found.get())
}

/// The entry of a setting in PostgreSQL's table of settings.
#[cfg(not(feature = "pg15"))]
pub fn setting(name: &std::ffi::CStr) -> Option<*const pg_sys::config_generic> {
    // SAFETY: takes a C string; makes no record, and raises no error.
    let found = unsafe { pg_sys::find_option(name.as_ptr(), false, true, 0) };
    (!found.is_null()).then(|| found.cast_const())
}

/// Sets a setting at the current level of settings.
pub fn set_at_level(name: &std::ffi::CStr, value: &std::ffi::CStr) {
    // SAFETY: takes C strings and plain values.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
}

#[cfg(not(any(feature = "pg15", feature = "pg16")))]
impl OwnSearchPath {
    /// Sets `pg_catalog, pg_temp` at a GUC nesting level of its own.
    pub fn push() -> Self {
        // SAFETY: the level is given back in `pop`, or at the transaction's end.
        let level = unsafe { pg_sys::NewGUCNestLevel() };
        set_search_path(c"pg_catalog, pg_temp");
        Self { level }
    }

    /// Restores the caller's path.
    pub fn pop(self) {
        // SAFETY: the level that `push` opened.
        unsafe { pg_sys::AtEOXact_GUC(true, self.level) };
    }
}

#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
pub use pg_sys::pqsignal;
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
pub use pg_sys::pqsignal_be as pqsignal;

/// Ends this process.
pub fn exit(code: std::ffi::c_int) -> ! {
    // SAFETY: runs the exit callbacks and does not return.
    unsafe {
        pg_sys::proc_exit(code);
        // Bindgen misses that proc_exit does not return in the headers of PostgreSQL 18.
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        unreachable!("proc_exit does not return")
    }
}

/// The attributes of a tuple descriptor.
///
/// # Safety
/// A descriptor that stays as it is for as long as the columns are looked at.
pub unsafe fn attributes<'a>(descriptor: pg_sys::TupleDesc) -> &'a [pg_sys::FormData_pg_attribute] {
    // SAFETY: as many as it says.
    unsafe {
        let count = (*descriptor).natts as usize;
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        {
            (*descriptor).attrs.as_slice(count)
        }
        // They follow the array of compact attributes.
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        {
            std::slice::from_raw_parts((*descriptor).compact_attrs.as_ptr().add(count).cast(), count)
        }
    }
}

/// The index of a table's primary key, unless that is deferrable.
///
/// # Safety
/// An open table.
pub unsafe fn primary_key(table: pg_sys::Relation) -> pg_sys::Oid {
    // SAFETY: as promised.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        {
            pg_sys::RelationGetPrimaryKeyIndex(table)
        }
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        {
            pg_sys::RelationGetPrimaryKeyIndex(table, false)
        }
    }
}

/// Runs a portal to its end, at top level.
///
/// # Safety
/// A started portal.
pub unsafe fn run_portal(
    portal: pg_sys::Portal,
    receiver: *mut pg_sys::DestReceiver,
    completion: &mut pg_sys::QueryCompletion,
) {
    let all = std::ffi::c_long::MAX;
    // SAFETY: as promised.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        pg_sys::PortalRun(portal, all, true, true, receiver, receiver, completion);
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
        pg_sys::PortalRun(portal, all, true, receiver, receiver, completion);
    }
}

/// PostgreSQL's number for the timer of `statement_timeout`.
pub const STATEMENT_TIMEOUT: std::ffi::c_int = 3;

/// PostgreSQL's number for the first timer of an extension.
#[cfg(any(feature = "pg15", feature = "pg16"))]
pub const USER_TIMEOUT: std::ffi::c_int = 12;
/// PostgreSQL's number for the first timer of an extension.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
pub const USER_TIMEOUT: std::ffi::c_int = 13;

/// Whether a role has CONNECT on a database.
pub fn may_connect(database: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    unsafe extern "C-unwind" {
        #[cfg(feature = "pg15")]
        fn pg_database_aclcheck(
            database: pg_sys::Oid,
            role: pg_sys::Oid,
            mode: pg_sys::AclMode,
        ) -> pg_sys::AclResult::Type;
        #[cfg(not(feature = "pg15"))]
        fn object_aclcheck(
            class: pg_sys::Oid,
            object: pg_sys::Oid,
            role: pg_sys::Oid,
            mode: pg_sys::AclMode,
        ) -> pg_sys::AclResult::Type;
    }
    let mode = pg_sys::AclMode::from(pg_sys::ACL_CONNECT);
    // SAFETY: takes oids that exist, looks in the catalog.
    #[cfg(feature = "pg15")]
    let result = unsafe { pg_database_aclcheck(database, role, mode) };
    // SAFETY: as above.
    #[cfg(not(feature = "pg15"))]
    let result = unsafe { object_aclcheck(pg_sys::DatabaseRelationId, database, role, mode) };
    result == pg_sys::AclResult::ACLCHECK_OK
}

/// Whether a role has the rights of a database's owner.
pub fn owns_database(database: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    unsafe extern "C-unwind" {
        #[cfg(feature = "pg15")]
        fn pg_database_ownercheck(database: pg_sys::Oid, role: pg_sys::Oid) -> bool;
        #[cfg(not(feature = "pg15"))]
        fn object_ownercheck(class: pg_sys::Oid, object: pg_sys::Oid, role: pg_sys::Oid) -> bool;
    }
    // SAFETY: takes oids that exist, looks in the catalog.
    #[cfg(feature = "pg15")]
    let owns = unsafe { pg_database_ownercheck(database, role) };
    // SAFETY: as above.
    #[cfg(not(feature = "pg15"))]
    let owns = unsafe { object_ownercheck(pg_sys::DatabaseRelationId, database, role) };
    owns
}

/// The number of the column `roleid` of `pg_auth_members`; those of the member and of the grantor follow.
#[cfg(feature = "pg15")]
pub const AUTH_MEMBERS_ROLEID: i16 = 1;
/// The number of the column `roleid` of `pg_auth_members`, which has an oid since version 16.
#[cfg(not(feature = "pg15"))]
pub const AUTH_MEMBERS_ROLEID: i16 = 2;

/// The number of the column of `pg_auth_members` that says whether the member inherits. Before version 16 that is the
/// member's own attribute.
#[cfg(feature = "pg15")]
pub const AUTH_MEMBERS_INHERIT: Option<i16> = None;
/// The number of the column of `pg_auth_members` that says whether the member inherits.
#[cfg(not(feature = "pg15"))]
pub const AUTH_MEMBERS_INHERIT: Option<i16> = Some(6);

/// The parts of a qualified name, as PostgreSQL's parser splits it.
///
/// # Safety
/// An error of PostgreSQL leaves this frame, which owns nothing.
pub unsafe fn qualified_name(name: &std::ffi::CStr) -> *mut pg_sys::List {
    // SAFETY: takes a C string; the list is the memory context's to free.
    unsafe {
        #[cfg(feature = "pg15")]
        {
            pg_sys::stringToQualifiedNameList(name.as_ptr())
        }
        #[cfg(not(feature = "pg15"))]
        {
            pg_sys::stringToQualifiedNameList(name.as_ptr(), std::ptr::null_mut())
        }
    }
}

/// Whether a role may become another one with SET ROLE.
pub fn may_set_role(member: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    // SAFETY: takes oids, looks in the catalog.
    unsafe {
        #[cfg(feature = "pg15")]
        {
            pg_sys::is_member_of_role(member, role)
        }
        #[cfg(not(feature = "pg15"))]
        {
            pg_sys::member_can_set_role(member, role)
        }
    }
}

/// The name in `pg_stat_activity.wait_event` of a session that waits for tasks.
pub fn wait_event() -> u32 {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    {
        pg_sys::PG_WAIT_EXTENSION
    }
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    {
        let event = &BACKEND.version.wait_event;
        if event.get() == 0 {
            // SAFETY: takes a C string; gives the number that the cluster has for it.
            event.set(unsafe { pg_sys::WaitEventExtensionNew(c"WorkflowWaitTasks".as_ptr()) });
        }
        event.get()
    }
}

//! The session of a background worker around a fire: timeouts before, a reset after, and short lock waits.

use std::ffi::{CStr, CString, c_int};

use pgrx::pg_sys;

use crate::pg::entry::keeping;
use crate::pg::error::{self, PgError, log};
use crate::pg::state::BACKEND;
use crate::pg::{raw, version};

/// When the client's statement began, in microseconds. Nested calls inside it see the same time.
pub fn statement_start() -> i64 {
    // SAFETY: reads the backend's state.
    unsafe { pg_sys::GetCurrentStatementStartTimestamp() }
}

/// Whether the transaction is above READ COMMITTED, so that it does not see later commits of others.
pub fn sees_old_rows() -> bool {
    // SAFETY: reads the transaction's state.
    let level = unsafe { pg_sys::XactIsoLevel };
    level >= pg_sys::XACT_REPEATABLE_READ as c_int
}

/// Rejects a transaction above READ COMMITTED, which does not see later commits of others (25001).
pub fn require_read_committed(what: &str) -> Result<(), PgError> {
    if !sees_old_rows() {
        return Ok(());
    }
    Err(PgError::new("25001", format!("cannot {what} in a REPEATABLE READ or SERIALIZABLE transaction"))
        .detail("The transaction does not see what other sessions have committed since it began.")
        .hint("Use READ COMMITTED."))
}

/// Rejects a call on a standby (25006). `what` is named in the error.
pub fn refuse_in_recovery(what: &'static CStr) {
    // SAFETY: takes a C string, and raises.
    unsafe { pg_sys::PreventCommandDuringRecovery(what.as_ptr()) };
}

/// The session's login role, regardless of SET ROLE.
pub fn login() -> pg_sys::Oid {
    // SAFETY: reads the backend's state.
    unsafe { raw::GetSessionUserId() }
}

/// The value of a setting that every role may read, with its unit.
pub fn setting(name: &CStr) -> String {
    // SAFETY: takes a C string; gives a palloc'd string or null, and null only if it may be missing.
    unsafe {
        let value = pg_sys::GetConfigOptionByName(name.as_ptr(), std::ptr::null_mut(), true);
        if value.is_null() { String::new() } else { CStr::from_ptr(value).to_string_lossy().into_owned() }
    }
}

/// The schemas that `search_path` names, whether they exist or not.
pub fn search_path_names() -> Vec<String> {
    // SAFETY: the value of a setting, copied before anything can change it.
    let path = unsafe {
        let path = pg_sys::namespace_search_path;
        if path.is_null() {
            return Vec::new();
        }
        CStr::from_ptr(path).to_string_lossy().into_owned()
    };
    split_names(&path)
}

/// Splits a list of names in the format of `search_path`.
pub fn split_names(list: &str) -> Vec<String> {
    let Ok(list) = CString::new(list) else { return Vec::new() };
    // SAFETY: a copy, because it is cut into pieces; the names are C strings in it.
    unsafe {
        let mut names: *mut pg_sys::List = std::ptr::null_mut();
        if !pg_sys::SplitIdentifierString(pg_sys::pstrdup(list.as_ptr()), b',' as _, &mut names) || names.is_null() {
            return Vec::new();
        }
        let cells = std::slice::from_raw_parts((*names).elements, (*names).length as usize);
        cells.iter().map(|cell| CStr::from_ptr(cell.ptr_value.cast()).to_string_lossy().into_owned()).collect()
    }
}

/// A name quoted for SQL.
pub fn quoted(name: &str) -> String {
    let Ok(text) = CString::new(name) else { return String::new() };
    // SAFETY: takes a C string; gives it back, or a palloc'd one.
    unsafe { CStr::from_ptr(pg_sys::quote_identifier(text.as_ptr())).to_string_lossy().into_owned() }
}

/// A text as an SQL literal, for statements that a HINT proposes.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `statement_timeout` of the session, armed while this lives.
pub struct StatementTimeout;

impl StatementTimeout {
    /// Arms it, if the session has one.
    pub fn arm() -> Self {
        // SAFETY: reads a setting; arms PostgreSQL's own timer in a process that has initialised it.
        unsafe {
            if pg_sys::StatementTimeout > 0 {
                raw::enable_timeout_after(version::STATEMENT_TIMEOUT, pg_sys::StatementTimeout);
            }
        }
        Self
    }
}

impl Drop for StatementTimeout {
    fn drop(&mut self) {
        // SAFETY: disarms it; nothing happens if it is not armed.
        unsafe { raw::disable_timeout(version::STATEMENT_TIMEOUT, false) };
    }
}

/// Rejects a call in a parallel operation (25000): a user's function that calls us was wrongly declared PARALLEL SAFE.
pub fn refuse_parallel() {
    // SAFETY: takes a C string, and raises or returns.
    unsafe { pg_sys::PreventCommandIfParallelMode(c"a workflow call".as_ptr()) };
}

/// While this lives, a statement that waits too long for a lock fails with 55P03.
pub struct ShortWaits {
    level: c_int,
}

impl ShortWaits {
    /// Begins, with at most 20 ms. After an error the end of the (sub)transaction ends it.
    pub fn begin() -> Self {
        Self::of(c"20ms")
    }

    /// The same with a time as in `lock_timeout`.
    pub fn of(longest: &CStr) -> Self {
        // SAFETY: opens a level of settings that `end` or the (sub)transaction's end closes.
        let level = unsafe { pg_sys::NewGUCNestLevel() };
        version::set_at_level(c"lock_timeout", longest);
        Self { level }
    }

    /// Restores the previous `lock_timeout`.
    pub fn end(self) {
        // SAFETY: the level that `begin` opened; what was set in it is undone.
        unsafe { pg_sys::AtEOXact_GUC(false, self.level) };
    }
}

/// Records that users' SQL runs in this session.
pub fn record_user_sql() {
    BACKEND.user_sql_ran.set(true);
}

/// Resets the session if users' SQL has run in it since the last reset.
pub fn reset_after_user_sql() {
    if BACKEND.user_sql_ran.replace(false) {
        reset();
    }
}

/// Sets the role of a worker that has just connected: a `role` setting of the database or of the role may have changed
/// it.
pub fn attach() {
    super::process::transaction(|| {
        // SAFETY: in a transaction.
        unsafe { be_as_connected() };
        Ok(())
    })
    .unwrap_or_else(|error| error::fatal(error));
}

/// Restores the role as which this worker connected.
unsafe fn be_as_connected() {
    // SAFETY: in a transaction of a worker. The engine's own session has no role of its own to go back to.
    unsafe {
        if super::process::is_engine() {
            raw::SetSessionAuthorization(pg_sys::Oid::from(pg_sys::BOOTSTRAP_SUPERUSERID), true);
        }
        set(c"role", Some(c"none"));
    }
}

/// Undoes what users' SQL did to the session: DISCARD ALL, except for cached plans, which are ours.
pub fn reset() {
    let outcome = keeping(|| {
        // SAFETY: the steps of DISCARD ALL, in a transaction of their own, which the temporary tables need.
        unsafe {
            pg_sys::StartTransactionCommand();
            raw::PortalHashTableDeleteAll();
            set(c"session_authorization", None);
            pg_sys::ResetAllOptions();
            raw::DropAllPreparedStatements();
            raw::Async_UnlistenAll();
            pg_sys::LockReleaseAll(pg_sys::USER_LOCKMETHOD as _, true);
            raw::ResetTempTableNamespace();
            raw::ResetSequenceCaches();
            be_as_connected();
            pg_sys::CommitTransactionCommand();
        }
        super::process::set_application_name(c"workflow executor");
        Ok(())
    });
    if let Err(PgError { message, .. }) = outcome {
        // SAFETY: right after the error. A session that cannot be reset must not serve the next fire.
        unsafe { pg_sys::AbortCurrentTransaction() };
        log(&format!("workflow executor exits because its session could not be reset: {message}"));
        super::process::exit();
    }
}

unsafe fn set(name: &std::ffi::CStr, value: Option<&std::ffi::CStr>) {
    let value = value.map_or(std::ptr::null(), std::ffi::CStr::as_ptr);
    let (context, source) = (pg_sys::GucContext::PGC_USERSET, pg_sys::GucSource::PGC_S_SESSION);
    // SAFETY: takes C strings.
    unsafe { pg_sys::SetConfigOption(name.as_ptr(), value, context, source) };
}

//! Errors with all of PostgreSQL's fields.
//!
//! pgrx keeps the SQLSTATE, message, detail and hint of an error that passes through Rust, and only the SQLSTATEs that
//! it knows. A user's own SQLSTATE, the constraint's name and the context would be lost. Therefore
//! [`entry`](crate::pg::entry) copies each error while PostgreSQL raises it. The code that catches the panic takes that
//! copy, and the boundary raises it unchanged.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use pgrx::pg_sys;
use pgrx::pg_sys::elog::PgLogLevel;
use pgrx::pg_sys::panic::{CaughtError, ErrorReport, ErrorReportWithLevel};

use workflow_engine::fault::is_never_a_fault;

use crate::pg::raw;
use crate::pg::state::CALL;

/// An error as PostgreSQL reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgError {
    /// SQLSTATE, five characters.
    pub sqlstate: String,
    /// What is wrong, as PostgreSQL's primary message: one line, no full stop.
    pub message: String,
    /// DETAIL: the facts, in sentences. `None`: the error has none.
    pub detail: Option<String>,
    /// HINT: what to do, in sentences. `None`: the error has none.
    pub hint: Option<String>,
    /// Context: PostgreSQL's CONTEXT lines, innermost first.
    pub context: Option<String>,
    /// Schema, table, column, data type and constraint that the error names.
    pub objects: [Option<String>; 5],
}

impl PgError {
    /// Makes an error of our own.
    pub fn new(sqlstate: &str, message: impl Into<String>) -> Self {
        Self { sqlstate: sqlstate.into(), message: message.into(), ..Self::default() }
    }

    /// The same error with this DETAIL: the facts, in sentences.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same error with this HINT: what to do, in sentences.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Message and DETAIL as one text, for a list of errors.
    pub fn message_and_detail(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{} ({detail})", self.message),
            None => self.message.clone(),
        }
    }

    /// Whether the transaction must not continue: cancel, shutdown, lack of resources, serialization failures.
    pub fn aborts_transaction(&self) -> bool {
        ["40", "53", "57"].iter().any(|class| self.sqlstate.starts_with(class))
    }

    /// Whether the error must end the call instead of becoming an incident: cancel, shutdown, lack of
    /// resources, serialization failures and deadlocks, internal errors, and a lock not available.
    pub fn is_never_an_incident(&self) -> bool {
        is_never_a_fault(&self.sqlstate)
    }
}

/// PostgreSQL's number for errors that end a statement.
pub(super) const ERROR: c_int = PgLogLevel::ERROR as c_int;

/// Runs `body` and returns its error, if any. Undoes nothing: only the boundary and subtransactions may call it.
pub fn catch<R>(body: impl FnOnce() -> R) -> Result<R, PgError> {
    catch_unwind(AssertUnwindSafe(body)).map_err(from_panic)
}

fn from_panic(payload: Box<dyn Any + Send>) -> PgError {
    match payload.downcast::<CaughtError>() {
        Ok(caught) => match *caught {
            CaughtError::PostgresError(report) => {
                // An out-of-memory error leaves no copy. The last copy then belongs to another error.
                let kept = CALL.error.take().filter(|kept| kept.message == shortened(report.message()));
                kept.unwrap_or_else(|| from_report(&report))
            }
            CaughtError::ErrorReport(report) | CaughtError::RustPanic { ereport: report, .. } => from_report(&report),
        },
        Err(payload) => from_other_panic(&payload),
    }
}

fn from_other_panic(payload: &Box<dyn Any + Send>) -> PgError {
    if let Some(error) = payload.downcast_ref::<PgError>() {
        return error.clone();
    }
    if let Some(report) = payload.downcast_ref::<ErrorReportWithLevel>() {
        return from_report(report);
    }
    if let Some(report) = payload.downcast_ref::<ErrorReport>() {
        return PgError::new("XX000", report.message());
    }
    let text = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unexpected failure".into());
    PgError::new("XX000", text).hint("This is a bug in workflow. Please report it.")
}

fn from_report(report: &ErrorReportWithLevel) -> PgError {
    PgError {
        sqlstate: unpack_sqlstate(report.sql_error_code() as i32),
        message: shortened(report.message()),
        detail: report.detail().map(shortened),
        hint: report.hint().map(shortened),
        ..PgError::default()
    }
}

/// Keeps the copy of an error until its panic is caught.
pub(super) fn keep(error: PgError) {
    CALL.error.replace(Some(error));
}

/// Unwinds with this error from any depth, up to the next [`catch`] or the boundary.
pub fn throw(error: PgError) -> ! {
    std::panic::resume_unwind(Box::new(error))
}

/// Raises an error, by PostgreSQL's longjmp: only for frames that PostgreSQL called and that own nothing.
pub fn raise(error: PgError) -> ! {
    let data = error_data(ERROR, error);
    // SAFETY: all Rust values of this frame are gone; the longjmp leaves plain frames only.
    unsafe { raw::ThrowErrorData(data) };
    unreachable!("ThrowErrorData returned from an ERROR")
}

/// Copies what PostgreSQL knows about an error.
pub(super) fn from_error_data(data: &pg_sys::ErrorData) -> PgError {
    PgError {
        sqlstate: unpack_sqlstate(data.sqlerrcode),
        message: owned(data.message).unwrap_or_default(),
        detail: owned(data.detail),
        hint: owned(data.hint),
        context: owned(data.context),
        objects: [data.schema_name, data.table_name, data.column_name, data.datatype_name, data.constraint_name]
            .map(|text| owned(text)),
    }
}

fn owned(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: PostgreSQL's strings end with NUL.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    // Drop a character that the cut leaves incomplete, too.
    Some(shortened(&String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TEXT + 4)])))
}

/// Maximum bytes kept of each text of an error. User SQL can raise texts of any length, and they are copied often.
const MAX_TEXT: usize = 64 << 10;

fn shortened(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.into();
    }
    let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}

/// Builds PostgreSQL's form of the error in the current memory context and drops ours.
fn error_data(level: c_int, error: PgError) -> *mut pg_sys::ErrorData {
    // SAFETY: palloc0 gives zeroed memory of that size; a zeroed ErrorData is a valid empty one.
    unsafe {
        let data = pg_sys::palloc0(size_of::<pg_sys::ErrorData>()).cast::<pg_sys::ErrorData>();
        (*data).elevel = level;
        (*data).sqlerrcode = pack_sqlstate(&error.sqlstate);
        (*data).message = palloced(Some(&error.message));
        (*data).detail = palloced(error.detail.as_ref());
        (*data).hint = palloced(error.hint.as_ref());
        (*data).context = palloced(error.context.as_ref());
        let [schema, table, column, data_type, constraint] = &error.objects;
        (*data).schema_name = palloced(schema.as_ref());
        (*data).table_name = palloced(table.as_ref());
        (*data).column_name = palloced(column.as_ref());
        (*data).datatype_name = palloced(data_type.as_ref());
        (*data).constraint_name = palloced(constraint.as_ref());
        (*data).assoc_context = pg_sys::CurrentMemoryContext;
        data
    }
}

fn palloced(text: Option<&String>) -> *mut c_char {
    let Some(text) = text else {
        return std::ptr::null_mut();
    };
    let text = CString::new(text.replace('\0', "\\u0000")).unwrap_or_default();
    // SAFETY: pstrdup copies a NUL-terminated string.
    unsafe { pg_sys::pstrdup(text.as_ptr()) }
}

/// Reports it as a NOTICE and continues; `client_min_messages` decides who sees it.
pub fn notice(error: PgError) {
    report(PgLogLevel::NOTICE as c_int, error);
}

/// Reports it as a WARNING and continues; by default it goes to the client and the log.
pub fn warning(error: PgError) {
    report(PgLogLevel::WARNING as c_int, error);
}

/// Writes a line to the server's log only.
pub fn log(message: &str) {
    report(PgLogLevel::LOG as c_int, PgError::new("00000", message));
}

/// Writes to the server's log only, whatever `client_min_messages` the client has set.
pub fn log_for_server(entry: PgError) {
    report(PgLogLevel::LOG_SERVER_ONLY as c_int, entry);
}

/// Ends the process with this error in the log.
pub fn fatal(error: PgError) -> ! {
    report(PgLogLevel::FATAL as c_int, error);
    unreachable!("FATAL returned")
}

fn report(level: c_int, error: PgError) {
    let data = error_data(level, error);
    // SAFETY: below ERROR, ThrowErrorData returns.
    unsafe { pg_sys::ThrowErrorData(data) };
}

/// Packs a SQLSTATE in PostgreSQL's form: six bits per character.
fn pack_sqlstate(sqlstate: &str) -> c_int {
    sqlstate
        .bytes()
        .take(5)
        .enumerate()
        .fold(0, |packed, (i, byte)| packed + ((c_int::from(byte.wrapping_sub(b'0')) & 0x3F) << (6 * i)))
}

fn unpack_sqlstate(packed: c_int) -> String {
    (0..5).map(|i| char::from((((packed >> (6 * i)) & 0x3F) as u8) + b'0')).collect()
}

//! Procedures: they run several transactions of their own, and sleep between them.

use std::ffi::c_int;

use pgrx::pg_sys::{self, Datum};

use crate::pg::args::Call;
use crate::pg::error::PgError;
use crate::pg::returned::Returned;
use crate::pg::signature::Signature;
use crate::pg::{interrupt, schema_number, version};

/// Makes the C symbols of procedures, as [`sql_functions!`](super::symbols::sql_functions) does of functions. Their
/// body is called outside a transaction block only.
macro_rules! sql_procedures {
    ($($name:ident($($argument:ident: $type:ident),*) => $body:path;)*) => { $(
        $crate::pg::symbols::sql_function!(
            $name, [$(stringify!($argument) => $type),*], $body, $crate::pg::procedure::call_procedure
        );
    )* };
}
pub(crate) use sql_procedures;

/// Runs the body of a procedure and raises its error.
///
/// # Safety
/// Only for the frame that PostgreSQL called, with what it passed.
pub unsafe fn call_procedure(
    fcinfo: pg_sys::FunctionCallInfo,
    signature: &'static Signature,
    body: fn(&Call) -> Result<Returned, PgError>,
) -> Datum {
    // SAFETY: as the caller's; `entry` leaves no frame of ours behind.
    unsafe {
        super::entry::entry(|| {
            let call = Call::new(fcinfo, signature);
            schema_number::require()?;
            signature.check(fcinfo)?;
            if is_atomic(fcinfo) {
                return Err(in_transaction(signature.symbol));
            }
            pg_sys::SPI_connect_ext(pg_sys::SPI_OPT_NONATOMIC as c_int);
            let returned = body(&call)?;
            pg_sys::SPI_finish();
            Ok(returned.into_datum(&call))
        })
    }
}

/// Whether the call may not end the transaction: inside a transaction block, or below a function.
unsafe fn is_atomic(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: the context of a CALL is a node, which its tag describes.
    unsafe {
        let context = (*fcinfo).context;
        context.is_null()
            || (*context).type_ != pg_sys::NodeTag::T_CallContext
            || (*context.cast::<pg_sys::CallContext>()).atomic
    }
}

fn in_transaction(name: &str) -> PgError {
    PgError::new("25001", format!("{name} cannot run inside a transaction block"))
        .detail("It sleeps between transactions of its own.")
        .hint("Turn on autocommit: CALL it outside BEGIN and COMMIT, and not from a function.")
}

/// Commits the transaction of a procedure. The next one begins without a snapshot, an xid or a table lock.
pub fn commit() {
    // SAFETY: `call_procedure` has connected SPI so that it may.
    unsafe { pg_sys::SPI_commit() };
}

/// Runs `body` with a new snapshot, and commits the procedure's transaction afterwards.
pub fn in_transaction_of_its_own<R>(body: impl FnOnce() -> Result<R, PgError>) -> Result<R, PgError> {
    // SAFETY: the snapshot is pushed and popped here; after an error the abort pops it.
    let outcome = unsafe {
        pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        let outcome = body();
        pg_sys::PopActiveSnapshot();
        outcome
    };
    let value = outcome?;
    commit();
    Ok(value)
}

/// Sleeps until this process is woken, for at most this many microseconds. A cancel ends the statement; a lost client
/// connection ends the session, at once if the operating system reports it.
pub fn sleep(microseconds: i64) {
    const LONGEST: i64 = 3_600_000;
    let socket = client_socket();
    let closed = if socket.is_some() { pg_sys::WL_SOCKET_CLOSED } else { 0 };
    let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH | closed;
    // PostgreSQL waits in whole milliseconds.
    let milliseconds = (microseconds.max(0) / 1000 + i64::from(microseconds % 1000 > 0)).min(LONGEST);
    interrupt::check();
    // SAFETY: this process's latch and the socket of its client; the events are valid ones. The flags are those that
    // PostgreSQL's own check of the connection sets.
    unsafe {
        let woken_by = pg_sys::WaitLatchOrSocket(
            pg_sys::MyLatch,
            events as c_int,
            socket.unwrap_or(pg_sys::PGINVALID_SOCKET),
            milliseconds as _,
            version::wait_event(),
        );
        pg_sys::ResetLatch(pg_sys::MyLatch);
        if woken_by & closed as c_int != 0 {
            pg_sys::ClientConnectionLost = 1;
            pg_sys::InterruptPending = 1;
        }
    }
    interrupt::check();
}

/// The client's socket, if there is one and the operating system can report that it was closed.
fn client_socket() -> Option<pg_sys::pgsocket> {
    // SAFETY: globals of the backend's only thread; a background process has no port. The bindings do not have the
    // fields of a port: its socket is the first one, in all versions.
    unsafe {
        let port = pg_sys::MyProcPort.cast::<pg_sys::pgsocket>();
        (!port.is_null() && pg_sys::WaitEventSetCanReportClosed()).then(|| *port)
    }
}

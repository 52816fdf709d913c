//! Background workers: registration, connection, sleep, and their transactions.
//!
//! A worker sleeps only in [`wait`], holds no snapshot there, and ends at once on SIGTERM: it uses PostgreSQL's own
//! handler, which also interrupts a running statement.

use std::ffi::{CStr, CString, c_char, c_int};

use pgrx::pg_sys::{self, Oid};

use crate::pg::entry::keeping;
use crate::pg::error::{self, PgError, catch};
use crate::pg::state::BACKEND;
use crate::pg::{raw, schema_number, version};

/// The description of a worker to register.
pub struct Background<'a> {
    /// Its `backend_type` in `pg_stat_activity`.
    pub kind: &'a CStr,
    /// Its name in the log.
    pub name: &'a str,
    /// Its entry point, made by `entry_points!`.
    pub function: &'a CStr,
    /// The argument of its entry point, `bgw_main_arg`.
    pub argument: i32,
    /// Seconds after which the postmaster restarts it after a crash.
    pub restart: Option<u32>,
}

fn copy_text(text: &[u8], into: &mut [c_char]) {
    let room = into.len() - 1;
    for (to, from) in into[..room].iter_mut().zip(text) {
        *to = *from as c_char;
    }
}

fn describe(worker: &Background<'_>) -> pg_sys::BackgroundWorker {
    let mut described = pg_sys::BackgroundWorker::default();
    copy_text(worker.name.as_bytes(), &mut described.bgw_name);
    copy_text(worker.kind.to_bytes(), &mut described.bgw_type);
    copy_text(b"workflow", &mut described.bgw_library_name);
    copy_text(worker.function.to_bytes(), &mut described.bgw_function_name);
    described.bgw_flags = (pg_sys::BGWORKER_SHMEM_ACCESS | pg_sys::BGWORKER_BACKEND_DATABASE_CONNECTION) as c_int;
    // Start neither on a standby nor before recovery has ended.
    described.bgw_start_time = pg_sys::BgWorkerStartTime::BgWorkerStart_RecoveryFinished;
    described.bgw_restart_time =
        worker.restart.map_or(pg_sys::BGW_NEVER_RESTART, |seconds| i32::try_from(seconds).unwrap_or(i32::MAX));
    described.bgw_main_arg = pg_sys::Datum::from(worker.argument);
    described
}

/// Registers a worker that starts with the server.
pub fn register_at_start(worker: &Background<'_>) {
    let mut described = describe(worker);
    // SAFETY: PostgreSQL copies it.
    unsafe { pg_sys::RegisterBackgroundWorker(&mut described) };
}

/// Registers a worker that starts now. Returns `false` if all `max_worker_processes` slots are in use.
pub fn start(worker: &Background<'_>) -> bool {
    let mut described = describe(worker);
    // SAFETY: PostgreSQL copies it; no handle is asked for.
    unsafe { pg_sys::RegisterDynamicBackgroundWorker(&mut described, std::ptr::null_mut()) }
}

/// Makes this worker a session of the database. `role` 0 is the bootstrap superuser.
pub fn connect(database: Oid, role: Oid) {
    // SAFETY: in a worker that has not connected yet.
    unsafe { pg_sys::BackgroundWorkerInitializeConnectionByOid(database, role, 0) };
    BACKEND.connected_as.set(Some(role));
}

/// The role as which this worker connected, even if SQL in it has changed the current role since. 0 is the engine's own
/// session. `None`: this process is not a connected worker.
pub fn connected_as() -> Option<Oid> {
    BACKEND.connected_as.get()
}

/// Whether this is a session of the engine itself, which has a superuser's rights.
pub fn is_engine() -> bool {
    connected_as() == Some(Oid::INVALID)
}

/// Makes this worker a session without a database, which sees only shared catalogs.
pub fn connect_to_none() {
    // SAFETY: as above.
    unsafe { pg_sys::BackgroundWorkerInitializeConnection(std::ptr::null(), std::ptr::null(), 0) };
}

fn handle_signals() {
    // SAFETY: PostgreSQL's own handlers, set before signals are unblocked.
    unsafe {
        version::pqsignal(pg_sys::SIGTERM as c_int, Some(raw::die));
        version::pqsignal(pg_sys::SIGINT as c_int, Some(raw::StatementCancelHandler));
        version::pqsignal(pg_sys::SIGHUP as c_int, Some(raw::SignalHandlerForConfigReload));
        pg_sys::BackgroundWorkerUnblockSignals();
    }
}

/// The longest sleep, in microseconds. It is bounded because the clock may be set forward during the sleep.
const LONGEST_SLEEP: i64 = 30_000_000;

/// Sleeps until the latch is set or the time has passed; may return earlier. `None`: until the latch is set.
///
/// Any wait inside a transaction (for a lock, or for a page that another process reads) may consume the latch's
/// wake-up. So other processes leave their messages in shared memory, and a worker reads them again after a transaction
/// and before it sleeps. This function checks for signals before and after the sleep.
pub fn wait(microseconds: Option<i64>) {
    if process_interrupts() {
        return;
    }
    let mut events = pg_sys::WL_LATCH_SET | pg_sys::WL_EXIT_ON_PM_DEATH;
    let milliseconds = match microseconds {
        // PostgreSQL waits in whole milliseconds.
        Some(time) => {
            events |= pg_sys::WL_TIMEOUT;
            let time = time.clamp(0, LONGEST_SLEEP);
            time / 1000 + i64::from(time % 1000 > 0)
        }
        None => -1,
    };
    // SAFETY: this process's latch; the events are valid ones.
    unsafe {
        pg_sys::WaitLatch(pg_sys::MyLatch, events as c_int, milliseconds, pg_sys::PG_WAIT_EXTENSION);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    process_interrupts();
}

/// The number of times this process has reloaded the configuration. If it has changed, settings may have changed.
pub fn reloads() -> u32 {
    BACKEND.reloads.get()
}

/// Processes signals between two pieces of work: termination, barriers, reload. Returns whether settings may have
/// changed.
pub fn process_interrupts() -> bool {
    pgrx::check_for_interrupts!();
    // SAFETY: flags that signal handlers set; read by the process's only thread.
    unsafe {
        let has_reloaded = std::ptr::read_volatile(&raw const pg_sys::ConfigReloadPending) != 0;
        if has_reloaded {
            std::ptr::write_volatile(&raw mut pg_sys::ConfigReloadPending, 0);
            pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP);
            BACKEND.reloads.set(BACKEND.reloads.get().wrapping_add(1));
        }
        has_reloaded
    }
}

/// Ends this process with code 0.
pub fn exit() -> ! {
    version::exit(0)
}

/// Runs `body` in a transaction of its own with SPI. An error in it, or in the commit, rolls the transaction back.
pub fn transaction<R>(body: impl FnOnce() -> Result<R, PgError>) -> Result<R, PgError> {
    let outcome = keeping(|| {
        // SAFETY: the sequence of a worker's transaction; after an error the abort cleans up.
        unsafe {
            pg_sys::SetCurrentStatementStartTimestamp();
            pg_sys::StartTransactionCommand();
            // Override defaults of the role or the database: the worker must be able to write.
            pg_sys::XactIsoLevel = pg_sys::XACT_READ_COMMITTED as c_int;
            pg_sys::XactReadOnly = false;
            pg_sys::SPI_connect();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        }
        let value = body()?;
        // SAFETY: as above.
        unsafe {
            pg_sys::SPI_finish();
            pg_sys::PopActiveSnapshot();
            pg_sys::CommitTransactionCommand();
        }
        Ok(value)
    });
    if outcome.is_err() {
        // SAFETY: right after the error that ended it.
        unsafe { pg_sys::AbortCurrentTransaction() };
    }
    // SAFETY: between transactions; sends the statistics that autovacuum uses.
    unsafe { pg_sys::pgstat_report_stat(true) };
    outcome
}

/// Runs the same for work on the extension's tables. Fails with 55000 if the library does not match the schema.
pub fn work<R>(body: impl FnOnce() -> Result<R, PgError>) -> Result<R, PgError> {
    transaction(|| {
        schema_number::require_if_here()?;
        body()
    })
}

/// Shows in `pg_stat_activity` what this worker is doing; `None`: idle.
pub fn report(activity: Option<&str>) {
    // SAFETY: takes C strings.
    unsafe {
        match activity {
            Some(text) => {
                let text = CString::new(text).unwrap_or_default();
                pg_sys::pgstat_report_activity(pg_sys::BackendState::STATE_RUNNING, text.as_ptr());
            }
            None => pg_sys::pgstat_report_activity(pg_sys::BackendState::STATE_IDLE, std::ptr::null()),
        }
    }
}

/// Names this worker in `pg_stat_activity`.
pub fn set_application_name(name: &CStr) {
    // SAFETY: takes a C string.
    unsafe {
        let context = pg_sys::GucContext::PGC_USERSET;
        pg_sys::SetConfigOption(
            c"application_name".as_ptr(),
            name.as_ptr(),
            context,
            pg_sys::GucSource::PGC_S_OVERRIDE,
        );
    }
}

/// Microseconds since 2000, by the clock.
pub fn now() -> i64 {
    // SAFETY: reads the clock.
    unsafe { raw::GetCurrentTimestamp() }
}

/// The time, and whether the clock was set back since `last`.
pub fn now_after(last: i64) -> (i64, bool) {
    const SECOND: i64 = 1_000_000;
    let now = now();
    (now, now < last.saturating_sub(SECOND))
}

/// Pages of tables and indexes that this process has read so far, from memory or from disk.
pub fn pages_read() -> i64 {
    // SAFETY: reads a global of this process.
    let usage = unsafe { pg_sys::pgBufferUsage };
    usage.shared_blks_hit + usage.shared_blks_read
}

/// Oid of the database that this process is connected to; 0 without one.
pub fn database() -> Oid {
    // SAFETY: reads a global.
    unsafe { pg_sys::MyDatabaseId }
}

/// The setting `max_worker_processes`, which limits the workers of all extensions.
pub fn max_worker_processes() -> i32 {
    // SAFETY: reads a global that does not change.
    unsafe { pg_sys::max_worker_processes }
}

/// Whether a process of this id is a backend of this server.
pub fn is_alive(pid: c_int) -> bool {
    // SAFETY: looks in the process array.
    unsafe { pid != 0 && !pg_sys::BackendPidGetProc(pid).is_null() }
}

/// Ends a statement (`SIGINT`) or a process (`SIGTERM`) of this server.
pub fn signal(pid: c_int, signal: u32) {
    unsafe extern "C" {
        fn kill(pid: c_int, signal: c_int) -> c_int;
    }
    if is_alive(pid) {
        // SAFETY: a process of this server, asked by its own code.
        unsafe { kill(pid, signal as c_int) };
    }
}

/// Whether a database exists. Call it inside a transaction.
pub fn has_database(oid: Oid) -> bool {
    // SAFETY: a look-up in the catalog; the name is NULL if there is no such database.
    unsafe { !pg_sys::get_database_name(oid).is_null() }
}

/// The databases that allow connections, read from the shared catalog without being connected to a database.
pub fn databases() -> Vec<Oid> {
    // SAFETY: the sequence of autovacuum's launcher: a transaction without database, a scan of a shared catalog whose
    // tuples are read while the scan holds them.
    unsafe {
        pg_sys::StartTransactionCommand();
        pg_sys::GetTransactionSnapshot();
        let relation = pg_sys::table_open(pg_sys::DatabaseRelationId, pg_sys::AccessShareLock as c_int);
        let scan = pg_sys::table_beginscan_catalog(relation, 0, std::ptr::null_mut());
        let mut found = Vec::new();
        loop {
            let tuple = pg_sys::heap_getnext(scan, pg_sys::ScanDirection::ForwardScanDirection);
            if tuple.is_null() {
                break;
            }
            let form = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_database>();
            if (*form).datallowconn && !(*form).datistemplate {
                found.push((*form).oid);
            }
        }
        pg_sys::table_endscan(scan);
        pg_sys::table_close(relation, pg_sys::AccessShareLock as c_int);
        pg_sys::CommitTransactionCommand();
        found
    }
}

/// Runs the body of a worker. If it fails, writes the error to the log and ends the process with code 1.
pub fn run(body: fn(i32), argument: pg_sys::Datum) {
    handle_signals();
    match catch(|| body(argument.value() as i32)) {
        Ok(()) => exit(),
        Err(error) => error::fatal(error),
    }
}

/// Makes the functions by which PostgreSQL starts workers.
macro_rules! entry_points {
    ($($(#[$doc:meta])* $name:ident => $body:path;)*) => { $(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C-unwind" fn $name(argument: ::pgrx::pg_sys::Datum) {
            $crate::pg::process::run($body, argument);
        }
    )* };
}
pub(crate) use entry_points;

/// Registers a callback that runs when this process exits, while shared memory is still there.
pub fn at_exit<F: Fn() + 'static>(callback: F) {
    unsafe extern "C-unwind" fn call<F: Fn()>(_code: c_int, argument: pg_sys::Datum) {
        // SAFETY: the callback that was registered, which is never freed.
        unsafe { (*argument.cast_mut_ptr::<F>())() }
    }
    let callback = Box::into_raw(Box::new(callback));
    // SAFETY: called once, with the callback of this type.
    unsafe { pg_sys::before_shmem_exit(Some(call::<F>), pg_sys::Datum::from(callback)) };
}

/// Id of this process in the operating system.
pub fn my_pid() -> c_int {
    // SAFETY: reads a global.
    unsafe { pg_sys::MyProcPid }
}

/// Sleeps for a few milliseconds.
pub fn nap() {
    // SAFETY: sleeps.
    unsafe { pg_sys::pg_usleep(5_000) };
}

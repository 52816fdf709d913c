//! Settings. Units are in the flags; each description is a sentence that a DBA can act on.

use std::ffi::CString;
use std::time::Duration;

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use workflow_engine::execution::Limits;
use workflow_engine::expression::ScriptLimits;

use crate::pg::settings::{FaultHandling, LogThreshold};

mod actor;
mod retention;
mod route;
mod traceparent;
mod workers;

pub use actor::{PSEUDONYM, actor, check_actor, check_name, check_no_role, is_pseudonym};
pub use retention::{audit_retention, message_retention, retention, schedule_run_retention};
pub use route::{RouteCheck, route_check};
pub use traceparent::traceparent;
pub use workers::MAX_WAITER_SLOTS;

static ENABLED: GucSetting<bool> = GucSetting::<bool>::new(true);
static JAVASCRIPT_MEMORY: GucSetting<i32> = GucSetting::<i32>::new(64 * 1024);
static JAVASCRIPT_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(5_000);
static LAUNCH_WORKERS: GucSetting<bool> = GucSetting::<bool>::new(true);
static LOG_MIN_LEVEL: GucSetting<LogThreshold> = GucSetting::<LogThreshold>::new(LogThreshold::Off);
static MAX_NODES: GucSetting<i32> = GucSetting::<i32>::new(1_000_000);
static MAX_REQUEST_SIZE: GucSetting<i32> = GucSetting::<i32>::new(10 * 1024);
static MEMORY_LIMIT: GucSetting<i32> = GucSetting::<i32>::new(512 * 1024);
static MAX_DEFINITION_SIZE: GucSetting<i32> = GucSetting::<i32>::new(16 * 1024);
static MAX_NESTING: GucSetting<i32> = GucSetting::<i32>::new(500);
static MAX_STEPS: GucSetting<i32> = GucSetting::<i32>::new(1_000_000);
static MAX_BURSTS: GucSetting<i32> = GucSetting::<i32>::new(1_000_000);
static MAX_LEASES: GucSetting<i32> = GucSetting::<i32>::new(10);
static MAX_EXECUTORS: GucSetting<i32> = GucSetting::<i32>::new(4);
static MAX_WAITERS: GucSetting<i32> = GucSetting::<i32>::new(100);
static MISFIRE_GRACE: GucSetting<i32> = GucSetting::<i32>::new(60_000);
static NOTIFY_TASKS: GucSetting<bool> = GucSetting::<bool>::new(false);
static NOTIFY_TRIGGERS: GucSetting<bool> = GucSetting::<bool>::new(true);
static NOW: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
static ON_FAULT: GucSetting<FaultHandling> = GucSetting::<FaultHandling>::new(FaultHandling::Store);
static QUEUE_TTL: GucSetting<i32> = GucSetting::<i32>::new(86_400);
static RESILIENCE_STRATEGIES: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
static RESTORING: GucSetting<bool> = GucSetting::<bool>::new(false);
static RETRY: GucSetting<bool> = GucSetting::<bool>::new(true);
static TESTING: GucSetting<bool> = GucSetting::<bool>::new(false);
static LONG_FIRE: GucSetting<i32> = GucSetting::<i32>::new(1000);
static WORKER_IDLE_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(60);
static WRITE_LINE_NOTICE: GucSetting<bool> = GucSetting::<bool>::new(false);
#[cfg(debug_assertions)]
static WITHOUT_ENTRY: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

/// Stack that a script may use. A backend has at least 2 MB of stack, and PostgreSQL itself plans for less.
const SCRIPT_STACK: usize = 256 * 1024;

/// Defines all settings; called when the library is loaded.
pub fn define() {
    define_limits();
    define_memory();
    define_behaviour();
    define_announcements();
    define_time();
    actor::define();
    retention::define();
    route::define();
    traceparent::define();
    workers::define();
    #[cfg(debug_assertions)]
    define_tests();
    // Makes a mistyped `workflow.*` setting an error.
    // SAFETY: takes a C string.
    unsafe { pgrx::pg_sys::MarkGUCPrefixReserved(c"workflow".as_ptr()) };
}

/// Settings of our tests, which the build that is shipped does not have.
#[cfg(debug_assertions)]
fn define_tests() {
    GucRegistry::define_string_guc(
        c"workflow.without_entry",
        c"Optional entry of a burst that is left out.",
        c"Only for tests.",
        &WITHOUT_ENTRY,
        GucContext::Suset,
        GucFlags::NO_SHOW_ALL,
    );
}

/// `workflow.without_entry`, if it is set.
#[cfg(debug_assertions)]
pub fn without_entry() -> Option<String> {
    let name = WITHOUT_ENTRY.get()?.to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

fn define_limits() {
    GucRegistry::define_int_guc(
        c"workflow.javascript_memory",
        c"Memory that one script or template may use.",
        c"A script that needs more makes its activity fault.",
        &JAVASCRIPT_MEMORY,
        1024,
        // The maximum: memory that one built-in JavaScript function processes in a fraction of a second.
        256 * 1024,
        GucContext::Userset,
        GucFlags::UNIT_KB,
    );
    GucRegistry::define_int_guc(
        c"workflow.javascript_timeout",
        c"Time that one script or template may take.",
        c"A script that takes longer makes its activity fault; query cancel and statement_timeout stop it as well.",
        &JAVASCRIPT_TIMEOUT,
        1,
        3_600_000,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"workflow.max_definition_size",
        c"Size of the largest definition that wf_define accepts.",
        c"Measured as the text of the document.",
        &MAX_DEFINITION_SIZE,
        1,
        256 * 1024,
        GucContext::Userset,
        GucFlags::UNIT_KB,
    );
    GucRegistry::define_int_guc(
        c"workflow.max_nesting",
        c"How deeply activities may be nested in a definition, and child workflows in one call.",
        c"Deeper nesting is an error.",
        &MAX_NESTING,
        1,
        500,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.max_steps",
        c"Number of steps that one burst may take.",
        c"A step begins, resumes or retries an activity, or reports the end of a child to it. More are an error.",
        &MAX_STEPS,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.max_bursts",
        c"Number of bursts that one call may run.",
        c"A call runs one for each instance that it starts or resumes, and for each that these start, resume or continue. More are an error.",
        &MAX_BURSTS,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::default(),
    );
}

fn define_memory() {
    GucRegistry::define_int_guc(
        c"workflow.max_nodes",
        c"Number of values and member names in one JSON value.",
        c"Applies to everything that is decoded: requests, arguments, results of SQL and of scripts.",
        &MAX_NODES,
        100,
        i32::MAX,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.max_request_size",
        c"Size of the largest body of an HTTP request.",
        c"Any other value that is decoded may have twice as much text.",
        &MAX_REQUEST_SIZE,
        1,
        512 * 1024,
        GucContext::Suset,
        GucFlags::UNIT_KB,
    );
    GucRegistry::define_int_guc(
        c"workflow.memory_limit",
        c"Memory that one call may add to that of its session.",
        c"Memory of scripts is included. A call that needs more ends with an error.",
        &MEMORY_LIMIT,
        16 * 1024,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_KB,
    );
}

fn define_behaviour() {
    GucRegistry::define_bool_guc(
        c"workflow.enabled",
        c"Whether background workers and wf_run_due fire due work.",
        c"If it is off, nothing fires and no task can be claimed. Nothing is lost.",
        &ENABLED,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"workflow.log_min_level",
        c"Lowest level at which entries of the activity Log also go to the server log.",
        c"The journal has all entries. Entries of a transaction that is rolled back stay in the server log.",
        &LOG_MIN_LEVEL,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_string_guc(
        c"workflow.now",
        c"The time that the engine takes for the present, for tests.",
        c"If it is empty, the engine uses the clock.",
        &NOW,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"workflow.testing",
        c"Whether the database is for tests, which may move the clock.",
        c"It has an effect only if set with ALTER DATABASE. Background workers ignore such a database.",
        &TESTING,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"workflow.on_fault",
        c"Effect of a fault of an activity on a call whose argument on_fault is NULL.",
        c"store: it becomes an incident, and the call succeeds with a warning. raise: the call fails with the error.",
        &ON_FAULT,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.queue_ttl",
        c"How long a stimulus that matches no bookmark is stored, by default.",
        c"Applies if keep_for is NULL, and to calls without that argument. 0 stores nothing.",
        &QUEUE_TTL,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_string_guc(
        c"workflow.resilience_strategies",
        c"Elsa's resilience strategies that activities of all definitions may name.",
        c"A JSON object of strategies by their names, or Elsa's list of strategies.",
        &RESILIENCE_STRATEGIES,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"workflow.retry",
        c"Whether retry policies apply when an activity faults.",
        c"If it is off, no activity is tried again after a fault.",
        &RETRY,
        GucContext::Userset,
        GucFlags::default(),
    );
}

fn define_announcements() {
    GucRegistry::define_bool_guc(
        c"workflow.notify_tasks",
        c"Announces new tasks on channel workflow_task.",
        c"The payload is empty. NOTIFY serializes commits of the whole cluster.",
        &NOTIFY_TASKS,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"workflow.notify_triggers",
        c"Announces changed triggers on channel workflow_triggers, with an empty payload.",
        c"If it is off, a transaction that stores definitions can be prepared for a two-phase commit.",
        &NOTIFY_TRIGGERS,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"workflow.write_line_notice",
        c"Sends the lines of the activity WriteLine to the client as notices.",
        c"The journal has all lines.",
        &WRITE_LINE_NOTICE,
        GucContext::Userset,
        GucFlags::default(),
    );
}

fn define_time() {
    GucRegistry::define_int_guc(
        c"workflow.misfire_grace",
        c"How late a schedule may fire without counting as missed.",
        c"The misfire policy of the schedule applies to a fire that is later, or after which another one is already due.",
        &MISFIRE_GRACE,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
}

/// Limits of a burst. The burst ends when `interrupted` returns true.
pub fn limits(interrupted: fn() -> bool) -> Limits {
    Limits {
        max_steps: MAX_STEPS.get().unsigned_abs().into(),
        max_nesting: max_nesting(),
        retries: retries(),
        script: ScriptLimits {
            time: Duration::from_millis(u64::from(JAVASCRIPT_TIMEOUT.get().unsigned_abs())),
            memory: JAVASCRIPT_MEMORY.get().unsigned_abs() as usize * 1024,
            stack: SCRIPT_STACK,
            interrupted,
        },
    }
}

/// `workflow.retry`: whether retry policies are followed.
pub fn retries() -> bool {
    RETRY.get()
}

/// `workflow.enabled`: whether due work fires and tasks can be claimed.
pub fn enabled() -> bool {
    ENABLED.get()
}

/// `workflow.launch_workers`: whether background workers run; `wf_run_due` works without them.
pub fn launch_workers() -> bool {
    LAUNCH_WORKERS.get()
}

/// `workflow.log_min_level`: the lowest level at which entries of `Log` also go to the server's log.
pub fn log_min_level() -> LogThreshold {
    LOG_MIN_LEVEL.get()
}

/// `workflow.max_waiters`: how many sessions may wait for tasks at once.
pub fn max_waiters() -> usize {
    usize::try_from(MAX_WAITERS.get()).unwrap_or_default()
}

/// `workflow.max_leases`: how many leases of a task may expire without an answer if its activity has no retry policy.
/// When the last one expires, the activity faults.
pub fn max_leases() -> u32 {
    MAX_LEASES.get().unsigned_abs()
}

/// `workflow.max_executors`: how many executors one database has at most.
pub fn max_executors() -> usize {
    MAX_EXECUTORS.get().unsigned_abs() as usize
}

/// `workflow.resilience_strategies`, if it is set.
pub fn resilience_strategies() -> Option<CString> {
    RESILIENCE_STRATEGIES.get().filter(|text| !text.is_empty())
}

/// `workflow.restoring`: whether a dump is being restored, so that nothing fires and no task can be claimed.
pub fn restoring() -> bool {
    RESTORING.get()
}

/// `workflow.long_fire` in microseconds: a fire that runs longer counts as long.
pub fn long_fire() -> i64 {
    i64::from(LONG_FIRE.get()) * 1000
}

/// `workflow.worker_idle_timeout` in microseconds.
pub fn worker_idle_timeout() -> i64 {
    i64::from(WORKER_IDLE_TIMEOUT.get()) * 1_000_000
}

/// `workflow.max_definition_size` in bytes.
pub fn max_definition_size() -> usize {
    MAX_DEFINITION_SIZE.get().unsigned_abs() as usize * 1024
}

/// `workflow.max_bursts`: how many bursts one call may run.
pub fn max_bursts() -> u32 {
    MAX_BURSTS.get().unsigned_abs()
}

/// `workflow.max_nesting`: how deep activities may be nested, and child workflows that run in one call.
pub fn max_nesting() -> u32 {
    MAX_NESTING.get().unsigned_abs()
}

/// `workflow.max_nodes`: how many values and names of members one JSON value may hold.
pub fn max_nodes() -> usize {
    MAX_NODES.get().unsigned_abs() as usize
}

/// `workflow.max_request_size` in bytes.
pub fn max_request_size() -> usize {
    MAX_REQUEST_SIZE.get().unsigned_abs() as usize * 1024
}

/// `workflow.memory_limit` in bytes.
pub fn memory_limit() -> usize {
    MEMORY_LIMIT.get().unsigned_abs() as usize * 1024
}

/// `workflow.misfire_grace` in microseconds.
pub fn misfire_grace() -> i64 {
    i64::from(MISFIRE_GRACE.get()) * 1000
}

/// `workflow.notify_tasks`: whether each new task sends a notification on the channel `workflow_task`.
pub fn notify_tasks() -> bool {
    NOTIFY_TASKS.get()
}

/// `workflow.notify_triggers`: whether changed triggers send one on `workflow_triggers`.
pub fn notify_triggers() -> bool {
    NOTIFY_TRIGGERS.get()
}

/// `workflow.now`, if it is set.
pub fn now() -> Option<String> {
    NOW.get().map(|text| text.to_string_lossy().into_owned()).filter(|text| !text.trim().is_empty())
}

/// `workflow.testing` in this session. Values set by ALTER DATABASE are in the catalog.
pub fn testing() -> bool {
    TESTING.get()
}

/// `workflow.on_fault`: what a fault does to a call whose argument `on_fault` is NULL.
pub fn on_fault() -> FaultHandling {
    ON_FAULT.get()
}

/// `workflow.queue_ttl` in microseconds.
pub fn queue_ttl() -> i64 {
    i64::from(QUEUE_TTL.get()) * 1_000_000
}

/// `workflow.write_line_notice`: whether lines of `WriteLine` are sent to the client as notices.
pub fn write_line_notice() -> bool {
    WRITE_LINE_NOTICE.get()
}

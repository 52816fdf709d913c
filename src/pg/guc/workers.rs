//! Settings of background workers and of task workers.

use pgrx::guc::{GucContext, GucFlags, GucRegistry};

use super::{LAUNCH_WORKERS, LONG_FIRE, MAX_EXECUTORS, MAX_LEASES, MAX_WAITERS, RESTORING, WORKER_IDLE_TIMEOUT};

/// Maximum number of waiting sessions in the cluster: the size of the array in shared memory, and the upper limit of
/// `workflow.max_waiters`.
pub const MAX_WAITER_SLOTS: usize = 256;

/// Registers these settings.
pub(super) fn define() {
    GucRegistry::define_bool_guc(
        c"workflow.launch_workers",
        c"Whether background workers fire due work.",
        c"If it is off, they exit, and only wf_run_due fires it.",
        &LAUNCH_WORKERS,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.max_executors",
        c"Number of executors, the sessions that fire due work in one database at the same time.",
        c"An executor serves one role; it starts when there is work and ends when there is none.",
        &MAX_EXECUTORS,
        1,
        24,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.max_leases",
        c"Number of leases of a task that may end without an answer, if its activity has no retry policy.",
        c"When the last one ends, the activity faults.",
        &MAX_LEASES,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.max_waiters",
        c"Number of sessions that may wait for tasks at the same time, in all databases.",
        c"wf_wait_tasks fails in further sessions.",
        &MAX_WAITERS,
        0,
        MAX_WAITER_SLOTS as i32,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.long_fire",
        c"How long a fire runs before it counts as long.",
        c"Owners of long fires together use at most all executors of a database but one.",
        &LONG_FIRE,
        10,
        86_400_000,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_bool_guc(
        c"workflow.restoring",
        c"Whether this database is being filled from a dump and must fire nothing.",
        c"Set it with ALTER DATABASE, and reset it when the data is complete.",
        &RESTORING,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"workflow.worker_idle_timeout",
        c"How long an idle background worker stays before it exits.",
        c"The next due work starts a new one, which takes some milliseconds.",
        &WORKER_IDLE_TIMEOUT,
        1,
        86_400,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
}

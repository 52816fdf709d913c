//! How long finished data is kept.

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};

static AUDIT_RETENTION: GucSetting<i32> = GucSetting::<i32>::new(-1);
static MESSAGE_RETENTION: GucSetting<i32> = GucSetting::<i32>::new(7 * 86_400);
static RETENTION: GucSetting<i32> = GucSetting::<i32>::new(-1);
static SCHEDULE_RUN_RETENTION: GucSetting<i32> = GucSetting::<i32>::new(30 * 86_400);

pub(super) fn define() {
    GucRegistry::define_int_guc(
        c"workflow.audit_retention",
        c"How long the audit keeps acts that are not, or no longer, in the journal.",
        c"-1 keeps them forever.",
        &AUDIT_RETENTION,
        -1,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"workflow.message_retention",
        c"How long wf_call remembers a result.",
        c"After that the same message is a new one. -1 keeps them.",
        &MESSAGE_RETENTION,
        -1,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"workflow.retention",
        c"How long finished instances, their journal and dead letters are kept.",
        c"-1 keeps them forever. A definition can override it in its options. Faulted instances are always kept.",
        &RETENTION,
        -1,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"workflow.schedule_run_retention",
        c"How long finished runs of scheduled commands are kept.",
        c"-1 keeps them forever.",
        &SCHEDULE_RUN_RETENTION,
        -1,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_S,
    );
}

/// `workflow.audit_retention` in microseconds; `None` keeps everything.
pub fn audit_retention() -> Option<i64> {
    kept_for(&AUDIT_RETENTION)
}

/// `workflow.retention` in microseconds; `None` keeps everything.
pub fn retention() -> Option<i64> {
    kept_for(&RETENTION)
}

/// `workflow.message_retention` in microseconds; `None` keeps everything.
pub fn message_retention() -> Option<i64> {
    kept_for(&MESSAGE_RETENTION)
}

/// `workflow.schedule_run_retention` in microseconds; `None` keeps everything.
pub fn schedule_run_retention() -> Option<i64> {
    kept_for(&SCHEDULE_RUN_RETENTION)
}

fn kept_for(setting: &GucSetting<i32>) -> Option<i64> {
    u32::try_from(setting.get()).ok().map(|seconds| i64::from(seconds) * 1_000_000)
}

//! The NOTICEs and WARNINGs of a call.

use uuid::Uuid;

use crate::pg::error::{notice, warning};
use crate::pg::{PgError, session};
use crate::run::BACKEND;
use crate::store::rights::owners::Owner;
use crate::wake;

/// Tells a session once that only a worker or a call of wf_run_due fires what the session left due or queued.
pub fn notice_no_worker() {
    if !BACKEND.has_noticed_no_worker.get() && !wake::has_workers() {
        BACKEND.has_noticed_no_worker.set(true);
        notice(PgError::new("00000", "work is left for later, but no workflow worker is running in this database").hint(
            "Add workflow to shared_preload_libraries, run wf_worker_start(), or call wf_run_due() from time to time.",
        ));
    }
}

/// Tells a caller that its act is stored, and that a session of the instance's owner carries it out: the caller does
/// not lend its rights.
pub fn notice_left_to_owner(instance: Uuid, owner: &Owner) {
    let message = format!("workflow instance {instance} continues in a session of role \"{}\"", owner.title());
    notice(
        PgError::new("00000", message)
            .detail("It belongs to that role, and its SQL does not run with the rights of the current role.")
            .hint("A background worker does that, or wf_run_due() of that role. With options.security \"definer\", the workflow continues at once, with the rights of the definition's owner."),
    );
    notice_no_worker();
}

/// The same for a stimulus, which may reach many instances: a statement of the client names the first.
pub fn tell_stimulus_left_to_owner(instance: Uuid, owner: &Owner) {
    BACKEND.told_of_stimulus_at.set(session::statement_start());
    notice_left_to_owner(instance, owner);
}

/// Whether this statement of the client was told what became of a stimulus.
pub fn has_told_of_stimulus() -> bool {
    BACKEND.told_of_stimulus_at.get() == session::statement_start()
}

/// Warns that a call left an instance faulted. `hint`: what repairs it; `None`: nothing does.
pub fn warn_faulted(instance: Uuid, activity: &str, error: &PgError, hint: Option<String>) {
    warning(PgError {
        sqlstate: "01000".into(),
        message: format!("workflow instance {instance} is faulted"),
        detail: Some(format!("Activity \"{activity}\": {} (SQLSTATE {}).", error.message, error.sqlstate)),
        hint,
        ..PgError::default()
    });
}

//! Which incidents of an instance are resolved.

use uuid::Uuid;
use workflow_core::Instance;
use workflow_core::execution::activity_instance_id;
use workflow_core::instance::ActivityStatus;
use workflow_core::instance::compensation::Ending;

use crate::Outcome;

/// The stored incidents of an instance that its burst resolves.
#[derive(Debug, Default, PartialEq)]
pub enum Resolved {
    /// None of them, because there are none.
    #[default]
    Nothing,
    /// All but those of these executions, which are still faulted.
    AllBut(Vec<Uuid>),
    /// Those of these executions.
    Of(Vec<Uuid>),
}

impl Resolved {
    /// An execution that was retried and faulted again has a new incident; the old one is resolved.
    pub(crate) fn by(outcome: &Outcome<'_>) -> Self {
        let (before, instance, delta) = (outcome.before, outcome.instance, outcome.delta);
        if !before.faulted {
            return Self::Nothing;
        }
        let is_new = |execution: &Uuid| delta.incidents.iter().any(|new| new.activity_instance_id == *execution);
        let mut still = faulted_executions(instance);
        still.retain(|execution| !is_new(execution));
        match is_ended_by_fault(instance) {
            // The incident that ended the run stays open: nothing runs that activity again.
            true => Self::Of(before.faults.iter().copied().filter(|fault| !still.contains(fault)).collect()),
            false => Self::AllBut(still),
        }
    }
}

/// Whether a fault has ended the run, and what it had done is or was compensated.
fn is_ended_by_fault(instance: &Instance) -> bool {
    instance.has_failed() || instance.state.ending() == Ending::Faulted
}

/// Faulted executions of an instance.
pub(crate) fn faulted_executions(instance: &Instance) -> Vec<Uuid> {
    let contexts = instance.state.contexts.iter();
    contexts
        .filter(|(_, context)| context.status == ActivityStatus::Faulted)
        .map(|(sequence, _)| activity_instance_id(instance.id, *sequence))
        .collect()
}

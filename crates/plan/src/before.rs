//! The row of an instance: what is remembered of it from before a burst, and the key by which it excludes others after it.

use uuid::Uuid;
use workflow_core::instance::SubStatus;
use workflow_core::instance::compensation::Ending;
use workflow_core::program::Activation;
use workflow_core::{Instance, Program};

use crate::Outcome;
use crate::incidents::faulted_executions;

/// What is remembered of an instance's row from before a burst.
#[derive(Debug)]
pub struct Before {
    /// The key by which it excluded other instances; `None`: it excluded none.
    pub(crate) activation_key: Option<String>,
    /// Number of its stored bookmarks.
    pub(crate) bookmarks: u32,
    /// Whether it ever had an incident.
    pub(crate) faulted: bool,
    /// Executions that were faulted, if it ever had an incident.
    pub(crate) faults: Vec<Uuid>,
    /// Whether the instance was faulted, so that none of its bookmarks was fired.
    pub(crate) was_held: bool,
    /// Whether the burst is the first one of the instance.
    pub(crate) is_first: bool,
}

impl Before {
    /// Of an instance with this activation key.
    pub fn of(instance: &Instance, activation_key: Option<&str>) -> Self {
        let faulted = instance.incident_count > 0;
        Self {
            activation_key: activation_key.map(str::to_owned),
            bookmarks: instance.state.bookmarks(),
            faulted,
            faults: if faulted { faulted_executions(instance) } else { Vec::new() },
            was_held: instance.sub_status == SubStatus::Faulted,
            is_first: instance.state.next_context == 0,
        }
    }
}

/// The activation key of an instance with this correlation id. Instances exclude each other only if their definitions
/// have the same owner, whichever roles start them, because a definition id belongs to one owner.
pub fn activation_key(program: &Program, owner: i32, correlation_id: Option<&str>) -> Option<String> {
    let id = &program.definition_id;
    match (program.options.activation, correlation_id) {
        (Activation::Singleton, _) => Some(format!("singleton:{id}")),
        (Activation::Correlated, Some(correlation)) => Some(format!("correlated:{owner}:{correlation}")),
        (Activation::CorrelatedSingleton, Some(correlation)) => {
            Some(format!("correlated-singleton:{}:{id}:{correlation}", id.len()))
        }
        (Activation::Always | Activation::Correlated | Activation::CorrelatedSingleton, _) => None,
    }
}

/// The activation key of an instance after a burst.
pub(crate) fn key_after(outcome: &Outcome<'_>) -> Option<String> {
    let instance = outcome.instance;
    match instance.sub_status {
        // What is about to end keeps the key that it has. One that was faulted may have lost it to another instance.
        SubStatus::Suspended if instance.state.ending() != Ending::None => outcome.before.activation_key.clone(),
        SubStatus::Pending | SubStatus::Executing | SubStatus::Suspended => {
            activation_key(outcome.program, outcome.definition_owner, instance.correlation_id.as_deref())
        }
        SubStatus::Finished | SubStatus::Faulted | SubStatus::Cancelled => None,
    }
}

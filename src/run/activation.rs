//! Which instances exclude each other.

use workflow_engine::program::Activation;

use crate::compiled::Compiled;
use crate::store::instances::InstanceRow;

/// The activation key of an instance with this correlation id. Instances exclude each other only if their definitions
/// have the same owner, whichever roles start them, because a definition id belongs to one owner.
pub fn activation_key(compiled: &Compiled, correlation_id: Option<&str>) -> Option<String> {
    let Compiled { program, row } = compiled;
    let (id, owner) = (&program.definition_id, row.owner.id);
    match (program.options.activation, correlation_id) {
        (Activation::Singleton, _) => Some(format!("singleton:{id}")),
        (Activation::Correlated, Some(correlation)) => Some(format!("correlated:{owner}:{correlation}")),
        (Activation::CorrelatedSingleton, Some(correlation)) => {
            Some(format!("correlated-singleton:{}:{id}:{correlation}", id.len()))
        }
        (Activation::Always | Activation::Correlated | Activation::CorrelatedSingleton, _) => None,
    }
}

/// The activation key of a new instance; empty if it has none.
pub fn key_of(row: &InstanceRow, compiled: &Compiled) -> String {
    activation_key(compiled, row.instance.correlation_id.as_deref()).unwrap_or_default()
}

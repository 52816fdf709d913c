//! Which instances exclude each other.

use workflow_engine::program::Activation;

use crate::compiled::Compiled;
use crate::store::instances::InstanceRow;

/// What an instance with this correlation id excludes others by.
/// Definitions of different owners do not exclude each other; those of one do, also where different roles start them: a
/// definition's id is its owner's.
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

/// What a new instance would exclude others by.
pub fn key_of(row: &InstanceRow, compiled: &Compiled) -> String {
    activation_key(compiled, row.instance.correlation_id.as_deref()).unwrap_or_default()
}

//! The instance that replaces a run that ends.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use workflow_value::value::Json;

/// The instance that starts in place of one that ended.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Continuation {
    /// Id of the new instance, chosen by the burst that ends the old one.
    #[serde(with = "uuid::serde::compact")]
    pub id: Uuid,
    /// The definition version that it runs.
    #[serde(with = "uuid::serde::compact")]
    pub version_id: Uuid,
    /// The id that all versions of that definition share.
    pub definition_id: String,
    /// Input of the new instance, an object.
    pub input: Json,
}

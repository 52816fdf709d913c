//! What takes the place of a run that ends.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use workflow_value::value::Json;

/// The instance that begins when another one has ended, in its place.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Continuation {
    /// Id of the new instance, which the burst that ends the old one chooses.
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

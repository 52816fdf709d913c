//! What takes the place of a run that ends.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::value::Json;

/// The instance that begins when another one has ended, in its place.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Continuation {
    /// Its id.
    #[serde(with = "uuid::serde::compact")]
    pub id: Uuid,
    /// The definition version that it runs.
    #[serde(with = "uuid::serde::compact")]
    pub version_id: Uuid,
    /// Logical id of that definition.
    pub definition_id: String,
    /// Its input, an object.
    pub input: Json,
}

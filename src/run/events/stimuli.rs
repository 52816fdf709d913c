//! Stimuli that are being delivered, and the outcome.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::journal::Identity;

use crate::pg::spi::Timestamp;
use crate::store::events::matching::{Filter, StoredBookmark};
use crate::store::rights::owners::Owner;

/// A stimulus that is being delivered.
#[derive(Debug)]
pub struct Stimulus {
    /// The bookmarks and triggers that it matches.
    pub filter: Filter,
    /// Its payload, in normal form.
    pub payload: Option<Value>,
    /// The input of the resumed activity.
    pub input: Option<Value>,
    /// The role that sent it.
    pub sender: Owner,
    /// Who sent it; `None` if a burst did.
    pub sent_by: Option<Identity>,
    /// Whether it was queued.
    pub was_kept: bool,
}

/// The time until which a stimulus is kept; `None`: it is not kept.
pub type KeepUntil = Option<Timestamp>;

/// The outcome of a delivery.
#[derive(Debug, Default)]
pub struct Delivery {
    /// Instances that it started.
    pub started: Vec<Uuid>,
    /// Instances that it resumed, or resumes before this transaction's burst ends.
    pub resumed: Vec<Uuid>,
    /// The queue item that keeps it.
    pub queued: Option<Uuid>,
    /// Matching bookmarks that this session cannot resume now: locked, faulted, or reserved for a session of their
    /// owner.
    pub busy: Vec<StoredBookmark>,
    /// Whether it reached nothing: it started and resumed no instance, and no matching bookmark will get it later.
    pub is_unheard: bool,
    /// Number of matches skipped because the sender's side has not admitted their owners.
    pub withheld: i32,
}

impl Delivery {
    /// Whether it started or resumed anything.
    pub fn has_reached(&self) -> bool {
        !self.started.is_empty() || !self.resumed.is_empty()
    }
}

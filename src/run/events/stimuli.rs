//! Stimuli on their way, and what became of them.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::journal::Identity;

use crate::pg::spi::Timestamp;
use crate::store::events::matching::{Filter, StoredBookmark};
use crate::store::rights::owners::Owner;

/// A stimulus on its way.
#[derive(Debug)]
pub struct Stimulus {
    /// What it asks for.
    pub filter: Filter,
    /// Its payload, in normal form.
    pub payload: Option<Value>,
    /// What the resumed activity gets.
    pub input: Option<Value>,
    /// The role that sent it.
    pub sender: Owner,
    /// Who sent it, if not a burst.
    pub sent_by: Option<Identity>,
    /// Whether it comes out of the queue.
    pub was_kept: bool,
}

/// Until when a stimulus is kept; `None`: it is not kept.
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
    /// Matching bookmarks that this session cannot resume now: locked, faulted, or to be run by a session of their
    /// owner.
    pub busy: Vec<StoredBookmark>,
    /// Whether it reached nothing: it started and resumed no instance, and no matching bookmark is to get it later.
    pub is_unheard: bool,
    /// Matches that were passed over because the sender's side has not admitted their owners.
    pub withheld: i32,
}

impl Delivery {
    /// Whether it started or resumed anything.
    pub fn has_reached(&self) -> bool {
        !self.started.is_empty() || !self.resumed.is_empty()
    }
}

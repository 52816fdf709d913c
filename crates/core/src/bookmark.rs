//! Bookmarks: the only way in which an instance waits.

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use workflow_http::stimulus;

/// A point at which an instance waits. The stored row is the only record of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bookmark {
    /// Id, a UUID version 7 whose time is the burst that made it.
    pub id: Uuid,
    /// Id of the node that waits within the definition.
    pub activity_id: String,
    /// Path of ids from the workflow down to that node.
    pub node_id: String,
    /// Type of that node; of a task that of `RunTask`.
    pub activity_type: String,
    /// The waiting execution of the node.
    pub activity_instance_id: Uuid,
    /// Stimulus name, by default the activity type.
    pub name: String,
    /// SHA-256 of the stimulus. `None`: it is computed when it is needed ([`Bookmark::hash`]).
    pub hash: Option<[u8; 32]>,
    /// The payload that a stimulus must have in addition to the name, in normal form; `None`: any.
    pub payload: Option<Value>,
    /// Data for the callback. Not used for matching stimuli.
    pub metadata: Option<Value>,
    /// SQL function that a resume calls; without it, a resume completes the activity or calls the activity's own
    /// `resumed`.
    pub callback: Option<String>,
    /// Whether a resume uses the bookmark up.
    pub auto_burn: bool,
    /// Whether a resume without callback completes the activity.
    pub auto_complete: bool,
    /// When the bookmark is resumed by a timer.
    pub due_at: Option<DateTime<Utc>>,
}

impl Bookmark {
    /// SHA-256 of the stimulus. That of a task is not stored and rarely needed, because a task is found by its id.
    pub fn hash(&self) -> [u8; 32] {
        self.hash.unwrap_or_else(|| stimulus::hash(&self.name, self.payload.as_ref(), None))
    }
}

/// A bookmark as an activity requests it; the burst adds the rest.
#[derive(Debug, PartialEq)]
pub struct NewBookmark {
    /// Id, if the activity has chosen one; it must be unused.
    pub id: Option<Uuid>,
    /// Stimulus name; `None` is the activity type.
    pub name: Option<String>,
    /// Whether it is the bookmark of a task of an activity other than `RunTask`: name and type are those of `RunTask`.
    pub is_task: bool,
    /// The payload that a stimulus must have in addition to the name; the burst normalises it.
    pub payload: Option<Value>,
    /// Free-form data, not used for matching stimuli.
    pub metadata: Option<Value>,
    /// SQL function that a resume calls; `None`: the activity itself continues.
    pub callback: Option<String>,
    /// Whether a resume uses it up; the default.
    pub auto_burn: bool,
    /// Whether a resume without callback completes the activity; the default.
    pub auto_complete: bool,
    /// Whether the activity instance is part of the hash; by default only without a payload.
    pub include_activity_instance: Option<bool>,
    /// When the bookmark is resumed by a timer.
    pub due_at: Option<DateTime<Utc>>,
}

impl Default for NewBookmark {
    fn default() -> Self {
        Self {
            id: None,
            name: None,
            is_task: false,
            payload: None,
            metadata: None,
            callback: None,
            auto_burn: true,
            auto_complete: true,
            include_activity_instance: None,
            due_at: None,
        }
    }
}

/// The part of a stored bookmark that a resume needs.
#[derive(Debug, PartialEq)]
pub struct Resumed {
    /// Id of the bookmark, which the journal names and a resume burns.
    pub id: Uuid,
    /// Stimulus name, which distinguishes a retry or a timeout from the event that the activity waits for.
    pub name: String,
    /// The execution that waits. It must be open.
    pub activity_instance_id: Uuid,
    /// Payload as stored; that of a task contains the task's id.
    pub payload: Option<Value>,
    /// Free-form data of the activity that created it.
    pub metadata: Option<Value>,
    /// SQL function that the resume calls; `None`: the activity itself continues.
    pub callback: Option<String>,
    /// Whether the resume burns the bookmark.
    pub auto_burn: bool,
    /// Whether a resume without callback completes the activity.
    pub auto_complete: bool,
    /// When time resumes it, if it does.
    pub due_at: Option<DateTime<Utc>>,
}

impl From<Bookmark> for Resumed {
    /// A bookmark as the burst created it, for a host that keeps its bookmarks in memory.
    fn from(bookmark: Bookmark) -> Self {
        Self {
            id: bookmark.id,
            name: bookmark.name,
            activity_instance_id: bookmark.activity_instance_id,
            payload: bookmark.payload,
            metadata: bookmark.metadata,
            callback: bookmark.callback,
            auto_burn: bookmark.auto_burn,
            auto_complete: bookmark.auto_complete,
            due_at: bookmark.due_at,
        }
    }
}

//! What a bookmark waits for, which determines how it is stored, claimed and resumed.

use workflow_core::Bookmark;
use workflow_http::stimulus::{self, RUN_TASK};

/// The kind of a bookmark. It follows from the name of the row and the type of its activity, which are compared only
/// here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookmarkKind {
    /// A stimulus: an event, an HTTP request, background work, or whatever a user's function waits for.
    Stimulus,
    /// The answer to an open task.
    Task,
    /// The report of a child workflow.
    Child,
    /// A session of the owner, which processes a stored answer. It replaces the bookmark of the task.
    Answer,
    /// A session of the owner, which starts the instance.
    Start,
    /// An admission, with which the instance starts.
    Admission,
    /// The timeout of an activity.
    Timeout,
    /// The deadline of an activity, which then acts, or a time at which it reminds people.
    Deadline,
    /// The timeout for a worker's first claim of a task.
    StartTimeout,
    /// The timeout of a run.
    RunTimeout,
    /// The end of the lease of a task's last attempt.
    Lease,
    /// The next attempt of an activity.
    Retry,
    /// The handlers of the instance.
    Compensation,
}

impl BookmarkKind {
    /// The kind of a bookmark that a burst has created, or that was read from a row.
    pub fn of(bookmark: &Bookmark) -> Self {
        Self::named(&bookmark.name, &bookmark.activity_type, bookmark.auto_burn)
    }

    /// The kind of a bookmark with these columns.
    pub fn named(name: &str, activity_type: &str, auto_burn: bool) -> Self {
        match name {
            stimulus::ANSWER => Self::Answer,
            stimulus::START => Self::Start,
            stimulus::LIMIT => Self::Admission,
            stimulus::TIMEOUT => Self::Timeout,
            stimulus::DEADLINE | stimulus::REMINDER => Self::Deadline,
            stimulus::START_TIMEOUT => Self::StartTimeout,
            stimulus::RUN_TIMEOUT => Self::RunTimeout,
            stimulus::LEASE => Self::Lease,
            stimulus::RETRY => Self::Retry,
            stimulus::COMPENSATION => Self::Compensation,
            // A `RunTask` that runs in the background has opened no task yet, and its bookmark has another name.
            _ if name == RUN_TASK.name && activity_type == name && auto_burn => Self::Task,
            _ if stimulus::is_of_child(name) => Self::Child,
            _ => Self::Stimulus,
        }
    }

    /// Whether stimuli can match it. Any other bookmark is resumed only by time and by its id, and is stored without a
    /// hash.
    pub fn meets_stimuli(self) -> bool {
        match self {
            Self::Stimulus | Self::Task | Self::Child | Self::Start => true,
            Self::Answer
            | Self::Admission
            | Self::Timeout
            | Self::Deadline
            | Self::StartTimeout
            | Self::RunTimeout
            | Self::Lease
            | Self::Retry
            | Self::Compensation => false,
        }
    }

    /// Whether it is the bookmark of an open task.
    pub fn is_task(self) -> bool {
        self == Self::Task
    }
}

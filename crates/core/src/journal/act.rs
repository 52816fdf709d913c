//! Acts: who did what to an instance. The journal row that an act writes starts with it.

use uuid::Uuid;

/// Who acts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The role whose permissions applied, by its id in `workflow.owners`.
    pub role: u32,
    /// The session's role, if it is a different one.
    pub login: Option<u32>,
    /// The name of the person, as the application gives it.
    pub actor: Option<String>,
}

/// What someone did to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActKind {
    /// Started the instance.
    Start,
    /// Completed a task.
    Complete,
    /// Gave up a task, or its last attempt failed.
    Fail,
    /// Resumed a bookmark that the call named.
    Resume,
    /// Sent an event or another stimulus, which resumed the instance.
    Send,
    /// Assigned a task, or removed its assignee.
    Assign,
    /// Answered a task on behalf of other people, with a reason.
    Override,
    /// Cancelled the instance.
    Cancel,
    /// Retried faulted activities.
    Retry,
    /// Paused the instance.
    Pause,
    /// Ended a pause.
    Unpause,
    /// Altered the instance.
    Alter,
    /// Migrated the instance to another version of its definition.
    Migrate,
    /// Gave the instance to another owner.
    SetOwner,
    /// Claimed a task for people.
    Claim,
}

impl ActKind {
    /// All kinds. A kind is stored by its place here, counted from 1: add at the end only.
    const ALL: [Self; 15] = [
        Self::Start,
        Self::Complete,
        Self::Fail,
        Self::Resume,
        Self::Send,
        Self::Assign,
        Self::Override,
        Self::Cancel,
        Self::Retry,
        Self::Pause,
        Self::Unpause,
        Self::Alter,
        Self::Migrate,
        Self::SetOwner,
        Self::Claim,
    ];

    /// The number by which it is stored.
    pub(super) fn number(self) -> u16 {
        Self::ALL.iter().zip(1..).find(|(kind, _)| **kind == self).map_or(0, |(_, number)| number)
    }

    /// The kind that is stored by this number.
    pub(super) fn of_number(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Its name in the audit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Complete => "complete task",
            Self::Fail => "fail task",
            Self::Resume => "resume",
            Self::Send => "send",
            Self::Assign => "assign task",
            Self::Override => "override task",
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Pause => "pause",
            Self::Unpause => "unpause",
            Self::Alter => "alter",
            Self::Migrate => "migrate",
            Self::SetOwner => "set owner",
            Self::Claim => "claim task",
        }
    }
}

/// An act as the journal records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// What was done.
    pub kind: ActKind,
    /// Who did it. The actor of a start is in the row of the instance.
    pub by: Identity,
    /// When, in microseconds since 1970, if the row's time differs from the real one.
    pub at: Option<i64>,
    /// The bookmark or task, if no event of the row names it.
    pub subject: Option<Uuid>,
    /// Whether an earlier row of the instance has recorded the act, so that the audit does not count it twice.
    pub is_recorded: bool,
}

impl Act {
    /// An act at the time of its row.
    pub fn new(kind: ActKind, by: Identity) -> Self {
        Self { kind, by, at: None, subject: None, is_recorded: false }
    }
}

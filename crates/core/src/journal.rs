//! The journal: the events of a burst, in order, packed into bytes with a format number.
//!
//! Every burst writes a row, so size matters. An event contains the number of its execution, from which the execution's
//! id is derived with the instance's id. A row names each activity once, with its node id only if its id is ambiguous.
//! The parent of an execution is derived from the preceding events: it is the latest open execution of the parent
//! activity. Only otherwise the event contains it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use workflow_value::value::Json;

mod act;
mod erasure;
mod packed;

pub use act::{Act, ActKind, Identity};
pub use erasure::replace_actor;
pub use packed::{Row, decode, decode_act, encode};

/// An event in a burst.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The kind of event, which determines the other members.
    pub kind: EventKind,
    /// Activity id; empty for the workflow itself.
    pub activity_id: String,
    /// Activity type without the `Elsa.` prefix; empty for the workflow itself.
    pub activity_type: String,
    /// Number of the execution of the activity in its instance; see
    /// [`activity_instance_id`](crate::execution::activity_instance_id).
    pub execution: Option<u32>,
    /// Bookmark, if the event is about one.
    pub bookmark_id: Option<Uuid>,
    /// Data, depending on the kind: outcomes, the written line, the fault, the reason.
    pub data: Option<Json>,
    /// Node id of the activity, if several activities of the definition have its id.
    pub node_id: Option<String>,
    /// Number of the parent execution, if it is not the latest open one of its activity.
    pub parent: Option<u32>,
}

impl Event {
    /// An event of the workflow itself.
    pub fn of_workflow(kind: EventKind, data: Option<Value>) -> Self {
        Self::of_activity(kind, String::new(), String::new(), data)
    }

    /// An event of an activity, by id and type without the `Elsa.` prefix, without an execution.
    pub fn of_activity(kind: EventKind, activity_id: String, activity_type: String, data: Option<Value>) -> Self {
        Self {
            kind,
            activity_id,
            activity_type,
            execution: None,
            bookmark_id: None,
            data: data.map(Json),
            node_id: None,
            parent: None,
        }
    }
}

/// The kinds of events. Stored by number: add at the end only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// The first burst of the instance began.
    WorkflowStarted,
    /// A bookmark of the workflow was resumed.
    WorkflowResumed,
    /// Every branch waits.
    WorkflowSuspended,
    /// Every execution has ended.
    WorkflowFinished,
    /// A fault that no activity handled stopped the workflow.
    WorkflowFaulted,
    /// The workflow was cancelled; data is the reason.
    WorkflowCancelled,
    /// Faulted activities run again.
    WorkflowRetried,
    /// An execution of an activity started.
    Started,
    /// A bookmark of the activity was resumed.
    Resumed,
    /// An activity started to wait at a new bookmark.
    BookmarkCreated,
    /// An activity completed; data holds outcomes other than `Done`.
    Completed,
    /// An execution was ended by something else before it completed.
    Canceled,
    /// An activity faulted; data is sqlstate and message.
    Faulted,
    /// A line written by `WriteLine`.
    Line,
    /// A stimulus was published; data is name and payload.
    Published,
    /// A note of an activity, such as the computed instant of a timer.
    Note,
    /// A trigger or schedule could not start an instance: an activation strategy rejected it, or the input was invalid.
    StartRefused,
    /// A child workflow was started; data is its instance id and definition id.
    ChildStarted,
    /// The instance got another owner; data names the role that changed it, the old owner and the new one.
    OwnerChanged,
    /// An activity wrote a log entry; data is level, category, message and attributes.
    Logged,
    /// A fault of the activity, or of one below it, or a failed attempt at its task, is followed by another attempt;
    /// data is attempt, max_attempts, sqlstate, message, due_at, and the activity that faulted if it is another one.
    Retrying,
    /// The activity handled a fault below it; data is sqlstate, message and the activity that faulted.
    Caught,
    /// The handlers of the workflow run, then it is cancelled; data is the reason.
    WorkflowCancelling,
    /// The work of a completed activity was compensated.
    Compensated,
    /// The work of a completed activity was confirmed.
    Confirmed,
    /// The cancellation handler of an interrupted activity has run.
    CancellationHandled,
    /// The task of the activity was assigned; data names the role that did it (`by`), the new assignee (`to`) and the
    /// former one (`from`), if there are any.
    Assigned,
    /// The run ends, and another instance replaces it; data is its instance id and definition id.
    WorkflowContinued,
    /// The workflow was paused; data names the role that did it (`by`), and the reason (`reason`) if given.
    Paused,
    /// The pause has ended; data names the role that ended it (`by`).
    Unpaused,
    /// The instance was migrated to another version of its definition; data names the role (`by`), and the numbers of
    /// both versions (`from`, `to`).
    Migrated,
    /// The instance, or the activity, was altered manually; data names the role (`by`), the kind of alteration
    /// (`type`), the reason if there is one, and for a variable its name (`variable`) with the value before (`from`)
    /// and after (`to`).
    Altered,
    /// The inputs of the activity were evaluated; data has those that have a value, by name. Only where
    /// `options.journal` keeps values.
    InputsEvaluated,
    /// The activity has completed with these outputs; data has them by name. Only where `options.journal` keeps values.
    OutputsSet,
    /// The flowchart ends while an activity in it waits for connections that will never be followed; data names it
    /// (`activity_id`), and how many of its connections were followed (`followed`, `connections`).
    LeftWaiting,
}

impl EventKind {
    /// Whether an event only contains values of an activity.
    pub fn is_of_values(self) -> bool {
        matches!(self, Self::InputsEvaluated | Self::OutputsSet)
    }

    /// Whether an event is a milestone of a run: its start and end, what it waited for and was resumed by, what failed,
    /// and what others did to it. The remaining events are details in between.
    pub fn is_milestone(self) -> bool {
        match self {
            Self::WorkflowStarted
            | Self::WorkflowResumed
            | Self::WorkflowSuspended
            | Self::WorkflowFinished
            | Self::WorkflowFaulted
            | Self::WorkflowCancelled
            | Self::WorkflowRetried
            | Self::Resumed
            | Self::BookmarkCreated
            | Self::Faulted
            | Self::StartRefused
            | Self::ChildStarted
            | Self::OwnerChanged
            | Self::Retrying
            | Self::Caught
            | Self::WorkflowCancelling
            | Self::Compensated
            | Self::Confirmed
            | Self::CancellationHandled
            | Self::Assigned
            | Self::WorkflowContinued
            | Self::Paused
            | Self::Unpaused
            | Self::Migrated
            | Self::Altered
            | Self::LeftWaiting => true,
            Self::Started
            | Self::Completed
            | Self::Canceled
            | Self::Line
            | Self::Published
            | Self::Note
            | Self::Logged
            | Self::InputsEvaluated
            | Self::OutputsSet => false,
        }
    }
}

/// The member of a note with the status of a response that came too late for its request.
pub const LATE_RESPONSE: &str = "late_response";

/// Which events of a burst are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Every event is written.
    #[default]
    Full,
    /// Only milestones are written.
    Milestones,
    /// No event is written.
    None,
}

impl Level {
    /// Whether an event of a kind is written.
    pub fn writes(self, kind: EventKind) -> bool {
        match self {
            Self::Full => true,
            Self::Milestones => kind.is_milestone(),
            // Manual changes of an instance are always written.
            Self::None => kind == EventKind::Altered,
        }
    }
}

/// Data of the bookmark of a run: its deadline.
pub const RUN_UNTIL: &str = "run_until";

/// Data of the bookmark of a task that must be claimed in time: the deadline.
pub const CLAIM_UNTIL: &str = "claim_until";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use workflow_value::fault::Error;

    #[test]
    fn events_come_back_as_they_were() {
        let event = Event {
            kind: EventKind::StartRefused,
            activity_id: "a".into(),
            activity_type: "Event".into(),
            execution: Some(1),
            bookmark_id: Some(Uuid::from_u128(1)),
            data: Some(Json(json!({"x": 1.10}))),
            node_id: None,
            parent: None,
        };
        let other = Event { activity_id: "b".into(), execution: None, bookmark_id: None, ..event.clone() };
        let none = Event { activity_id: String::new(), activity_type: String::new(), ..other.clone() };
        let inner = Event { parent: Some(300), ..event.clone() };
        let twin = Event { node_id: Some("Workflow1:f:a".into()), ..event.clone() };
        let inner_twin = Event { parent: Some(0), ..twin.clone() };
        let new = Event { activity_id: "c".into(), ..inner.clone() };
        let new_twin = Event { node_id: Some("Workflow1:g:c".into()), ..new.clone() };
        let events = vec![event.clone(), other, none, inner, twin.clone(), inner_twin, new, new_twin, twin, event];
        assert_eq!(decode(&encode(&events)).unwrap(), events);
        assert_eq!(decode(&encode(&[])).unwrap(), []);
    }

    /// The number under which a kind is stored. A new kind gets the next one; never change an existing number.
    fn number(kind: EventKind) -> u8 {
        match kind {
            EventKind::WorkflowStarted => 0,
            EventKind::WorkflowResumed => 1,
            EventKind::WorkflowSuspended => 2,
            EventKind::WorkflowFinished => 3,
            EventKind::WorkflowFaulted => 4,
            EventKind::WorkflowCancelled => 5,
            EventKind::WorkflowRetried => 6,
            EventKind::Started => 7,
            EventKind::Resumed => 8,
            EventKind::BookmarkCreated => 9,
            EventKind::Completed => 10,
            EventKind::Canceled => 11,
            EventKind::Faulted => 12,
            EventKind::Line => 13,
            EventKind::Published => 14,
            EventKind::Note => 15,
            EventKind::StartRefused => 16,
            EventKind::ChildStarted => 17,
            EventKind::OwnerChanged => 18,
            EventKind::Logged => 19,
            EventKind::Retrying => 20,
            EventKind::Caught => 21,
            EventKind::WorkflowCancelling => 22,
            EventKind::Compensated => 23,
            EventKind::Confirmed => 24,
            EventKind::CancellationHandled => 25,
            EventKind::Assigned => 26,
            EventKind::WorkflowContinued => 27,
            EventKind::Paused => 28,
            EventKind::Unpaused => 29,
            EventKind::Migrated => 30,
            EventKind::Altered => 31,
            EventKind::InputsEvaluated => 32,
            EventKind::OutputsSet => 33,
            EventKind::LeftWaiting => 34,
        }
    }

    #[test]
    fn kinds_are_stored_by_numbers_that_stay() {
        for stored in 0..=34 {
            assert_eq!(number(postcard::from_bytes(&[stored]).unwrap()), stored);
        }
        assert!(postcard::from_bytes::<EventKind>(&[35]).is_err());
    }

    #[test]
    fn other_formats_and_damaged_bytes_are_refused() {
        let nameless = [2, 1, 0, 5, 0, 0, 3, 0, 0, 0];
        let others: [&[u8]; 7] = [&[], &[0, 0], &[1, 0], &[2, 9], &[2, 0, 0], &[2, 1, 7, 1, 0, 0, 0, 0], &nameless];
        // No activity 0, no variant 7, two bits without a meaning, an execution that is missing, half a bookmark, a
        // byte too many.
        let third: [&[u8]; 7] = [
            &[3, 1, 7, 1, 0],
            &[3, 1, 7, 7],
            &[3, 1, 0, 64],
            &[3, 1, 0, 128],
            &[3, 1, 0, 8],
            &[3, 1, 0, 16, 1, 2],
            &[3, 1, 0, 0, 0],
        ];
        for bytes in others.into_iter().chain(third) {
            assert!(matches!(decode(bytes), Err(Error::CorruptState(_))), "{bytes:?}");
        }
    }

    /// The same events in all formats, with each way of naming the activity and each field. Most frozen samples have
    /// format 2, so only this test preserves the bytes of the other formats.
    #[test]
    fn bytes_of_all_formats_stay() {
        let second = b"\x02\x08\0\0\0\0\0\
            \x07\x02\x01a\x01T\x01\x01\0\0\x07\x03\x01b\x01T\x01n\x01\x02\0\0\x0a\x01\0\x01\x01\0\0\
            \x07\x05\x01c\x01T\x01\x01\x03\0\0\x07\x06\x01d\x01T\x01m\x02\x01\x04\0\0\x0a\x04\x02\x01\x01\x03\0\0\
            \x09\x01\0\x01\x01\x01bookmark-bookmar\x01\x015";
        let third = b"\x03\x08\0\0\
            \x07\x0a\x01a\x01T\x01\x07\x0b\x01b\x01T\x01n\x02\x0a\x09\0\x01\
            \x07\x0d\x01c\x01T\x01\x03\x07\x0e\x01d\x01T\x01m\x02\x04\x0a\x0c\x02\x01\x03\
            \x09\x39\0\x01bookmark-bookmar\x015";
        let fourth = b"\x04\0\x08\0\0\
            \x07\x0a\x01a\0\x01T\x01\x07\x0b\x01b\0\x01T\x01n\x02\x0a\x09\0\x01\
            \x07\x0d\x01c\0\x01T\x01\x03\x07\x0e\x01d\0\x01T\x01m\x02\x04\x0a\x0c\x02\x01\x03\
            \x09\x39\0\x01bookmark-bookmar\x015";
        let events = decode(second).unwrap();
        assert_eq!(decode(third).unwrap(), events);
        assert_eq!(decode(fourth).unwrap(), events);
        assert_eq!(encode(&events), fourth);
    }

    /// Each field of an act, and a type that is stored as a number.
    #[test]
    fn bytes_of_acts_stay() {
        let event = Event::of_activity(EventKind::Completed, "a".into(), "RunTask".into(), None);
        let short = Act::new(ActKind::Start, Identity { role: 1, ..Identity::default() });
        let long = Act {
            kind: ActKind::SetOwner,
            by: Identity { role: 300, login: Some(2), actor: Some("ada".into()) },
            at: Some(-1),
            subject: Some(Uuid::from_bytes(*b"bookmark-bookmar")),
            is_recorded: false,
        };
        let again = Act { kind: ActKind::Complete, is_recorded: true, ..short.clone() };
        let rows: [(&Act, &[Event], &[u8]); 3] = [
            (&short, std::slice::from_ref(&event), b"\x04\x01\x01\x01\x0a\x02\x01a\x04"),
            (&long, &[], b"\x04\xee\x03\xac\x02\x03ada\x02\x01bookmark-bookmar\0"),
            (&again, &[], b"\x04\x82\x04\x01\0"),
        ];
        for (act, events, stored) in rows {
            let row = Row::of(Some(act), events);
            assert_eq!(row.encode(row.size()), stored);
            assert_eq!(row.size(), stored.len());
            assert_eq!(decode_act(stored).unwrap().as_ref(), Some(act));
            assert_eq!(decode(stored).unwrap(), events);
        }
        assert_eq!(decode_act(&encode(&[event])).unwrap(), None);
        // No kind 31, a bit without a meaning, a role that is missing.
        for bytes in [&[4, 31, 1, 0][..], &[4, 0x81, 0x08, 1, 0], &[4, 1]] {
            assert!(matches!(decode_act(bytes), Err(Error::CorruptState(_))), "{bytes:?}");
        }
    }
}

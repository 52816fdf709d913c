//! The journal: the events of a burst, in order, packed into bytes with a format number.
//!
//! Every burst writes a row of it, so bytes count. An event has the number of its execution, because the execution's id
//! follows from that number and the instance's id. A row names each activity once.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::fault::Error;
use crate::instance::codec::Counted;
use crate::value::{Bounds, Json};

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Kind of the event.
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
    /// Data of the kind: outcomes, the written line, the fault, the reason.
    pub data: Option<Json>,
}

impl Event {
    /// An event of the workflow itself.
    pub fn of_workflow(kind: EventKind, data: Value) -> Self {
        Self {
            kind,
            activity_id: String::new(),
            activity_type: String::new(),
            execution: None,
            bookmark_id: None,
            data: Some(Json(data)),
        }
    }
}

/// The kinds of events. Stored by number: add at the end only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// The workflow started.
    WorkflowStarted,
    /// A bookmark of the workflow was resumed.
    WorkflowResumed,
    /// Every branch waits.
    WorkflowSuspended,
    /// Every execution has ended.
    WorkflowFinished,
    /// A fault stopped the workflow.
    WorkflowFaulted,
    /// The workflow was cancelled; data is the reason.
    WorkflowCancelled,
    /// Faulted activities run again.
    WorkflowRetried,
    /// An activity began.
    Started,
    /// A bookmark of the activity was resumed.
    Resumed,
    /// A bookmark was made.
    BookmarkCreated,
    /// An activity completed; data holds outcomes other than `Done`.
    Completed,
    /// An activity was cancelled.
    Canceled,
    /// An activity faulted; data is sqlstate and message.
    Faulted,
    /// A line written by `WriteLine`.
    Line,
    /// A stimulus was published; data is name and payload.
    Published,
    /// A note of an activity, such as the computed instant of a timer.
    Note,
    /// A trigger or schedule could not start an instance: an activation strategy refused, or the input did not fit.
    StartRefused,
    /// A child workflow was started; data is its instance id and definition id.
    ChildStarted,
    /// The instance got another owner; data names the role that changed it, the old owner and the new one.
    OwnerChanged,
    /// An activity logged something; data is level, category, message and attributes.
    Logged,
    /// A fault of the activity, or of one below it, is followed by another attempt; data is attempt, max_attempts,
    /// sqlstate, message, due_at, and the activity that faulted if it is another one.
    Retrying,
    /// A fault below the activity was taken by it; data is sqlstate, message and the activity that faulted.
    Caught,
    /// The handlers of the workflow run, then it is cancelled; data is the reason.
    WorkflowCancelling,
    /// What a completed activity had done was taken back.
    Compensated,
    /// What a completed activity had done stays for good.
    Confirmed,
    /// What an interrupted activity had begun was given up.
    CancellationHandled,
    /// The task of the activity was assigned; data names the role that did it (`by`), to whom (`to`) and who had it before
    /// (`from`), the last two only if there is such a person or role.
    Assigned,
    /// The run ends, and another instance begins in its place; data is its instance id and definition id.
    WorkflowContinued,
    /// The workflow was paused; data names the role that did it (`by`), and why (`reason`) if it said so.
    Paused,
    /// The pause has ended; data names the role that ended it (`by`).
    Unpaused,
    /// The instance went over to another version of its definition; data names the role that moved it (`by`), and the
    /// numbers of both versions (`from`, `to`).
    Migrated,
    /// The instance, or the activity, was altered by hand; data names the role (`by`), the kind of alteration (`type`),
    /// the reason if there is one, and of a variable its name (`variable`) with the value before (`from`)
    /// and after (`to`).
    Altered,
}

impl EventKind {
    /// Whether an event says where a run stands: how it began and ended, what it waited for and was resumed by, what went
    /// wrong, and what others did to it. The rest says how it came there.
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
            | Self::Altered => true,
            Self::Started
            | Self::Completed
            | Self::Canceled
            | Self::Line
            | Self::Published
            | Self::Note
            | Self::Logged => false,
        }
    }
}

/// Which events of a burst are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// All.
    #[default]
    Full,
    /// The milestones.
    Milestones,
    /// None.
    None,
}

impl Level {
    /// Whether an event of a kind is written.
    pub fn writes(self, kind: EventKind) -> bool {
        match self {
            Self::Full => true,
            Self::Milestones => kind.is_milestone(),
            // What was done to an instance by hand is written always.
            Self::None => kind == EventKind::Altered,
        }
    }
}

/// Data of the bookmark of a run: until when the run may take.
pub(crate) const RUN_UNTIL: &str = "run_until";

/// Data of the bookmark of a task that must be claimed in time: until when.
pub(crate) const CLAIM_UNTIL: &str = "claim_until";

/// The format that is written. Version 0.1.0 wrote format 1.
const FORMAT: u8 = 2;

/// An event as it is stored.
#[derive(Serialize, Deserialize)]
struct Packed<'a, D> {
    kind: EventKind,
    #[serde(borrow)]
    activity: Activity<'a>,
    execution: Option<u32>,
    bookmark: Option<uuid::Bytes>,
    data: Option<D>,
}

/// Id and type of an activity.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Activity<'a> {
    /// No activity: the event is about the workflow itself.
    None,
    /// The activity that this row named at this position.
    Known(u32),
    /// An activity that the row has not named yet.
    New(&'a str, &'a str),
}

/// Events in the form in which a row stores them.
pub struct Row<'a>(Vec<Packed<'a, &'a Json>>);

impl<'a> Row<'a> {
    /// Collects the distinct activities of the events.
    pub fn of(events: &'a [Event]) -> Self {
        // A burst names few activities, so a linear search suffices.
        let mut known = Vec::new();
        let packed = events.iter().map(|event| {
            let name = (event.activity_id.as_str(), event.activity_type.as_str());
            let activity = match known.iter().position(|known| *known == name) {
                _ if name == ("", "") => Activity::None,
                Some(place) => Activity::Known(place as u32),
                None => {
                    known.push(name);
                    Activity::New(name.0, name.1)
                }
            };
            let bookmark = event.bookmark_id.map(Uuid::into_bytes);
            Packed { kind: event.kind, activity, execution: event.execution, bookmark, data: event.data.as_ref() }
        });
        Self(packed.collect())
    }

    /// The size in bytes.
    pub fn size(&self) -> usize {
        let Counted(size) = postcard::to_extend(&self.0, Counted(1)).expect("events are always serializable");
        size
    }

    /// Packs the row. `size` is its known size, so that the vector takes no more memory than that.
    pub fn encode(&self, size: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size);
        bytes.push(FORMAT);
        // Serializing strings, numbers and sequences of known length to a vector cannot fail.
        postcard::to_extend(&self.0, bytes).expect("events are always serializable")
    }
}

/// Packs events.
///
/// ```
/// use workflow_engine::journal::{Event, EventKind, decode, encode};
///
/// let event = Event {
///     kind: EventKind::Line,
///     activity_id: "tell".into(),
///     activity_type: "WriteLine".into(),
///     execution: None,
///     bookmark_id: None,
///     data: None,
/// };
/// assert_eq!(decode(&encode(&[event.clone()])).unwrap(), [event]);
/// ```
pub fn encode(events: &[Event]) -> Vec<u8> {
    Row::of(events).encode(0)
}

/// Unpacks events.
///
/// # Errors
/// [`Error::CorruptState`] if the format is unknown or the bytes are damaged.
pub fn decode(bytes: &[u8]) -> Result<Vec<Event>, Error> {
    match bytes.split_first() {
        Some((&FORMAT, rest)) => {
            let corrupt = |error: postcard::Error| Error::CorruptState(format!("It is damaged: {error}."));
            let (count, mut rest): (usize, _) = postcard::take_from_bytes(rest).map_err(corrupt)?;
            let (mut events, mut known) = (Vec::new(), Vec::new());
            // Events are read one by one: damaged bytes may state a wrong number, and an event takes many times its
            // packed size.
            for _ in 0..count {
                let (event, after): (Packed<'_, Json>, _) = postcard::take_from_bytes(rest).map_err(corrupt)?;
                let (id, kind) = match event.activity {
                    Activity::None => ("", ""),
                    Activity::Known(place) => known.get(place as usize).copied().ok_or_else(unknown_place)?,
                    Activity::New(id, kind) => {
                        known.push((id, kind));
                        (id, kind)
                    }
                };
                if !Bounds::may_push(&events) || !(Bounds::current().room)(id.len() + kind.len()) {
                    return Err(Error::CorruptState("Reading was stopped.".to_owned()));
                }
                events.push(Event {
                    kind: event.kind,
                    activity_id: id.to_owned(),
                    activity_type: kind.to_owned(),
                    execution: event.execution,
                    bookmark_id: event.bookmark.map(Uuid::from_bytes),
                    data: event.data,
                });
                rest = after;
            }
            match rest {
                [] => Ok(events),
                _ => Err(Error::CorruptState("It has bytes after its end.".to_owned())),
            }
        }
        Some((format, _)) => Err(Error::CorruptState(format!("Its format {format} is not known."))),
        None => Err(Error::CorruptState("It is empty.".to_owned())),
    }
}

fn unknown_place() -> Error {
    Error::CorruptState("It refers to an activity that it does not name.".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_come_back_as_they_were() {
        let event = Event {
            kind: EventKind::StartRefused,
            activity_id: "a".into(),
            activity_type: "Event".into(),
            execution: Some(1),
            bookmark_id: Some(Uuid::from_u128(1)),
            data: Some(Json(json!({"x": 1.10}))),
        };
        let other = Event { activity_id: "b".into(), execution: None, bookmark_id: None, ..event.clone() };
        let none = Event { activity_id: String::new(), activity_type: String::new(), ..other.clone() };
        let events = vec![event.clone(), other, none, event];
        assert_eq!(decode(&encode(&events)).unwrap(), events);
        assert_eq!(decode(&encode(&[])).unwrap(), []);
    }

    #[test]
    fn kinds_are_stored_by_numbers_that_stay() {
        let stored = |kind: EventKind| postcard::to_stdvec(&kind).unwrap();
        assert_eq!(stored(EventKind::WorkflowStarted), [0]);
        assert_eq!(stored(EventKind::Started), [7]);
        assert_eq!(stored(EventKind::StartRefused), [16]);
        assert_eq!(stored(EventKind::ChildStarted), [17]);
        assert_eq!(stored(EventKind::OwnerChanged), [18]);
        assert_eq!(stored(EventKind::Logged), [19]);
    }

    #[test]
    fn other_formats_and_damaged_bytes_are_refused() {
        for bytes in [&[] as &[u8], &[0, 0], &[1, 0], &[2, 9], &[2, 0, 0], &[2, 1, 7, 1, 0, 0, 0, 0]] {
            assert!(matches!(decode(bytes), Err(Error::CorruptState(_))));
        }
    }
}

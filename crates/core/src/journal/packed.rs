//! A row of the journal as it is stored: the act that it records, if any, and its events. An event consists of its
//! kind, a byte that says which fields follow, and these fields.

use serde::ser::SerializeTuple;
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

use crate::instance::codec::ByteCount;
use crate::journal::act::{Act, ActKind, Identity};
use crate::journal::{Event, EventKind};
use workflow_value::fault::Error;
use workflow_value::value::{Bounds, Json};

/// The format that is written.
const FORMAT: u8 = 4;
/// The format before acts were recorded, with the name of each type.
const FORMAT_3: u8 = 3;
/// The format of version 0.2.0, which has a byte for each field that may be missing. Version 0.1.0 wrote format 1.
const FORMAT_2: u8 = 2;

/// The bits of the first number of a row that say which kind of act it records; 0: none.
const ACT: u16 = 0b1_1111;
/// An actor follows.
const ACTOR: u16 = 1 << 5;
/// A login role follows.
const LOGIN: u16 = 1 << 6;
/// A time follows.
const AT: u16 = 1 << 7;
/// A bookmark follows.
const SUBJECT: u16 = 1 << 8;
/// An earlier row has recorded the act.
const RECORDED: u16 = 1 << 9;

/// Activity types that are stored as a number, counted from 1: add at the end only.
const COMMON_TYPES: [&str; 24] = [
    "Sequence",
    "Flowchart",
    "Event",
    "RunTask",
    "FlowDecision",
    "SetOutput",
    "SetVariable",
    "If",
    "WriteLine",
    "Workflow.Sql",
    "Delay",
    "While",
    "For",
    "ForEach",
    "Parallel",
    "ParallelForEach",
    "Fork",
    "FlowFork",
    "FlowJoin",
    "FlowSwitch",
    "Switch",
    "Workflow.Try",
    "PublishEvent",
    "DispatchWorkflow",
];

/// The bits of the second byte of an event that say which variant of `PackedActivity` it has.
const ACTIVITY: u8 = 0b111;
/// An execution follows.
const EXECUTION: u8 = 1 << 3;
/// A bookmark follows.
const BOOKMARK: u8 = 1 << 4;
/// Data follow.
const DATA: u8 = 1 << 5;

/// An event as it is stored. Format 2 is read by the derived code.
#[derive(Deserialize)]
struct Packed<'a, D> {
    kind: EventKind,
    #[serde(borrow)]
    activity: PackedActivity<'a>,
    execution: Option<u32>,
    bookmark: Option<uuid::Bytes>,
    data: Option<D>,
}

impl<D: Serialize> Serialize for Packed<'_, D> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let has = |field: bool, bit: u8| if field { bit } else { 0 };
        let fields = self.activity.variant()
            | has(self.execution.is_some(), EXECUTION)
            | has(self.bookmark.is_some(), BOOKMARK)
            | has(self.data.is_some(), DATA);
        // Postcard writes no length for a tuple.
        let mut tuple = to.serialize_tuple(0)?;
        tuple.serialize_element(&self.kind)?;
        tuple.serialize_element(&fields)?;
        self.activity.serialize_fields(&mut tuple)?;
        if let Some(execution) = &self.execution {
            tuple.serialize_element(execution)?;
        }
        if let Some(bookmark) = &self.bookmark {
            tuple.serialize_element(bookmark)?;
        }
        if let Some(data) = &self.data {
            tuple.serialize_element(data)?;
        }
        tuple.end()
    }
}

impl<'a, D: Deserialize<'a>> Packed<'a, D> {
    /// Reads an event of format 3, and returns the bytes after it.
    fn take_format_3(bytes: &'a [u8]) -> Taken<'a, Self> {
        Self::take_with(bytes, next)
    }

    /// Reads an event of format 4, and returns the bytes after it.
    fn take(bytes: &'a [u8]) -> Taken<'a, Self> {
        Self::take_with(bytes, next_type)
    }

    fn take_with(bytes: &'a [u8], next_type: NextType<'a>) -> Taken<'a, Self> {
        let ((kind, fields), mut rest): ((EventKind, u8), _) = postcard::take_from_bytes(bytes)?;
        if fields & !(ACTIVITY | EXECUTION | BOOKMARK | DATA) != 0 {
            return Err(postcard::Error::DeserializeBadEncoding);
        }
        let activity = PackedActivity::take(fields & ACTIVITY, &mut rest, next_type)?;
        let execution = (fields & EXECUTION != 0).then(|| next(&mut rest)).transpose()?;
        let bookmark = (fields & BOOKMARK != 0).then(|| next(&mut rest)).transpose()?;
        let data = (fields & DATA != 0).then(|| next(&mut rest)).transpose()?;
        Ok((Self { kind, activity, execution, bookmark, data }, rest))
    }
}

/// A value that was read, and the bytes after it.
type Taken<'a, T> = postcard::Result<(T, &'a [u8])>;

/// Reads a value from the start of the bytes and removes it from them.
fn next<'a, T: Deserialize<'a>>(bytes: &mut &'a [u8]) -> postcard::Result<T> {
    let (value, rest) = postcard::take_from_bytes(bytes)?;
    *bytes = rest;
    Ok(value)
}

/// Reads the type of an activity.
type NextType<'a> = fn(&mut &'a [u8]) -> postcard::Result<&'a str>;

/// The type of an activity: the number of a common type, or 0 and the name.
fn next_type<'a>(bytes: &mut &'a [u8]) -> postcard::Result<&'a str> {
    match next::<u8>(bytes)? {
        0 => next(bytes),
        number => COMMON_TYPES.get(usize::from(number) - 1).copied().ok_or(postcard::Error::DeserializeBadEnum),
    }
}

/// The type of an activity, as format 4 stores it.
struct PackedType<'a>(&'a str);

impl Serialize for PackedType<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let common = COMMON_TYPES.iter().zip(1_u8..).find(|(name, _)| **name == self.0);
        let mut tuple = to.serialize_tuple(0)?;
        match common {
            Some((_, number)) => tuple.serialize_element(&number)?,
            None => tuple.serialize_element(&(0_u8, self.0))?,
        }
        tuple.end()
    }
}

/// The activity of an event, and the number of the enclosing execution if it has to be stored. The variants are stored
/// by number.
#[derive(Clone, Copy, Deserialize)]
enum PackedActivity<'a> {
    /// No activity: the event is about the workflow itself.
    None,
    /// The activity that this row named before, at this position.
    Known(u32),
    /// An activity that the row has not named yet: id and type.
    New(&'a str, &'a str),
    /// The same with its node id.
    NewAt(&'a str, &'a str, &'a str),
    /// `Known`, below an execution.
    KnownBelow(u32, u32),
    /// `New`, below an execution.
    NewBelow(&'a str, &'a str, u32),
    /// `NewAt`, below an execution.
    NewAtBelow(&'a str, &'a str, &'a str, u32),
}

/// Id, type and, if it has to be stored, node id of an activity.
type Name<'a> = (&'a str, &'a str, Option<&'a str>);

impl<'a> PackedActivity<'a> {
    /// The activity of an event that the row has named before, at this position.
    fn known(position: u32, parent: Option<u32>) -> Self {
        parent.map_or(Self::Known(position), |parent| Self::KnownBelow(position, parent))
    }

    /// An activity that the row has not named before.
    fn new((id, kind, node_id): Name<'a>, parent: Option<u32>) -> Self {
        match (node_id, parent) {
            (None, None) => Self::New(id, kind),
            (Some(node_id), None) => Self::NewAt(id, kind, node_id),
            (None, Some(parent)) => Self::NewBelow(id, kind, parent),
            (Some(node_id), Some(parent)) => Self::NewAtBelow(id, kind, node_id, parent),
        }
    }

    /// The number under which it is stored, in the lowest three bits of a byte.
    fn variant(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Known(..) => 1,
            Self::New(..) => 2,
            Self::NewAt(..) => 3,
            Self::KnownBelow(..) => 4,
            Self::NewBelow(..) => 5,
            Self::NewAtBelow(..) => 6,
        }
    }

    fn serialize_fields<T: SerializeTuple>(&self, tuple: &mut T) -> Result<(), T::Error> {
        match self {
            Self::None => Ok(()),
            Self::Known(position) => tuple.serialize_element(position),
            Self::New(id, kind) => tuple.serialize_element(&(id, PackedType(kind))),
            Self::NewAt(id, kind, node_id) => tuple.serialize_element(&(id, PackedType(kind), node_id)),
            Self::KnownBelow(position, parent) => tuple.serialize_element(&(position, parent)),
            Self::NewBelow(id, kind, parent) => tuple.serialize_element(&(id, PackedType(kind), parent)),
            Self::NewAtBelow(id, kind, node_id, parent) => {
                tuple.serialize_element(&(id, PackedType(kind), node_id, parent))
            }
        }
    }

    /// Reads the fields of the variant with a number.
    fn take(variant: u8, bytes: &mut &'a [u8], next_type: NextType<'a>) -> postcard::Result<Self> {
        Ok(match variant {
            0 => Self::None,
            1 => Self::Known(next(bytes)?),
            2 => Self::New(next(bytes)?, next_type(bytes)?),
            3 => Self::NewAt(next(bytes)?, next_type(bytes)?, next(bytes)?),
            4 => Self::KnownBelow(next(bytes)?, next(bytes)?),
            5 => Self::NewBelow(next(bytes)?, next_type(bytes)?, next(bytes)?),
            6 => Self::NewAtBelow(next(bytes)?, next_type(bytes)?, next(bytes)?, next(bytes)?),
            _ => return Err(postcard::Error::DeserializeBadEnum),
        })
    }

    /// The name and the enclosing execution. Adds a new name to `known`. An event about the workflow itself is `None`,
    /// with neither a node id nor an enclosing execution.
    fn read(self, known: &mut Vec<Name<'a>>) -> Result<(Name<'a>, Option<u32>), Error> {
        let (name, parent) = match self {
            Self::None => return Ok((("", "", None), None)),
            Self::Known(position) => return Ok((find(known, position)?, None)),
            Self::KnownBelow(position, parent) => return Ok((find(known, position)?, Some(parent))),
            Self::New(id, kind) => ((id, kind, None), None),
            Self::NewAt(id, kind, node_id) => ((id, kind, Some(node_id)), None),
            Self::NewBelow(id, kind, parent) => ((id, kind, None), Some(parent)),
            Self::NewAtBelow(id, kind, node_id, parent) => ((id, kind, Some(node_id)), Some(parent)),
        };
        if (name.0, name.1) == ("", "") {
            return Err(Error::CorruptState("It names an activity that has neither an id nor a type.".to_owned()));
        }
        known.push(name);
        Ok((name, parent))
    }
}

fn find<'a>(known: &[Name<'a>], position: u32) -> Result<Name<'a>, Error> {
    let unknown = || Error::CorruptState("It refers to an activity that it does not name.".to_owned());
    known.get(position as usize).copied().ok_or_else(unknown)
}

/// A row in the form in which it is stored.
pub struct Row<'a> {
    act: Option<&'a Act>,
    events: Vec<Packed<'a, &'a Json>>,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut tuple = to.serialize_tuple(0)?;
        match self.act {
            Some(act) => serialize_act(act, &mut tuple)?,
            None => tuple.serialize_element(&0_u16)?,
        }
        tuple.serialize_element(&self.events)?;
        tuple.end()
    }
}

fn serialize_act<T: SerializeTuple>(act: &Act, tuple: &mut T) -> Result<(), T::Error> {
    let has = |field: bool, bit: u16| if field { bit } else { 0 };
    let Act { kind, by, at, subject, is_recorded } = act;
    let fields = has(by.actor.is_some(), ACTOR)
        | has(by.login.is_some(), LOGIN)
        | has(at.is_some(), AT)
        | has(subject.is_some(), SUBJECT)
        | has(*is_recorded, RECORDED);
    tuple.serialize_element(&(kind.number() | fields))?;
    tuple.serialize_element(&by.role)?;
    if let Some(actor) = &by.actor {
        tuple.serialize_element(actor)?;
    }
    if let Some(login) = &by.login {
        tuple.serialize_element(login)?;
    }
    if let Some(at) = at {
        tuple.serialize_element(at)?;
    }
    if let Some(subject) = subject {
        tuple.serialize_element(subject.as_bytes())?;
    }
    Ok(())
}

/// Reads the act from the start of the bytes and removes it from them.
fn next_act(bytes: &mut &[u8]) -> postcard::Result<Option<Act>> {
    let mark: u16 = next(bytes)?;
    if mark == 0 {
        return Ok(None);
    }
    if mark & !(ACT | ACTOR | LOGIN | AT | SUBJECT | RECORDED) != 0 {
        return Err(postcard::Error::DeserializeBadEncoding);
    }
    let kind = ActKind::of_number(mark & ACT).ok_or(postcard::Error::DeserializeBadEnum)?;
    let role = next(bytes)?;
    let actor = (mark & ACTOR != 0).then(|| next::<&str>(bytes)).transpose()?;
    let login = (mark & LOGIN != 0).then(|| next(bytes)).transpose()?;
    let at = (mark & AT != 0).then(|| next(bytes)).transpose()?;
    let subject = (mark & SUBJECT != 0).then(|| next(bytes)).transpose()?.map(Uuid::from_bytes);
    let by = Identity { role, login, actor: actor.map(str::to_owned) };
    Ok(Some(Act { kind, by, at, subject, is_recorded: mark & RECORDED != 0 }))
}

impl<'a> Row<'a> {
    /// Collects the distinct activities of the events.
    pub fn of(act: Option<&'a Act>, events: &'a [Event]) -> Self {
        // A burst names few activities, so a linear search suffices.
        let mut known = Vec::new();
        let packed = events.iter().map(|event| {
            let name = (event.activity_id.as_str(), event.activity_type.as_str(), event.node_id.as_deref());
            let activity = match known.iter().position(|known| *known == name) {
                _ if (name.0, name.1) == ("", "") => PackedActivity::None,
                Some(position) => PackedActivity::known(position as u32, event.parent),
                None => {
                    known.push(name);
                    PackedActivity::new(name, event.parent)
                }
            };
            let bookmark = event.bookmark_id.map(Uuid::into_bytes);
            Packed { kind: event.kind, activity, execution: event.execution, bookmark, data: event.data.as_ref() }
        });
        Self { act, events: packed.collect() }
    }

    /// Number of bytes that [`Self::encode`] will return, so that a caller can reserve memory first.
    pub fn size(&self) -> usize {
        let ByteCount(size) = postcard::to_extend(self, ByteCount(1)).expect("events are always serializable");
        size
    }

    /// Packs the row. `size` is its known size, so that the vector takes no more memory than that.
    pub fn encode(&self, size: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size);
        bytes.push(FORMAT);
        // Serializing strings, numbers and sequences of known length to a vector cannot fail.
        postcard::to_extend(self, bytes).expect("events are always serializable")
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
///     node_id: None,
///     parent: None,
/// };
/// assert_eq!(decode(&encode(&[event.clone()])).unwrap(), [event]);
/// ```
pub fn encode(events: &[Event]) -> Vec<u8> {
    Row::of(None, events).encode(0)
}

/// Unpacks only the act that a row records. Rows of older formats record none.
///
/// # Errors
/// [`Error::CorruptState`] if the format is unknown or the bytes are damaged.
pub fn decode_act(bytes: &[u8]) -> Result<Option<Act>, Error> {
    match bytes.first() {
        Some(&FORMAT) => next_act(&mut &bytes[1..]).map_err(damaged),
        Some(&(FORMAT_2 | FORMAT_3)) => Ok(None),
        _ => decode(bytes).map(|_| None),
    }
}

/// Unpacks events.
///
/// # Errors
/// [`Error::CorruptState`] if the format is unknown or the bytes are damaged.
pub fn decode(bytes: &[u8]) -> Result<Vec<Event>, Error> {
    match bytes.split_first() {
        Some((&FORMAT, mut rest)) => {
            next_act(&mut rest).map_err(damaged)?;
            decode_events(rest, Packed::take)
        }
        Some((&FORMAT_3, rest)) => decode_events(rest, Packed::take_format_3),
        Some((&FORMAT_2, rest)) => decode_events(rest, postcard::take_from_bytes),
        Some((format, _)) => Err(Error::CorruptState(format!("Its format {format} is not known."))),
        None => Err(Error::CorruptState("It is empty.".to_owned())),
    }
}

fn damaged(error: postcard::Error) -> Error {
    Error::CorruptState(format!("It is damaged: {error}."))
}

fn decode_events<'a>(bytes: &'a [u8], take: fn(&'a [u8]) -> Taken<'a, Packed<'a, Json>>) -> Result<Vec<Event>, Error> {
    let (count, mut rest): (usize, _) = postcard::take_from_bytes(bytes).map_err(damaged)?;
    let (mut events, mut known) = (Vec::new(), Vec::new());
    // Events are read one by one: damaged bytes may give a wrong number, and an event takes many times its packed size.
    for _ in 0..count {
        let (event, after) = take(rest).map_err(damaged)?;
        let ((id, kind, node_id), parent) = event.activity.read(&mut known)?;
        let bytes = id.len() + kind.len() + node_id.map_or(0, str::len);
        if !Bounds::may_push(&events) || !(Bounds::current().room)(bytes) {
            return Err(Error::CorruptState("Reading was stopped.".to_owned()));
        }
        events.push(Event {
            kind: event.kind,
            activity_id: id.to_owned(),
            activity_type: kind.to_owned(),
            execution: event.execution,
            bookmark_id: event.bookmark.map(Uuid::from_bytes),
            data: event.data,
            node_id: node_id.map(str::to_owned),
            parent,
        });
        rest = after;
    }
    match rest {
        [] => Ok(events),
        _ => Err(Error::CorruptState("It has bytes after its end.".to_owned())),
    }
}

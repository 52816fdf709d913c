//! Parameters of statements: their values.

use pgrx::pg_sys;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::pg::jsonb::{self, Document};
use crate::pg::spi::types::{Tid, Timestamp, Type};
use crate::pg::varlena::{ShortTexts, varlena};

/// The value of a parameter or a column. A variant has the name of its type in SQL; a plural is the array of it.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// NULL of any type.
    Null,
    Uuid(&'a Uuid),
    Uuids(&'a [Uuid]),
    Text(&'a str),
    Texts(&'a [String]),
    Integer(i32),
    Integers(&'a [i32]),
    BigInt(i64),
    Boolean(bool),
    Bytea(&'a [u8]),
    /// `jsonb`
    Json(&'a Value),
    /// `jsonb`, an object
    Object(&'a Map<String, Value>),
    /// `jsonb`, encoded already
    Document(&'a Document),
    /// `jsonb`, as text without NUL
    JsonText(&'a str),
    /// `timestamptz`
    Timestamp(Timestamp),
    /// `timestamptz[]`
    Timestamps(&'a [Timestamp]),
    Oid(pg_sys::Oid),
    Tids(&'a [Tid]),
}

impl<'a> Arg<'a> {
    /// Text or NULL.
    pub fn text(value: Option<&'a str>) -> Self {
        value.map_or(Self::Null, Self::Text)
    }

    /// A uuid or NULL.
    pub fn uuid(value: Option<&'a Uuid>) -> Self {
        value.map_or(Self::Null, Self::Uuid)
    }

    /// A document or NULL.
    pub fn json(value: Option<&'a Value>) -> Self {
        value.map_or(Self::Null, Self::Json)
    }

    /// An instant or NULL.
    pub fn time(value: Option<Timestamp>) -> Self {
        value.map_or(Self::Null, Self::Timestamp)
    }

    /// The type of its datum; `None`: it is NULL.
    pub(super) fn kind(self) -> Option<Type> {
        Some(match self {
            Self::Null => return None,
            Self::Uuid(_) => Type::Uuid,
            Self::Uuids(_) => Type::UuidArray,
            Self::Text(_) => Type::Text,
            Self::Texts(_) => Type::TextArray,
            Self::Integer(_) => Type::Integer,
            Self::Integers(_) => Type::IntegerArray,
            Self::BigInt(_) => Type::BigInt,
            Self::Boolean(_) => Type::Boolean,
            Self::Bytea(_) => Type::Bytea,
            Self::Json(_) | Self::Object(_) | Self::Document(_) | Self::JsonText(_) => Type::Jsonb,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Timestamps(_) => Type::TimestampArray,
            Self::Oid(_) => Type::Oid,
            Self::Tids(_) => Type::TidArray,
        })
    }

    /// As [`Arg::datum`], but a short text is in `texts`.
    pub(in crate::pg) fn datum_in(self, texts: &mut ShortTexts) -> Option<pg_sys::Datum> {
        match self {
            Self::Text(text) => Some(texts.varlena(text.as_bytes())),
            Self::Bytea(bytes) => Some(texts.varlena(bytes)),
            other => other.datum(),
        }
    }

    /// The datum, in the current memory context where it is not passed by value; `None` is NULL.
    pub(in crate::pg) fn datum(self) -> Option<pg_sys::Datum> {
        Some(match self {
            Self::Null => return None,
            // A uuid is passed by reference: sixteen bytes that outlive the call.
            Self::Uuid(id) => pg_sys::Datum::from(id.as_bytes().as_ptr()),
            Self::Uuids(ids) => array(pg_sys::UUIDOID, 16, false, b'c', ids.iter().map(|id| Arg::Uuid(id).datum())),
            Self::Text(text) => varlena(text.as_bytes()),
            Self::Texts(texts) => {
                array(pg_sys::TEXTOID, -1, false, b'i', texts.iter().map(|text| Arg::Text(text).datum()))
            }
            Self::Integer(number) => pg_sys::Datum::from(number),
            Self::Integers(numbers) => {
                array(pg_sys::INT4OID, 4, true, b'i', numbers.iter().map(|n| Arg::Integer(*n).datum()))
            }
            Self::BigInt(number) => pg_sys::Datum::from(number),
            Self::Boolean(value) => pg_sys::Datum::from(value),
            Self::Bytea(bytes) => varlena(bytes),
            Self::Json(value) => jsonb::encode(value),
            Self::Object(members) => jsonb::encode_object(members),
            Self::Document(document) => document.datum(),
            Self::JsonText(text) => jsonb::from_text(text),
            Self::Timestamp(at) => pg_sys::Datum::from(at.0),
            Self::Timestamps(instants) => {
                array(pg_sys::TIMESTAMPTZOID, 8, true, b'd', instants.iter().map(|at| Arg::Timestamp(*at).datum()))
            }
            Self::Oid(oid) => pg_sys::Datum::from(oid),
            Self::Tids(tids) => {
                let tids = tids.iter().map(|Tid(tid)| Some(pg_sys::Datum::from(&raw const *tid)));
                array(pg_sys::TIDOID, size_of::<Tid>() as i32, false, b's', tids)
            }
        })
    }
}

fn array(
    element: pg_sys::Oid,
    length: i32,
    by_value: bool,
    align: u8,
    elements: impl Iterator<Item = Option<pg_sys::Datum>>,
) -> pg_sys::Datum {
    let mut datums: Vec<pg_sys::Datum> = elements.flatten().collect();
    // SAFETY: the elements are valid datums of that type; construct_array copies them.
    let array = unsafe {
        pg_sys::construct_array(datums.as_mut_ptr(), datums.len() as i32, element, length, by_value, align as _)
    };
    pg_sys::Datum::from(array)
}

//! Types of parameters and columns, and the values that Rust has no type for.

use std::ffi::CStr;

use chrono::{DateTime, Utc};
use pgrx::pg_sys;

/// Microseconds between 1970 and 2000, where PostgreSQL's timestamps begin.
const EPOCH_SHIFT: i64 = 946_684_800_000_000;

/// The earliest instant of PostgreSQL's timestamps, as in its `datatype/timestamp.h`.
const MIN_TIMESTAMP: i64 = -211_813_488_000_000_000;
/// The first instant beyond their range.
const END_TIMESTAMP: i64 = 9_223_371_331_200_000_000;

/// A `timestamptz` in PostgreSQL's form: microseconds since 2000, with infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Later than any instant.
    pub const INFINITY: Timestamp = Timestamp(i64::MAX);
    /// Earlier than any instant.
    pub const MINUS_INFINITY: Timestamp = Timestamp(i64::MIN);

    /// Whether the instant is in PostgreSQL's range.
    pub fn is_valid(self) -> bool {
        self == Self::INFINITY || self == Self::MINUS_INFINITY || (MIN_TIMESTAMP..END_TIMESTAMP).contains(&self.0)
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(at: DateTime<Utc>) -> Self {
        Self(at.timestamp_micros().saturating_sub(EPOCH_SHIFT))
    }
}

impl From<Timestamp> for DateTime<Utc> {
    fn from(at: Timestamp) -> Self {
        DateTime::from_timestamp_micros(at.0.saturating_add(EPOCH_SHIFT)).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

/// A `tid`: the location of a row version.
#[derive(Clone, Copy, Debug)]
pub struct Tid(pub(super) pg_sys::ItemPointerData);

/// The type of a parameter or a column. A variant has the name of its type in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Uuid,
    UuidArray,
    Text,
    TextArray,
    Integer,
    IntegerArray,
    BigInt,
    Boolean,
    Bytea,
    Jsonb,
    /// `timestamptz`
    Timestamp,
    /// `timestamptz[]`
    TimestampArray,
    Oid,
    Tid,
    TidArray,
}

impl Type {
    pub(in crate::pg) fn oid(self) -> pg_sys::Oid {
        match self {
            Self::Uuid => pg_sys::UUIDOID,
            Self::UuidArray => pg_sys::UUIDARRAYOID,
            Self::Text => pg_sys::TEXTOID,
            Self::TextArray => pg_sys::TEXTARRAYOID,
            Self::Integer => pg_sys::INT4OID,
            Self::IntegerArray => pg_sys::INT4ARRAYOID,
            Self::BigInt => pg_sys::INT8OID,
            Self::Boolean => pg_sys::BOOLOID,
            Self::Bytea => pg_sys::BYTEAOID,
            Self::Jsonb => pg_sys::JSONBOID,
            Self::Timestamp => pg_sys::TIMESTAMPTZOID,
            Self::TimestampArray => pg_sys::TIMESTAMPTZARRAYOID,
            Self::Oid => pg_sys::OIDOID,
            Self::Tid => pg_sys::TIDOID,
            Self::TidArray => pg_sys::TIDARRAYOID,
        }
    }
}

/// Name and type of a column, as C and SPI need them.
pub type ColumnRef = (&'static CStr, Type);

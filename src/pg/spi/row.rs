//! Rows of results: columns read in order, as owned values.

use pgrx::pg_sys;
use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::value::Tally;

use crate::pg::error::{PgError, throw};
use crate::pg::jsonb::{self, Document};
use crate::pg::spi::types::{ColumnRef, Tid, Timestamp, Type};
use crate::pg::varlena::{bytes_of, size_of_varlena};

/// One row; columns are read in order.
pub struct Row<'a> {
    types: Types<'a>,
    values: &'a [pg_sys::Datum],
    nulls: &'a [bool],
    next: usize,
}

/// The types of a row's columns.
#[derive(Clone, Copy)]
pub(in crate::pg) enum Types<'a> {
    /// Of the columns of a result.
    Result(&'a [pg_sys::FormData_pg_attribute]),
    /// Of columns of a table, as they are declared. They were compared with the table's when they were resolved.
    Table(&'static [ColumnRef]),
}

impl<'a> Row<'a> {
    /// A row of these columns.
    ///
    /// # Safety
    /// Each value that is not NULL is a valid one of its column's type.
    pub(in crate::pg) unsafe fn new(types: Types<'a>, values: &'a [pg_sys::Datum], nulls: &'a [bool]) -> Self {
        Self { types, values, nulls, next: 0 }
    }

    pub(in crate::pg) fn datum(&mut self) -> Option<pg_sys::Datum> {
        let i = self.next;
        self.next += 1;
        (!self.nulls[i]).then(|| self.values[i])
    }

    /// Skips a column.
    pub fn skip(&mut self) {
        self.next += 1;
    }

    fn required(&mut self) -> pg_sys::Datum {
        let i = self.next;
        self.datum().unwrap_or_else(|| throw(PgError::new("XX001", format!("column {} is unexpectedly NULL", i + 1))))
    }

    /// A column that is never NULL.
    pub fn get<T: Column>(&mut self) -> T {
        self.check(T::TYPE);
        let datum = self.required();
        // SAFETY: the column has the type that T reads.
        unsafe { T::read(datum) }
    }

    /// A column that may be NULL.
    pub fn maybe<T: Column>(&mut self) -> Option<T> {
        self.check(T::TYPE);
        // SAFETY: as above.
        self.datum().map(|datum| unsafe { T::read(datum) })
    }

    /// Fails if the next column has another type: an error in the text of a statement.
    fn check(&self, kind: Type) {
        let is_right = match self.types {
            Types::Result(columns) => columns.get(self.next).is_some_and(|column| column.atttypid == kind.oid()),
            Types::Table(columns) => columns.get(self.next).is_some_and(|(_, declared)| *declared == kind),
        };
        if !is_right {
            throw(PgError::new("XX000", format!("column {} of a result is not {kind:?}", self.next + 1)));
        }
    }
}

/// A Rust type that a column can be read as.
pub trait Column: Sized {
    /// The SQL type of the columns that it reads.
    const TYPE: Type;

    /// Reads a datum of the matching type.
    ///
    /// # Safety
    /// The datum must be a valid one of that type.
    unsafe fn read(datum: pg_sys::Datum) -> Self;

    /// Reads a datum from outside, within the limits on decoded values.
    ///
    /// # Errors
    /// 54000 or 54001 for a datum beyond the limits.
    ///
    /// # Safety
    /// As for `read`.
    unsafe fn accept(datum: pg_sys::Datum, tally: &mut Tally) -> Result<Self, PgError> {
        let _ = tally;
        // SAFETY: as the caller's.
        Ok(unsafe { Self::read(datum) })
    }
}

impl Column for Uuid {
    const TYPE: Type = Type::Uuid;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a uuid datum points to sixteen bytes.
        Uuid::from_bytes(unsafe { *datum.cast_mut_ptr::<[u8; 16]>() })
    }
}

impl Column for i32 {
    const TYPE: Type = Type::Integer;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        datum.value() as i32
    }
}

impl Column for i64 {
    const TYPE: Type = Type::BigInt;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        datum.value() as i64
    }
}

impl Column for bool {
    const TYPE: Type = Type::Boolean;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        datum.value() != 0
    }
}

impl Column for pg_sys::Oid {
    const TYPE: Type = Type::Oid;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        pg_sys::Oid::from(datum.value() as u32)
    }
}

impl Column for Timestamp {
    const TYPE: Type = Type::Timestamp;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        Timestamp(datum.value() as i64)
    }
}

impl Column for Tid {
    const TYPE: Type = Type::Tid;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a tid datum points to an item pointer.
        Tid(unsafe { *datum.cast_mut_ptr::<pg_sys::ItemPointerData>() })
    }
}

impl Column for Vec<u8> {
    const TYPE: Type = Type::Bytea;

    unsafe fn accept(datum: pg_sys::Datum, tally: &mut Tally) -> Result<Self, PgError> {
        // SAFETY: as the caller's.
        unsafe {
            tally.node(size_of_varlena(datum)).map_err(jsonb::refused)?;
            Ok(Self::read(datum))
        }
    }

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a bytea is a varlena.
        unsafe { bytes_of(datum) }
    }
}

impl Column for String {
    const TYPE: Type = Type::Text;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: text is a varlena. The database is UTF-8: the install script refuses any other.
        text(unsafe { bytes_of(datum) })
    }

    unsafe fn accept(datum: pg_sys::Datum, tally: &mut Tally) -> Result<Self, PgError> {
        // SAFETY: as above.
        unsafe { Vec::<u8>::accept(datum, tally) }.map(text)
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl Column for Value {
    const TYPE: Type = Type::Jsonb;

    unsafe fn accept(datum: pg_sys::Datum, tally: &mut Tally) -> Result<Self, PgError> {
        // SAFETY: a jsonb datum.
        unsafe { jsonb::accept(datum, tally, jsonb::MAX_DEPTH) }
    }

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a jsonb datum.
        unsafe { jsonb::decode(datum) }.unwrap_or_else(|error| throw(error))
    }
}

impl Column for Document {
    const TYPE: Type = Type::Jsonb;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a jsonb datum.
        unsafe { Document::stored(datum) }
    }
}

/// A `jsonb` as the text that PostgreSQL writes.
#[derive(Debug)]
pub struct JsonText(pub String);

impl Column for JsonText {
    const TYPE: Type = Type::Jsonb;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a jsonb datum.
        Self(unsafe { jsonb::to_text(datum) })
    }
}

impl Column for Map<String, Value> {
    const TYPE: Type = Type::Jsonb;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a jsonb datum.
        members(unsafe { Value::read(datum) })
    }

    unsafe fn accept(datum: pg_sys::Datum, tally: &mut Tally) -> Result<Self, PgError> {
        // SAFETY: a jsonb datum.
        unsafe { Value::accept(datum, tally) }.map(members)
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

//! Prepared statements of ours, kept for the life of the backend.
//!
//! Each execution runs with the rights of the extension's owner, under a search path of our own, and is
//! planned without sequential scans: plans are kept, and one made while a table was empty would otherwise
//! read a million rows later. All three are undone before anything of the user runs again; after an error
//! the (sub)transaction's end undoes the first two and a destructor the third.

use std::cell::Cell;
use std::ffi::CString;

use chrono::{DateTime, Utc};
use pgrx::pg_sys;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::pg::error::{PgError, unwind};
use crate::pg::version::SearchPath;
use crate::pg::{jsonb, role};

/// Microseconds between 1970 and 2000, where PostgreSQL's timestamps begin.
const EPOCH_SHIFT: i64 = 946_684_800_000_000;

/// A `timestamptz` in PostgreSQL's form: microseconds since 2000, with infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Later than any instant.
    pub const INFINITY: Timestamp = Timestamp(i64::MAX);
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

/// A parameter's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `uuid`
    Uuid,
    /// `uuid[]`
    UuidArray,
    /// `text`
    Text,
    /// `text[]`
    TextArray,
    /// `integer`
    Integer,
    /// `integer[]`
    IntegerArray,
    /// `bigint`
    BigInt,
    /// `bigint[]`
    BigIntArray,
    /// `boolean`
    Boolean,
    /// `bytea`
    Bytea,
    /// `jsonb`
    Jsonb,
    /// `timestamptz`
    Timestamp,
    /// `oid`
    Oid,
}

impl Type {
    fn oid(self) -> pg_sys::Oid {
        match self {
            Self::Uuid => pg_sys::UUIDOID,
            Self::UuidArray => pg_sys::UUIDARRAYOID,
            Self::Text => pg_sys::TEXTOID,
            Self::TextArray => pg_sys::TEXTARRAYOID,
            Self::Integer => pg_sys::INT4OID,
            Self::IntegerArray => pg_sys::INT4ARRAYOID,
            Self::BigInt => pg_sys::INT8OID,
            Self::BigIntArray => pg_sys::INT8ARRAYOID,
            Self::Boolean => pg_sys::BOOLOID,
            Self::Bytea => pg_sys::BYTEAOID,
            Self::Jsonb => pg_sys::JSONBOID,
            Self::Timestamp => pg_sys::TIMESTAMPTZOID,
            Self::Oid => pg_sys::OIDOID,
        }
    }
}

/// A parameter's value.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// NULL of any type.
    Null,
    /// `uuid`
    Uuid(&'a Uuid),
    /// `uuid[]`
    Uuids(&'a [Uuid]),
    /// `text`
    Text(&'a str),
    /// `text[]`
    Texts(&'a [String]),
    /// `integer`
    Integer(i32),
    /// `integer[]`
    Integers(&'a [i32]),
    /// `bigint`
    BigInt(i64),
    /// `bigint[]`
    BigInts(&'a [i64]),
    /// `boolean`
    Boolean(bool),
    /// `bytea`
    Bytea(&'a [u8]),
    /// `jsonb`
    Json(&'a Value),
    /// `jsonb`, an object
    Object(&'a Map<String, Value>),
    /// `timestamptz`
    Timestamp(Timestamp),
    /// `oid`
    Oid(pg_sys::Oid),
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

    /// Bytes or NULL.
    pub fn bytea(value: Option<&'a [u8]>) -> Self {
        value.map_or(Self::Null, Self::Bytea)
    }

    /// The datum, in the current memory context where it is not passed by value; `None` is NULL.
    pub(super) fn datum(self) -> Option<pg_sys::Datum> {
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
            Self::BigInts(numbers) => {
                array(pg_sys::INT8OID, 8, true, b'd', numbers.iter().map(|n| Arg::BigInt(*n).datum()))
            }
            Self::Boolean(value) => pg_sys::Datum::from(value),
            Self::Bytea(bytes) => varlena(bytes),
            Self::Json(value) => jsonb::encode(value),
            Self::Object(members) => jsonb::encode_object(members),
            Self::Timestamp(at) => pg_sys::Datum::from(at.0),
            Self::Oid(oid) => pg_sys::Datum::from(oid),
        })
    }
}

/// Copies bytes into a `text` or `bytea` in the current memory context.
pub(super) fn varlena(bytes: &[u8]) -> pg_sys::Datum {
    // SAFETY: copies `len` bytes from a valid slice.
    let text = unsafe { pg_sys::cstring_to_text_with_len(bytes.as_ptr().cast(), bytes.len() as i32) };
    pg_sys::Datum::from(text)
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

/// A statement of ours. Declare it as a `static`; it is prepared at its first use in a backend.
pub struct Statement {
    sql: &'static str,
    types: &'static [Type],
    plan: Cell<pg_sys::SPIPlanPtr>,
}

// SAFETY: a backend has one thread; pgrx panics when another calls PostgreSQL.
unsafe impl Sync for Statement {}

impl Statement {
    /// Declares a statement with the types of `$1…`.
    pub const fn new(sql: &'static str, types: &'static [Type]) -> Self {
        Self { sql, types, plan: Cell::new(std::ptr::null_mut()) }
    }

    /// Runs it and reads every row.
    pub fn rows<T>(&'static self, args: &[Arg<'_>], read: impl FnMut(&mut Row<'_>) -> T) -> Vec<T> {
        self.execute(args);
        fetch(read)
    }

    /// Runs it and reads the first row, if there is one.
    pub fn first<T>(&'static self, args: &[Arg<'_>], read: impl FnMut(&mut Row<'_>) -> T) -> Option<T> {
        self.rows(args, read).into_iter().next()
    }

    /// Runs it and says how many rows it affected or found.
    pub fn run(&'static self, args: &[Arg<'_>]) -> u64 {
        self.execute(args);
        // SAFETY: set by the execution just made.
        unsafe {
            pg_sys::SPI_freetuptable(pg_sys::SPI_tuptable);
            pg_sys::SPI_processed
        }
    }

    fn execute(&'static self, args: &[Arg<'_>]) {
        let mut values = [pg_sys::Datum::null(); 24];
        let mut nulls = [b' ' as std::ffi::c_char; 24];
        for (i, arg) in args.iter().enumerate() {
            match arg.datum() {
                Some(datum) => values[i] = datum,
                None => nulls[i] = b'n' as std::ffi::c_char,
            }
        }
        let _planning = WithoutSequentialScans::begin();
        let user = role::OwnerRights::take();
        let path = SearchPath::push();
        // SAFETY: the plan is valid for the life of the backend, the arrays are as long as its parameters.
        let code = unsafe {
            pg_sys::SPI_execute_plan(self.plan(), values.as_mut_ptr(), nulls.as_ptr(), false, 0)
        };
        path.pop();
        user.give_back();
        if code < 0 {
            unwind(PgError::new("XX000", format!("statement failed with code {code}: {}", self.sql)));
        }
    }

    fn plan(&'static self) -> pg_sys::SPIPlanPtr {
        if self.plan.get().is_null() {
            self.plan.set(self.prepare());
        }
        self.plan.get()
    }

    fn prepare(&self) -> pg_sys::SPIPlanPtr {
        let sql = CString::new(self.sql).expect("our SQL has no NUL");
        let mut types: Vec<pg_sys::Oid> = self.types.iter().map(|kind| kind.oid()).collect();
        // SAFETY: the types are as many as said; SPI_keepplan moves the plan out of SPI's context.
        unsafe {
            let options = pg_sys::CURSOR_OPT_GENERIC_PLAN as i32;
            let plan = pg_sys::SPI_prepare_cursor(sql.as_ptr(), types.len() as i32, types.as_mut_ptr(), options);
            if plan.is_null() {
                unwind(PgError::new("XX000", format!("could not prepare: {}", self.sql)));
            }
            pg_sys::SPI_keepplan(plan);
            plan
        }
    }
}

/// Keeps the planner from sequential scans while it lives.
struct WithoutSequentialScans {
    before: bool,
}

impl WithoutSequentialScans {
    fn begin() -> Self {
        // SAFETY: a planner setting of the backend's only thread; put back by `drop`, also on unwinding.
        unsafe {
            let before = pg_sys::enable_seqscan;
            pg_sys::enable_seqscan = false;
            Self { before }
        }
    }
}

impl Drop for WithoutSequentialScans {
    fn drop(&mut self) {
        // SAFETY: as in `begin`.
        unsafe { pg_sys::enable_seqscan = self.before };
    }
}

/// Reads the rows of the execution just made.
pub(super) fn fetch<T>(mut read: impl FnMut(&mut Row<'_>) -> T) -> Vec<T> {
    // SAFETY: SPI_tuptable belongs to the execution just made and stays until it is freed below; the slices
    // are as long as the tuple descriptor says.
    unsafe {
        let table = pg_sys::SPI_tuptable;
        if table.is_null() {
            return Vec::new();
        }
        let descriptor = (*table).tupdesc;
        let columns = (*descriptor).natts as usize;
        let mut values = vec![pg_sys::Datum::null(); columns];
        let mut nulls = vec![false; columns];
        let count = pg_sys::SPI_processed as usize;
        let mut rows = Vec::with_capacity(count);
        for i in 0..count {
            let tuple = *(*table).vals.add(i);
            pg_sys::heap_deform_tuple(tuple, descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
            rows.push(read(&mut Row { values: &values, nulls: &nulls, next: 0 }));
        }
        pg_sys::SPI_freetuptable(table);
        rows
    }
}

/// One row; columns are read in order.
pub struct Row<'a> {
    values: &'a [pg_sys::Datum],
    nulls: &'a [bool],
    next: usize,
}

impl Row<'_> {
    pub(super) fn datum(&mut self) -> Option<pg_sys::Datum> {
        let i = self.next;
        self.next += 1;
        (!self.nulls[i]).then(|| self.values[i])
    }

    fn required(&mut self) -> pg_sys::Datum {
        let i = self.next;
        self.datum().unwrap_or_else(|| unwind(PgError::new("XX001", format!("column {} is unexpectedly NULL", i + 1))))
    }

    /// A column that is never NULL.
    pub fn get<T: Column>(&mut self) -> T {
        let datum = self.required();
        // SAFETY: the statement's column has the type that T reads.
        unsafe { T::read(datum) }
    }

    /// A column that may be NULL.
    pub fn maybe<T: Column>(&mut self) -> Option<T> {
        // SAFETY: as above.
        self.datum().map(|datum| unsafe { T::read(datum) })
    }
}

/// What a column can be read as.
pub trait Column: Sized {
    /// Reads a datum of the matching type.
    ///
    /// # Safety
    /// The datum must be a valid one of that type.
    unsafe fn read(datum: pg_sys::Datum) -> Self;
}

impl Column for Uuid {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a uuid datum points to sixteen bytes.
        Uuid::from_bytes(unsafe { *datum.cast_mut_ptr::<[u8; 16]>() })
    }
}

impl Column for i32 {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        datum.value() as i32
    }
}

impl Column for i64 {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        datum.value() as i64
    }
}

impl Column for bool {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        datum.value() != 0
    }
}

impl Column for pg_sys::Oid {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        pg_sys::Oid::from(datum.value() as u32)
    }
}

impl Column for Timestamp {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        Timestamp(datum.value() as i64)
    }
}

impl Column for Vec<u8> {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a varlena; detoasting copies only what is compressed or stored outside.
        unsafe {
            let pointer = pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr());
            pgrx::varlena::varlena_to_byte_slice(pointer).to_vec()
        }
    }
}

impl Column for String {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: text is a varlena. The database is UTF-8: the install script refuses any other.
        let bytes = unsafe { Vec::<u8>::read(datum) };
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

impl Column for Value {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a jsonb datum.
        unsafe { jsonb::decode(datum) }.unwrap_or_else(|error| unwind(error))
    }
}

impl Column for Map<String, Value> {
    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a jsonb datum.
        match unsafe { Value::read(datum) } {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

//! Results of SQL-callable functions.

use std::ffi::CString;

use chrono::{DateTime, Utc};
use pgrx::pg_sys;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::pg::args::Call;
use crate::pg::error::{PgError, throw};
use crate::pg::jsonb::{self, Document};
use crate::pg::spi::{Arg, Timestamp};

/// What a SQL function returns. A variant has the name of its type in SQL; a plural is the array of it.
#[derive(Debug)]
pub enum Returned {
    /// NULL, of whatever type the function is declared to return.
    Null,
    Uuid(Uuid),
    Uuids(Vec<Uuid>),
    Text(String),
    Name(String),
    Texts(Vec<String>),
    CString(String),
    /// The text of a binary protocol message, as a send function returns it.
    Message(String),
    Integer(i32),
    BigInt(i64),
    Timestamptz(Timestamp),
    Oid(pg_sys::Oid),
    Boolean(bool),
    Bytea(Vec<u8>),
    /// `jsonb`
    Json(Value),
    /// `jsonb`, encoded already
    Document(Document),
    /// `jsonb`, an object
    Object(Map<String, Value>),
    /// A composite value with the columns of the declared result type.
    Row(Vec<Returned>),
    /// The rows of a function that returns a set, each with the declared columns.
    Rows(Vec<Vec<Returned>>),
}

impl Returned {
    /// A value that may be NULL.
    pub fn of<T>(value: Option<T>, make: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Null, make)
    }

    /// The value as `to_jsonb` converts it: a row becomes an object with these column names.
    pub fn into_document(self, columns: &[&str]) -> Document {
        match self {
            Self::Row(values) => {
                let values: Vec<Value> = values.into_iter().map(Self::into_json).collect();
                Document::object(columns.iter().copied().zip(&values))
            }
            value => Document::of(&value.into_json()),
        }
    }

    /// A column of a row as JSON.
    fn into_json(self) -> Value {
        match self {
            Self::Row(_) | Self::Rows(_) | Self::Document(_) => unreachable!("no column of a row is one of these"),
            Self::Null => Value::Null,
            Self::Uuid(id) => id.to_string().into(),
            Self::Uuids(ids) => ids.iter().map(Uuid::to_string).collect(),
            Self::Texts(texts) => texts.into(),
            Self::Text(text) | Self::Name(text) | Self::CString(text) | Self::Message(text) => text.into(),
            Self::Bytea(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("\\x{digits}").into()
            }
            Self::Integer(number) => number.into(),
            Self::BigInt(number) => number.into(),
            Self::Timestamptz(at) => DateTime::<Utc>::from(at).to_rfc3339().into(),
            Self::Oid(oid) => oid.to_u32().into(),
            Self::Boolean(value) => value.into(),
            Self::Json(value) => value,
            Self::Object(members) => Value::Object(members),
        }
    }

    /// Makes the datum that the call returns.
    pub fn into_datum(self, call: &Call) -> pg_sys::Datum {
        let Some(datum) = self.datum(call) else {
            // SAFETY: the running call's own flag.
            unsafe { (*call.fcinfo).isnull = true };
            return pg_sys::Datum::null();
        };
        datum
    }

    fn datum(&self, call: &Call) -> Option<pg_sys::Datum> {
        Some(match self {
            Self::Null => return None,
            Self::Uuid(id) => copied(id),
            Self::Uuids(ids) => return Arg::Uuids(ids).datum(),
            Self::Texts(texts) => return argument(Arg::Texts(texts)),
            Self::Text(text) => return argument(Arg::Text(text)),
            Self::Name(name) => stored_name(name),
            Self::CString(text) => c_string(text),
            Self::Message(text) => message(text),
            Self::Bytea(bytes) => return argument(Arg::Bytea(bytes)),
            Self::Integer(number) => pg_sys::Datum::from(*number),
            Self::BigInt(number) => pg_sys::Datum::from(*number),
            Self::Timestamptz(at) => return argument(Arg::Timestamp(*at)),
            Self::Oid(oid) => pg_sys::Datum::from(*oid),
            Self::Boolean(value) => pg_sys::Datum::from(*value),
            Self::Json(value) => jsonb::encode(value),
            Self::Document(document) => document.datum(),
            Self::Object(members) => jsonb::encode_object(members),
            Self::Row(columns) => composite(call, columns),
            Self::Rows(rows) => return store(call, rows),
        })
    }
}

fn argument(argument: Arg<'_>) -> Option<pg_sys::Datum> {
    argument.datum()
}

/// A C string in palloc'd memory. Text of PostgreSQL has no NUL.
fn c_string(text: &str) -> pg_sys::Datum {
    let text = CString::new(text).unwrap_or_default();
    // SAFETY: copies up to the NUL.
    unsafe { pg_sys::Datum::from(pg_sys::pstrdup(text.as_ptr())) }
}

/// A `name`. Names of roles and other catalog objects always fit.
fn stored_name(name: &str) -> pg_sys::Datum {
    const SIZE: usize = pg_sys::NAMEDATALEN as usize;
    let bytes = &name.as_bytes()[..name.floor_char_boundary(SIZE - 1)];
    // SAFETY: fewer bytes than the fresh memory has, which ends with NUL.
    unsafe {
        let memory = pg_sys::palloc0(SIZE).cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len());
        pg_sys::Datum::from(memory)
    }
}

/// Text as a message, in the encoding of the client.
fn message(text: &str) -> pg_sys::Datum {
    let mut message = pg_sys::StringInfoData::default();
    // SAFETY: the message is made, filled and handed over in this order.
    unsafe {
        pg_sys::pq_begintypsend(&mut message);
        pg_sys::pq_sendtext(&mut message, text.as_ptr().cast(), text.len() as i32);
        pg_sys::Datum::from(pg_sys::pq_endtypsend(&mut message))
    }
}

/// A uuid in palloc'd memory, since the value outlives our frame.
fn copied(id: &Uuid) -> pg_sys::Datum {
    // SAFETY: sixteen bytes into fresh memory.
    unsafe {
        let memory = pg_sys::palloc(16).cast::<u8>();
        std::ptr::copy_nonoverlapping(id.as_bytes().as_ptr(), memory, 16);
        pg_sys::Datum::from(memory)
    }
}

fn composite(call: &Call, columns: &[Returned]) -> pg_sys::Datum {
    let (mut values, mut nulls) = datums(call, columns);
    // SAFETY: the function is declared with a composite result of as many columns.
    unsafe {
        let declared = pg_sys::get_func_rettype((*(*call.fcinfo).flinfo).fn_oid);
        if declared != pg_sys::RECORDOID {
            // Borrowed: get_call_result_type would copy it.
            let descriptor = pg_sys::lookup_rowtype_tupdesc(declared, -1);
            let row = row(descriptor, &mut values, &mut nulls);
            if (*descriptor).tdrefcount >= 0 {
                pg_sys::DecrTupleDescRefCount(descriptor);
            }
            return row;
        }
        let mut descriptor = std::ptr::null_mut();
        pg_sys::get_call_result_type(call.fcinfo, std::ptr::null_mut(), &mut descriptor);
        require_columns(descriptor, values.len());
        row(pg_sys::BlessTupleDesc(descriptor), &mut values, &mut nulls)
    }
}

/// A datum of a named or blessed row type.
///
/// # Safety
/// `descriptor` must be valid.
unsafe fn row(descriptor: pg_sys::TupleDesc, values: &mut [pg_sys::Datum], nulls: &mut [bool]) -> pg_sys::Datum {
    // SAFETY: as promised; there are as many values as columns.
    unsafe {
        require_columns(descriptor, values.len());
        let tuple = pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
        pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data)
    }
}

/// Returns all rows at once, through a tuplestore.
fn store(call: &Call, rows: &[Vec<Returned>]) -> Option<pg_sys::Datum> {
    // SAFETY: a call that cannot take a set is refused before its `resultinfo` is read; the rows are copied.
    unsafe {
        let of = pg_sys::get_call_result_type(call.fcinfo, std::ptr::null_mut(), std::ptr::null_mut());
        let is_scalar = of == pg_sys::TypeFuncClass::TYPEFUNC_SCALAR;
        pg_sys::InitMaterializedSRF(call.fcinfo, if is_scalar { pg_sys::MAT_SRF_USE_EXPECTED_DESC } else { 0 });
        let result = (*call.fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        for columns in rows {
            let (mut values, mut nulls) = datums(call, columns);
            require_columns((*result).setDesc, values.len());
            let (store, descriptor) = ((*result).setResult, (*result).setDesc);
            pg_sys::tuplestore_putvalues(store, descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
        }
    }
    None
}

/// The columns as PostgreSQL passes them, and which of them are NULL.
fn datums(call: &Call, columns: &[Returned]) -> (Vec<pg_sys::Datum>, Vec<bool>) {
    let datum = |column: &Returned| {
        let datum = column.datum(call);
        (datum.unwrap_or(pg_sys::Datum::null()), datum.is_none())
    };
    columns.iter().map(datum).unzip()
}

/// Fails if the declaration has another number of columns (XX000).
///
/// # Safety
/// `descriptor` must be null, or valid.
unsafe fn require_columns(descriptor: pg_sys::TupleDesc, count: usize) {
    // SAFETY: as promised.
    if descriptor.is_null() || unsafe { (*descriptor).natts as usize } != count {
        throw(
            PgError::new("XX000", "result type does not match the extension's library")
                .hint("Run ALTER EXTENSION workflow UPDATE."),
        );
    }
}

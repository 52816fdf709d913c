//! `jsonb` to and from [`Value`], through PostgreSQL's own builder and iterator.
//!
//! pgrx's `JsonB` converts through text both ways, which costs more than the rest of a call.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::str::FromStr;

use pgrx::pg_sys;
use pgrx::pg_sys::{JsonbIteratorToken as Token, jbvType};
use serde_json::{Map, Number, Value};

use workflow_engine::value::{Exceeded, Tally};

use crate::pg::error::{PgError, throw};
use crate::pg::{interrupt, memory, raw};

mod document;
mod tokens;

pub use document::Document;
use tokens::{Reader, Writer, empty};

/// Documents nested deeper than this are rejected. 500 nested activities fit into 1,500 levels, and code that walks a
/// document recursively stays far from the end of the stack.
pub const MAX_DEPTH: usize = 2000;

/// Builds a `jsonb` in the current memory context. Rejects `\u0000`, as PostgreSQL does (22P05).
pub fn encode(value: &Value) -> pg_sys::Datum {
    let mut builder = Builder::new();
    match value {
        Value::Array(elements) => builder.array(elements, false),
        Value::Object(members) => builder.object(members),
        scalar => builder.array(std::slice::from_ref(scalar), true),
    }
    builder.finish()
}

/// Builds a `jsonb` object in the current memory context.
pub fn encode_object(members: &Map<String, Value>) -> pg_sys::Datum {
    let mut builder = Builder::new();
    builder.object(members);
    builder.finish()
}

/// Parses a `jsonb` from its text, in the current memory context, as PostgreSQL does. The text contains no NUL. Nesting
/// beyond what can be stored is an error (54001).
pub fn from_text(text: &str) -> pg_sys::Datum {
    memory::room(text.len());
    let text = CString::new(text).expect("the caller has looked for NUL");
    // SAFETY: jsonb_in takes a C string; it reports what is no JSON, or more than a jsonb can hold.
    let datum =
        unsafe { pg_sys::DirectFunctionCall1Coll(Some(raw::jsonb_in), pg_sys::InvalidOid, text.as_ptr().into()) };
    memory::check_next();
    // Only such a text can be nested deeper than what can be read again.
    if text.as_bytes().iter().filter(|byte| matches!(byte, b'[' | b'{')).count() > STORED_DEPTH {
        // SAFETY: the jsonb that was just made.
        unsafe { decode(datum) }.unwrap_or_else(|error| throw(error));
    }
    datum
}

/// The text of a `jsonb` as PostgreSQL writes it.
///
/// # Safety
/// The datum must be a valid `jsonb`.
pub unsafe fn to_text(datum: pg_sys::Datum) -> String {
    // SAFETY: a jsonb is a varlena; the container follows its header. The text is palloc'd and ends with NUL.
    unsafe {
        let stored = datum.cast_mut_ptr::<pg_sys::varlena>();
        let document = pg_sys::pg_detoast_datum(stored);
        let size = pgrx::varlena::varsize_any(document) as i32;
        let root = &raw mut (*document.cast::<pg_sys::Jsonb>()).root;
        let text = pg_sys::JsonbToCString(std::ptr::null_mut(), root, size);
        let written = CStr::from_ptr(text);
        memory::room(written.count_bytes());
        let owned = written.to_string_lossy().into_owned();
        pg_sys::pfree(text.cast());
        if document != stored {
            pg_sys::pfree(document.cast());
        }
        owned
    }
}

/// Writes values into a `jsonb`. It keeps pointers into them until it has finished.
struct Builder<'a>(Writer, PhantomData<&'a Value>);

impl<'a> Builder<'a> {
    fn new() -> Self {
        Self(Writer::new(), PhantomData)
    }

    fn finish(self) -> pg_sys::Datum {
        let document = self.0.finish();
        memory::check_next();
        document
    }

    fn array(&mut self, elements: &'a [Value], raw_scalar: bool) {
        let mut header = empty();
        header.type_ = jbvType::jbvArray;
        header.val.array.rawScalar = raw_scalar;
        header.val.array.nElems = i32::from(raw_scalar);
        self.0.push(Token::WJB_BEGIN_ARRAY, header);
        for element in elements {
            self.value(Token::WJB_ELEM, element);
        }
        self.0.push(Token::WJB_END_ARRAY, empty());
    }

    fn object<K: AsRef<str> + ?Sized + 'a>(&mut self, members: impl IntoIterator<Item = (&'a K, &'a Value)>) {
        self.0.push(Token::WJB_BEGIN_OBJECT, empty());
        for (key, value) in members {
            self.0.push(Token::WJB_KEY, string(key.as_ref()));
            self.value(Token::WJB_VALUE, value);
        }
        self.0.push(Token::WJB_END_OBJECT, empty());
    }

    fn value(&mut self, token: Token::Type, value: &'a Value) {
        let mut scalar = empty();
        match value {
            Value::Null => scalar.type_ = jbvType::jbvNull,
            Value::Bool(value) => {
                scalar.type_ = jbvType::jbvBool;
                scalar.val.boolean = *value;
            }
            Value::Number(number) => {
                scalar.type_ = jbvType::jbvNumeric;
                scalar.val.numeric = numeric(number);
            }
            Value::String(text) => scalar = string(text),
            Value::Array(elements) => {
                self.array(elements, false);
                return;
            }
            Value::Object(members) => {
                self.object(members);
                return;
            }
        }
        self.0.push(token, scalar);
    }
}

fn string(text: &str) -> pg_sys::JsonbValue {
    if text.contains('\0') {
        throw(
            PgError::new("22P05", "unsupported Unicode escape sequence").detail("\\u0000 cannot be converted to text."),
        );
    }
    let mut value = empty();
    value.type_ = jbvType::jbvString;
    // The builder only keeps a pointer to the bytes; JsonbValueToJsonb copies them.
    value.val.string.val = text.as_ptr().cast_mut().cast();
    value.val.string.len = text.len() as i32;
    value
}

fn numeric(number: &Number) -> pg_sys::Numeric {
    if let Some(integer) = number.as_i64() {
        // SAFETY: plain value.
        return unsafe { pg_sys::int64_to_numeric(integer) };
    }
    let text = CString::new(number.to_string()).expect("a number has no NUL");
    // SAFETY: numeric_in takes a C string, a type oid that it ignores and a type modifier; it reports text
    // that it cannot hold as 22003.
    unsafe {
        let datum = pg_sys::DirectFunctionCall3Coll(
            Some(raw::numeric_in),
            pg_sys::InvalidOid,
            pg_sys::Datum::from(text.as_ptr()),
            pg_sys::Datum::from(pg_sys::InvalidOid),
            pg_sys::Datum::from(-1i32),
        );
        datum.cast_mut_ptr()
    }
}

/// The maximum depth of stored documents. It exceeds [`MAX_DEPTH`], since an accepted value is stored inside others.
pub const STORED_DEPTH: usize = MAX_DEPTH + 100;

/// Reads a stored `jsonb` datum. A document nested too deeply to have been accepted is an error (54001).
///
/// # Safety
/// The datum must be a valid `jsonb`.
pub unsafe fn decode(datum: pg_sys::Datum) -> Result<Value, PgError> {
    // SAFETY: as the caller's.
    unsafe { decode_within(datum, &mut Tally::of_stored(), STORED_DEPTH) }
}

/// Reads a `jsonb` datum from outside. A datum that exceeds the limits is an error (54000), as is one nested deeper
/// than `max_depth` (54001).
///
/// # Safety
/// The datum must be a valid `jsonb`.
pub unsafe fn accept(datum: pg_sys::Datum, tally: &mut Tally, max_depth: usize) -> Result<Value, PgError> {
    // SAFETY: as the caller's.
    unsafe { decode_within(datum, tally, max_depth) }
}

unsafe fn decode_within(datum: pg_sys::Datum, tally: &mut Tally, max_depth: usize) -> Result<Value, PgError> {
    // SAFETY: a jsonb is a varlena; the container follows its header.
    unsafe {
        let document = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast::<pg_sys::Jsonb>();
        memory::check_next();
        Decoder { tokens: Reader::of(document), stack: Vec::new(), tally, max_depth }.read()
    }
}

struct Decoder<'a> {
    tokens: Reader,
    stack: Vec<OpenContainer>,
    tally: &'a mut Tally,
    max_depth: usize,
}

/// A container that the decoder has not finished.
enum OpenContainer {
    Array(Vec<Value>),
    Scalar(Vec<Value>),
    Object(Map<String, Value>, String),
}

impl Decoder<'_> {
    fn read(&mut self) -> Result<Value, PgError> {
        loop {
            let tokens::Token { kind, value: current } = self.tokens.next();
            match kind {
                Token::WJB_BEGIN_ARRAY => self.open_array(&current)?,
                Token::WJB_BEGIN_OBJECT => self.open(OpenContainer::Object(Map::new(), String::new()))?,
                Token::WJB_KEY => {
                    self.count(text_size(&current))?;
                    if let Some(OpenContainer::Object(_, key)) = self.stack.last_mut() {
                        *key = text_of(&current);
                    }
                }
                Token::WJB_VALUE | Token::WJB_ELEM => {
                    let scalar = self.scalar(&current)?;
                    self.add(scalar);
                }
                Token::WJB_END_ARRAY | Token::WJB_END_OBJECT => {
                    let value = match self.stack.pop() {
                        Some(OpenContainer::Array(elements)) => Value::Array(elements),
                        Some(OpenContainer::Scalar(mut elements)) => elements.pop().unwrap_or_default(),
                        Some(OpenContainer::Object(members, _)) => Value::Object(members),
                        None => Value::Null,
                    };
                    if self.stack.is_empty() {
                        return Ok(value);
                    }
                    self.add(value);
                }
                _ => return Ok(Value::Null),
            }
        }
    }

    fn open_array(&mut self, header: &pg_sys::JsonbValue) -> Result<(), PgError> {
        // SAFETY: the token says that it is an array.
        let raw_scalar = unsafe { header.val.array.rawScalar };
        self.open(match raw_scalar {
            true => OpenContainer::Scalar(Vec::with_capacity(1)),
            false => OpenContainer::Array(Vec::new()),
        })
    }

    fn open(&mut self, container: OpenContainer) -> Result<(), PgError> {
        if self.stack.len() >= self.max_depth {
            return Err(too_deep());
        }
        if !matches!(container, OpenContainer::Scalar(_)) {
            self.count(0)?;
        }
        self.stack.push(container);
        Ok(())
    }

    /// Accounts a value or a name before it is decoded.
    fn count(&mut self, text: usize) -> Result<(), PgError> {
        self.tally.node(text).map_err(refused)
    }

    fn scalar(&mut self, value: &pg_sys::JsonbValue) -> Result<Value, PgError> {
        if value.type_ != jbvType::jbvNumeric {
            self.count(text_size(value))?;
            return Ok(scalar_of(value));
        }
        // A numeric of few bytes may have many digits.
        let number = scalar_of(value);
        self.count(number.as_number().map_or(0, |number| number.as_str().len()))?;
        Ok(number)
    }

    fn add(&mut self, value: Value) {
        match self.stack.last_mut() {
            Some(OpenContainer::Array(elements) | OpenContainer::Scalar(elements)) => elements.push(value),
            Some(OpenContainer::Object(members, key)) => {
                members.insert(std::mem::take(key), value);
            }
            None => {}
        }
    }
}

/// The error for an exceeded limit. An interruption raises the interrupt's own error instead.
pub fn refused(what: Exceeded) -> PgError {
    if what == Exceeded::Interrupted {
        interrupt::check();
    }
    let fault = what.fault();
    PgError { detail: fault.detail, hint: fault.hint, ..PgError::new(&fault.sqlstate, fault.message) }
}

/// Bytes of a string or name.
fn text_size(value: &pg_sys::JsonbValue) -> usize {
    match value.type_ {
        // SAFETY: the type says which member is set.
        jbvType::jbvString => unsafe { value.val.string }.len.unsigned_abs() as usize,
        _ => 0,
    }
}

/// The error for a document that is nested too deeply (54001).
pub fn too_deep() -> PgError {
    PgError::new("54001", "JSON document is nested too deeply").detail(format!("The limit is {MAX_DEPTH} levels."))
}

fn text_of(value: &pg_sys::JsonbValue) -> String {
    // SAFETY: keys and strings are length-counted bytes inside the document.
    let bytes = unsafe {
        let string = value.val.string;
        std::slice::from_raw_parts(string.val.cast::<u8>(), string.len as usize)
    };
    // A check of the whole is faster than a lossy conversion, which looks at one character after the other.
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), str::to_owned)
}

fn scalar_of(value: &pg_sys::JsonbValue) -> Value {
    match value.type_ {
        // SAFETY: the type says which member is set.
        jbvType::jbvBool => Value::Bool(unsafe { value.val.boolean }),
        jbvType::jbvString => Value::String(text_of(value)),
        // SAFETY: as above.
        jbvType::jbvNumeric => number_of(unsafe { value.val.numeric }),
        _ => Value::Null,
    }
}

fn number_of(numeric: pg_sys::Numeric) -> Value {
    // SAFETY: numeric_out gives a palloc'd C string.
    let text = unsafe {
        let datum = pg_sys::DirectFunctionCall1Coll(
            Some(raw::numeric_out),
            pg_sys::InvalidOid,
            pg_sys::Datum::from(numeric.cast::<std::ffi::c_void>()),
        );
        let text = CStr::from_ptr(datum.cast_mut_ptr());
        let owned = text.to_string_lossy().into_owned();
        pg_sys::pfree(datum.cast_mut_ptr());
        owned
    };
    Number::from_str(&text).map_or(Value::Null, Value::Number)
}

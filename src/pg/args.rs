//! Arguments of SQL-callable functions, read by the names that `sql/functions` declares.

use std::any::TypeId;
use std::ffi::CStr;

use pgrx::pg_sys;
use serde_json::Value;
use workflow_engine::value::Tally;

use crate::pg::error::{PgError, throw};
use crate::pg::signature::{Argument, Signature, SqlType};
use crate::pg::spi::Column;
use crate::pg::varlena::size_of_varlena;

/// The cache of [`Call::once`]: it begins with the type of the rest.
#[repr(C)]
#[derive(Clone, Copy)]
struct CachedAnswer<Q, A> {
    of: TypeId,
    question: Q,
    answer: A,
}

/// One call of a function of ours.
#[derive(Clone, Copy)]
pub struct Call {
    pub(super) fcinfo: pg_sys::FunctionCallInfo,
    signature: &'static Signature,
}

impl Call {
    /// Wraps what PostgreSQL passed to the function of this signature.
    ///
    /// # Safety
    /// `fcinfo` must be the one of the running call.
    pub unsafe fn new(fcinfo: pg_sys::FunctionCallInfo, signature: &'static Signature) -> Self {
        Self { fcinfo, signature }
    }

    /// An argument by its name; `None` for NULL. Its declared type must be one of `types`.
    fn named(&self, name: &str, types: &[SqlType]) -> Option<pg_sys::Datum> {
        self.datum(self.signature.position(name, types).unwrap_or_else(|error| throw(error)))
    }

    fn datum(&self, i: usize) -> Option<pg_sys::Datum> {
        // SAFETY: PostgreSQL passes `nargs` arguments.
        let argument = unsafe {
            let count = (*self.fcinfo).nargs as usize;
            (*self.fcinfo).args.as_slice(count).get(i).copied()
        };
        argument.filter(|argument| !argument.isnull).map(|argument| argument.value)
    }

    /// An argument, or `None` for NULL.
    pub fn arg<T: Argument>(&self, name: &str) -> Option<T> {
        self.arg_within(name, &mut Tally::new())
    }

    /// An argument that a view passes from one of the extension's tables. Its limits were checked when it was stored.
    pub fn stored<T: Argument>(&self, name: &str) -> Option<T> {
        self.arg_within(name, &mut Tally::of_stored())
    }

    fn arg_within<T: Argument>(&self, name: &str, tally: &mut Tally) -> Option<T> {
        // SAFETY: the signature says that it is of a type that `T` reads, and the catalog agrees with the signature.
        let value = self.named(name, T::TYPES).map(|datum| unsafe { T::accept(datum, tally) })?;
        Some(value.unwrap_or_else(|error| throw(error)))
    }

    /// A document of at most this many bytes, which must not be NULL.
    pub fn document(&self, name: &str, size: usize) -> Result<Value, PgError> {
        self.arg_within(name, &mut Tally::of_document(size)).ok_or_else(|| must_not_be_null(name))
    }

    /// Caches an answer that each row of a statement needs, and computes it again only when `question` changes. The
    /// cache belongs to one call in the text of one statement.
    pub fn once<Q: Copy + PartialEq + 'static, A: Copy + 'static>(&self, question: Q, answer: impl FnOnce() -> A) -> A {
        let of = TypeId::of::<(Q, A)>();
        // SAFETY: only the function itself uses its `fn_extra`, and only through here. It lives as long as that call in
        // the statement; a `CachedAnswer` begins with its type, and none of its parts needs to be dropped.
        unsafe {
            let info = (*self.fcinfo).flinfo;
            let kept = (*info).fn_extra.cast::<CachedAnswer<Q, A>>();
            let is_kept = !kept.is_null() && *kept.cast::<TypeId>() == of;
            if is_kept && (*kept).question == question {
                return (*kept).answer;
            }
            let new = CachedAnswer { of, question, answer: answer() };
            let memory =
                if is_kept { kept } else { pg_sys::MemoryContextAlloc((*info).fn_mcxt, size_of_val(&new)).cast() };
            memory.write(new);
            (*info).fn_extra = memory.cast();
            new.answer
        }
    }

    /// Size of a `bytea`, without reading it; 0 for NULL.
    pub fn size(&self, name: &str) -> usize {
        // SAFETY: the signature says that it is one.
        self.named(name, &[SqlType::Bytea]).map_or(0, |datum| unsafe { size_of_varlena(datum) })
    }

    /// An argument that must not be NULL.
    pub fn required<T: Argument>(&self, name: &str) -> Result<T, PgError> {
        self.arg(name).ok_or_else(|| must_not_be_null(name))
    }

    /// An integer from 1 to `most`; `None` for NULL. 22023 for any other number.
    pub fn count(&self, name: &str, most: u16) -> Result<Option<u16>, PgError> {
        let Some(number) = self.arg::<i32>(name) else { return Ok(None) };
        let count = u16::try_from(number).ok().filter(|count| (1..=most).contains(count));
        let refused =
            || PgError::new("22023", format!("argument \"{name}\" must be between 1 and {most}, not {number}"));
        count.ok_or_else(refused).map(Some)
    }

    /// The same for an argument that must not be NULL.
    pub fn required_count(&self, name: &str, most: u16) -> Result<usize, PgError> {
        self.count(name, most)?.map(usize::from).ok_or_else(|| must_not_be_null(name))
    }

    /// A `name` that must not be NULL.
    pub fn required_name(&self, name: &str) -> Result<String, PgError> {
        self.name(name).ok_or_else(|| must_not_be_null(name))
    }

    /// A `name`; `None` if it is NULL.
    pub fn name(&self, name: &str) -> Option<String> {
        let datum = self.named(name, &[SqlType::Name])?;
        // SAFETY: a name ends with NUL.
        Some(unsafe { CStr::from_ptr(datum.cast_mut_ptr()) }.to_string_lossy().into_owned())
    }

    /// Argument `i` of a support function of the type `workflow.stored_role`, whose arguments have no names.
    pub fn at<T: Column>(&self, i: usize) -> Option<T> {
        // SAFETY: the declaration in sql/tables has the matching type.
        let value = self.datum(i).map(|datum| unsafe { T::accept(datum, &mut Tally::new()) })?;
        Some(value.unwrap_or_else(|error| throw(error)))
    }

    /// Argument `i` of such a function, a `cstring`, which must not be NULL.
    pub fn c_string(&self, i: usize) -> Result<String, PgError> {
        let datum = self.datum(i).ok_or_else(|| must_not_be_null("text"))?;
        // SAFETY: as the declaration says.
        Ok(unsafe { CStr::from_ptr(datum.cast_mut_ptr()) }.to_string_lossy().into_owned())
    }

    /// The rest of a binary protocol message as text: the argument of a receive function.
    pub fn message(&self, i: usize) -> String {
        let Some(datum) = self.datum(i) else { return String::new() };
        // SAFETY: PostgreSQL passes a message; the text ends with NUL and is the memory context's to free.
        unsafe {
            let message = datum.cast_mut_ptr::<pg_sys::StringInfoData>();
            let (length, mut read) = ((*message).len - (*message).cursor, 0);
            CStr::from_ptr(pg_sys::pq_getmsgtext(message, length, &mut read)).to_string_lossy().into_owned()
        }
    }

    /// Elements of a `text[]`, none of which may be NULL.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, PgError> {
        self.elements(name, SqlType::Texts, (pg_sys::TEXTOID, -1))
    }

    /// Elements of an `integer[]`, none of which may be NULL.
    pub fn integers(&self, name: &str) -> Result<Option<Vec<i32>>, PgError> {
        self.elements(name, SqlType::Integers, (pg_sys::INT4OID, 4))
    }

    /// Elements of a `bytea[]`, none of which may be NULL.
    pub fn byteas(&self, name: &str) -> Result<Option<Vec<Vec<u8>>>, PgError> {
        self.elements(name, SqlType::Byteas, (pg_sys::BYTEAOID, -1))
    }

    /// Elements of an array argument with this element type: its OID and its size.
    fn elements<T: Column>(
        &self,
        name: &str,
        of: SqlType,
        element: (pg_sys::Oid, i32),
    ) -> Result<Option<Vec<T>>, PgError> {
        let Some(datum) = self.named(name, &[of]) else {
            return Ok(None);
        };
        let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        let (kind, size) = element;
        // SAFETY: an array of these elements; deconstruct_array gives arrays of `count` elements.
        unsafe {
            let array = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast::<pg_sys::ArrayType>();
            let by_value = size > 0;
            pg_sys::deconstruct_array(array, kind, size, by_value, b'i' as _, &mut values, &mut nulls, &mut count);
            if (0..count as usize).any(|i| *nulls.add(i)) {
                return Err(PgError::new("22004", format!("argument \"{name}\" must not contain NULL")));
            }
            let mut tally = Tally::new();
            (0..count as usize).map(|i| T::accept(*values.add(i), &mut tally)).collect::<Result<_, _>>().map(Some)
        }
    }

    /// An interval argument, in PostgreSQL's parts: months, days, microseconds.
    pub fn interval(&self, name: &str) -> Option<Interval> {
        // SAFETY: an interval is passed by reference.
        let interval = unsafe { *self.named(name, &[SqlType::Interval])?.cast_mut_ptr::<pg_sys::Interval>() };
        Some(Interval { months: interval.month, days: interval.day, micros: interval.time })
    }
}

fn must_not_be_null(name: &str) -> PgError {
    PgError::new("22004", format!("argument \"{name}\" must not be NULL"))
}

/// An `interval` as PostgreSQL stores it; the three parts are not converted into each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Calendar months of any length; a year is twelve of them.
    pub months: i32,
    /// Days by the wall clock, of 23 to 25 hours.
    pub days: i32,
    /// Microseconds: hours, minutes and seconds.
    pub micros: i64,
}

impl Interval {
    /// Microseconds, with months of 30 and days of 24 hours, as PostgreSQL compares intervals.
    pub fn as_micros(&self) -> i128 {
        const DAY: i128 = 86_400_000_000;
        i128::from(self.months) * 30 * DAY + i128::from(self.days) * DAY + i128::from(self.micros)
    }
}

//! The signatures of our functions as `sql/` declares them, by argument name and type, and their comparison with the
//! catalog.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};

use pgrx::pg_sys::{self, Oid};
use serde_json::Value;
use uuid::Uuid;

use crate::pg::PgError;
use crate::pg::spi::{Column, Timestamp};

/// The declared SQL type of an argument. A variant is named after its type; a plural is an array of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlType {
    BigInt,
    Boolean,
    Bytea,
    Byteas,
    Integer,
    Integers,
    Interval,
    Jsonb,
    Name,
    Oid,
    Regprocedure,
    Text,
    Texts,
    Timestamptz,
    Uuid,
}

impl SqlType {
    fn oid(self) -> Oid {
        match self {
            Self::BigInt => pg_sys::INT8OID,
            Self::Boolean => pg_sys::BOOLOID,
            Self::Bytea => pg_sys::BYTEAOID,
            Self::Byteas => pg_sys::BYTEAARRAYOID,
            Self::Integer => pg_sys::INT4OID,
            Self::Integers => pg_sys::INT4ARRAYOID,
            Self::Interval => pg_sys::INTERVALOID,
            Self::Jsonb => pg_sys::JSONBOID,
            Self::Name => pg_sys::NAMEOID,
            Self::Oid => pg_sys::OIDOID,
            Self::Regprocedure => pg_sys::REGPROCEDUREOID,
            Self::Text => pg_sys::TEXTOID,
            Self::Texts => pg_sys::TEXTARRAYOID,
            Self::Timestamptz => pg_sys::TIMESTAMPTZOID,
            Self::Uuid => pg_sys::UUIDOID,
        }
    }
}

/// A Rust type that can read an argument.
pub trait Argument: Column {
    /// The SQL types that it reads.
    const TYPES: &'static [SqlType];
}

impl Argument for bool {
    const TYPES: &'static [SqlType] = &[SqlType::Boolean];
}

impl Argument for i32 {
    const TYPES: &'static [SqlType] = &[SqlType::Integer];
}

impl Argument for i64 {
    const TYPES: &'static [SqlType] = &[SqlType::BigInt];
}

impl Argument for Oid {
    const TYPES: &'static [SqlType] = &[SqlType::Oid, SqlType::Regprocedure];
}

impl Argument for String {
    const TYPES: &'static [SqlType] = &[SqlType::Text];
}

impl Argument for Timestamp {
    const TYPES: &'static [SqlType] = &[SqlType::Timestamptz];
}

impl Argument for Uuid {
    const TYPES: &'static [SqlType] = &[SqlType::Uuid];
}

impl Argument for Value {
    const TYPES: &'static [SqlType] = &[SqlType::Jsonb];
}

impl Argument for Vec<u8> {
    const TYPES: &'static [SqlType] = &[SqlType::Bytea];
}

/// The arguments of a SQL function as the library reads them, to be compared with the catalog.
#[derive(Debug)]
pub struct Signature {
    /// Its C symbol in the catalog.
    pub symbol: &'static str,
    /// Name and type of each argument, in declaration order.
    pub arguments: &'static [(&'static str, SqlType)],
    /// OID of the function with which this session last compared it.
    pub checked: AtomicU32,
}

impl Signature {
    /// Position of an argument that can be read as one of these types.
    pub fn position(&self, name: &str, types: &[SqlType]) -> Result<usize, PgError> {
        let found = self.arguments.iter().position(|(known, of)| *known == name && types.contains(of));
        found.ok_or_else(|| {
            PgError::new("XX000", format!("\"{}\" has no argument \"{name}\" of this type", self.symbol))
        })
    }

    /// Compares it with the catalog, at the first call of a session. A mismatch is an error (55000).
    ///
    /// # Safety
    /// `fcinfo` must be the one of the running call.
    pub unsafe fn check(&self, fcinfo: pg_sys::FunctionCallInfo) -> Result<(), PgError> {
        // SAFETY: as promised.
        let function = unsafe { (*(*fcinfo).flinfo).fn_oid };
        if self.checked.load(Ordering::Relaxed) == function.to_u32() {
            return Ok(());
        }
        // SAFETY: the function that is being called.
        let declared = unsafe { declared(function) };
        let expected: Vec<(String, Oid)> =
            self.arguments.iter().map(|(name, of)| ((*name).to_owned(), of.oid())).collect();
        if declared != expected {
            return Err(PgError::new(
                "55000",
                format!("function of symbol \"{}\" is declared with other arguments than its library has", self.symbol),
            )
            .hint("Reconnect. If that does not help, run ALTER EXTENSION workflow UPDATE."));
        }
        self.checked.store(function.to_u32(), Ordering::Relaxed);
        Ok(())
    }
}

/// Names and types of the arguments that a function takes.
unsafe fn declared(function: Oid) -> Vec<(String, Oid)> {
    // SAFETY: the row of the running function is there; what is read of it is copied before it is released.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
        let tuple = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(function));
        if tuple.is_null() {
            return Vec::new();
        }
        let row = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_proc>();
        let types = (*row).proargtypes.values.as_slice((*row).pronargs as usize).to_vec();
        let names = input_names(cache, tuple);
        pg_sys::ReleaseSysCache(tuple);
        let named = types.into_iter().enumerate();
        named.map(|(at, of)| (names.get(at).cloned().unwrap_or_default(), of)).collect()
    }
}

unsafe fn input_names(cache: i32, tuple: pg_sys::HeapTuple) -> Vec<String> {
    // SAFETY: a row of pg_proc; the names are palloc'd C strings, or null where an argument has none.
    unsafe {
        let (mut no_names, mut no_modes) = (false, false);
        let names = pg_sys::SysCacheGetAttr(cache, tuple, pg_sys::Anum_pg_proc_proargnames as i16, &mut no_names);
        let modes = pg_sys::SysCacheGetAttr(cache, tuple, pg_sys::Anum_pg_proc_proargmodes as i16, &mut no_modes);
        if no_names {
            return Vec::new();
        }
        let modes = if no_modes { pg_sys::Datum::null() } else { modes };
        let mut found = std::ptr::null_mut();
        let count = pg_sys::get_func_input_arg_names(names, modes, &mut found);
        let found = std::slice::from_raw_parts(found, count as usize);
        let name = |name: &*mut std::ffi::c_char| match name.is_null() {
            true => String::new(),
            false => CStr::from_ptr(*name).to_string_lossy().into_owned(),
        };
        found.iter().map(name).collect()
    }
}

//! Catalog look-ups of users' functions.

use std::ffi::{CStr, CString};

use pgrx::pg_sys::{self, Oid};

use crate::pg::error::PgError;
use crate::pg::{role, version};

/// The owner of the function `name(jsonb)`, if it exists. The name must be qualified and quoted.
pub fn owner(name: &str) -> Option<Oid> {
    described(find(name, pg_sys::JSONBOID)?, |row| row.proowner)
}

/// A function of a superuser, `f(key text) RETURNS boolean`, by its qualified and quoted name.
#[derive(Clone, Debug)]
pub struct Predicate(pub String);

impl Predicate {
    /// The function of this name, which must be qualified.
    ///
    /// # Errors
    /// 42883 if there is none, and as for [`of`](Self::of).
    pub fn named(name: &str) -> Result<Self, PgError> {
        let missing = || PgError::new("42883", format!("function {name}(text) does not exist"));
        if !name.contains('.') {
            return Err(missing().hint("Write the name with its schema."));
        }
        Self::of(find(name, pg_sys::TEXTOID).ok_or_else(missing)?)
    }

    /// The function with this oid.
    ///
    /// # Errors
    /// 42883 if there is none, 42P13 if its signature does not match, 42501 if its owner is not a superuser: it runs
    /// with the rights of the extension's owner.
    pub fn of(function: Oid) -> Result<Self, PgError> {
        let takes_text = |row: &pg_sys::FormData_pg_proc| {
            // SAFETY: as many types as it has arguments.
            let types = unsafe { row.proargtypes.values.as_slice(row.pronargs as usize) };
            types == [pg_sys::TEXTOID] && row.prorettype == pg_sys::BOOLOID && !row.proretset
        };
        let shape = |row: &pg_sys::FormData_pg_proc| {
            let is_function = row.prokind as u8 == pg_sys::PROKIND_FUNCTION;
            (row.pronamespace, name_of(&row.proname), row.proowner, is_function && takes_text(row))
        };
        let found = described(function, shape);
        let Some((schema, name, owner, fits)) = found else {
            return Err(PgError::new("42883", format!("function with OID {} does not exist", function.to_u32())));
        };
        if !fits {
            return Err(PgError::new("42P13", format!("function {name} does not say which keys it means"))
                .hint("Give a function f(key text) that returns boolean."));
        }
        if !role::is_superuser(owner) {
            return Err(PgError::new("42501", format!("function {name} does not belong to a superuser"))
                .detail("It runs with the rights of the extension's owner."));
        }
        // SAFETY: takes an oid and gives a palloc'd string or null; takes two C strings.
        unsafe {
            let schema = pg_sys::get_namespace_name(schema);
            let Ok(name) = CString::new(name) else { return Err(PgError::new("XX000", "a name has a NUL")) };
            let quoted = pg_sys::quote_qualified_identifier(schema, name.as_ptr());
            Ok(Self(CStr::from_ptr(quoted).to_string_lossy().into_owned()))
        }
    }
}

fn name_of(name: &pg_sys::NameData) -> String {
    // SAFETY: a name ends with NUL.
    unsafe { CStr::from_ptr(name.data.as_ptr()) }.to_string_lossy().into_owned()
}

/// The function `name(argument)`.
fn find(name: &str, argument: Oid) -> Option<Oid> {
    let name = CString::new(name).ok()?;
    // SAFETY: takes a C string and one type, looks in the catalog.
    let function = unsafe { pg_sys::LookupFuncName(version::qualified_name(&name), 1, &argument, true) };
    (function != pg_sys::InvalidOid).then_some(function)
}

/// Applies `read` to the catalog row of a function.
fn described<T>(function: Oid, read: impl FnOnce(&pg_sys::FormData_pg_proc) -> T) -> Option<T> {
    // SAFETY: looks in the catalog; the row is released after reading.
    unsafe {
        let key = pg_sys::Datum::from(function);
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as i32, key);
        if tuple.is_null() {
            return None;
        }
        let found = read(&*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_proc>());
        pg_sys::ReleaseSysCache(tuple);
        Some(found)
    }
}

//! The check that this library matches the schema `workflow` of the database.
//!
//! The schema number is part of a table's name, `workflow.schema_2`. An upgrade script that renames the table waits for
//! transactions that have called us, blocks new calls until it has committed, and invalidates the number that sessions
//! have cached. A name look-up uses the current catalog, whatever the transaction's snapshot sees.

use std::ffi::{CStr, CString};
use std::hint::black_box;

use pgrx::pg_sys::{self, LOCKMODE, Oid};

use crate::pg::catalog;
use crate::pg::error::PgError;

/// The table for this library. A test patches the digit in the compiled library.
static TABLE: &CStr = c"schema_2";
const PREFIX: &str = "schema_";

/// The number in the name of the table that this library looks for.
pub fn of_library() -> u32 {
    black_box(TABLE).to_str().ok().and_then(|name| name.strip_prefix(PREFIX)?.parse().ok()).unwrap_or_default()
}

/// The number of this database's schema, if it has one.
pub fn of_database() -> Option<u32> {
    // A schema is at most a hundred numbers ahead of the library.
    (1..of_library() + 100)
        .find(|number| CString::new(format!("{PREFIX}{number}")).is_ok_and(|name| find(&name).is_some()))
}

/// Fails with 55000 unless library and schema match. No upgrade script can rename the table until the transaction ends.
pub fn require() -> Result<(), PgError> {
    loop {
        let Some(table) = table() else { return Err(misfit()) };
        // SAFETY: takes an oid and a mode; the lock goes with the transaction.
        unsafe { pg_sys::LockRelationOid(table, MODE) };
        // Taking the lock has processed the invalidation messages of other sessions.
        if self::table() == Some(table) {
            return Ok(());
        }
        // SAFETY: as above; the lock was taken here.
        unsafe { pg_sys::UnlockRelationOid(table, MODE) };
    }
}

/// The same for a background worker, whose database may not have the extension, or no longer.
pub fn require_if_here() -> Result<(), PgError> {
    if catalog::extension().is_some() { require() } else { Ok(()) }
}

const MODE: LOCKMODE = pg_sys::AccessShareLock as LOCKMODE;

fn table() -> Option<Oid> {
    catalog::table(black_box(TABLE))
}

fn find(name: &CStr) -> Option<Oid> {
    // SAFETY: takes a C string, looks in the catalog.
    let table = unsafe { pg_sys::get_relname_relid(name.as_ptr(), catalog::schema()) };
    (table != Oid::INVALID).then_some(table)
}

fn misfit() -> PgError {
    let ours = of_library();
    let Some(theirs) = of_database() else {
        return PgError::new("55000", "extension \"workflow\" of this database is of a version before 0.2.0")
            .detail("Its tables cannot be upgraded to those of this library.")
            .hint("Export the definitions with the library of that version (wf_export), then run DROP EXTENSION workflow and CREATE EXTENSION workflow.");
    };
    let detail = format!("This library is for schema number {ours}, the database has number {theirs}.");
    if theirs > ours {
        PgError::new("55000", "the library of extension \"workflow\" in this session is older than the extension")
            .detail(detail)
            .hint("Reconnect. If that does not help, install the library of that version and restart the server.")
    } else {
        PgError::new("55000", "extension \"workflow\" of this database is older than its library")
            .detail(detail)
            .hint("Run ALTER EXTENSION workflow UPDATE.")
    }
}

//! Which physical cluster this is.

use pgrx::pg_sys;

/// The number that initdb gave this cluster; a dump that is restored elsewhere meets another one.
pub fn system_identifier() -> i64 {
    // SAFETY: reads the control file's copy in memory.
    unsafe { pg_sys::GetSystemIdentifier() }.cast_signed()
}

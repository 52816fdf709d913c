//! PostgreSQL's time zones, by name or from the session.

use std::ffi::{CStr, CString};
use std::rc::Rc;

use chrono::{DateTime, Utc};
use pgrx::pg_sys;
use workflow_engine::calendar::Zone;

/// A time zone that PostgreSQL has loaded. PostgreSQL keeps it for the life of the backend.
#[derive(Debug)]
pub struct PgZone(*mut pg_sys::pg_tz);

impl Zone for PgZone {
    fn offset_at(&self, utc: DateTime<Utc>) -> i32 {
        let instant: pg_sys::pg_time_t = utc.timestamp();
        // SAFETY: the zone is valid for the life of the backend; the result is a static of PostgreSQL's, or null for
        // an instant beyond what it can say.
        unsafe {
            let local = pg_sys::pg_localtime(&instant, self.0);
            if local.is_null() { 0 } else { i32::try_from((*local).tm_gmtoff).unwrap_or(0) }
        }
    }
}

/// The zone of this name, in any letter case. Zones with leap seconds are rejected, as in PostgreSQL's settings.
pub fn by_name(name: &str) -> Option<Rc<PgZone>> {
    if name.trim().is_empty() {
        return None;
    }
    let name = CString::new(name).ok()?;
    // SAFETY: takes a C string, gives null for an unknown zone.
    unsafe {
        let zone = pg_sys::pg_tzset(name.as_ptr());
        (!zone.is_null() && pg_sys::pg_tz_acceptable(zone)).then(|| Rc::new(PgZone(zone)))
    }
}

/// The zone of the setting TimeZone.
pub fn session() -> Rc<PgZone> {
    // SAFETY: set before anything of ours runs.
    Rc::new(PgZone(unsafe { pg_sys::session_timezone }))
}

/// The name of the session's zone.
pub fn session_name() -> String {
    // SAFETY: the name is part of the zone.
    unsafe { CStr::from_ptr(pg_sys::pg_get_timezone_name(pg_sys::session_timezone)) }.to_string_lossy().into_owned()
}

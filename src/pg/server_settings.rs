//! The settings that apply to work for another role.
//!
//! A session has its own settings: from SET, from its client, or from ALTER ROLE … SET. None of them may affect what an
//! instance of another role does. Each setting that affects results therefore gets the value from the server's
//! configuration or from ALTER DATABASE … SET ([`SettingsLevel::take_servers`]).

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use crate::pg::spi::{Arg, Statement, Type};
use crate::pg::state::BACKEND;
use crate::pg::version;

/// The settings that affect the results of SQL, scripts and policies. Time limits are not included: exceeding one ends
/// the call and undoes its effects. The search path of SQL is set where the SQL runs.
const NAMES: [&CStr; 27] = [
    c"DateStyle",
    c"IntervalStyle",
    c"TimeZone",
    c"timezone_abbreviations",
    c"bytea_output",
    c"extra_float_digits",
    c"xmloption",
    c"xmlbinary",
    c"row_security",
    c"default_text_search_config",
    c"lc_monetary",
    c"lc_numeric",
    c"lc_time",
    c"array_nulls",
    c"backslash_quote",
    c"escape_string_warning",
    c"standard_conforming_strings",
    c"transform_null_equals",
    c"quote_all_identifiers",
    c"gin_fuzzy_search_limit",
    c"workflow.javascript_memory",
    c"workflow.javascript_timeout",
    c"workflow.max_steps",
    c"workflow.max_nesting",
    c"workflow.retry",
    c"workflow.max_leases",
    c"workflow.misfire_grace",
];

// If the session has the server's own value, that is used, because command-line options are in no file. A setting of
// the database takes precedence over one for all databases, and both over the files, in which the last line counts.
// `timezone_abbreviations` has no default except `Default`.
static OF_SERVER: Statement = Statement::new(
    "SELECT COALESCE( \
         (SELECT s.setting FROM pg_settings s WHERE lower(s.name) = lower(n.name) \
             AND s.source IN ('environment variable', 'configuration file', 'command line', 'global', 'database')), \
         (SELECT substr(c.entry, strpos(c.entry, '=') + 1) \
          FROM pg_db_role_setting r CROSS JOIN LATERAL unnest(r.setconfig) AS c (entry) \
          WHERE r.setrole = 0 AND r.setdatabase IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())) \
              AND lower(split_part(c.entry, '=', 1)) = lower(n.name) \
          ORDER BY r.setdatabase DESC LIMIT 1), \
         (SELECT f.setting FROM pg_file_settings f \
          WHERE lower(f.name) = lower(n.name) AND f.error IS NULL ORDER BY f.seqno DESC LIMIT 1), \
         (SELECT s.boot_val FROM pg_settings s WHERE lower(s.name) = lower(n.name)), 'Default') \
     FROM unnest($1) WITH ORDINALITY AS n (name, number) ORDER BY n.number",
    &[Type::TextArray],
);

/// A nesting level of settings. Settings made in it are undone when it ends.
pub struct SettingsLevel(std::ffi::c_int);

impl SettingsLevel {
    /// Opens a level. After an error the end of the (sub)transaction closes it.
    pub fn open() -> Self {
        // SAFETY: opens a level of settings that `undo` or the end of the (sub)transaction closes.
        Self(unsafe { pg_sys::NewGUCNestLevel() })
    }

    /// Undoes all settings made in it, including inner levels that an error left open.
    pub fn undo(self) {
        // SAFETY: the level that `open` has opened.
        unsafe { pg_sys::AtEOXact_GUC(false, self.0) };
    }

    /// Gives the settings that affect results the server's values, as long as the level is open.
    pub fn take_servers(&self) {
        for (name, value) in NAMES.iter().zip(values()) {
            if current(name) != value {
                version::set_at_level(name, &value);
            }
        }
    }
}

/// The server's values, in the order of the names.
fn values() -> Vec<CString> {
    // SAFETY: reads a global.
    let loaded = unsafe { pg_sys::PgReloadTime };
    let known = {
        let (of, values) = &*BACKEND.server_settings.borrow();
        (*of == loaded && !values.is_empty()).then(|| values.clone())
    };
    known.unwrap_or_else(|| {
        let names: Vec<String> = NAMES.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        let given: Vec<String> = OF_SERVER.rows(&[Arg::Texts(&names)], |row| row.get());
        // As PostgreSQL writes them: 64MB is 65536.
        let level = SettingsLevel::open();
        let values: Vec<CString> = NAMES
            .iter()
            .zip(given)
            .map(|(name, value)| {
                version::set_at_level(name, &CString::new(value).unwrap_or_default());
                current(name).to_owned()
            })
            .collect();
        level.undo();
        BACKEND.server_settings.replace((loaded, values.clone()));
        values
    })
}

/// The value of a setting in this session.
fn current(name: &CStr) -> CString {
    // SAFETY: takes a C string; gives one that stays until the next call, which is copied, or null.
    unsafe {
        let value = pg_sys::GetConfigOption(name.as_ptr(), true, false);
        if value.is_null() { CString::default() } else { CStr::from_ptr(value).to_owned() }
    }
}

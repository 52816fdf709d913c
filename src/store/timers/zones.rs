//! Names of time zones, for suggestions.

use crate::pg::spi::Statement;

static NAMES: Statement = Statement::new("SELECT z.name FROM pg_timezone_names z", &[]);

/// The names of all time zones. PostgreSQL reads them from files, so only error messages use them.
pub fn names() -> Vec<String> {
    NAMES.rows(&[], |row| row.get())
}

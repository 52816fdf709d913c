//! Whether the database is marked for tests.

use crate::pg::spi::Statement;

// Not the parameter of the session: a session could set it for itself, and the background workers would not notice.
static IS_MARKED: Statement = Statement::new(
    "SELECT split_part(c.text, '=', 2)::boolean FROM pg_db_role_setting s CROSS JOIN LATERAL unnest(s.setconfig) c (text) \
     WHERE s.setdatabase = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND s.setrole = 0 \
       AND split_part(c.text, '=', 1) = 'workflow.testing'",
    &[],
);

/// Whether ALTER DATABASE … SET has given the database `workflow.testing`.
pub fn is_marked() -> bool {
    IS_MARKED.first(&[], |row| row.get()).unwrap_or(false)
}

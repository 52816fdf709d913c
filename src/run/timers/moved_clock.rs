//! The clock that tests move. With real work waiting, a moved clock would fire schedules and expire leases
//! irreversibly.

use crate::pg::{PgError, guc};
use crate::store::maintenance::testing;

/// Rejects acting by `workflow.now` (55000), except in a database that is marked for tests.
pub fn refuse(act: &str) -> Result<(), PgError> {
    if guc::now().is_none() || testing::is_marked() {
        return Ok(());
    }
    Err(PgError::new("55000", format!("cannot {act} by a moved clock in this database"))
        .detail("The setting workflow.now is set, and the database is not marked for tests: schedules, timers and leases would be used up.")
        .hint("Reset workflow.now, or use a database of its own for tests: ALTER DATABASE … SET workflow.testing = on."))
}

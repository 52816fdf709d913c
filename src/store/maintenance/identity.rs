//! The physical database whose timers are stored here. A copy of a database must not fire them again.

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::pg::{catalog, cluster, process};
use crate::store::BACKEND;
use crate::wake;
use pgrx::pg_sys::Oid;

/// The database to which the stored timers belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// This database.
    Ours,
    /// No database has claimed them: none were ever stored, or a dump is being restored.
    Nobodys,
    /// Another database: this one is a copy of it.
    Foreign,
}

static READ: Statement = Statement::new("SELECT system_identifier, database FROM workflow.identity", &[]);
static CLAIM: Statement = Statement::new(
    "INSERT INTO workflow.identity (system_identifier, database) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    &[Type::BigInt, Type::Oid],
);
static FORGET: Statement = Statement::new("DELETE FROM workflow.identity", &[]);

/// Reads the database to which the timers belong.
pub fn read() -> Identity {
    let stored = READ.first(&[], |row| (row.get::<i64>(), row.get::<Oid>()));
    match stored {
        None => Identity::Nobodys,
        Some(stored) if stored == (cluster::system_identifier(), process::database()) => Identity::Ours,
        Some(_) => Identity::Foreign,
    }
}

/// Makes this database the one that fires timers and hands out tasks, unless a database already is. Call it in the
/// transaction that stores a due time or opens a task.
pub fn claim() {
    let schema = catalog::schema();
    if BACKEND.claimed_in.get() == schema {
        return;
    }
    if READ.first(&[], |_| ()).is_some() {
        // A row that this transaction inserted may still be rolled back, including to a savepoint.
        if !wake::has_claimed() {
            BACKEND.claimed_in.set(schema);
        }
        return;
    }
    wake::report_claimed();
    CLAIM.run(&[Arg::BigInt(cluster::system_identifier()), Arg::Oid(process::database())]);
}

/// Makes this database the one that fires, replacing any other.
pub fn adopt() {
    FORGET.run(&[]);
    CLAIM.run(&[Arg::BigInt(cluster::system_identifier()), Arg::Oid(process::database())]);
}

/// Wakes the workers for due time `at` when this transaction commits.
pub fn record_due(at: Option<Timestamp>) {
    if let Some(at) = at {
        claim();
        wake::report_due(at);
    }
}

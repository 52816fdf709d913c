//! Which physical database the due times belong to. A copy of a database must not fire them a second time.

use std::cell::Cell;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::pg::{catalog, cluster, process};
use crate::wake;
use pgrx::pg_sys::Oid;

/// Whose due times are stored here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// This database's.
    Ours,
    /// No database's: there never were any. If there are some, a dump is just being loaded.
    Nobodys,
    /// Those of the database of which this is a copy.
    Foreign,
}

static READ: Statement = Statement::new("SELECT system_identifier, database FROM workflow.identity", &[]);
static CLAIM: Statement = Statement::new(
    "INSERT INTO workflow.identity (system_identifier, database) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    &[Type::BigInt, Type::Oid],
);
static FORGET: Statement = Statement::new("DELETE FROM workflow.identity", &[]);

thread_local! {
    /// The schema in which a row was seen that some earlier transaction had committed; it is never removed but by
    /// adoption.
    static CLAIMED_IN: Cell<Oid> = const { Cell::new(Oid::INVALID) };
}

/// Whose due times these are.
pub fn read() -> Identity {
    let stored = READ.first(&[], |row| (row.get::<i64>(), row.get::<Oid>()));
    match stored {
        None => Identity::Nobodys,
        Some(stored) if stored == (cluster::system_identifier(), process::database()) => Identity::Ours,
        Some(_) => Identity::Foreign,
    }
}

/// Makes this database the one that fires, if none is yet; in the transaction that stores something due.
pub fn claim() {
    let schema = catalog::schema();
    if CLAIMED_IN.get() == schema {
        return;
    }
    if READ.first(&[], |_| ()).is_some() {
        // The row of this transaction itself may be undone yet, by a savepoint too.
        if !wake::has_claimed() {
            CLAIMED_IN.set(schema);
        }
        return;
    }
    wake::note_claimed();
    CLAIM.run(&[Arg::BigInt(cluster::system_identifier()), Arg::Oid(process::database())]);
}

/// Makes this database the one that fires.
pub fn adopt() {
    FORGET.run(&[]);
    CLAIM.run(&[Arg::BigInt(cluster::system_identifier()), Arg::Oid(process::database())]);
}

/// Tells the workers, when this transaction commits, that something is due then. Where a fire moves its trigger on, nobody
/// need be told: whoever waited for it looks then, and sees the next one.
pub fn note_due(at: Option<Timestamp>) {
    if let Some(at) = at {
        claim();
        wake::note_due(at);
    }
}

//! Invoker grants: the definition owners whose workflows may run SQL with the rights of a lender.

use crate::pg::spi::{Arg, Statement, Type};

static EXISTS: Statement = Statement::new(
    "SELECT 1 FROM workflow.invoker_grants g WHERE g.lender = $1 AND g.borrower = $2",
    &[Type::Integer, Type::Integer],
);
static GRANT: Statement = Statement::new(
    "INSERT INTO workflow.invoker_grants (lender, borrower) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    &[Type::Integer, Type::Integer],
);
static REVOKE: Statement = Statement::new(
    "DELETE FROM workflow.invoker_grants WHERE lender = $1 AND borrower = $2",
    &[Type::Integer, Type::Integer],
);

/// Whether a lender lends its rights to the definitions of an owner.
pub fn exists(lender: i32, borrower: i32) -> bool {
    EXISTS.run(&[Arg::Integer(lender), Arg::Integer(borrower)]) > 0
}

/// Lends the rights of a lender to the definitions of an owner. Returns `false` if it already did.
pub fn grant(lender: i32, borrower: i32) -> bool {
    GRANT.run(&[Arg::Integer(lender), Arg::Integer(borrower)]) > 0
}

/// Revokes such a grant. Returns `false` if it did not exist.
pub fn revoke(lender: i32, borrower: i32) -> bool {
    REVOKE.run(&[Arg::Integer(lender), Arg::Integer(borrower)]) > 0
}

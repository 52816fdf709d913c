//! Links: the resolved versions of other workflows that a definition uses as activities.
//!
//! A version's links never change: instances name nodes by their index, so every compilation of the version must inline
//! the same workflows. Links are a column of the version, `[{type, definitionId, versionId, version, uses}]`.

use std::collections::BTreeSet;

use crate::pg::{PgError, object_lock};

pub use json::{Link, decode, encode};

mod json;

/// Locks usages of definitions of the owners that `whose` returns against other transactions. Calls `whose` again after
/// each wait, since the owners may have changed.
///
/// Take these locks before the lock on any definition. Publishing proceeds from a definition to its consumers, defining
/// from a consumer to the definitions that it uses. These locks come first and in the order of owners, so the two
/// cannot deadlock. Only if the owners changed during the wait does the order differ, and then PostgreSQL's deadlock
/// detector resolves it. Calls that neither resolve links nor update consumers skip these locks. With a single lock for
/// all owners, any role that may define could block all others while its transaction is open.
pub fn lock(whose: impl Fn() -> Result<BTreeSet<i32>, PgError>) -> Result<(), PgError> {
    let mut held = BTreeSet::new();
    loop {
        let wanted = whose()?;
        if wanted.is_subset(&held) {
            return Ok(());
        }
        for owner in &wanted {
            object_lock::lock(c"owners", owner.cast_unsigned(), 0);
        }
        held.extend(wanted);
    }
}

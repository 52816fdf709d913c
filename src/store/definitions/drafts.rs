//! Drafts: versions whose content the next save may overwrite.
//!
//! An object that refers to a draft, such as an instance that runs it, relies on its content. So a call that is about
//! to refer to a draft locks its row ([`hold_draft`]) until its transaction ends, and a save locks the row before it
//! looks for instances.

use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::rights::owners::{self, Owner};

static HOLD: Statement =
    Statement::new("SELECT 1 FROM workflow.definitions d WHERE d.id = $1 FOR SHARE OF d", &[Type::Uuid]);
static LOCK: Statement =
    Statement::new("SELECT 1 FROM workflow.definitions d WHERE d.id = $1 FOR NO KEY UPDATE OF d", &[Type::Uuid]);
static HAS_INSTANCES: Statement = Statement::new(
    "SELECT EXISTS (SELECT FROM workflow.instances i WHERE i.definition_version_id = $1)",
    &[Type::Uuid],
);
static LAST_SAVE: Statement = Statement::new(
    "SELECT COALESCE(d.revision, 0), COALESCE(d.saved_at, d.created_at), d.saved_by, d.saved_session \
     FROM workflow.definitions d WHERE d.id = $1",
    &[Type::Uuid],
);

/// Keeps a draft from being overwritten or published until the transaction ends. Waits for a transaction that is doing
/// so; values read before may then be outdated.
pub fn hold_draft(id: Uuid) {
    HOLD.run(&[Arg::Uuid(&id)]);
}

/// Locks a draft against transactions that refer to it, and waits for them. Returns whether its content may be
/// overwritten: no instance was started on it.
pub fn lock_draft(id: Uuid) -> bool {
    LOCK.run(&[Arg::Uuid(&id)]);
    !HAS_INSTANCES.first(&[Arg::Uuid(&id)], |row| row.get()).unwrap_or(false)
}

/// The last save of a version.
#[derive(Debug)]
pub struct LastSave {
    /// Number of the save; 0 if it was stored before saves had numbers.
    pub revision: i64,
    /// When it was saved as a draft; otherwise when the version was stored.
    pub at: Timestamp,
    /// Who, if it was saved as a draft.
    pub by: Option<Owner>,
    /// The editing session named by the caller.
    pub session: Option<String>,
}

/// The last save of a version.
pub fn last_save(id: Uuid) -> Option<LastSave> {
    LAST_SAVE.first(&[Arg::Uuid(&id)], |row| LastSave {
        revision: row.get(),
        at: row.get(),
        by: row.maybe().map(owners::by_id),
        session: row.maybe(),
    })
}

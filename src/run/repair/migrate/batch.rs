//! Migrating many instances, one batch per call.
//!
//! Skips instances that another session has locked. A batch can wait for a draft that is being saved, for an activation
//! key, and for the record of a failed fire at a bookmark that it renames. A problem of one instance does not stop the
//! others.

use std::collections::HashMap;
use std::rc::Rc;

use uuid::Uuid;
use workflow_engine::migration::{Problem, is_refused};

use crate::access;
use crate::compiled::{self, Compiled};
use crate::pg::rows::Wait;
use crate::pg::{PgError, interrupt};
use crate::run::CallContext;
use crate::run::call::running;
use crate::run::instances::acquire;
use crate::run::instances::version;
use crate::run::repair::migrate::{MigrationOptions, Prepared, VersionChange, ended, may_move};
use crate::store::definitions;
use crate::store::instances::{self, InstanceRow};
use crate::store::nodes::route;
use crate::store::repair::migration;

/// The instances to move.
#[derive(Debug)]
pub struct All {
    /// The id that all versions of their definition share.
    pub definition_id: String,
    /// The version that they run; any if not given.
    pub from_version: Option<i32>,
    /// A version whose instances are excluded.
    pub except_version: Option<i32>,
    /// Maximum number of instances processed.
    pub max: i32,
    /// The id after which they start.
    pub after: Option<Uuid>,
}

/// The result for one instance.
#[derive(Debug)]
pub struct MigrationResult {
    /// Id of the instance; the last one of a batch is `after` of the next.
    pub instance: Uuid,
    /// What the migration did to it, or would do without `dry_run`.
    pub outcome: MigrationOutcome,
    /// The obstacles, or warnings for the operator.
    pub problems: Vec<Problem>,
}

/// What a migration did to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationOutcome {
    /// It is in the new version; in a dry run, it would be.
    Migrated,
    /// It stays as it was.
    Refused,
    /// Another session has locked it.
    Busy,
    /// It is in the new version already.
    Unchanged,
    /// It has ended.
    Ended,
}

impl MigrationOutcome {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Migrated => "Migrated",
            Self::Refused => "Refused",
            Self::Busy => "Busy",
            Self::Unchanged | Self::Ended => "Unchanged",
        }
    }
}

impl MigrationResult {
    fn new(instance: Uuid, outcome: MigrationOutcome) -> Self {
        Self { instance, outcome, problems: Vec::new() }
    }

    fn refused(instance: Uuid, problems: Vec<Problem>) -> Self {
        Self { instance, outcome: MigrationOutcome::Refused, problems }
    }
}

/// Instances of one definition that are moved one after the other.
pub struct Batch {
    wanted: Rc<MigrationOptions>,
    new: Rc<Compiled>,
    /// By the id of the old version.
    changes: HashMap<Uuid, Rc<VersionChange>>,
}

/// Moves the instances of a definition that have not ended, in the order of ids. Skips instances that the caller may
/// not see.
///
/// # Errors
/// 22023 if `max` is not positive; 42704 for a definition or version that does not exist; 42501 if the caller is no
/// member of its owner.
pub fn migrate_all(
    context: &mut CallContext,
    all: &All,
    wanted: MigrationOptions,
) -> Result<Vec<MigrationResult>, PgError> {
    if all.max < 1 {
        return Err(PgError::new("22023", format!("argument \"max\" must be at least 1, not {}", all.max)));
    }
    let mut batch = Batch::new(context, &all.definition_id, Rc::new(wanted))?;
    if let Some(from) = all.from_version
        && definitions::version(&all.definition_id, from).is_none()
    {
        let id = &all.definition_id;
        return Err(PgError::new("42704", format!("version {from} of workflow definition \"{id}\" does not exist")));
    }
    // A batch waits for no instance.
    context.has_waited = true;
    let mut results = Vec::new();
    let mut after = all.after.unwrap_or(Uuid::nil());
    loop {
        let remaining = all.max.saturating_sub(i32::try_from(results.len()).unwrap_or(i32::MAX));
        let page = migration::page(&all.definition_id, after, (all.from_version, all.except_version), remaining);
        let is_last = page.len() < remaining as usize;
        for id in page {
            interrupt::check();
            after = id;
            results.extend(batch.migrate_one(context, id)?);
        }
        if is_last || results.len() >= all.max as usize {
            return Ok(results);
        }
    }
}

impl Batch {
    /// Starts moving instances of a definition.
    ///
    /// # Errors
    /// 42704 for a definition or version that does not exist, 42501 if the caller is no member of its owner.
    pub fn new(context: &mut CallContext, definition_id: &str, wanted: Rc<MigrationOptions>) -> Result<Self, PgError> {
        let (target, _) = version::find(context, definition_id, wanted.version)?;
        access::require_owner(&target)?;
        Ok(Self { wanted, new: compiled::of_version(target.id)?, changes: HashMap::new() })
    }

    /// Moves one instance. `None`: it no longer exists.
    pub fn migrate_one(&mut self, context: &mut CallContext, id: Uuid) -> Result<Option<MigrationResult>, PgError> {
        if running::contains(id) {
            return Ok(Some(MigrationResult::new(id, MigrationOutcome::Busy)));
        }
        let row = match self.wanted.dry_run {
            true => instances::get(id),
            false => instances::lock_with(id, Wait::Skip),
        };
        if (self.wanted.dry_run || row.is_none())
            && let Some(elsewhere) = route::refusal(id)?
        {
            return Ok(Some(MigrationResult::refused(id, vec![problem_of(&elsewhere)])));
        }
        let Some(row) = row else {
            let is_there = instances::owner(id).is_some();
            return Ok(is_there.then(|| MigrationResult::new(id, MigrationOutcome::Busy)));
        };
        if row.instance.has_ended() {
            let (outcome, problems) = (MigrationOutcome::Ended, vec![problem_of(&ended(id))]);
            return Ok(Some(MigrationResult { instance: id, outcome, problems }));
        }
        if row.definition_version_id == self.new.row.id {
            return Ok(Some(MigrationResult::new(id, MigrationOutcome::Unchanged)));
        }
        self.migrate_locked(context, row).map(Some)
    }

    fn migrate_locked(&mut self, context: &mut CallContext, row: InstanceRow) -> Result<MigrationResult, PgError> {
        let id = row.instance.id;
        if let Err(refused) = may_move(&row, &self.new) {
            return Ok(MigrationResult::refused(id, vec![problem_of(&refused)]));
        }
        let change = match self.changes.get(&row.definition_version_id) {
            Some(change) => Rc::clone(change),
            None => {
                let old = compiled::of_version(row.definition_version_id)?;
                let change = Rc::new(VersionChange::new(old, Rc::clone(&self.new), &self.wanted));
                self.changes.insert(row.definition_version_id, Rc::clone(&change));
                change
            }
        };
        if !row.instance.state.fits(change.old.program.nodes.len()) {
            compiled::of_instance(&row)?;
        }
        // Checked now, because afterwards the row is partly in the new version.
        let has_tasks = acquire::has_few_tasks(&row, &change.old);
        let (prepared, problems) = change.prepare(context, row)?;
        if is_refused(&problems) {
            return Ok(MigrationResult::refused(id, problems));
        }
        let (outcome, problems) = match self.wanted.dry_run {
            true => (MigrationOutcome::Migrated, problems),
            false => store_prepared(context, &change, prepared, problems, has_tasks)?,
        };
        Ok(MigrationResult { instance: id, outcome, problems })
    }
}

/// Stores what was prepared. Steps that may fail have a subtransaction of their own: a burst, and a key that another
/// session may take at this moment.
fn store_prepared(
    context: &mut CallContext,
    change: &VersionChange,
    prepared: Prepared,
    problems: Vec<Problem>,
    has_tasks: bool,
) -> Result<(MigrationOutcome, Vec<Problem>), PgError> {
    let runs = !prepared.cancelled.is_empty() || !prepared.moved.after.is_empty();
    let touches_tasks = runs || !prepared.moved.renamed.is_empty();
    if touches_tasks && has_tasks && !acquire::try_lock_tasks(prepared.row.instance.id) {
        return Ok((MigrationOutcome::Busy, Vec::new()));
    }
    if !runs && change.key(&prepared.row) == prepared.row.activation_key {
        change.store_and_continue(context, prepared)?;
        return Ok((MigrationOutcome::Migrated, problems));
    }
    match context.isolated(|context| change.store_and_continue(context, prepared)) {
        Ok(()) => Ok((MigrationOutcome::Migrated, problems)),
        Err(failed) if failed.aborts_transaction() => Err(failed),
        Err(failed) => Ok((MigrationOutcome::Refused, vec![problem_of(&failed)])),
    }
}

/// An error of one instance as its problem.
fn problem_of(error: &PgError) -> Problem {
    Problem::error("", error.message_and_detail())
}

//! Migrating the instances of a definition to a version that is published with `options.migrate`.
//!
//! Publishing creates an instance of a built-in definition, due at once. It works in batches, each a transaction of its
//! own, until a pass over all instances finds none that another session has locked. A start takes no lock, so it may
//! commit an instance of the previous version later; passes are repeated until all transactions have ended that ran
//! when the first pass began. A batch holds the lock of the definition. Another version is published either before the
//! batch, which then moves nothing, or after it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::journal::Identity;
use workflow_engine::migration::{Mapping, Timers};

use crate::access;
use crate::compiled;
use crate::pg::rows::Wait;
use crate::pg::{PgError, cluster};
use crate::run::CallContext;
use crate::run::call::{frame, running};
use crate::run::definitions::built_in;
use crate::run::instances::{cancel, create};
use crate::run::repair::migrate::MigrationOptions;
use crate::run::repair::migrate::batch::{All, MigrationOutcome, MigrationResult, migrate_all};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::instances;
use crate::store::repair::migration;

/// Why a migration is cancelled.
const REASON: &str = "its definition has been published again, or retracted";
/// Instances that one batch processes.
const BATCH: i32 = 500;
/// Seconds from the first pass to the second. Each further pause is twice as long, up to the maximum.
const FIRST_PAUSE: i64 = 10;
const LONGEST_PAUSE: i64 = 600;

/// Starts a migration to a version that has just been published, unless the definition has no other version.
pub fn begin(context: &mut CallContext, row: &DefinitionRow) -> Result<(), PgError> {
    if !migration::has_others(row) {
        return Ok(());
    }
    let built_in = built_in::definition(context, &built_in::MIGRATION)?;
    let compiled = compiled::of_version(built_in.id)?;
    let input = Map::from_iter([
        ("definitionId".to_owned(), json!(row.definition_id)),
        ("version".to_owned(), json!(row.version)),
    ]);
    create::create_due(context, &compiled, row.owner.clone(), row.definition_id.clone(), input)
}

/// Ends the migrations to previously published versions of a definition. One that another session has locked ends
/// itself in its next batch.
pub fn end_others(context: &mut CallContext, definition_id: &str) -> Result<(), PgError> {
    for id in migration::of_definition(definition_id) {
        let Some(mut row) = instances::lock_with(id, Wait::Skip) else { continue };
        let compiled = compiled::of_instance(&row)?;
        if !running::contains(id) && !cancel::has_ended(&row, false) {
            frame::run(context, |context| cancel::end(context, &mut row, &compiled, Some(REASON), false, None))?;
        }
    }
    Ok(())
}

/// The publisher of the version: the starter of the instance whose burst runs the batch.
fn publisher() -> Option<Identity> {
    let row =
        running::bursts().pop().and_then(instances::get).filter(|row| row.definition_id == built_in::MIGRATION.id)?;
    let role = row.starter.role.unwrap_or(row.owner.id).unsigned_abs();
    Some(Identity { role, login: None, actor: row.starter.actor })
}

/// The state passed from one batch to the next.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Progress {
    /// The instance after which the next batch starts; `None` at the start of a pass.
    after: Option<Uuid>,
    /// The xid of the first batch, with its epoch.
    began: Option<u64>,
    /// The number of this pass, from 0 on.
    pass: u32,
    moved: i64,
    /// Number in this pass.
    refused: i64,
    /// Number in this pass.
    busy: i64,
}

/// The result of a batch.
#[derive(Debug)]
pub struct Done {
    /// The progress for the next batch.
    pub next: Value,
    /// Instances moved so far.
    pub moved: i64,
    /// Instances rejected in the last pass.
    pub refused: i64,
    /// Seconds until the next batch; `None`: there is none.
    pub pause: Option<i64>,
}

/// Moves a batch of instances to a version, if it is published.
///
/// # Errors
/// Those of [`migrate_all`]; 42501 unless the caller may manage the definition; 22023 for invalid progress.
pub fn batch(context: &mut CallContext, definition_id: &str, version: i32, progress: Value) -> Result<Done, PgError> {
    let read = Some(progress).filter(Value::is_object).and_then(|progress| serde_json::from_value(progress).ok());
    let mut progress: Progress = read.ok_or_else(|| PgError::new("22023", "invalid progress of a migration"))?;
    // The lock keeps other sessions from publishing, so only a role that may publish takes it.
    let Some(target) = definitions::version(definition_id, version) else { return Ok(progress.done(None)) };
    access::require_owner(&target)?;
    // A publishing session may hold the lock for long, and a background worker must not wait for it.
    if !definitions::try_lock(definition_id) {
        return Ok(progress.done(Some(FIRST_PAUSE)));
    }
    if definitions::published(definition_id).is_none_or(|published| published.version != version) {
        return Ok(progress.done(None));
    }
    if progress.after.is_none() {
        (progress.refused, progress.busy) = (0, 0);
    }
    let now = || cluster::my_full_transaction().unwrap_or_else(cluster::next_transaction);
    let began = *progress.began.get_or_insert_with(now);
    let all = All {
        definition_id: definition_id.to_owned(),
        from_version: None,
        except_version: Some(version),
        max: BATCH,
        after: progress.after,
    };
    let wanted = MigrationOptions {
        version: Some(version),
        mapping: Mapping::default(),
        timers: Timers::Keep,
        dry_run: false,
        reason: None,
        by: publisher(),
    };
    let results = migrate_all(context, &all, wanted)?;
    progress.count(&results);
    if results.len() as i32 == BATCH {
        progress.after = results.last().map(|last| last.instance);
        return Ok(progress.done(Some(0)));
    }
    // Transaction ids of a cluster from which this database was restored are meaningless here.
    let is_of_here = began <= cluster::next_transaction();
    if progress.busy == 0 && !(is_of_here && cluster::is_before(cluster::oldest_running(), began)) {
        return Ok(progress.done(None));
    }
    let pause = FIRST_PAUSE.saturating_mul(1 << progress.pass.min(6)).min(LONGEST_PAUSE);
    (progress.after, progress.pass) = (None, progress.pass.saturating_add(1));
    Ok(progress.done(Some(pause)))
}

impl Progress {
    fn count(&mut self, results: &[MigrationResult]) {
        // The instance in which this runs is not moved.
        let others = || results.iter().filter(|one| !running::contains(one.instance));
        let number = |outcome| others().filter(|one| one.outcome == outcome).count() as i64;
        self.moved = self.moved.saturating_add(number(MigrationOutcome::Migrated));
        self.refused = self.refused.saturating_add(number(MigrationOutcome::Refused));
        self.busy = self.busy.saturating_add(number(MigrationOutcome::Busy));
    }

    fn done(&self, pause: Option<i64>) -> Done {
        let next = serde_json::to_value(self).unwrap_or_default();
        Done { next, moved: self.moved, refused: self.refused, pause }
    }
}

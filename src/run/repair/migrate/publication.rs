//! Moving the instances of a definition to a version that is published with `options.migrate`.
//!
//! Publishing leaves an instance of a built-in definition that is due at once. It works in batches, each a transaction
//! of its own, until a pass over all instances finds none that another session holds. A start takes no lock, so it may
//! commit an instance of the version that was published before; passes go on until all transactions have ended that ran
//! when the first began. A batch holds the lock of the definition. Another version is published before it, and then it
//! moves nothing, or after it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::journal::Identity;
use workflow_engine::migration::{Mapping, Timers};

use crate::access;
use crate::compiled;
use crate::pg::rows::Wait;
use crate::pg::{PgError, cluster};
use crate::run::Session;
use crate::run::call::{running, work};
use crate::run::definitions::built_in;
use crate::run::instances::{cancel, create};
use crate::run::repair::migrate::MigrationOptions;
use crate::run::repair::migrate::batch::{All, MigrationOutcome, MigrationResult, migrate_all};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::instances;
use crate::store::repair::migration;

/// Why a migration is cancelled.
const REASON: &str = "its definition has been published again, or retracted";
/// Instances that one batch looks at.
const BATCH: i32 = 500;
/// Seconds from the first pass to the second. Each later one comes after twice as long as the one before, up to the
/// longest.
const FIRST_PAUSE: i64 = 10;
const LONGEST_PAUSE: i64 = 600;

/// Leaves a migration to a version that has just been published, unless the definition has no other version.
pub fn begin(session: &mut Session, row: &DefinitionRow) -> Result<(), PgError> {
    if !migration::has_others(row) {
        return Ok(());
    }
    let built_in = built_in::definition(session, &built_in::MIGRATION)?;
    let compiled = compiled::of_version(built_in.id)?;
    let input = Map::from_iter([
        ("definitionId".to_owned(), json!(row.definition_id)),
        ("version".to_owned(), json!(row.version)),
    ]);
    create::create_due(session, &compiled, row.owner.clone(), row.definition_id.clone(), input)
}

/// Ends the migrations to versions of a definition that were published before. One that another session holds ends by
/// itself in its next batch.
pub fn end_others(session: &mut Session, definition_id: &str) -> Result<(), PgError> {
    for id in migration::of_definition(definition_id) {
        let Some(mut row) = instances::lock_with(id, Wait::Skip) else { continue };
        let compiled = compiled::of_instance(&row)?;
        if !running::contains(id) && !cancel::has_ended(&row, false) {
            work::call(session, |session| cancel::end(session, &mut row, &compiled, Some(REASON), false, None))?;
        }
    }
    Ok(())
}

/// Who has published the version: the starter of the instance whose burst asks for the batch.
fn publisher() -> Option<Identity> {
    let row =
        running::bursts().pop().and_then(instances::get).filter(|row| row.definition_id == built_in::MIGRATION.id)?;
    let role = row.starter.role.unwrap_or(row.owner.id).unsigned_abs();
    Some(Identity { role, login: None, actor: row.starter.actor })
}

/// What one batch leaves for the next one.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Progress {
    /// The instance behind which the next batch begins; a pass begins without it.
    after: Option<Uuid>,
    /// The xid of the first batch, with its epoch.
    began: Option<u64>,
    /// The number of this pass, from 0 on.
    pass: u32,
    moved: i64,
    /// In this pass.
    refused: i64,
    /// In this pass.
    busy: i64,
}

/// What a batch has done.
#[derive(Debug)]
pub struct Done {
    /// What the next batch is to be given.
    pub next: Value,
    /// Instances that were moved so far.
    pub moved: i64,
    /// Instances that the last pass refused.
    pub refused: i64,
    /// Seconds until the next batch; `None`: there is none.
    pub pause: Option<i64>,
}

/// Moves a batch of instances to a version, if it is published.
///
/// # Errors
/// Those of [`migrate_all`]; 42501 unless the caller may manage the definition; 22023 for progress that is not one.
pub fn batch(session: &mut Session, definition_id: &str, version: i32, progress: Value) -> Result<Done, PgError> {
    let read = Some(progress).filter(Value::is_object).and_then(|progress| serde_json::from_value(progress).ok());
    let mut progress: Progress = read.ok_or_else(|| PgError::new("22023", "invalid progress of a migration"))?;
    // The lock keeps other sessions from publishing, so only a role that may publish takes it.
    let Some(target) = definitions::version(definition_id, version) else { return Ok(progress.done(None)) };
    access::require_owner(&target)?;
    // A session that publishes may hold the lock for long, and a worker must not wait for it.
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
    let results = migrate_all(session, &all, wanted)?;
    progress.count(&results);
    if results.len() as i32 == BATCH {
        progress.after = results.last().map(|last| last.instance);
        return Ok(progress.done(Some(0)));
    }
    // The xids of a cluster from which this database was restored say nothing here.
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
        // The instance in which this runs stays where it is.
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

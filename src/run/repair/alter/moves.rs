//! Plans that move instances to another version of their definition.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use workflow_engine::alteration::TargetVersion;

use super::result::{AlterationOutcome, AlterationResult};
use crate::compiled;
use crate::pg::PgError;
use crate::run::CallContext;
use crate::run::call::frame;
use crate::run::repair::migrate::MigrationOptions;
use crate::run::repair::migrate::batch::{self, Batch};
use crate::store::repair::selection::SelectedInstance;

/// The instances that a plan moves, in one batch per definition.
pub struct Moves {
    wanted: Rc<MigrationOptions>,
    batches: HashMap<String, Batch>,
}

impl Moves {
    /// Starts moving instances to a version, with a reason for the journal.
    pub fn new(target: &TargetVersion, dry_run: bool, reason: Option<String>) -> Self {
        let TargetVersion { version, mapping, timers } = target;
        let wanted = MigrationOptions {
            version: *version,
            mapping: mapping.clone(),
            timers: *timers,
            dry_run,
            reason,
            by: None,
        };
        Self { wanted: Rc::new(wanted), batches: HashMap::new() }
    }

    /// Moves an instance. `None`: it no longer exists.
    ///
    /// # Errors
    /// Errors that end a transaction. Any other error is reported as a problem of the instance.
    pub fn move_one(
        &mut self,
        context: &mut CallContext,
        selected: &SelectedInstance,
    ) -> Result<Option<AlterationResult>, PgError> {
        let instance = selected.id;
        let moved = frame::run(context, |context| self.batch(context, selected)?.migrate_one(context, instance));
        match moved {
            Ok(moved) => Ok(moved.map(result)),
            Err(error) if error.aborts_transaction() => Err(error),
            Err(error) => {
                let (outcome, problems) = (AlterationOutcome::Refused, vec![error.message_and_detail()]);
                Ok(Some(AlterationResult { instance, outcome, problems }))
            }
        }
    }

    fn batch(&mut self, context: &mut CallContext, selected: &SelectedInstance) -> Result<&mut Batch, PgError> {
        let definition = compiled::of_version(selected.version)?;
        Ok(match self.batches.entry(definition.row.definition_id.clone()) {
            Entry::Occupied(batch) => batch.into_mut(),
            Entry::Vacant(new) => {
                let batch = Batch::new(context, new.key(), Rc::clone(&self.wanted))?;
                new.insert(batch)
            }
        })
    }
}

fn result(moved: batch::MigrationResult) -> AlterationResult {
    let outcome = match moved.outcome {
        // An instance that already runs this version is as the plan wants it.
        batch::MigrationOutcome::Migrated | batch::MigrationOutcome::Unchanged => AlterationOutcome::Altered,
        batch::MigrationOutcome::Refused | batch::MigrationOutcome::Ended => AlterationOutcome::Refused,
        batch::MigrationOutcome::Busy => AlterationOutcome::Busy,
    };
    let problems = moved.problems.iter().map(ToString::to_string).collect();
    AlterationResult { instance: moved.instance, outcome, problems }
}

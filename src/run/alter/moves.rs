//! Plans that move instances to another version of their definition.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use workflow_engine::alteration::TargetVersion;

use super::verdict::{Outcome, Verdict};
use crate::compiled;
use crate::pg::PgError;
use crate::run::migrate::Wanted;
use crate::run::migrate::batch::{self, Batch};
use crate::run::{Session, work};
use crate::store::selection::Candidate;

/// The instances that a plan moves, in a batch for each definition.
pub struct Moves {
    wanted: Rc<Wanted>,
    batches: HashMap<String, Batch>,
}

impl Moves {
    /// Begins to move instances to a version, for a reason that the journal keeps.
    pub fn new(target: &TargetVersion, dry_run: bool, reason: Option<String>) -> Self {
        let TargetVersion { version, mapping, timers } = target;
        let wanted = Wanted { version: *version, mapping: mapping.clone(), timers: *timers, dry_run, reason };
        Self { wanted: Rc::new(wanted), batches: HashMap::new() }
    }

    /// Moves an instance. `None`: it is gone.
    ///
    /// # Errors
    /// Those that end a transaction. Anything else is a problem of the instance.
    pub fn move_one(&mut self, session: &mut Session, candidate: &Candidate) -> Result<Option<Verdict>, PgError> {
        let instance = candidate.id;
        let moved = work::call(session, |session| self.batch(session, candidate)?.migrate_one(session, instance));
        match moved {
            Ok(moved) => Ok(moved.map(verdict)),
            Err(error) if error.aborts_transaction() => Err(error),
            Err(error) => Ok(Some(Verdict { instance, outcome: Outcome::Refused, problems: vec![error.told()] })),
        }
    }

    fn batch(&mut self, session: &mut Session, candidate: &Candidate) -> Result<&mut Batch, PgError> {
        let definition = compiled::of_version(candidate.version)?;
        Ok(match self.batches.entry(definition.row.definition_id.clone()) {
            Entry::Occupied(batch) => batch.into_mut(),
            Entry::Vacant(new) => {
                let batch = Batch::new(session, new.key(), Rc::clone(&self.wanted))?;
                new.insert(batch)
            }
        })
    }
}

fn verdict(moved: batch::Verdict) -> Verdict {
    let outcome = match moved.outcome {
        // An instance that is in the version already is as the plan wants it.
        batch::Outcome::Migrated | batch::Outcome::Unchanged => Outcome::Altered,
        batch::Outcome::Refused | batch::Outcome::Ended => Outcome::Refused,
        batch::Outcome::Busy => Outcome::Busy,
    };
    let problems = moved.problems.iter().map(ToString::to_string).collect();
    Verdict { instance: moved.instance, outcome, problems }
}

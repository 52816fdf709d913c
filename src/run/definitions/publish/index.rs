//! Publishing one version, and the trigger index: the events and times that start the published version.

use workflow_engine::trigger::{self, Trigger};

use super::{routes, timed};
use crate::compiled::{self, Compiled};
use crate::pg::PgError;
use crate::run::CallContext;
use crate::run::burst::host::SpiHost;
use crate::run::repair::migrate;
use crate::store::definitions::triggers::{self, Indexed};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::timers::schedules;

/// Publishes a version, without updating consumers. The caller holds the locks.
pub fn publish_alone(context: &mut CallContext, row: &DefinitionRow) -> Result<(), PgError> {
    definitions::publish(row);
    index(context, row)?;
    migrate::publication::end_others(context, &row.definition_id)?;
    match compiled::of_version(row.id)?.program.options.migrates {
        true => migrate::publication::begin(context, row),
        false => Ok(()),
    }
}

/// Removes the triggers of a definition from the index, so that nothing starts it any more.
pub fn forget_triggers(definition_id: &str) {
    let removed = i32::try_from(triggers::delete_all(definition_id)).unwrap_or(i32::MAX);
    triggers::announce(Indexed { removed, ..Indexed::default() });
}

/// Updates the trigger index. An unchanged trigger keeps its row.
pub fn index(context: &mut CallContext, row: &DefinitionRow) -> Result<Indexed, PgError> {
    let compiled = compiled::of_version(row.id)?;
    let wanted = evaluate(context, &compiled)?;
    let mut stored = triggers::of_definition(&row.definition_id);
    let timers = schedules::of_definition(&row.definition_id);
    let mut indexed = Indexed::default();
    for trigger in &wanted {
        let same = stored.iter().position(|known| {
            known.node_id == trigger.node_id
                && known.name == trigger.name
                && known.hash == trigger.hash
                // The payload of a timer may contain its first instant, which must not move.
                && (known.payload == trigger.payload || trigger.schedule.is_some())
        });
        if let Some(position) = same {
            let known = stored.swap_remove(position);
            triggers::keep(known.id, row, &trigger.activity_id);
            timed::keep(context, &timers, known.id, trigger)?;
            indexed.unchanged += 1;
        }
    }
    for gone in &stored {
        triggers::delete(gone.id);
        indexed.removed += 1;
    }
    let kept = triggers::of_definition(&row.definition_id);
    for trigger in &wanted {
        if kept.iter().any(|known| known.node_id == trigger.node_id && known.hash == trigger.hash) {
            continue;
        }
        let id = context.new_id();
        routes::insert(context, id, row, trigger)?;
        indexed.added += 1;
    }
    triggers::announce(indexed);
    Ok(indexed)
}

fn evaluate(context: &CallContext, compiled: &Compiled) -> Result<Vec<Trigger>, PgError> {
    let mut host = SpiHost::indexing(context, compiled);
    let mut found = trigger::index(&compiled.program, &mut host, &context.limits).map_err(|(activity, fault)| {
        let original = host.original(&fault);
        PgError { message: format!("trigger \"{activity}\" cannot be indexed: {}", original.message), ..original }
    })?;
    // Duplicate payloads get one row.
    let mut seen = std::collections::HashSet::new();
    found.retain(|trigger| seen.insert((trigger.node_id.clone(), trigger.hash)));
    Ok(found)
}

//! The engine's own definitions: one of each per database, created on first use.

use serde_json::{Value, json};
use workflow_engine::activities::migrate_instances::MIGRATE_INSTANCES;
use workflow_engine::definition;

use crate::compiled::{self, Registered};
use crate::error;
use crate::pg::{PgError, catalog};
use crate::run::CallContext;
use crate::store::definitions::{self, DefinitionRow, NewDefinition};
use crate::store::rights::owners;
use crate::store::timers::schedules::COMMANDS;

/// A built-in definition.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its definition id.
    pub id: &'static str,
    /// Its purpose, for messages.
    pub purpose: &'static str,
    document: fn() -> Value,
}

/// Runs the command of a schedule.
pub static COMMAND: BuiltIn = BuiltIn {
    id: COMMANDS,
    purpose: "It runs the commands of schedules, with the rights of their owners.",
    document: || {
        json!({
            "definitionId": COMMANDS,
            "name": "Scheduled command",
            "description": "Runs the command of a schedule made by wf_schedule.",
            "outputs": [{"name": "rows", "type": "Int64"}],
            "root": {
                "id": "command",
                "type": "ScheduledCommand",
                "statement": {"input": "statement"},
                "topLevel": {"input": "topLevel"},
                "retry": {"input": "retry"},
                "rowCount": {"output": "rows"},
            },
        })
    },
};

/// Migrates instances to a version that is published with the option `migrate`.
pub static MIGRATION: BuiltIn = BuiltIn {
    id: MIGRATE_INSTANCES,
    purpose: "It moves instances to the versions that are published, with the rights of the definitions' owners.",
    document: || {
        json!({
            "definitionId": MIGRATE_INSTANCES,
            "name": "Migration",
            "description": "Moves the instances of a definition to its published version.",
            "options": {"journal": {"level": "milestones", "keep": 100}},
            "inputs": [{"name": "definitionId", "type": "String"}, {"name": "version", "type": "Int32"}],
            "outputs": [{"name": "result", "type": "Object"}],
            "root": {
                "id": "migrate",
                "type": "MigrateInstances",
                "definitionId": {"input": "definitionId"},
                "version": {"input": "version"},
                "result": {"output": "result"},
            },
        })
    },
};

/// The built-in definition with this id.
pub fn find(definition_id: &str) -> Option<&'static BuiltIn> {
    [&COMMAND, &MIGRATION].into_iter().find(|built_in| built_in.id == definition_id)
}

/// The published version of a built-in definition. It belongs to the extension's owner: its instances act with the
/// rights of other roles, so none of them may change it.
pub fn definition(context: &mut CallContext, built_in: &BuiltIn) -> Result<DefinitionRow, PgError> {
    if let Some(row) = current(built_in) {
        return Ok(row);
    }
    definitions::lock(built_in.id);
    if let Some(row) = current(built_in) {
        return Ok(row);
    }
    let document = (built_in.document)();
    let program = compiled::compile(&document, &Registered).map_err(|problems| error::definition(&problems))?;
    let id = context.new_id();
    let new = NewDefinition {
        id,
        definition_id: built_in.id,
        version: definitions::highest(built_in.id) + 1,
        name: program.name.as_deref(),
        description: document["description"].as_str(),
        definer: false,
        uses_sql: true,
        owner: owners::id_of(catalog::extension_owner()),
        retention: None,
        activity_type: None,
        links: &[],
        unknown_types: &[],
        document: &document,
        numbering: Some(&program.numbering()),
        search_path: None,
        child_owners: None,
        migrates: false,
        revision: definitions::next_revision(built_in.id),
        saved: None,
        is_draft: false,
    };
    definitions::add(&new, context.timestamp());
    let row = definitions::by_id(id)?;
    definitions::publish(&row);
    Ok(row)
}

/// The published version, if it is the one that this library expects.
fn current(built_in: &BuiltIn) -> Option<DefinitionRow> {
    let row = definitions::published(built_in.id)?;
    let stored = definitions::whole(row.id).ok()?.document;
    (row.owner.role() == Some(catalog::extension_owner()) && definition::same_content(&stored, &(built_in.document)()))
        .then_some(row)
}

//! The definition that runs the commands of schedules: one per database, made when it is first needed.

use serde_json::{Value, json};
use workflow_engine::definition;

use crate::compiled::{self, Registered};
use crate::error;
use crate::pg::{PgError, catalog};
use crate::run::Session;
use crate::store::definitions::{self, DefinitionRow, NewDefinition};
use crate::store::owners;
use crate::store::schedules::COMMANDS;

fn document() -> Value {
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
}

/// The published version of the definition. It belongs to the extension's owner: it acts with the rights of the owners
/// of schedules, so no other role may change it.
pub fn definition(session: &mut Session) -> Result<DefinitionRow, PgError> {
    if let Some(row) = current() {
        return Ok(row);
    }
    definitions::lock(COMMANDS);
    if let Some(row) = current() {
        return Ok(row);
    }
    let document = document();
    let program = compiled::compile(&document, &Registered).map_err(|problems| error::definition(&problems))?;
    let id = session.new_id();
    let new = NewDefinition {
        id,
        definition_id: COMMANDS,
        version: definitions::highest(COMMANDS) + 1,
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
        numbering: &program.numbering(),
        search_path: None,
    };
    definitions::add(&new, session.timestamp());
    let row = definitions::by_id(id)?;
    definitions::publish(&row);
    Ok(row)
}

/// The published version, if it is the one that this library expects.
fn current() -> Option<DefinitionRow> {
    let row = definitions::published(COMMANDS)?;
    let stored = definitions::whole(row.id).ok()?.document;
    (row.owner.role() == Some(catalog::extension_owner()) && definition::same_content(&stored, &document()))
        .then_some(row)
}

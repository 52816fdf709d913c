//! Triggers that are HTTP endpoints: one workflow for each path and method.

use uuid::Uuid;
use workflow_engine::stimulus::HTTP_ENDPOINT;
use workflow_engine::trigger::Trigger;

use super::timed;
use crate::access::{self, Privilege};
use crate::pg::PgError;
use crate::pg::error::throw;
use crate::pg::role;
use crate::pg::subtransaction::subtransaction;
use crate::run::CallContext;
use crate::run::http::paths::{self, Hold};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::http::routes;

/// Adds a trigger. A unique index decides between concurrent publications; the second waits for the first.
pub fn insert(context: &mut CallContext, id: Uuid, row: &DefinitionRow, trigger: &Trigger) -> Result<(), PgError> {
    if trigger.name != HTTP_ENDPOINT.name {
        return timed::insert(context, id, row, trigger);
    }
    paths::claim(&row.owner, trigger.payload.as_ref(), Hold::Keep)?;
    let added = subtransaction(|| timed::insert(context, id, row, trigger).unwrap_or_else(|error| throw(error)));
    added.map_err(|error| if error.sqlstate == "23505" { taken(row, trigger) } else { error })
}

fn taken(row: &DefinitionRow, trigger: &Trigger) -> PgError {
    let text = |key: &str| trigger.payload.as_ref().and_then(|payload| payload[key].as_str()).unwrap_or_default();
    let message = |whose: &str| {
        format!("path \"{}\" and method \"{}\" are already in use by another {whose}", text("Path"), text("Method"))
    };
    match routes::holder(&trigger.name, trigger.payload.as_ref()) {
        Some((definition, activity)) if definition == row.definition_id => PgError::new("42710", message("activity"))
            .detail(format!("They are those of activity \"{activity}\" and of activity \"{}\".", trigger.activity_id)),
        Some((definition, activity)) if may_read(&definition) => PgError::new("42710", message("workflow"))
            .detail(format!("They are those of activity \"{activity}\" of workflow definition \"{definition}\".")),
        Some(_) | None => PgError::new("42710", message("workflow")),
    }
}

fn may_read(definition_id: &str) -> bool {
    definitions::latest(definition_id).is_some_and(|row| access::may(role::current(), Privilege::Read, &row))
}

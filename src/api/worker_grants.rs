//! `wf_grant_worker` and `wf_revoke_worker`.

use pgrx::pg_sys::Oid;
use serde_json::json;
use uuid::Uuid;
use workflow_engine::value::indexed::{MAX_INDEXED, check_indexed};

use crate::access;
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, role};
use crate::run::{acts, publish};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::{owners, task_grants};

sql_functions! {
    wf_grant_worker(role: Text, names: Texts, definition_id: Text) => grant;
    wf_revoke_worker(role: Text, names: Texts, definition_id: Text) => revoke;
}

/// What both functions are called with.
struct GrantArguments {
    role: Oid,
    names: Option<Vec<String>>,
    definition: Option<DefinitionRow>,
}

impl GrantArguments {
    fn of(call: &Call) -> Result<Self, PgError> {
        let role = role::required(&call.required::<String>("role")?)?;
        let names = call.texts("names")?;
        if names.as_ref().is_some_and(Vec::is_empty) {
            return Err(PgError::new("22023", "argument \"names\" must not be empty")
                .hint("Without names all tasks are meant."));
        }
        if names.iter().flatten().any(String::is_empty) {
            return Err(PgError::new("22023", "argument \"names\" must not contain an empty name"));
        }
        for name in names.iter().flatten() {
            check_indexed("task name", name, MAX_INDEXED).map_err(|fault| error::fault(&fault))?;
        }
        let definition = call.arg::<String>("definition_id").map(|id| publish::find(&id, None)).transpose()?;
        Ok(Self { role, names, definition })
    }

    fn record(&self, kind: &str) -> Result<(), PgError> {
        acts::record(kind, self.definition_id(), &json!({ "role": role::name(self.role), "tasks": self.names }))
    }

    fn definition_id(&self) -> Option<&str> {
        self.definition.as_ref().map(|row| row.definition_id.as_str())
    }
}

fn grant(call: &Call) -> Result<Returned, PgError> {
    // Its deletion removes the grants that it sees.
    if let Some(id) = call.arg::<String>("definition_id") {
        definitions::lock(&id);
    }
    let request = GrantArguments::of(call)?;
    request.definition.as_ref().map(access::require_owner).transpose()?;
    let (holder, grantor) = (owners::id_of(request.role), owners::current_id());
    task_grants::lock(request.role);
    let names = request.names.as_ref();
    let names: Vec<Option<&str>> =
        names.map_or_else(|| vec![None], |names| names.iter().map(|name| Some(name.as_str())).collect());
    let is_new = |name: &&Option<&str>| task_grants::add(holder, grantor, request.definition_id(), **name);
    let count = names.iter().filter(is_new).count();
    task_grants::give_calls(request.role);
    request.record("grant worker")?;
    Ok(Returned::Integer(i32::try_from(count).unwrap_or(i32::MAX)))
}

/// Takes grants back: those of the current role, and those of definitions that it may manage.
fn revoke(call: &Call) -> Result<Returned, PgError> {
    let request = GrantArguments::of(call)?;
    let (holder, who) = (owners::id_of(request.role), role::current());
    let manages = |id: &str| match publish::find(id, None) {
        Ok(row) => access::is_member(who, &row.owner),
        Err(_) => false,
    };
    task_grants::lock(request.role);
    let mut found = task_grants::held(holder, request.definition_id(), request.names.as_deref());
    found.retain(|grant| access::is_member(who, &grant.grantor) || grant.definition_id.as_deref().is_some_and(manages));
    if let (true, Some(definition)) = (found.is_empty(), &request.definition) {
        access::require_owner(definition)?;
    }
    let ids: Vec<Uuid> = found.iter().map(|grant| grant.id).collect();
    let count = task_grants::remove(&ids);
    if count > 0 {
        task_grants::take_calls(request.role, holder);
        request.record("revoke worker")?;
    }
    Ok(Returned::Integer(i32::try_from(count).unwrap_or(i32::MAX)))
}

//! `wf_grant_worker` and `wf_revoke_worker`, `wf_accept_tasks` and `wf_refuse_tasks`.

use pgrx::pg_sys::Oid;
use serde_json::json;
use uuid::Uuid;
use workflow_engine::value::indexed::{MAX_INDEXED, check_indexed};

use crate::access::{self, consent};
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, role};
use crate::run::definitions::publish;
use crate::run::history::acts;
use crate::run::tasks::acceptance;
use crate::store::definitions::{self, DefinitionRow};
use crate::store::rights::owners::{self, Owner};
use crate::store::tasks::{accepted_owners, task_grants};

sql_functions! {
    wf_grant_worker(role: Text, names: Texts, definition_id: Text) => grant;
    wf_revoke_worker(role: Text, names: Texts, definition_id: Text) => revoke;
    wf_accept_tasks(owner: Name, worker: Name) => accept;
    wf_refuse_tasks(owner: Name, worker: Name) => refuse;
    wf_accepts_tasks(worker: Oid, owner: Oid) => accepts;
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
    let owner = request.definition.as_ref().map(|row| &row.owner);
    owner.into_iter().for_each(|owner| acceptance::by_grant(request.role, owner));
    acceptance::tell_missing(request.role, owner);
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

fn accept(call: &Call) -> Result<Returned, PgError> {
    let (worker, owner) = acceptance_arguments(call)?;
    let is_new = accepted_owners::add(worker, owner);
    acts::record_of(worker, "accept tasks", None, &json!({ "role": owners::by_id(owner).title() }))?;
    Ok(Returned::Boolean(is_new))
}

fn refuse(call: &Call) -> Result<Returned, PgError> {
    let (worker, owner) = acceptance_arguments(call)?;
    let was_there = accepted_owners::remove(worker, owner);
    if was_there {
        acts::record_of(worker, "refuse tasks", None, &json!({ "role": owners::by_id(owner).title() }))?;
    }
    Ok(Returned::Boolean(was_there))
}

/// The ids of worker and owner.
fn acceptance_arguments(call: &Call) -> Result<(i32, i32), PgError> {
    let owner = role::required(&call.required_name("owner")?)?;
    let worker = match call.name("worker") {
        Some(name) => role::required(&name)?,
        None => role::current(),
    };
    if !role::has_rights_of(role::current(), worker) {
        let name = role::name(worker).unwrap_or_default();
        return Err(PgError::new("42501", format!("permission denied to accept or refuse tasks for role \"{name}\""))
            .detail(format!("Only roles with the rights of role \"{name}\" may do that.")));
    }
    Ok((owners::id_of(worker), owners::id_of(owner)))
}

/// Whether a role accepts the tasks of another one, for the views. Only roles that may see a grant between the two are
/// told.
fn accepts(call: &Call) -> Result<Returned, PgError> {
    let (Some(worker), Some(owner)) = (call.arg::<Oid>("worker"), call.arg::<Oid>("owner")) else {
        return Ok(Returned::Null);
    };
    let who = role::current();
    let may_see = role::has_rights_of(who, worker)
        || role::has_rights_of(who, owner)
        || role::reads_all_data(who)
        || role::monitors(who);
    Ok(match may_see {
        true => Returned::Boolean(consent::accepts(worker, &Owner { id: 0, oid: Some(owner), name: String::new() })),
        false => Returned::Null,
    })
}

//! `wf_define` and the other functions for definitions.

use pgrx::pg_sys::Oid;
use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::definition::{self, Problem, ProblemKind};
use workflow_engine::picture;

use crate::access::{self, Privilege};
use crate::compiled::Pinned;
use crate::pg::membership::is_superuser;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, guc, role};
use crate::run::Session;
use crate::run::definitions::publish;
use crate::run::history::acts;
use crate::run::tasks::acceptance;
use crate::store::definitions::{self, WholeDefinition};
use crate::store::rights::{event_grants, invoker_grants, owners};

sql_functions! {
    wf_define(definition: Jsonb, publish: Boolean, allow_unknown: Boolean) => define;
    wf_save_draft(definition: Jsonb, revision: BigInt, session: Text) => save_draft;
    wf_publish(definition_id: Text, version: Integer) => publish_version;
    wf_retract(definition_id: Text) => retract;
    wf_export(definition_id: Text, version: Integer) => export;
    wf_export_version(version_id: Uuid, arrange: Boolean) => export_version;
    wf_validate_json(definition: Jsonb, severity: Text) => validate;
    wf_delete_definition(definition_id: Text, version: Integer) => delete;
    wf_refresh(definition_id: Text) => refresh;
    wf_grant(definition_id: Text, role: Text, privileges: Texts) => grant;
    wf_revoke(definition_id: Text, role: Text, privileges: Texts) => revoke;
    wf_grant_events(listener: Text, publisher: Text) => grant_events;
    wf_revoke_events(listener: Text, publisher: Text) => revoke_events;
    wf_grant_invoker(role: Text) => grant_invoker;
    wf_revoke_invoker(role: Text) => revoke_invoker;
    wf_role_of(role: Oid, name: Text) => role_of;
}

fn define(call: &Call) -> Result<Returned, PgError> {
    let document = call.document("definition", guc::max_definition_size())?;
    let publish: bool = call.required("publish")?;
    let allow_unknown: bool = call.required("allow_unknown")?;
    let (definition_id, version) = publish::define(&mut Session::begin(), &document, publish, allow_unknown)?;
    Ok(Returned::Row(vec![Returned::Text(definition_id), Returned::Integer(version)]))
}

fn save_draft(call: &Call) -> Result<Returned, PgError> {
    let document = call.document("definition", guc::max_definition_size())?;
    let (revision, editor) = (call.arg("revision"), call.arg::<String>("session"));
    let draft = publish::draft::save(&mut Session::begin(), &document, revision, editor.as_deref())?;
    Ok(Returned::Row(vec![
        Returned::Text(draft.row.definition_id),
        Returned::Integer(draft.row.version),
        Returned::Uuid(draft.row.id),
        Returned::BigInt(draft.revision),
        Returned::Json(draft.problems.iter().map(encoded).collect()),
    ]))
}

fn publish_version(call: &Call) -> Result<Returned, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let version = publish::publish(&mut Session::begin(), &definition_id, call.arg("version"))?;
    acts::record("publish", Some(&definition_id), &json!({ "version": version }))?;
    Ok(Returned::Integer(version))
}

fn retract(call: &Call) -> Result<Returned, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let is_retracted = publish::retract(&mut Session::begin(), &definition_id)?;
    if is_retracted {
        acts::record("retract", Some(&definition_id), &Value::Null)?;
    }
    Ok(Returned::Boolean(is_retracted))
}

fn export(call: &Call) -> Result<Returned, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let row = publish::find(&definition_id, call.arg("version"))?;
    exported(definitions::whole(row.id)?).map(Returned::Json)
}

/// The same of any version that is stored, also a deleted one; for a designer, with a position in its picture for every
/// activity if that is asked for.
fn export_version(call: &Call) -> Result<Returned, PgError> {
    let id: Uuid = call.required("version_id")?;
    let unknown = || PgError::new("42704", format!("workflow definition version {id} does not exist"));
    let mut document = exported(definitions::whole(id).map_err(|_| unknown())?)?;
    if call.required("arrange")? {
        picture::arrange(&mut document);
    }
    Ok(Returned::Json(document))
}

fn exported(whole: WholeDefinition) -> Result<Value, PgError> {
    let WholeDefinition { row, links, document, .. } = whole;
    access::require(Privilege::Read, &row)?;
    let types = Pinned::to(&links)?;
    Ok(definition::export(&document, &row.definition_id, row.version, row.is_latest, row.is_published, &types))
}

/// The problems of a document of at least the given severity, as an array of `{path, severity, message}`.
fn validate(call: &Call) -> Result<Returned, PgError> {
    let document = call.document("definition", guc::max_definition_size())?;
    let severity: String = call.required("severity")?;
    let warnings = match severity.as_str() {
        "error" => false,
        "warning" => true,
        other => {
            return Err(PgError::new("22023", format!("unrecognized severity \"{other}\""))
                .hint("The severities are error and warning."));
        }
    };
    let problems = publish::judge::problems(&Session::begin(), &document)?;
    let wanted = problems.iter().filter(|problem| warnings || problem.kind != ProblemKind::Warning);
    Ok(Returned::Json(wanted.map(encoded).collect()))
}

fn encoded(problem: &Problem) -> Value {
    let severity = if problem.kind == ProblemKind::Warning { "warning" } else { "error" };
    json!({ "path": problem.path, "severity": severity, "message": problem.message })
}

fn delete(call: &Call) -> Result<Returned, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let version: Option<i32> = call.arg("version");
    let count = publish::delete(&Session::begin(), &definition_id, version)?;
    if count > 0 {
        acts::record("delete definition", Some(&definition_id), &json!({ "version": version, "versions": count }))?;
    }
    Ok(Returned::Integer(count))
}

fn refresh(call: &Call) -> Result<Returned, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let indexed = publish::refresh(&mut Session::begin(), &definition_id)?;
    acts::record("refresh", Some(&definition_id), &Value::Null)?;
    Ok(Returned::Row(vec![
        Returned::Integer(indexed.added),
        Returned::Integer(indexed.removed),
        Returned::Integer(indexed.unchanged),
    ]))
}

/// The role that a row of `workflow.owners` stands for, for the views.
fn role_of(call: &Call) -> Result<Returned, PgError> {
    let owner = owners::Owner { id: 0, oid: call.arg("role"), name: call.arg("name").unwrap_or_default() };
    Ok(Returned::of(owner.role(), Returned::Oid))
}

fn grant(call: &Call) -> Result<Returned, PgError> {
    let (definition_id, grantee, privileges) = grant_arguments(call)?;
    let (role, grantor) = (owners::id_of(grantee), owners::current_id());
    let mut count = 0;
    for privilege in &privileges {
        if definitions::grant(&definition_id, role, privilege.name(), grantor) {
            count += 1;
        } else if is_superuser(role::current()) {
            // A superuser's grant is also the consent of the sender's side, even if another role granted the privilege
            // before.
            definitions::vouch(&definition_id, role, privilege.name(), grantor);
        }
    }
    if let (true, Some(owner)) = (privileges.contains(&Privilege::Resume), definitions::owner(&definition_id)) {
        acceptance::by_grant(grantee, &owner);
    }
    record_grant("grant", &definition_id, grantee, &privileges)?;
    Ok(Returned::Integer(count))
}

fn record_grant(kind: &str, definition_id: &str, grantee: Oid, privileges: &[Privilege]) -> Result<(), PgError> {
    let names: Vec<&str> = privileges.iter().map(|privilege| privilege.name()).collect();
    acts::record(kind, Some(definition_id), &json!({ "role": role::name(grantee), "privileges": names }))
}

fn revoke(call: &Call) -> Result<Returned, PgError> {
    let (definition_id, grantee, privileges) = grant_arguments(call)?;
    let role = owners::id_of(grantee);
    let count =
        privileges.iter().filter(|privilege| definitions::revoke(&definition_id, role, privilege.name())).count();
    if count > 0 {
        record_grant("revoke", &definition_id, grantee, &privileges)?;
    }
    Ok(Returned::Integer(count as i32))
}

fn grant_events(call: &Call) -> Result<Returned, PgError> {
    let (publisher, listener) = events_arguments(call)?;
    let is_new = event_grants::grant(publisher, listener);
    acts::record_of(publisher, "grant events", None, &json!({ "role": owners::by_id(listener).title() }))?;
    Ok(Returned::Boolean(is_new))
}

fn revoke_events(call: &Call) -> Result<Returned, PgError> {
    let (publisher, listener) = events_arguments(call)?;
    let is_revoked = event_grants::revoke(publisher, listener);
    if is_revoked {
        acts::record_of(publisher, "revoke events", None, &json!({ "role": owners::by_id(listener).title() }))?;
    }
    Ok(Returned::Boolean(is_revoked))
}

/// The ids of publisher and listener.
fn events_arguments(call: &Call) -> Result<(i32, i32), PgError> {
    let listener = role::required(&call.required::<String>("listener")?)?;
    let publisher = match call.arg::<String>("publisher") {
        Some(name) => role::required(&name)?,
        None => role::current(),
    };
    if !role::has_rights_of(role::current(), publisher) {
        let name = role::name(publisher).unwrap_or_default();
        return Err(PgError::new(
            "42501",
            format!("permission denied to grant or revoke the events of role \"{name}\""),
        )
        .detail(format!("Only roles with the rights of role \"{name}\" may do that.")));
    }
    Ok((owners::id_of(publisher), owners::id_of(listener)))
}

fn grant_invoker(call: &Call) -> Result<Returned, PgError> {
    let borrower = role::required(&call.required::<String>("role")?)?;
    if is_superuser(role::current()) {
        return Err(PgError::new("42501", "the rights of a superuser cannot be lent")
            .detail("SQL of workflows that other roles started never runs with the rights of a superuser."));
    }
    let is_new = invoker_grants::grant(owners::current_id(), owners::id_of(borrower));
    acts::record("grant invoker", None, &json!({ "role": role::name(borrower) }))?;
    Ok(Returned::Boolean(is_new))
}

fn revoke_invoker(call: &Call) -> Result<Returned, PgError> {
    let borrower = role::required(&call.required::<String>("role")?)?;
    let ids = owners::known_id_of(role::current()).zip(owners::known_id_of(borrower));
    let is_revoked = ids.is_some_and(|(lender, borrower)| invoker_grants::revoke(lender, borrower));
    if is_revoked {
        acts::record("revoke invoker", None, &json!({ "role": role::name(borrower) }))?;
    }
    Ok(Returned::Boolean(is_revoked))
}

fn grant_arguments(call: &Call) -> Result<(String, Oid, Vec<Privilege>), PgError> {
    let definition_id: String = call.required("definition_id")?;
    let name: String = call.required("role")?;
    let privileges =
        call.texts("privileges")?.ok_or_else(|| PgError::new("22004", "argument \"privileges\" must not be NULL"))?;
    let row = publish::find(&definition_id, None)?;
    access::require_owner(&row)?;
    let grantee = role::required(&name)?;
    let known = privileges.iter().map(|name| {
        Privilege::from_name(name).ok_or_else(|| {
            PgError::new("22023", format!("unrecognized privilege \"{name}\""))
                .hint("The privileges are start, resume, read and alter.")
        })
    });
    Ok((definition_id, grantee, known.collect::<Result<_, _>>()?))
}

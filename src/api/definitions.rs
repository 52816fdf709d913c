//! `wf_define` and the other functions for definitions and their grants, the catalogue of activities, and registering custom ones.

use pgrx::pg_sys::Oid;
use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::activities::catalogue::{self, ACTIVITIES};
use workflow_engine::activity::{Descriptor, FlowRole, short_name};
use workflow_engine::definition::{self, Problem, ProblemKind};
use workflow_engine::picture;
use workflow_engine::value::indexed::{MAX_TYPE, check_indexed};

use crate::access::{self, Privilege};
use crate::compiled::{self, Pinned};
use crate::pg::membership::is_superuser;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, guc, role};
use crate::run::CallContext;
use crate::run::definitions::publish;
use crate::run::history::acts;
use crate::run::tasks::acceptance;
use crate::store::definitions::activity_types::{self, FunctionRow, NewActivityType};
use crate::store::definitions::{self, WholeDefinition};
use crate::store::rights::{event_grants, invoker_grants, owners};
use crate::{clock, error};

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
    let (definition_id, version) = publish::define(&mut CallContext::begin(), &document, publish, allow_unknown)?;
    Ok(Returned::Row(vec![Returned::Text(definition_id), Returned::Integer(version)]))
}

fn save_draft(call: &Call) -> Result<Returned, PgError> {
    let document = call.document("definition", guc::max_definition_size())?;
    let (revision, editor) = (call.arg("revision"), call.arg::<String>("session"));
    let draft = publish::draft::save(&mut CallContext::begin(), &document, revision, editor.as_deref())?;
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
    let version = publish::publish(&mut CallContext::begin(), &definition_id, call.arg("version"))?;
    acts::record("publish", Some(&definition_id), &json!({ "version": version }))?;
    Ok(Returned::Integer(version))
}

fn retract(call: &Call) -> Result<Returned, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let is_retracted = publish::retract(&mut CallContext::begin(), &definition_id)?;
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
    let problems = publish::validate::problems(&CallContext::begin(), &document)?;
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
    let count = publish::delete(&CallContext::begin(), &definition_id, version)?;
    if count > 0 {
        acts::record("delete definition", Some(&definition_id), &json!({ "version": version, "versions": count }))?;
    }
    Ok(Returned::Integer(count))
}

fn refresh(call: &Call) -> Result<Returned, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let indexed = publish::refresh(&mut CallContext::begin(), &definition_id)?;
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
    owners::add_missing(&[grantee]);
    let (role, grantor) = (owners::id_of(grantee), owners::current_id());
    let mut count = 0;
    for privilege in &privileges {
        // A superuser's grant is also the consent of the sender's side, even if another role granted the privilege
        // before.
        let is_new = definitions::grant(&definition_id, role, privilege.name(), grantor)
            || is_superuser(role::current()) && definitions::vouch(&definition_id, role, privilege.name(), grantor);
        count += i32::from(is_new);
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
    owners::add_missing(&[grantee]);
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
    owners::add_missing(&[publisher, listener]);
    Ok((owners::id_of(publisher), owners::id_of(listener)))
}

fn grant_invoker(call: &Call) -> Result<Returned, PgError> {
    let borrower = role::required(&call.required::<String>("role")?)?;
    if is_superuser(role::current()) {
        return Err(PgError::new("42501", "the rights of a superuser cannot be lent")
            .detail("SQL of workflows that other roles started never runs with the rights of a superuser."));
    }
    owners::add_missing(&[borrower]);
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

sql_functions! {
    wf_activities_json() => activities;
    wf_register_activity(type: Text, handler: Regprocedure, kind: Text, payloads: Regprocedure, inputs: Jsonb, outputs: Jsonb, outcomes: Texts, description: Text) => register;
}

/// The built-in activities as an array of objects.
fn activities(_call: &Call) -> Result<Returned, PgError> {
    let rows = ACTIVITIES.iter().map(|activity| described_type(activity.descriptor()));
    Ok(Returned::Json(Value::Array(rows.collect())))
}

fn described_type(descriptor: &Descriptor) -> Value {
    let inputs = descriptor.fields().enumerate().map(|(order, field)| {
        let mut input = json!({
            "name": field.name,
            "type": field.type_name,
            "default": field.default.and_then(|text| serde_json::from_str::<Value>(text).ok()),
            "required": field.required,
            "description": field.description,
            "uiHint": field.hint,
            "order": order,
            "isWrapped": field.is_wrapped,
        });
        if !field.choices.is_empty() {
            input["options"] = json!(field.choices);
        }
        if let Some(language) = field.language {
            input["language"] = json!(language);
        }
        input
    });
    let outputs = descriptor
        .outputs
        .iter()
        .map(|output| json!({ "name": output.name, "type": output.type_name, "description": output.description }));
    let outcomes = descriptor.fixed_outcomes();
    // The flow does not continue behind a terminal activity.
    let ways_out = if descriptor.terminal { &[][..] } else { outcomes };
    let embedded = descriptor.ports.iter().map(|name| json!({ "name": name, "type": "Embedded" }));
    let ports = embedded.chain(ways_out.iter().map(|name| json!({ "name": name, "type": "Flow" })));
    json!({
        "type": descriptor.type_name,
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
        "outcomes": outcomes,
        "description": descriptor.description,
        "example": serde_json::from_str::<Value>(descriptor.example).ok(),
        "version": 1,
        "category": descriptor.category,
        "display_name": short_name(descriptor.type_name),
        "kind": if descriptor.trigger { "Trigger" } else { "Action" },
        "ports": ports.collect::<Vec<_>>(),
        "flags": {
            "isContainer": descriptor.container,
            "isStart": descriptor.flow == FlowRole::Start,
            "isTerminal": descriptor.terminal,
            "isBrowsable": true,
        },
    })
}

/// Registers an activity type.
fn register(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required("type")?;
    let handler = function(call.required("handler")?, false)?;
    let kind: String = call.required("kind")?;
    let payloads = call.arg::<Oid>("payloads").map(|oid| function(oid, true)).transpose()?;
    let inputs = described(call, "inputs")?;
    let outputs = described(call, "outputs")?;
    refuse_name(&name)?;
    refuse_properties(inputs.as_ref())?;
    if kind != "action" && kind != "trigger" {
        return Err(PgError::new("22023", format!("kind must be \"action\" or \"trigger\", not \"{kind}\"")));
    }
    if kind == "action" && payloads.is_some() {
        return Err(PgError::new("22023", "only a trigger has a payload function")
            .hint("Give kind => 'trigger', or leave payloads out."));
    }
    let denied = || PgError::new("42501", format!("must be owner of activity type \"{name}\""));
    let payloads_owner = payloads.as_ref().map(|found| found.owner);
    owners::add_missing(&[[handler.owner].as_slice(), payloads_owner.as_slice()].concat());
    let owner = owners::current_id();
    let replaces = match activity_types::find(&name) {
        Some(known) if access::is_member(role::current(), &known.owner) => known.owner.id,
        Some(_) => return Err(denied()),
        None => owner,
    };
    let is_stored = activity_types::put(
        &NewActivityType {
            name: &name,
            handler: (&handler.name, owners::id_of(handler.owner)),
            kind: &kind,
            payloads: payloads.as_ref().map(|found| (found.name.as_str(), owners::id_of(found.owner))),
            inputs: inputs.as_ref(),
            outputs: outputs.as_ref(),
            outcomes: call.texts("outcomes")?.as_deref(),
            description: call.arg::<String>("description").as_deref(),
            owner,
        },
        replaces,
        clock::now().into(),
    );
    compiled::forget();
    if !is_stored {
        return Err(denied());
    }
    acts::record_of(replaces, "register activity", None, &json!({ "type": name }))?;
    Ok(Returned::Null)
}

/// A function of the right shape. Functions are stored as text: a stored regprocedure would make pg_upgrade refuse.
fn function(oid: Oid, returns_set: bool) -> Result<FunctionRow, PgError> {
    let unfit = |name: &str| {
        let shape = if returns_set { "SETOF jsonb" } else { "jsonb" };
        PgError::new("42P13", format!("function {name} cannot be used here"))
            .detail(format!("It must be f(context jsonb) RETURNS {shape}."))
    };
    match activity_types::function(oid) {
        Some(found) if found.is_plain && found.returns_set == returns_set => Ok(found),
        Some(found) => Err(unfit(&found.name)),
        None => Err(PgError::new("42883", format!("function with OID {} does not exist", oid.to_u32()))),
    }
}

/// Refuses inputs with the name of a property that activities of all types have: an author could not set both.
fn refuse_properties(inputs: Option<&Value>) -> Result<(), PgError> {
    let names = inputs.and_then(Value::as_array).into_iter().flatten().filter_map(|input| input["name"].as_str());
    match names
        .into_iter()
        .find(|name| definition::PROPERTIES.iter().any(|property| property.eq_ignore_ascii_case(name)))
    {
        None => Ok(()),
        Some(name) => Err(PgError::new("22023", format!("an input cannot have the name \"{name}\""))
            .detail("Activities of all types have a property of this name.")),
    }
}

/// Documentation of inputs or outputs: `[{"name": …}]`.
fn described(call: &Call, argument: &str) -> Result<Option<Value>, PgError> {
    let Some(value) = call.arg::<Value>(argument) else {
        return Ok(None);
    };
    let is_list = value.as_array().is_some_and(|entries| {
        entries.iter().all(|entry| entry.is_string() || entry.get("name").is_some_and(Value::is_string))
    });
    if is_list {
        return Ok(Some(value));
    }
    Err(PgError::new("22023", format!("argument \"{argument}\" must be an array of names or of objects with a name")))
}

fn refuse_name(name: &str) -> Result<(), PgError> {
    if name.trim().is_empty() {
        return Err(PgError::new("22023", "an activity type needs a name"));
    }
    refuse_look_alike(name)?;
    check_indexed("name of the activity type", name, MAX_TYPE).map_err(|fault| error::fault(&fault))?;
    if catalogue::find(name).is_some() {
        return Err(PgError::new("42710", format!("activity type \"{name}\" is built in")).hint(OWN_NAME));
    }
    if let Some(built_in) = catalogue::looks_like(name) {
        return Err(PgError::new("42939", format!("activity type name \"{name}\" is reserved"))
            .detail(format!("The built-in type \"{built_in}\" differs from it in letter case or prefix only."))
            .hint(OWN_NAME));
    }
    if catalogue::has_reserved_prefix(name) {
        return Err(PgError::new("42939", format!("activity type name \"{name}\" is reserved"))
            .detail("Names that begin with \"Elsa.\" or \"Workflow.\" are those of built-in types.")
            .hint(OWN_NAME));
    }
    Ok(())
}

/// Names that people read as one that they are not: with invisible characters, or with letters of compatibility
/// forms, as the fullwidth ones.
fn refuse_look_alike(name: &str) -> Result<(), PgError> {
    match name.chars().find(|c| looks_like_another(*c)) {
        None => Ok(()),
        Some(c) => Err(PgError::new("42602", format!("invalid name of an activity type: \"{name}\""))
            .detail(format!(
                "It contains the character U+{:04X}, which is invisible or looks like another one.",
                u32::from(c)
            ))
            .hint(OWN_NAME)),
    }
}

/// Control and format characters, blanks other than the plain one, and the blocks of letters that stand for other
/// letters: letterlike symbols, enclosed and fullwidth forms, mathematical alphabets, tags, variation selectors.
fn looks_like_another(c: char) -> bool {
    c.is_control()
        || c.is_whitespace() && c != ' '
        || matches!(u32::from(c),
            0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x2028..=0x202E | 0x2060..=0x206F | 0x2100..=0x214F | 0x2460..=0x24FF | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF
            | 0xFF00..=0xFFEF | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0x1D400..=0x1D7FF | 0x1F100..=0x1F1FF
            | 0xE0000..=0xE0FFF)
}

const OWN_NAME: &str = "Choose another name, for example one with a prefix of your own.";

//! Owners: `wf_set_owner`, `wf_adopt_database`, the directory, and the row that `wf_grant_usage` makes.

use pgrx::pg_sys::Oid;
use serde_json::{Value, json};

use crate::api::object;
use crate::pg::error::warning;
use crate::pg::{Call, PgError, Returned, boundary, catalog, role, session};
use crate::run::CallContext;
use crate::run::history::acts;
use crate::run::maintenance::adoption::{self, Adoption};
use crate::run::rights::{self, ObjectKind};
use crate::store::rights::{directory, owners};

crate::pg::symbols::sql_functions! {
    wf_set_owner(kind: Text, id: Text, role: Name) => set_owner;
    wf_make_owner(role: Name) => make_owner;
    wf_set_role(role: Name, actor: Text, groups: Texts) => set_role;
    wf_set_directory(function: Regprocedure) => set_directory;
    wf_adopt_database(dry_run: Boolean, overdue: Text, owners: Jsonb) => adopt_database;
}

fn set_owner(call: &Call) -> Result<Returned, PgError> {
    let kind = ObjectKind::from_name(&call.required::<String>("kind")?)?;
    let id: String = call.required("id")?;
    let new = role::required(&call.required_name("role")?)?;
    let former = rights::set_owner(&mut CallContext::begin(), kind, &id, new)?;
    // The journal of an instance records it. Members of the role that had something else may see who took it.
    if let Some(former) = former.filter(|_| kind != ObjectKind::Instance) {
        let definition = (kind == ObjectKind::Definition).then_some(id.as_str());
        let detail = json!({ "kind": call.required::<String>("kind")?, "id": id, "to": role::name(new) });
        acts::record_of(former, "set owner", definition, &detail)?;
    }
    Ok(Returned::Boolean(former.is_some()))
}

fn set_role(call: &Call) -> Result<Returned, PgError> {
    session::refuse_parallel();
    let actor: Option<String> = call.arg("actor");
    let groups = call.texts("groups")?;
    boundary::enter(role::required(&call.required_name("role")?)?, actor.as_deref(), groups)?;
    Ok(Returned::Null)
}

fn set_directory(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("name the directory of people")?;
    let Some(function) = call.arg::<Oid>("function") else {
        directory::set(None);
        acts::record("set directory", None, &json!({ "function": null }))?;
        return Ok(Returned::Null);
    };
    let missing = || PgError::new("42883", format!("function with OID {} does not exist", function.to_u32()));
    let found = directory::candidate(function).ok_or_else(missing)?;
    require_directory(&found)?;
    owners::add_missing(&[found.owner]);
    directory::set(Some((&found.name, owners::id_of(found.owner))));
    acts::record("set directory", None, &json!({ "function": found.name }))?;
    if found.is_open {
        warn_open(&found.name);
    }
    Ok(Returned::Null)
}

/// Warns of a directory that PUBLIC may execute, as it may every new function.
fn warn_open(name: &str) {
    let message = format!("PUBLIC may execute the directory {name}(text)");
    warning(PgError::new("01000", message).detail("Every role that defines workflows can look up people in it.").hint(
        format!(
            "Run REVOKE EXECUTE ON FUNCTION {name}(text) FROM PUBLIC, and grant it to the owners of the definitions."
        ),
    ));
}

/// Rejects a function that cannot be a directory (42P13).
fn require_directory(found: &directory::Candidate) -> Result<(), PgError> {
    let name = &found.name;
    let hint = "Give a function f(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE.";
    let refused =
        |why: String| PgError::new("42P13", format!("function {name} cannot be the directory")).detail(why).hint(hint);
    if !found.takes_text {
        return Err(refused("It must be a function of one text.".to_owned()));
    }
    let missing: Vec<&str> =
        directory::COLUMNS.into_iter().filter(|column| !found.columns.iter().any(|has| has == column)).collect();
    if !missing.is_empty() {
        return Err(refused(format!("It does not return as text: {}.", missing.join(", "))));
    }
    if found.is_temporary {
        return Err(refused("It is temporary, so no other session finds it.".to_owned()));
    }
    if !found.is_stable {
        return Err(refused("It is VOLATILE, and a look-up must not change anything.".to_owned()));
    }
    Ok(())
}

/// Makes the row of a role in `workflow.owners` when the role is granted the functions. PUBLIC is no role.
fn make_owner(call: &Call) -> Result<Returned, PgError> {
    let who = role::current();
    let Some(role) = role::by_name(&call.required_name("role")?) else { return Ok(Returned::Null) };
    if !role::has_rights_of(who, catalog::extension_owner()) && !role::has_rights_of(who, role) {
        return Ok(Returned::Null);
    }
    Ok(Returned::Integer(owners::id_of(role)))
}

fn adopt_database(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("adopt the workflows of a database")?;
    let overdue: String = call.required("overdue")?;
    let skips = match overdue.as_str() {
        "fire" => false,
        "skip" => true,
        other => {
            return Err(PgError::new("22023", format!("overdue must be \"fire\" or \"skip\", not \"{other}\"")));
        }
    };
    let roles = match call.arg::<Value>("owners") {
        Some(_) => object(call, "owners")?,
        None => serde_json::Map::new(),
    };
    let adoption = Adoption { dry_run: call.required("dry_run")?, skips, roles };
    let found = adoption::adopt(&CallContext::begin(), &adoption)?;
    if !adoption.dry_run {
        acts::record("adopt database", None, &json!({ "overdue": overdue }))?;
    }
    let rows = found
        .into_iter()
        .map(|row| json!({ "owner": row.owner, "role": row.role, "instances": row.instances, "overdue": row.overdue }));
    Ok(Returned::Json(Value::Array(rows.collect())))
}

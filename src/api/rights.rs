//! Owners: `wf_set_owner`, `wf_adopt_database`, and the row that `wf_grant_usage` makes.

use serde_json::{Value, json};

use crate::api::object;
use crate::pg::{Call, PgError, Returned, boundary, catalog, role, session};
use crate::run::CallContext;
use crate::run::history::acts;
use crate::run::maintenance::adoption::{self, Adoption};
use crate::run::rights::{self, ObjectKind};
use crate::store::rights::owners;

crate::pg::symbols::sql_functions! {
    wf_set_owner(kind: Text, id: Text, role: Name) => set_owner;
    wf_make_owner(role: Name) => make_owner;
    wf_set_role(role: Name, actor: Text, groups: Texts) => set_role;
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

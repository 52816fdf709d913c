//! The search path of a definition's SQL in a burst without a caller: that of the defining session.

use pgrx::pg_sys::{InvalidOid, Oid};
use workflow_engine::Program;
use workflow_engine::program::{SearchPath, Security};

use crate::pg::error::{notice, warning};
use crate::pg::{PgError, session};
use crate::store::definitions::schemas;
use crate::store::definitions::{self, DefinitionRow};

/// The schemas to store, as a `search_path` list. `None`: the definition sets its own path, or needs none.
///
/// A role that may create objects in a schema decides what a name there refers to, and that object would be used with
/// the owner's rights. So schemas in which other roles may create objects are left out, with a WARNING. Schemas that
/// differ between sessions are left out as well.
pub fn found(definition_id: &str, program: &Program, owner: Option<Oid>) -> Option<String> {
    let options = &program.options;
    if !program.uses_sql {
        return None;
    }
    let open = |names: &[String]| schemas::open_to_others(names, owner.unwrap_or(InvalidOid));
    match (&options.search_path, options.security) {
        (SearchPath::Unset, Security::Invoker) => {}
        (SearchPath::Schemas(names), Security::Definer) => {
            let unsafe_ones = open(names).into_iter().filter_map(|(name, is_open)| is_open.then_some(name));
            warn_of(definition_id, &unsafe_ones.collect::<Vec<_>>(), false);
            return None;
        }
        _ => return None,
    }
    let (mut kept, mut omitted) = (Vec::new(), Vec::new());
    let names: Vec<String> = session::search_path_names().into_iter().filter(|name| !is_personal(name)).collect();
    for (name, is_open) in open(&names) {
        if is_open { omitted.push(name) } else { kept.push(session::quoted(&name)) }
    }
    warn_of(definition_id, &omitted, true);
    Some(kept.join(", "))
}

fn is_personal(name: &str) -> bool {
    name == "$user" || name == "pg_temp" || name.starts_with("pg_temp_")
}

fn warn_of(definition_id: &str, schemas: &[String], are_omitted: bool) {
    if schemas.is_empty() {
        return;
    }
    let list = schemas.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let noun = if schemas.len() == 1 { "schema" } else { "schemas" };
    let told = if are_omitted {
        PgError::new("01000", format!("SQL of workflow definition \"{definition_id}\" does not look in {noun} {list} where it runs without a caller"))
            .hint("Qualify the names, or name the schemas in options.searchPath.")
    } else {
        PgError::new(
            "01000",
            format!(
                "SQL of workflow definition \"{definition_id}\" looks in {noun} {list} with the rights of its owner"
            ),
        )
        .hint("Qualify the names, or revoke CREATE on the schemas from others.")
    };
    warning(told.detail("Roles other than the owner of the definition may create objects there."));
}

/// Stores this session's search path for a version that is defined again with the same content.
pub fn renew(row: &DefinitionRow, program: &Program) {
    let path = found(&row.definition_id, program, row.owner.role());
    if definitions::search_path(row.id) == path {
        return;
    }
    definitions::set_search_path(row.id, path.as_deref());
    let path = path.filter(|path| !path.is_empty()).unwrap_or_else(|| "pg_catalog".into());
    notice(PgError::new(
        "00000",
        format!(
            "SQL of version {} of workflow definition \"{}\" looks in {path} where it runs without a caller",
            row.version, row.definition_id
        ),
    ));
}

/// Removes from a stored search path the schemas in which roles other than the new owner may create objects.
pub fn narrow(row: &DefinitionRow, owner: Oid) {
    let Some(path) = definitions::search_path(row.id) else { return };
    let names = schemas::open_to_others(&session::split_names(&path), owner);
    let (omitted, kept): (Vec<_>, Vec<_>) = names.into_iter().partition(|(_, is_open)| *is_open);
    if omitted.is_empty() {
        return;
    }
    let kept: Vec<String> = kept.iter().map(|(name, _)| session::quoted(name)).collect();
    definitions::set_search_path(row.id, Some(&kept.join(", ")));
    if row.is_latest {
        let omitted: Vec<String> = omitted.into_iter().map(|(name, _)| name).collect();
        warn_of(&row.definition_id, &omitted, true);
    }
}

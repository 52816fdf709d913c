//! Users' functions that were registered by name: handlers, payload functions, callbacks.
//!
//! Only the name of a function is stored, and a name can pass to another role: the schema is dropped, and a role that
//! may create schemas creates it again. So the function's owner is stored as well, and checked at each call.

use serde_json::Value;

use crate::access;
use crate::pg::error::throw;
use crate::pg::{PgError, function, role, user_sql};
use crate::store::definitions::activity_types::{ActivityType, Function};
use crate::store::instances::bookmarks::{join_callback, split_callback};
use crate::store::rights::owners::{self, Owner};

/// Calls the handler of an activity type.
pub fn handle(type_name: &str, registered: &ActivityType, context: &Value) -> Value {
    let handler = &registered.handler;
    require_registered(type_name, handler, &registered.owner);
    with_owned_callbacks(user_sql::call(&handler.name, context), handler)
}

/// Calls the payload function of an activity type.
pub fn payloads(type_name: &str, function: &Function, registrant: &Owner, context: &Value) -> Vec<Value> {
    require_registered(type_name, function, registrant);
    user_sql::call_set(&function.name, context)
}

/// Calls the callback of a bookmark.
pub fn call_back(callback: &str, context: &Value) -> Value {
    let (name, owner) = split_callback(callback);
    let resolved = user_sql::resolve_function(name)
        .unwrap_or_else(|| throw(PgError::new("42883", format!("callback function {name}(jsonb) does not exist"))));
    let callback = Function { name: resolved, owner: owners::by_id(owner.unwrap_or_default()) };
    if let Err(error) = require(&callback, &callback.owner) {
        throw(
            error
                .detail(format!("It belonged to role \"{}\" when the bookmark was made.", callback.owner.title()))
                .hint("Resume another bookmark of the instance, or cancel it."),
        );
    }
    with_owned_callbacks(user_sql::call(&callback.name, context), &callback)
}

fn require_registered(type_name: &str, function: &Function, registrant: &Owner) {
    if let Err(error) = require(function, registrant) {
        let was = function.owner.title();
        throw(
            error
                .detail(format!("It belonged to role \"{was}\" when activity type \"{type_name}\" was registered."))
                .hint("Register the activity type anew with wf_register_activity if this is the right function."),
        );
    }
}

/// Rejects a function whose owner has changed, unless the current owner has the rights of `registrant` (42501).
fn require(function: &Function, registrant: &Owner) -> Result<(), PgError> {
    let name = &function.name;
    let Some(owner) = function::owner(name) else {
        return Err(PgError::new("42883", format!("function {name}(jsonb) does not exist")));
    };
    if function.owner.role() == Some(owner) || access::is_member(owner, registrant) {
        return Ok(());
    }
    let owner = role::name(owner).unwrap_or_default();
    Err(PgError::new("42501", format!("function {name}(jsonb) belongs to role \"{owner}\" now")))
}

/// The result of a function, with each callback qualified by its schema and followed by the id of its owner.
///
/// A callback without a schema gets that of the function: a session's search path must not determine what a later
/// resume calls. A callback that does not exist yet is recorded as owned by the function's owner.
fn with_owned_callbacks(mut result: Value, function: &Function) -> Value {
    let bookmarks = result.get_mut("bookmarks").and_then(Value::as_array_mut);
    for bookmark in bookmarks.into_iter().flatten() {
        if let Some(Value::String(callback)) = bookmark.get_mut("callback") {
            let mut name = std::mem::take(callback);
            if !name.contains('.') {
                name = format!("{}.{name}", schema_of(&function.name));
            }
            let owner = user_sql::resolve_function(&name).and_then(|resolved| function::owner(&resolved));
            *callback = join_callback(&name, Some(owner.map_or(function.owner.id, owners::id_of)));
        }
    }
    result
}

/// The schema of a qualified, quoted name.
fn schema_of(qualified: &str) -> &str {
    let Some(rest) = qualified.strip_prefix('"') else {
        return qualified.split_once('.').map_or("public", |(schema, _)| schema);
    };
    let mut end = 0;
    while let Some(quote) = rest[end..].find('"') {
        end += quote + 1;
        if !rest[end..].starts_with('"') {
            break;
        }
        end += 1;
    }
    &qualified[..=end]
}

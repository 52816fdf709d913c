//! The catalogue of activities, and registering one's own.

use serde_json::{Value, json};
use workflow_engine::activity::catalogue::{self, ACTIVITIES};

use crate::clock;
use crate::access;
use crate::pg::{Call, PgError, Returned, role};
use crate::sql_functions;
use crate::store::activity_types::{self, NewActivityType};
use crate::store::owners;

sql_functions! {
    wf_activities_json => activities;
    wf_register_activity_type => register;
}

/// The built-in activities as an array of objects.
fn activities(_call: &Call) -> Result<Returned, PgError> {
    let rows = ACTIVITIES.iter().map(|activity| {
        let descriptor = activity.descriptor();
        let inputs = descriptor.inputs.iter().map(|input| {
            json!({
                "name": input.name,
                "type": input.type_name,
                "default": input.default.and_then(|text| serde_json::from_str::<Value>(text).ok()),
                "required": input.required,
                "description": input.description,
            })
        });
        let outputs = descriptor.outputs.iter().map(
            |output| json!({ "name": output.name, "type": output.type_name, "description": output.description }),
        );
        let outcomes = if descriptor.outcomes.is_empty() { &["Done"][..] } else { descriptor.outcomes };
        json!({
            "type": descriptor.type_name,
            "inputs": inputs.collect::<Vec<_>>(),
            "outputs": outputs.collect::<Vec<_>>(),
            "outcomes": outcomes,
            "description": descriptor.description,
            "example": serde_json::from_str::<Value>(descriptor.example).ok(),
        })
    });
    Ok(Returned::Json(Value::Array(rows.collect())))
}

/// Arguments: type, handler and payload functions as qualified names, kind, and documentation.
fn register(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required(0, "type")?;
    let handler: String = call.required(1, "handler")?;
    let kind: String = call.required(2, "kind")?;
    let payloads: Option<String> = call.arg(3);
    refuse_name(&name)?;
    if kind != "action" && kind != "trigger" {
        return Err(PgError::new("22023", format!("kind must be \"action\" or \"trigger\", not \"{kind}\"")));
    }
    if kind == "action" && payloads.is_some() {
        return Err(PgError::new("22023", "only a trigger has a payload function")
            .hint("Give kind => 'trigger', or leave payloads out."));
    }
    if let Some(known) = activity_types::find(&name)
        && !access::is_member(role::current(), &known.owner)
    {
        return Err(PgError::new("42501", format!("must be owner of activity type \"{name}\"")));
    }
    activity_types::put(
        &NewActivityType {
            name: &name,
            handler: &handler,
            kind: &kind,
            payloads: payloads.as_deref(),
            inputs: call.arg::<Value>(4).as_ref(),
            outputs: call.arg::<Value>(5).as_ref(),
            outcomes: call.texts(6).as_deref(),
            description: call.arg::<String>(7).as_deref(),
            owner: owners::current_id(),
        },
        clock::now().into(),
    );
    Ok(Returned::Null)
}

fn refuse_name(name: &str) -> Result<(), PgError> {
    if name.trim().is_empty() {
        return Err(PgError::new("22023", "an activity type needs a name"));
    }
    if catalogue::find(name).is_some() || name.starts_with("Elsa.") || name.starts_with("Workflow.") {
        return Err(PgError::new("42710", format!("activity type \"{name}\" is built in"))
            .hint("Choose another name, for example one with a prefix of your own."));
    }
    Ok(())
}

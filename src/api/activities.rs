//! The catalogue of activities, and registering custom ones.

use pgrx::pg_sys::Oid;
use serde_json::{Value, json};
use workflow_engine::activities::catalogue::{self, ACTIVITIES};
use workflow_engine::activity::{Descriptor, FlowRole, short_name};
use workflow_engine::definition;
use workflow_engine::value::indexed::{MAX_TYPE, check_indexed};

use crate::access;
use crate::clock;
use crate::compiled;
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, role};
use crate::run::history::acts;
use crate::store::definitions::activity_types::{self, FunctionRow, NewActivityType};
use crate::store::rights::owners;

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
    let outcomes = if descriptor.outcomes.is_empty() { &["Done"][..] } else { descriptor.outcomes };
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

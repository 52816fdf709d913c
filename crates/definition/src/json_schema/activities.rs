//! Schemas of activities, from the catalogue.

use serde_json::{Map, Value, json};

use super::values::{any_case, binding_or, described, expression_or};
use super::{COMMENTS, flag, has_any, reference, text_or_null};
use crate::common::COMMON;
use crate::outline::MARKS as OUTLINE_MARKS;
use crate::retry::{RETRY, START_TIMEOUT, TIMEOUT};
use crate::{parts, workflow};
use workflow_core::activities::catalogue::ACTIVITIES;
use workflow_core::activity::{Descriptor, InputDescriptor, PartCondition, PartList, Special, short_name};
use workflow_core::program::MergeMode;
use workflow_value::value::{TypeName, parse_type_name};

/// Members that Elsa writes into every activity.
pub(super) const MARKS: [&str; 4] = OUTLINE_MARKS;

/// An activity type that is not built in: registered in SQL, or a workflow that is used as an activity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredType {
    /// Type name, as in documents.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Whether it may start a workflow.
    pub trigger: bool,
    /// Whether members that it does not declare are mistakes, as in a workflow used as an activity.
    pub closed: bool,
    /// Its inputs.
    pub inputs: Vec<DeclaredMember>,
    /// Its outputs.
    pub outputs: Vec<DeclaredMember>,
}

/// An input or output of a [`DeclaredType`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredMember {
    /// Name, as in documents.
    pub name: String,
    /// Type of the value, with Elsa's name; `None`: any.
    pub type_name: Option<String>,
    /// Its meaning.
    pub description: Option<String>,
}

/// The types of the catalogue.
fn descriptors() -> impl Iterator<Item = &'static Descriptor> {
    ACTIVITIES.iter().map(|activity| activity.descriptor())
}

/// An activity anywhere in a document in the short form.
pub(super) fn activity(declared: &[DeclaredType]) -> Value {
    let is_of_elsa = json!({ "anyOf": [
        has_any(&MARKS),
        // A value in Elsa's wrapper makes its activity one in Elsa's form.
        { "not": { "additionalProperties": { "not": reference("elsaWrapper") } } },
    ]});
    json!({
        "if": { "type": "array" },
        "then": { "items": reference("activity") },
        "else": { "if": is_of_elsa, "then": reference("elsaActivity"), "else": short_activity(declared) },
    })
}

fn short_activity(declared: &[DeclaredType]) -> Value {
    let built_in = descriptors().map(|descriptor| {
        let names = [short_name(descriptor.type_name), descriptor.type_name];
        selected(&names, short_name(descriptor.type_name))
    });
    let others = declared.iter().map(|other| selected(&[&other.name], &other.name));
    let passive: Vec<&str> = descriptors()
        .filter(|descriptor| !descriptor.trigger)
        .flat_map(|descriptor| [short_name(descriptor.type_name), descriptor.type_name])
        .chain(declared.iter().filter(|other| !other.trigger).map(|other| other.name.as_str()))
        .collect();
    let custom = json!({
        "if": { "properties": { "type": is_own_type() }, "required": ["type"] },
        "then": reference("customActivity"),
    });
    let starts_nothing = json!({
        "if": { "properties": { "type": { "enum": passive } }, "required": ["type"] },
        "then": { "properties": { "canStartWorkflow": {
            "enum": [false, null], "errorMessage": "An activity of this type cannot start a workflow." } } },
    });
    json!({
        "type": "object",
        "properties": common_members(declared),
        "if": {
            "required": ["workflowDefinitionId"],
            "properties": { "workflowDefinitionId": { "type": "string", "minLength": 1 } },
        },
        "else": { "required": ["type"] },
        "allOf": built_in.chain(others).chain([starts_nothing]).chain(declared.is_empty().then_some(custom)).collect::<Vec<_>>(),
    })
}

/// Applies a schema of `$defs` to the activities of a type.
fn selected(names: &[&str], def: &str) -> Value {
    json!({
        "if": { "properties": { "type": { "enum": names } }, "required": ["type"] },
        "then": reference(&def.replace('~', "~0").replace('/', "~1")),
    })
}

/// Members of every activity. The schemas of types only list their names.
fn common_members(declared: &[DeclaredType]) -> Value {
    let modes: Vec<String> = MergeMode::NAMES.iter().map(|name| any_case(name)).collect();
    json!({
        "type": type_names(declared),
        "id": described(text_or_null(), "Identifies the activity among its siblings. By default its type and a number. \
                        Give one to every activity that waits."),
        "name": described(text_or_null(), "Name for people."),
        "canStartWorkflow": described(flag(), "Whether this activity also starts the workflow, as a trigger."),
        "runAsynchronously": described(flag(), "Whether a background worker executes the activity, in a transaction of its own."),
        "mergeMode": described(json!({
            "type": ["string", "null"],
            "pattern": format!("^\\s*(?:{})?\\s*$", modes.join("|")),
            "examples": MergeMode::NAMES,
        }), "In a flowchart in token mode: when the activity runs."),
    })
}

/// The types of activities. An unknown one is reported with the known ones.
fn type_names(declared: &[DeclaredType]) -> Value {
    let short = descriptors().map(|descriptor| (short_name(descriptor.type_name), descriptor.description));
    let others = declared.iter().map(|other| (&*other.name, other.description.as_deref().unwrap_or_default()));
    let named: Vec<(&str, &str)> = short.chain(others).collect();
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    let full: Vec<&str> = descriptors().map(|descriptor| descriptor.type_name).collect();
    // Editors complete these and show their descriptions. They refuse nothing: of alternatives, most programs report
    // only that none is valid.
    let listed = named.iter().map(|(name, description)| json!({ "const": name, "description": description }));
    let alternatives: Vec<Value> = listed.chain([json!(true)]).collect();
    let mut unlisted = vec![json!({ "enum": full })];
    unlisted.extend(declared.is_empty().then(is_own_type));
    json!({
        "type": "string",
        "description": "Type of the activity. A name of your own needs a dot, such as Acme.Shout, unless the schema was \
                        made from the database in which it is registered.",
        "anyOf": alternatives,
        "if": { "anyOf": unlisted },
        "else": { "enum": names },
    })
}

/// Matches the name of a type that may be registered in a database.
fn is_own_type() -> Value {
    let reserved = format!("^(?:{}|{})\\.", any_case("Elsa"), any_case("Workflow"));
    json!({ "type": "string", "pattern": "\\.", "not": { "pattern": reserved } })
}

/// The schemas of all types in `$defs`, under their names without prefix.
pub(super) fn types(declared: &[DeclaredType]) -> Map<String, Value> {
    let built_in = descriptors().map(|descriptor| (short_name(descriptor.type_name).to_owned(), built_in(descriptor)));
    let others = declared.iter().map(|other| (other.name.clone(), declared_type(other)));
    let more = [
        ("elsaWrapper".to_owned(), elsa_wrapper()),
        ("activities".to_owned(), json!({ "type": ["array", "null"], "items": reference("activity") })),
        ("port".to_owned(), json!({ "if": { "type": "null" }, "else": reference("activity") })),
        ("connections".to_owned(), connections()),
        ("customActivity".to_owned(), declared_type(&DeclaredType::default())),
    ];
    more.into_iter().chain(built_in).chain(others).collect()
}

/// A built-in type.
fn built_in(descriptor: &Descriptor) -> Value {
    let mut members = Map::new();
    let mut required = Vec::new();
    for name in [RETRY, TIMEOUT] {
        members.insert(name.into(), reference(name));
    }
    if descriptor.may_limit_start() {
        members.insert(
            START_TIMEOUT.into(),
            described(reference("positiveInterval"), "Longest time until a task worker claims the task."),
        );
    }
    for output in descriptor.outputs {
        members.insert(output.name.into(), described(reference("binding"), output.description));
    }
    for part in descriptor.parts {
        members.insert(part.name.into(), json!({ "type": ["array", "null"], "items": one_of_list(part) }));
    }
    for port in descriptor.ports {
        members.insert((*port).into(), match *port == TIMEOUT {
            // The time limit of every activity and a port of this type have the same name.
            true => json!({ "if": { "type": ["object", "array"] }, "then": reference("activity"), "else": reference(TIMEOUT) }),
            false => reference("port"),
        });
    }
    for input in descriptor.inputs {
        let schema = described(of_input(input, descriptor), input.description);
        members.insert(
            input.name.into(),
            match members.get(input.name) {
                Some(output) => binding_or(output, &schema),
                None => schema,
            },
        );
        if is_needed(input) {
            required.push(input.name);
        }
    }
    for name in descriptor.special.members() {
        let (schema, is_required) = special(descriptor.special, name);
        members.insert((*name).into(), schema);
        required.extend(is_required.then_some(*name));
    }
    if let Some(name) = descriptor.children {
        members.insert(name.into(), reference("activities"));
    }
    if descriptor.container {
        members.insert(
            "variables".into(),
            described(reference("variables"), "Variables of this activity and what is inside it."),
        );
    }
    let mut schema = object(members, is_workflow(descriptor));
    schema["description"] = descriptor.description.into();
    if let Ok(example) = serde_json::from_str::<Value>(descriptor.example) {
        schema["examples"] = json!([example]);
    }
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// An object with these members, and those of every activity, which are described where the activity is. Other members
/// are inputs of the activity if it is `open`.
fn object(members: Map<String, Value>, open: bool) -> Value {
    json!({
        "properties": members,
        "patternProperties": { format!("{COMMENTS}|^(?:{})$", COMMON.join("|")): true },
        "additionalProperties": if open { reference("value") } else { json!(false) },
    })
}

/// Whether the members of a type are those of the workflow that the activity names.
fn is_workflow(descriptor: &Descriptor) -> bool {
    descriptor.type_name == workflow_core::activities::workflow_definition_activity::TYPE_NAME
}

/// A type that is not built in. If it declares no member, any may have a meaning for its handler.
fn declared_type(declared: &DeclaredType) -> Value {
    let any = |member: &DeclaredMember| member.type_name.clone().unwrap_or_else(|| "Object".to_owned());
    let of = |member: &DeclaredMember, schema| described(schema, member.description.as_deref().unwrap_or_default());
    let mut members: Map<String, Value> =
        [RETRY, TIMEOUT].map(|name| (name.to_owned(), reference(name))).into_iter().collect();
    for output in &declared.outputs {
        members.insert(output.name.clone(), of(output, reference("binding")));
    }
    for input in &declared.inputs {
        // The binding of an output can stand where an input is expected, too.
        let schema = of(input, super::values::input(&any(input)));
        members.insert(
            input.name.clone(),
            match members.get(&input.name) {
                Some(output) => binding_or(output, &schema),
                None => schema,
            },
        );
    }
    if declared.closed {
        for name in workflow::REFERENCE {
            members.insert(name.into(), json!(true));
        }
    }
    let mut schema = object(members, !declared.closed);
    if let Some(description) = &declared.description {
        schema["description"] = description.as_str().into();
    }
    schema
}

/// An input of a built-in type.
fn of_input(input: &InputDescriptor, descriptor: &Descriptor) -> Value {
    let text = json!({ "type": ["string", "null"] });
    let mut schema = match input {
        InputDescriptor { code: Some(_), .. } => text,
        InputDescriptor { script: true, .. } => script(),
        InputDescriptor { statement: true, .. } => expression_or(text),
        InputDescriptor { name: "statement", .. } if descriptor.uses_sql => expression_or(text),
        InputDescriptor { name: "parameters", .. } if descriptor.uses_sql => reference("parameters"),
        InputDescriptor { choices: [], .. } => {
            refined(input.name, descriptor).unwrap_or_else(|| super::values::input(input.type_name))
        }
        InputDescriptor { choices, .. } => chosen(choices, input),
    };
    let default = input.default.and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let (Some(members), Some(default)) = (schema.as_object_mut(), default) {
        members.insert("default".into(), default);
    }
    if !is_needed(input) {
        return schema;
    }
    // A reference is resolved by some editors into the object in which it stands.
    let mut given = json!({ "allOf": [schema] });
    // An empty list is a value, and so is null in its place.
    let may_be_empty = input.default == Some("[]");
    if !may_be_empty {
        given["type"] = json!(["object", "array", "string", "number", "boolean"]);
    }
    if is_text(input) && input.needed || !is_text(input) && !may_be_empty {
        given["pattern"] = "\\S".into();
    }
    given
}

/// Whether a blank text is a value of the input. For other types it is none.
fn is_text(input: &InputDescriptor) -> bool {
    matches!(parse_type_name(input.type_name), TypeName::String | TypeName::Any)
}

fn is_needed(input: &InputDescriptor) -> bool {
    input.needed || input.required
}

/// A script that an activity runs: its text, or the same as an expression.
fn script() -> Value {
    json!({
        "if": { "type": "object" },
        "then": {
            "minProperties": 1,
            "maxProperties": 1,
            "properties": { "js": { "type": "string" }, "literal": { "type": "string" } },
            "additionalProperties": false,
        },
        "else": { "type": ["string", "null"] },
    })
}

/// Inputs whose type says less than what the reader checks.
fn refined(name: &str, descriptor: &Descriptor) -> Option<Value> {
    let constant = match name {
        "not" if descriptor.opens_tasks() => return Some(reference("excluded")),
        "notify" | "reminders" => return Some(reference(name)),
        "responseHeaders" => {
            json!({ "type": ["object", "string", "null"], "additionalProperties": reference("plainPart") })
        }
        "form" => json!({ "allOf": [reference("form")], "type": ["object", "string", "null"] }),
        "resultSchema" => json!({ "allOf": [reference("form")], "type": ["object", "boolean", "string", "null"] }),
        "deadline" => reference("deadline"),
        "path" => json!({ "type": ["string", "null"] }),
        "assignee" => json!({ "type": ["string", "null"], "pattern": "\\S" }),
        "rule" if descriptor.inputs.iter().any(|input| input.name == "by") => json!({
            "type": ["string", "integer", "null"],
            "minimum": 1,
            "pattern": format!("^\\s*(?:{}|[1-9][0-9]*)?\\s*$", ["all", "any", "majority"].map(any_case).join("|")),
            "errorMessage": "all, any, majority, or a positive number",
        }),
        "candidates" => people(0),
        // That of `Approve` is written like its voters.
        "escalateTo" if descriptor.inputs.iter().any(|input| input.name == "candidates") => people(1),
        _ => return None,
    };
    Some(expression_or(constant))
}

/// A list of names with at least this number of them.
fn people(least: u32) -> Value {
    json!({
        "type": ["array", "string", "null"],
        "minItems": least,
        "maxItems": 1_000,
        "items": { "type": "string", "pattern": "\\S" },
    })
}

/// An expression, one of several words in any letter case, or a list of these. If other words are allowed, too, these
/// are only examples.
fn chosen(choices: &[&str], input: &InputDescriptor) -> Value {
    let accepts = |word: &str| input.check.is_none_or(|check| check(&json!(word)).is_ok());
    let is_list = input.type_name.ends_with("[]");
    let mut word = json!({ "type": if is_list { json!("string") } else { json!(["string", "null"]) } });
    if accepts("another") {
        word["minLength"] = u8::from(is_list).into();
    } else {
        let words: Vec<String> = choices.iter().map(|word| any_case(word)).collect();
        let may_be_blank = accepts("") || !is_text(input);
        let optional = if may_be_blank && !is_list { "?" } else { "" };
        word["pattern"] = format!("^\\s*(?:{}){optional}\\s*$", words.join("|")).into();
        word["errorMessage"] = format!("one of {}", choices.join(", ")).into();
    }
    let mut schema = match is_list {
        true => expression_or(json!({ "type": ["array", "string", "null"], "items": word, "minItems": 1 })),
        false => expression_or(word),
    };
    schema["examples"] = if is_list { json!([choices]) } else { json!(choices) };
    schema
}

/// Members of an activity type that are neither inputs, outputs, ports nor lists, and whether they are required.
fn special(special: Special, name: &str) -> (Value, bool) {
    match special {
        Special::Variable => (
            described(
                json!({ "allOf": [reference("variable")], "type": ["object", "string"] }),
                "The variable to set.",
            ),
            true,
        ),
        Special::Result => (described(reference("variable"), "The variable whose value is the result."), false),
        Special::Connections if name == "connections" => {
            (described(reference("connections"), "Connections between the activities."), false)
        }
        Special::Connections => {
            let words = ["counter", "token", "CounterBased", "TokenBased", "Default"].map(any_case);
            let mode = json!({ "type": ["string", "null"], "pattern": format!("^\\s*(?:{})?\\s*$", words.join("|")),
                               "examples": ["counter", "token"], "errorMessage": "counter or token" });
            (described(mode, "Whether the flowchart counts followed connections, or is controlled by tokens."), false)
        }
        Special::States => {
            (described(text_or_null(), "Name of the first state. By default the first one of the list."), false)
        }
        Special::None => (json!(true), false),
    }
}

/// A connection of a flowchart, and the list of them.
fn connections() -> Value {
    let end = json!({
        "if": { "type": "object" },
        "then": { "required": ["activity"], "properties": { "activity": { "type": "string" }, "port": { "type": ["string", "null"] } } },
        "else": { "type": "string" },
    });
    let port = described(text_or_null(), "The outcome to follow. By default Done.");
    let long = json!({
        "type": "object",
        "required": ["source", "target"],
        "properties": { "source": end, "sourcePort": port, "target": end, "targetPort": text_or_null(), "vertices": true },
        "patternProperties": { COMMENTS: true },
        "additionalProperties": false,
    });
    let short = json!({
        "type": "array",
        "minItems": 2,
        "maxItems": 3,
        "items": { "type": "string" },
        "errorMessage": "A connection is [\"from\", \"to\"] or [\"from\", \"outcome\", \"to\"].",
    });
    let one = json!({ "if": { "type": "object" }, "then": long, "else": short,
                      "examples": [["first", "second"], ["decision", "True", "next"]] });
    json!({
        "if": { "type": "object" },
        "then": one,
        "else": { "type": ["array", "null"], "items": one },
    })
}

/// An element of one of an activity's lists, such as a case.
fn one_of_list(list: &PartList) -> Value {
    let mut members = Map::new();
    let mut required = Vec::new();
    for (name, needed) in list.texts {
        let schema = match (list.numbered, needed) {
            (true, true) => json!({ "type": "integer", "minimum": 0 }),
            (true, false) => json!({ "type": ["integer", "null"], "minimum": 0 }),
            (false, true) => json!({ "type": "string", "minLength": 1 }),
            (false, false) => text_or_null(),
        };
        members.insert((*name).into(), schema);
        required.extend(needed.then_some(*name));
    }
    if list.condition != PartCondition::None {
        members.insert("condition".into(), reference("condition"));
        required.extend((list.condition == PartCondition::Needed).then_some("condition"));
    }
    if list.catches {
        members.insert(
            "on".into(),
            described(
                reference("causes"),
                "The faults to catch: SQLSTATEs, classes of SQLSTATEs, and codes. By default all.",
            ),
        );
        members.insert("variable".into(), described(reference("variable"), "The variable that gets the fault."));
    }
    for port in list.ports {
        members.insert((*port).into(), reference("port"));
    }
    let object = json!({
        "type": "object",
        "required": required,
        "properties": members,
        "patternProperties": { format!("{COMMENTS}|^(?:{})$", parts::COMMON.join("|")): true },
        "additionalProperties": false,
    });
    match list.short {
        true => json!({ "if": { "type": "string" }, "then": { "minLength": 1 }, "else": object }),
        false => object,
    }
}

/// The wrapper in which Elsa writes an input or an output.
fn elsa_wrapper() -> Value {
    let named = json!({ "propertyNames": { "enum": [
        "typeName", "expression", "memoryReference", "converter", "$id", "$type",
        "TypeName", "Expression", "MemoryReference", "Converter",
    ] } });
    let typed = |name: &str| json!({ "required": [name], "properties": { name: { "type": "object", "allOf": [has_any(&["type"])] } } });
    json!({
        "type": "object",
        "anyOf": [
            typed("expression"),
            typed("Expression"),
            { "allOf": [has_any(&["typeName", "memoryReference"]), named] },
        ],
    })
}

/// An activity in Elsa's form: what every activity there has, and the activities in it that are found without its type.
pub(super) fn elsa_activity() -> Value {
    let inside = reference("elsaActivity");
    json!({
        "if": { "type": "array" },
        "then": { "items": inside },
        "else": {
            "type": "object",
            "properties": {
                "id": { "type": ["string", "null"] },
                "name": { "type": ["string", "null"] },
                "type": { "type": "string" },
                "canStartWorkflow": flag(),
                "runAsynchronously": flag(),
                "customProperties": { "type": ["object", "null"] },
                "metadata": { "type": ["object", "null"] },
                "activities": { "if": { "type": "array" }, "then": { "items": inside }, "else": { "type": ["object", "null"] } },
            },
        },
    })
}

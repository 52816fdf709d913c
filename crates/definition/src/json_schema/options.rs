//! Schemas of the options of a definition, and of retry policies.

use serde_json::{Map, Value, json};

use super::values::{any_case, described};
use super::{COMMENTS, flag, reference, text_or_null};
use crate::{journaling, options, retry, search_attributes};
use workflow_core::resilience::MEMBERS as OF_STRATEGIES;

pub(super) fn defs() -> Map<String, Value> {
    let mut defs = Map::new();
    defs.insert("options".into(), all());
    defs.insert("retry".into(), policy());
    defs.insert("timeout".into(), described(reference("positiveInterval"), "Longest duration of one attempt."));
    defs.insert("causes".into(), causes());
    defs.insert("maxConcurrency".into(), max_concurrency());
    defs.insert("searchAttributes".into(), searched());
    defs.insert("journal".into(), journal());
    defs.insert("resilienceStrategy".into(), strategy());
    defs.insert("initial".into(), initial());
    defs.insert("parameters".into(), parameters());
    defs.insert("excluded".into(), excluded());
    defs.insert("notify".into(), notify());
    defs.insert("reminders".into(), reminders());
    defs
}

/// An object with these members and no others, except comments.
fn closed(properties: Value) -> Value {
    json!({ "type": ["object", "null"], "properties": properties, "patternProperties": { COMMENTS: true },
            "additionalProperties": false })
}

/// One of several words, as they are written in the documentation.
fn word(words: &[&str]) -> Value {
    let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    words.push(Value::Null);
    json!({ "enum": words })
}

/// One of several words, or of Elsa's names for them: a name in other letters, or of a .NET class.
fn named(words: &[&str], others: &[&str]) -> Value {
    let all: Vec<&str> = words.iter().chain(others).copied().collect();
    json!({
        "type": ["string", "null"],
        "pattern": format!("^(?:(?:[^,]*\\.)?(?:{})\\s*(?:,[\\s\\S]*)?)?$", all.join("|")),
        "examples": words,
        "errorMessage": format!("one of {}", words.join(", ")),
    })
}

fn all() -> Value {
    let activation = named(
        &["Singleton", "Correlated", "CorrelatedSingleton"],
        &[
            "AllowAlways",
            "AllowAlwaysStrategy",
            "Always",
            "Default",
            "SingletonStrategy",
            "Correlation",
            "CorrelationStrategy",
            "CorrelatedStrategy",
            "CorrelatedSingletonStrategy",
        ],
    );
    let incidents =
        named(&["Fault", "ContinueWithIncidents"], &["FaultStrategy", "Default", "ContinueWithIncidentsStrategy"]);
    let security = format!("^(?:(?:.*\\.)?(?:{}|{}))?$", any_case("invoker"), any_case("definer"));
    let modes = ["counter", "token", "CounterBased", "TokenBased", "Default"].map(any_case).join("|");
    let schemas = json!({ "if": { "type": "array" },
        "then": { "items": { "type": "string", "minLength": 1, "maxLength": 63, "not": { "const": "$user" } } },
        "else": { "enum": ["caller", null], "errorMessage": "a list of schemas, or \"caller\"" } });
    let members = json!({
        "activationStrategy": described(activation.clone(), "How many running instances are allowed: one of the definition, one \
            per correlation id, or one per definition and correlation id. By default there is no limit."),
        "activationStrategyType": described(activation, "The same as \"activationStrategy\", as Elsa calls it."),
        "incidentStrategy": described(incidents.clone(), "Whether a fault ends the instance once everything scheduled has run \
            (Fault, the default), or the other branches continue."),
        "incidentStrategyType": described(incidents, "The same as \"incidentStrategy\", as Elsa calls it."),
        "flowchartMode": described(json!({ "type": ["string", "null"], "pattern": format!("^\\s*(?:{modes})?\\s*$"),
            "examples": ["counter", "token"], "errorMessage": "counter or token" }), "Mode of flowcharts that have none of their own."),
        "security": described(json!({ "type": ["string", "null"], "pattern": security, "examples": ["invoker", "definer"],
            "errorMessage": "invoker or definer" }), "Whose rights SQL has: those of the caller (invoker, the default), or of the \
            owner of the definition (definer)."),
        "searchPath": described(schemas, "The schemas that SQL searches for unqualified names, or \"caller\"."),
        "actor": described(word(&["required", "optional"]), "Whether calls need the name of a person. By default optional."),
        "retention": described(reference("positiveInterval"), "How long finished instances are kept."),
        "maxConcurrency": described(reference("maxConcurrency"), "How many instances run at the same time; the others wait."),
        "requesterEvents": described(json!({ "if": { "type": "array" }, "then": { "items": { "type": "string" } },
            "else": flag() }), "Names of events that the starter of an instance may send to it, or true for all."),
        "notify": described(reference("notify"), "What happens when a task for people is opened, assigned, reminded or \
            escalated, unless the activity has its own."),
        "journal": described(reference("journal"), "Which events the journal records."),
        "retry": reference("retry"),
        "compensateOn": described(json!({ "type": ["array", "null"], "items": { "enum": ["cancel", "fault"] } }),
            "When completed activities are compensated. By default when the instance is cancelled."),
        "timeout": described(reference("positiveInterval"), "Longest duration of a run."),
        "resilienceStrategies": described(json!({ "type": ["object", "array", "null"],
            "additionalProperties": reference("resilienceStrategy"), "items": reference("resilienceStrategy") }),
            "Elsa's resilience strategies, by name."),
        "searchAttributes": described(reference("searchAttributes"), "Values of variables and inputs by which instances are \
            found, by name."),
        "usableAsActivity": described(flag(), "Whether other definitions can use this one as an activity type."),
        "autoUpdateConsumingWorkflows": described(flag(), "Whether publishing a version updates the definitions that use it."),
        "migrate": described(word(&["auto", "manual"]), "Whether publishing a version migrates running instances."),
        "activityCategory": described(json!(true), "Group of the activity type in Elsa's designer."),
        "commitStrategyName": described(json!(true), "Elsa's strategy. It has no effect."),
    });
    closed(members)
}

/// What a task sends when something happens to it, or false. Designers write it as text.
fn notify() -> Value {
    let name = || json!({ "type": "string", "pattern": "\\S" });
    json!({
        "type": ["object", "string", "boolean", "null"],
        "not": { "const": true },
        "pattern": "^\\s*(false|\\{[\\s\\S]*\\})?\\s*$",
        "properties": {
            "event": described(name(), "The event that is published."),
            "workflow": described(name(), "Id of the definition of which an instance is started."),
        },
        "minProperties": 1,
        "additionalProperties": false,
    })
}

/// When people are reminded. Designers write it as text.
fn reminders() -> Value {
    let relative = json!({
        "if": { "type": "object" },
        "then": {
            "properties": {
                "before": described(reference("positiveInterval"), "How long before the deadline."),
                "after": described(reference("positiveInterval"), "How long after the deadline."),
            },
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false,
        },
        "else": { "allOf": [reference("positiveInterval")], "type": "string" },
    });
    json!({ "type": ["array", "object", "string", "null"], "items": relative, "maxItems": 20 })
}

/// A retry policy.
fn policy() -> Value {
    let mut schema = closed(json!({
        "maxAttempts": described(json!({ "type": "integer", "minimum": 1, "maximum": retry::MAX_ATTEMPTS }),
            "Number of attempts, including the first."),
        "delay": described(reference("positiveInterval"), "Time from the first fault to the second attempt. By default one second."),
        "backoff": described(word(&["constant", "linear", "exponential"]), "How the delay grows. By default it is constant."),
        "factor": described(json!({ "type": ["number", "null"], "minimum": 1, "maximum": 1000 }),
            "Factor of an exponential backoff. By default 2."),
        "maxDelay": described(reference("positiveInterval"), "The longest delay."),
        "within": described(reference("positiveInterval"), "Longest time from the start of the first attempt to that of the last."),
        "jitter": described(json!({ "type": ["boolean", "number", "null"], "minimum": 0, "maximum": 1 }),
            "Shortens each delay by a random part, up to this fraction."),
        "on": described(reference("causes"), "Retry only these faults: SQLSTATEs, classes of SQLSTATEs, and codes."),
        "except": described(reference("causes"), "Do not retry these faults."),
    }));
    schema["description"] = "What happens after a fault: how often and when the activity is tried again.".into();
    schema["if"] = json!({ "type": "object" });
    schema["then"] = json!({ "required": ["maxAttempts"] });
    schema["examples"] = json!([{ "maxAttempts": 5, "delay": "10 s", "backoff": "exponential" }]);
    schema
}

fn causes() -> Value {
    json!({ "type": ["array", "null"], "minItems": 1, "items": { "type": "string", "minLength": 1 },
            "examples": [["23505"], ["08", "timeout"]] })
}

fn max_concurrency() -> Value {
    let mut schema = closed(json!({
        "max": described(json!({ "type": "integer", "minimum": 1, "maximum": options::MAX_CONCURRENCY }), "How many instances."),
        "key": described(json!({ "type": ["string", "null"], "minLength": 1 }), "The input for each of whose values the limit is."),
    }));
    schema["if"] = json!({ "type": "object" });
    schema["then"] = json!({ "required": ["max"] });
    schema["examples"] = json!([{ "max": 10 }, { "max": 1, "key": "customer" }]);
    schema
}

/// Search attributes by name.
fn searched() -> Value {
    let name = |what: &str| described(json!({ "type": "string", "minLength": 1 }), what);
    let mut attribute = closed(json!({
        "var": name("The variable of the workflow with the value."),
        "input": name("The input with the value."),
        "type": described(word(&["text", "number", "instant"]), "Type of the values. By default numbers are numbers, and everything else is text."),
    }));
    attribute["type"] = "object".into();
    attribute["oneOf"] = json!([{ "required": ["var"] }, { "required": ["input"] }]);
    json!({
        "type": ["object", "null"],
        "maxProperties": search_attributes::MAX,
        "propertyNames": { "minLength": 1, "maxLength": search_attributes::MAX_NAME, "pattern": "^[^=]*$" },
        "additionalProperties": attribute,
        "examples": [{ "orderNo": { "input": "orderNo" }, "total": { "var": "Total", "type": "number" } }],
    })
}

fn journal() -> Value {
    let level = described(word(&["full", "milestones", "none"]), "Which events are recorded. By default all.");
    let rows = json!({ "if": { "type": "string" }, "then": reference("interval"),
                       "else": { "type": ["integer", "null"], "minimum": 1, "maximum": journaling::MAX_ROWS } });
    let object = closed(json!({
        "level": level,
        "keep": described(rows, "How many rows are kept, or for how long."),
        "values": described(flag(), "Whether inputs and outputs are recorded."),
    }));
    json!({ "if": { "type": "object" }, "then": object, "else": word(&["full", "milestones", "none"]),
            "examples": ["full", "milestones", "none"] })
}

/// One of Elsa's resilience strategies. Elsa writes further members.
fn strategy() -> Value {
    let kinds = ["Constant", "Linear", "Exponential"];
    let pattern = format!("^(?:{})$", kinds.map(any_case).join("|"));
    let mut properties = json!({
        "id": text_or_null(),
        "maxRetryAttempts": { "type": ["integer", "null"], "minimum": 0, "maximum": 999_999 },
        "delay": reference("positiveInterval"),
        "backoffType": { "type": ["string", "null"], "pattern": pattern, "examples": kinds },
        "useJitter": flag(),
    });
    if let Some(members) = properties.as_object_mut() {
        members.retain(|name, _| OF_STRATEGIES.contains(&name.as_str()));
    }
    json!({ "type": "object", "properties": properties })
}

/// The initial value of a variable or the default of an input.
fn initial() -> Value {
    json!({
        "if": reference("isExpression"),
        "then": { "required": ["literal"], "errorMessage": "An initial value is a constant." },
    })
}

/// The parameters of a SQL statement, each of which may be an expression.
fn parameters() -> Value {
    json!({ "if": { "type": "array" }, "then": { "items": reference("objectTemplate") }, "else": reference("list") })
}

/// Those who must not answer a task.
fn excluded() -> Value {
    let entry = json!({
        "if": { "type": "string" },
        "then": { "const": "starter" },
        "else": {
            "type": "object",
            "required": ["answered"],
            "properties": { "answered": described(json!({ "type": "string", "minLength": 1 }), "Id of an activity that opens a task.") },
            "additionalProperties": false,
        },
    });
    json!({
        "if": { "type": "object", "required": ["literal"] },
        "else": { "type": ["array", "string", "null"], "pattern": "^\\s*(?:\\[[\\s\\S]*\\])?\\s*$", "items": entry, "maxItems": 100 },
        "examples": [["starter"], [{ "answered": "check" }]],
    })
}

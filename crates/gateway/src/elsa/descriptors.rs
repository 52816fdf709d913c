//! Activity descriptors: `wf_activities()` in Elsa's format.
//!
//! Studio requests all of them at every load and after every save, so they are cached per role for as long as
//! `wf_activities_digest()` stays the same. One activity without a descriptor would leave its whole canvas empty, so
//! types and versions that occur in definitions but not in the list get a hidden descriptor.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use super::catalogues::pascal_case;
use super::definitions::activities::property_member;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::{JsonText, member, text};
use crate::parameters;
use crate::routing::Routes;

/// Roles whose descriptors are cached.
const MAX_ROLES: usize = 64;
/// How long before the previous scan a definition may have been stored by a transaction that has committed only since.
const OVERLAP: TimeDelta = TimeDelta::minutes(10);

const DIGEST: &str = "SELECT pg_catalog.encode(@wf.wf_activities_digest(), 'hex')";
const LIST: &str = "SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(a) ORDER BY a.type, a.version)::pg_catalog.text \
        FROM @wf.wf_activities() a";
/// All type and version pairs of activities in definitions stored since $1.
const FOUND: &str = "SELECT DISTINCT a.value OPERATOR(pg_catalog.->>) 'type' AS type, \
    COALESCE(a.value OPERATOR(pg_catalog.->>) 'version', '1') AS version \
     FROM workflow.definition_list d \
          CROSS JOIN LATERAL pg_catalog.jsonb_path_query(d.document, \
            'strict $.root.** ? (exists (@.type) && exists (@.id))') AS a (value) \
     WHERE d.saved_at OPERATOR(pg_catalog.>=) COALESCE($1, '-infinity'::pg_catalog.text)::pg_catalog.timestamptz \
       AND pg_catalog.jsonb_typeof(a.value OPERATOR(pg_catalog.->) 'type') OPERATOR(pg_catalog.=) 'string'";

/// The common properties of all activities: name, editor, language if the value is code, description.
const OF_ALL: [(&str, &str, &str, &str); 2] = [
    ("retry", "code-editor", "json", "Retry policy, such as {\"maxAttempts\": 3, \"delay\": \"10 seconds\"}."),
    ("timeout", "singleline", "", "How long an attempt may take, waiting included, such as 30 minutes."),
];

/// The descriptors of each role that requested them recently.
#[derive(Default)]
struct DescriptorCache {
    cached: Mutex<HashMap<String, CachedDescriptors>>,
}

#[derive(Clone)]
struct CachedDescriptors {
    digest: String,
    /// Descriptors of the listed types, by type and version.
    listed: HashMap<TypeVersion, Value>,
    /// Types and versions that occur in definitions.
    found: BTreeSet<TypeVersion>,
    /// Definitions stored before this have been scanned.
    looked_at: DateTime<Utc>,
    /// All of these in Elsa's format, ready to be sent. Empty until assembled.
    text: String,
}

/// Type and version.
type TypeVersion = (String, String);

pub fn routes() -> Routes {
    let descriptors = Arc::new(DescriptorCache::default());
    Routes::new().get("/descriptors/activities", async move |app, caller| list(app, caller, &descriptors).await)
}

async fn list(State(app): State<App>, caller: Caller, descriptors: &DescriptorCache) -> Result<JsonText, Failure> {
    let before = descriptors.of(&caller.role);
    let now = Utc::now();
    let digest = app.database.read_json(&caller, DIGEST, parameters![]).await?.unwrap_or_default();
    let is_same = before.as_ref().is_some_and(|cached| cached.digest == digest);
    let mut cached = match before {
        Some(cached) if is_same => cached,
        _ => CachedDescriptors {
            digest,
            listed: listed(&app, &caller).await?,
            found: BTreeSet::new(),
            looked_at: now,
            text: String::new(),
        },
    };
    let is_new = cached.text.is_empty();
    let known = cached.found.len();
    let since = (!is_new).then(|| (cached.looked_at - OVERLAP).to_rfc3339());
    let rows = app.database.read(&caller, FOUND, parameters![since]).await?;
    cached.found.extend(rows.iter().map(|row| (row.get("type"), row.get("version"))));
    cached.looked_at = now;
    if is_new || cached.found.len() != known {
        cached.text = answer(&cached);
    }
    let text = cached.text.clone();
    descriptors.keep(&caller.role, cached);
    Ok(JsonText(text))
}

impl DescriptorCache {
    fn of(&self, role: &str) -> Option<CachedDescriptors> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).get(role).cloned()
    }

    fn keep(&self, role: &str, new: CachedDescriptors) {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() >= MAX_ROLES && !cached.contains_key(role) {
            let oldest = cached.iter().min_by_key(|(_, cached)| cached.looked_at).map(|(role, _)| role.clone());
            oldest.and_then(|role| cached.remove(&role));
        }
        cached.insert(role.to_owned(), new);
    }
}

async fn listed(app: &Gateway, caller: &Caller) -> Result<HashMap<TypeVersion, Value>, Failure> {
    let text = app.database.read_json(caller, LIST, parameters![]).await?.unwrap_or_else(|| "[]".into());
    let types: Vec<Value> = serde_json::from_str(&text).map_err(Failure::internal)?;
    Ok(types.iter().map(|one| (key(one), descriptor(one))).collect())
}

fn key(listed: &Value) -> TypeVersion {
    (text(listed, "type").to_owned(), member(listed, "version").to_string())
}

fn answer(cached: &CachedDescriptors) -> String {
    let mut items: Vec<Value> = cached.listed.values().cloned().collect();
    items.extend(cached.found.iter().filter(|key| !cached.listed.contains_key(key)).filter_map(hidden_descriptor));
    items.sort_by(|a, b| {
        (text(a, "typeName"), member(a, "version").as_i64()).cmp(&(text(b, "typeName"), member(b, "version").as_i64()))
    });
    json!({"count": items.len(), "items": items}).to_string()
}

/// A hidden descriptor for a type or version that is not in the list: Studio draws such an activity but does not offer
/// it. `None` if the version is no integer, since Studio cannot request it.
fn hidden_descriptor((type_name, version): &TypeVersion) -> Option<Value> {
    let version: i32 = version.parse().ok()?;
    let listed = json!({
        "type": type_name, "version": version, "category": "Not found", "kind": "Action",
        "description": "There is no activity of this type and version here.",
        "flags": {"isBrowsable": false},
    });
    Some(descriptor(&listed))
}

/// An activity type of `wf_activities()` in Elsa's format.
fn descriptor(listed: &Value) -> Value {
    let type_name = text(listed, "type");
    let (namespace, name) = type_name.rsplit_once('.').unwrap_or(("", type_name));
    let flags = member(listed, "flags");
    let flag = |name: &str| member(flags, name).as_bool().unwrap_or(false);
    let (custom, construction) = workflow_properties(listed);
    let mut ports = each(listed, "ports", port);
    if !custom.is_empty() {
        ports.insert(0, json!({"name": "Root", "displayName": "Root", "type": "Embedded", "isBrowsable": false}));
    }
    json!({
        "typeName": type_name,
        "namespace": namespace,
        "name": name,
        "version": member(listed, "version"),
        "category": text(listed, "category"),
        "displayName": listed.get("display_name").and_then(Value::as_str).unwrap_or(name),
        "description": text(listed, "description"),
        "kind": text(listed, "kind"),
        "inputs": inputs(listed),
        "outputs": each(listed, "outputs", output),
        "ports": ports,
        "customProperties": custom,
        "constructionProperties": construction,
        "isContainer": flag("isContainer"),
        "isBrowsable": flag("isBrowsable"),
        "isStart": flag("isStart"),
        "isTerminal": flag("isTerminal"),
    })
}

/// The custom properties by which Studio recognizes an activity that runs a workflow, and the properties of a new
/// activity of that type.
fn workflow_properties(listed: &Value) -> (Map<String, Value>, Map<String, Value>) {
    let flags = member(listed, "flags");
    let Some(definition) = flags.get("definitionId") else { return Default::default() };
    let mut construction = Map::new();
    construction.insert("WorkflowDefinitionId".into(), definition.clone());
    construction.insert("WorkflowDefinitionVersionId".into(), member(flags, "versionId").clone());
    let mut custom = construction.clone();
    custom.insert("RootType".into(), "WorkflowDefinitionActivity".into());
    construction.insert("Version".into(), member(listed, "version").clone());
    (custom, construction)
}

fn port(port: &Value) -> Value {
    let name = match text(port, "type") {
        "Embedded" => pascal_case(text(port, "name")),
        _ => text(port, "name").to_owned(),
    };
    json!({"name": name, "displayName": name, "type": text(port, "type"), "isBrowsable": true})
}

fn output(output: &Value) -> Value {
    let name = pascal_case(text(output, "name"));
    json!({
        "name": name,
        "typeName": text(output, "type"),
        "displayName": split_words(&name),
        "description": text(output, "description"),
        "order": 0,
        "isBrowsable": true,
        "isSynthetic": false,
    })
}

/// The inputs, followed by the common properties whose name the type does not use for an input.
fn inputs(listed: &Value) -> Vec<Value> {
    let own = member(listed, "inputs").as_array().map(Vec::as_slice).unwrap_or_default();
    let order = own.len();
    let is_own = |name: &str| own.iter().any(|input| text(input, "name").eq_ignore_ascii_case(name));
    let of_all = OF_ALL.iter().enumerate().filter(|(_, (name, ..))| !is_own(name));
    let of_all = of_all.map(|(place, (name, hint, language, description))| {
        let mut described = input(&json!({
            "name": property_member(name), "type": "Object", "description": description, "order": order + place,
            "uiHint": hint, "language": language, "isWrapped": false,
        }));
        described["displayName"] = split_words(&pascal_case(name)).into();
        described
    });
    own.iter().map(input).chain(of_all).collect()
}

fn input(input: &Value) -> Value {
    let name = pascal_case(text(input, "name"));
    let hint = text(input, "uiHint");
    json!({
        "name": name,
        "typeName": text(input, "type"),
        "displayName": split_words(&name),
        "description": text(input, "description"),
        "order": member(input, "order"),
        "isBrowsable": true,
        "isSynthetic": false,
        "isWrapped": member(input, "isWrapped").as_bool().unwrap_or(true),
        "isReadOnly": false,
        "isSensitive": false,
        "uiHint": hint,
        "uiSpecifications": ui_specifications(hint, input),
        "defaultValue": member(input, "default"),
        "defaultSyntax": if is_structured(hint) { "Object" } else { "Literal" },
    })
}

/// Whether a constant for an input with this UI hint is JSON rather than plain text.
fn is_structured(hint: &str) -> bool {
    matches!(hint, "checklist" | "json-editor" | "multitext" | "dynamic-outcomes" | "http-status-codes" | "dictionary")
}

/// The parameters of a UI hint.
fn ui_specifications(hint: &str, input: &Value) -> Value {
    let options = member(input, "options").as_array().map(Vec::as_slice).unwrap_or_default();
    match hint {
        "checklist" => {
            let items: Vec<Value> =
                options.iter().map(|value| json!({"text": value, "value": value, "isChecked": false})).collect();
            json!({"checklist": {"checkList": {"items": items, "isFlagsEnum": false}}})
        }
        "dropdown" => {
            let items: Vec<Value> = options.iter().map(|value| json!({"text": value, "value": value})).collect();
            json!({"dropdown": {"selectList": {"items": items, "isFlagsEnum": false}}})
        }
        // Studio 3.8 fails if a height is given: it expects a number there, and Elsa writes names.
        "code-editor" | "json-editor" => {
            let language = Some(text(input, "language")).filter(|language| !language.is_empty()).unwrap_or("json");
            json!({"code-editor": {"language": language, "singleLineMode": false}})
        }
        _ => json!({}),
    }
}

/// Splits a name into words: `TaskName` becomes "Task name".
fn split_words(name: &str) -> String {
    let mut words = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (place, letter) in letters.iter().enumerate() {
        let begins = place > 0 && letter.is_uppercase() && !letters[place - 1].is_uppercase();
        if begins {
            words.push(' ');
            words.extend(letter.to_lowercase());
        } else {
            words.push(*letter);
        }
    }
    words
}

fn each(listed: &Value, name: &str, make: fn(&Value) -> Value) -> Vec<Value> {
    member(listed, name).as_array().into_iter().flatten().map(make).collect()
}

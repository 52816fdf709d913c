//! Static catalogues, and routes with a constant answer.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::{JsonText, member};
use crate::parameters;
use crate::routing::Routes;

/// Answers by path below `/descriptors`.
static CATALOGUES: LazyLock<HashMap<&str, &RawValue>> =
    LazyLock::new(|| serde_json::from_str(include_str!("catalogues.json")).expect("a test reads it"));

/// The helper functions that scripts can call in every workflow.
const HELPERS: &str = include_str!("javascript.d.ts");
/// The version of Elsa whose API this implements.
const ELSA: &str = r#"{"packageVersion": "3.8.2"}"#;
/// Announces the hub for live updates.
const FEATURES: &str = r#"{"items": [{"name": "RealTimeWorkflowUpdates", "namespace": "Elsa", "fullName": "Elsa.RealTimeWorkflowUpdates",
    "displayName": "Real-time workflow updates", "description": "Tells who looks at an instance that it has changed"}], "count": 1}"#;
const NOTHING: &str = r#"{"items": [], "count": 0, "totalCount": 0}"#;

pub fn routes() -> Routes {
    let catalogues = CATALOGUES.iter().fold(Routes::new(), |routes, (path, answer)| {
        routes.get(&format!("/descriptors/{path}"), async || JsonText(answer.get().to_owned()))
    });
    catalogues
        .get("/features/installed", async || JsonText(FEATURES.into()))
        .get("/package/version", async || JsonText(ELSA.into()))
        .get("/resilience/strategies", async || JsonText(NOTHING.into()))
        .post("/descriptors/activities/{type}/options/{property}", async || JsonText(r#"{"items": {}}"#.into()))
        .post("/tests/activities", no_test)
        .post("/scripting/javascript/type-definitions/{id}", type_definitions)
}

/// Running a single activity as a test is not supported: it would have real effects.
async fn no_test() -> Failure {
    Failure::bad_request("activities cannot be tested alone").hint("Run the draft: what it does is in its journal.")
}

/// TypeScript declarations for the script editor: the helpers, and a getter and a setter for each variable and input of
/// the latest version of a definition.
async fn type_definitions(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Failure> {
    let names = app
        .database
        .read_json(
            &caller,
            "SELECT pg_catalog.jsonb_build_object(\
                 'variables', pg_catalog.jsonb_path_query_array(document, '$.**.variables[*].name'), \
                 'inputs', pg_catalog.jsonb_path_query_array(document, '$.inputs[*].name'))::pg_catalog.text \
             FROM workflow.definition_list WHERE definition_id OPERATOR(pg_catalog.=) $1 AND is_latest",
            parameters![id],
        )
        .await?;
    let names: Value = names.map_or(Ok(Value::Null), |text| serde_json::from_str(&text)).map_err(Failure::internal)?;
    let mut text = HELPERS.to_owned();
    for name in accessors(member(&names, "variables")) {
        text += &format!("declare function get{name}(): any;\ndeclare function set{name}(value: any): void;\n");
    }
    for name in accessors(member(&names, "inputs")) {
        text += &format!("declare function get{name}(): any;\n");
    }
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text))
}

/// The names that are valid in a JavaScript identifier, capitalized and without duplicates.
fn accessors(names: &Value) -> Vec<String> {
    let texts = names.as_array().into_iter().flatten().filter_map(Value::as_str);
    let is_name = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let mut names: Vec<String> = texts.filter(|name| !name.is_empty()).filter(is_name).map(pascal_case).collect();
    names.sort();
    names.dedup();
    names
}

/// Capitalizes the first letter: `taskName` becomes `TaskName`.
pub fn pascal_case(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

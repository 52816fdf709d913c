//! New requests: the workflows that a person may start, each with a form made of its inputs.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_postgres::Row;

use super::frame::{Frame, PageFailure, Visitor, html};
use super::statement::Statement;
use super::task_form::Form;
use super::texts::Language;
use super::typed::Typed;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get("/start", list).get("/start/{definition_id}", show).post("/start/{definition_id}", start)
}

/// Workflows that the list shows.
const MAX_WORKFLOWS: usize = 500;

/// $1: a text that the name or description contains, in lower case.
const STARTABLE: &str = "SELECT d.definition_id, coalesce(d.name, d.definition_id) AS name, d.description, d.owner, \
    d.inputs::pg_catalog.text AS inputs FROM workflow.startable_definitions d \
    WHERE pg_catalog.strpos(pg_catalog.lower(pg_catalog.concat_ws(' ', d.name, d.definition_id, d.description)), $1) \
      OPERATOR(pg_catalog.>) 0 ORDER BY pg_catalog.lower(coalesce(d.name, d.definition_id)), d.definition_id LIMIT 500";

/// $1: the definition.
const ONE: &str = "SELECT d.definition_id, coalesce(d.name, d.definition_id) AS name, d.description, d.owner, \
    d.inputs::pg_catalog.text AS inputs FROM workflow.startable_definitions d \
    WHERE d.definition_id OPERATOR(pg_catalog.=) $1";

/// A definition that the visitor may start.
struct Workflow {
    id: String,
    name: String,
    description: Option<String>,
    owner: Option<String>,
    inputs: Option<Value>,
}

impl From<&Row> for Workflow {
    fn from(row: &Row) -> Self {
        let inputs: Option<&str> = row.get("inputs");
        Self {
            id: row.get("definition_id"),
            name: row.get("name"),
            description: row.get::<_, Option<String>>("description").filter(|text| !text.trim().is_empty()),
            owner: row.get("owner"),
            inputs: inputs.and_then(|text| crate::json::read(text.as_bytes()).ok()),
        }
    }
}

impl Workflow {
    async fn read(app: &Gateway, visitor: &Visitor, id: &str) -> Result<Self, Failure> {
        let rows = app.database.read(&visitor.caller, ONE, parameters![id]).await?;
        let unknown = || {
            Failure::not_found("workflow", id)
                .hint("It is not published, or the role that you act as may not start it.")
        };
        rows.first().map(Self::from).ok_or_else(unknown)
    }

    /// The form of the inputs; `None` if there are none.
    fn form(&self, language: Language) -> Option<Form> {
        let schema = schema_of(self.inputs.as_ref()?)?;
        Some(Form::new(Some(&schema), None, language).without_buttons())
    }

    fn address(&self) -> String {
        let id: String = form_urlencoded::byte_serialize(self.id.as_bytes()).collect();
        format!("/start/{}", id.replace('+', "%20"))
    }
}

/// A JSON Schema with a property for each declared input, in their order.
fn schema_of(inputs: &Value) -> Option<Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (number, input) in inputs.as_array()?.iter().enumerate() {
        let name = input.as_str().or_else(|| input.get("name")?.as_str())?;
        let mut schema = type_schema(input);
        for (member, of_input) in [("title", "displayName"), ("description", "description")] {
            if let Some(text) = input.get(of_input).and_then(Value::as_str).filter(|text| !text.is_empty()) {
                schema.insert(member.to_owned(), text.into());
            }
        }
        let default = input.get("default").or_else(|| input.get("defaultValue")).filter(|value| !value.is_null());
        if let Some(default) = default {
            schema.insert("default".to_owned(), default.clone());
        } else if input.get("required") == Some(&Value::Bool(true)) {
            required.push(name);
        }
        if let Some(Value::Object(own)) = input.get("schema") {
            schema.extend(own.clone());
        }
        schema.insert("propertyOrder".to_owned(), number.into());
        properties.insert(name.to_owned(), Value::Object(schema));
    }
    (!properties.is_empty()).then(|| json!({"type": "object", "required": required, "properties": properties}))
}

/// The schema for the type of an input. Values of other types are entered as JSON.
fn type_schema(input: &Value) -> Map<String, Value> {
    let name = input.get("type").or_else(|| input.get("typeName")).and_then(Value::as_str).unwrap_or("String");
    let is_list = input.get("isArray") == Some(&Value::Bool(true));
    let schema = match name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        _ if is_list => json!({}),
        "string" | "text" => json!({"type": "string"}),
        "boolean" | "bool" => json!({"type": "boolean"}),
        "int16" | "int32" | "int64" | "integer" | "bigint" | "smallint" => json!({"type": "integer"}),
        "decimal" | "double" | "single" | "float" | "numeric" => json!({"type": "number"}),
        "datetime" | "datetimeoffset" | "timestamptz" => json!({"type": "string", "format": "date-time"}),
        _ => json!({}),
    };
    if let Value::Object(schema) = schema { schema } else { Map::new() }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListQuery {
    q: String,
}

#[derive(askama::Template)]
#[template(path = "start.html")]
struct ListPage {
    frame: Frame,
    workflows: Vec<Workflow>,
    search: String,
}

async fn list(
    State(app): State<App>,
    visitor: Visitor,
    Query(query): Query<ListQuery>,
) -> Result<Response, PageFailure> {
    let rows = app.database.read(&visitor.caller, STARTABLE, parameters![query.q.trim().to_lowercase()]).await?;
    html(&ListPage {
        frame: Frame::new(&app, &visitor, "/start", visitor.reader.t("start.title")).await?,
        workflows: rows.iter().take(MAX_WORKFLOWS).map(Workflow::from).collect(),
        search: query.q,
    })
}

#[derive(askama::Template)]
#[template(path = "start_one.html")]
struct OnePage<'a> {
    frame: Frame,
    workflow: &'a Workflow,
    form: Option<Form>,
    reference: &'a str,
    sql: String,
    failure: Option<Failure>,
    /// Why the input is not accepted, for errors that belong to no field.
    reasons: Vec<String>,
}

async fn show(State(app): State<App>, visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageFailure> {
    let workflow = Workflow::read(&app, &visitor, &id).await?;
    let form = workflow.form(visitor.reader.language);
    page(&app, &visitor, &workflow, form, &Typed::default(), None).await
}

/// The button that shows the statement instead of running it.
const PREVIEW: &str = "preview";

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    workflow: &Workflow,
    mut form: Option<Form>,
    typed: &Typed,
    failure: Option<Failure>,
) -> Result<Response, PageFailure> {
    let is_first = typed.iter().next().is_none();
    let input = form.as_mut().and_then(Form::answer);
    if let Some(form) = form.as_mut().filter(|_| is_first || typed.one("do") == PREVIEW) {
        form.forgive();
    }
    let mut reasons = Vec::new();
    let detail = failure.as_ref().filter(|failure| failure.has_code("22023")).and_then(|f| f.detail.as_deref());
    if let (Some(form), Some(detail)) = (&mut form, detail) {
        reasons = form.blame(detail);
    }
    let status = match &failure {
        Some(failure) => failure.status,
        None if form.as_ref().is_some_and(Form::has_problems) => StatusCode::BAD_REQUEST,
        None => StatusCode::OK,
    };
    let response = html(&OnePage {
        frame: Frame::new(app, visitor, "/start", workflow.name.as_str()).await?,
        sql: statement(workflow, typed, input).display(),
        workflow,
        form,
        reference: typed.one("reference"),
        failure,
        reasons,
    })?;
    Ok((status, response).into_response())
}

fn statement(workflow: &Workflow, typed: &Typed, input: Option<String>) -> Statement {
    Statement::new(
        "SELECT @wf.wf_start($1, $2::pg_catalog.jsonb, correlation_id => $3, on_fault => 'store')",
        vec![Some(workflow.id.clone()), Some(input.unwrap_or_else(|| "{}".to_owned())), typed.non_empty("reference")],
    )
}

async fn start(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    typed: Typed,
) -> Result<Response, PageFailure> {
    let workflow = Workflow::read(&app, &visitor, &id).await?;
    let mut form = workflow.form(visitor.reader.language);
    if let Some(form) = &mut form {
        form.fill(&typed);
    }
    let input = form.as_mut().and_then(Form::answer);
    if form.as_ref().is_some_and(Form::has_problems) || typed.one("do") == PREVIEW {
        return page(&app, &visitor, &workflow, form, &typed, None).await;
    }
    match statement(&workflow, &typed, input).run(&app.database, &visitor.caller).await {
        Ok(_) => Ok(Redirect::to("/requests?done=started").into_response()),
        Err(failure) if failure.status == StatusCode::UNAUTHORIZED => Err(failure.into()),
        Err(failure) => page(&app, &visitor, &workflow, form, &typed, Some(failure)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_become_a_schema() {
        let inputs = json!(["plain", {"name": "Amount", "type": "Decimal", "required": true, "schema": {"minimum": 1}},
            {"name": "At", "type": "System.DateTimeOffset", "displayName": "When", "defaultValue": "2030-01-01T00:00:00Z", "required": true},
            {"name": "Lines", "type": "String", "isArray": true}]);
        let expected = json!({"type": "object", "required": ["Amount"], "properties": {
            "plain": {"type": "string", "propertyOrder": 0},
            "Amount": {"type": "number", "minimum": 1, "propertyOrder": 1},
            "At": {"type": "string", "format": "date-time", "title": "When", "default": "2030-01-01T00:00:00Z", "propertyOrder": 2},
            "Lines": {"propertyOrder": 3}}});
        assert_eq!(schema_of(&inputs), Some(expected));
        assert_eq!(schema_of(&json!([])), None);
        assert_eq!(schema_of(&json!(null)), None);
    }
}

//! `wf_http_request`.

use serde_json::{Map, Value, json};
use workflow_engine::http::content::too_large;
use workflow_engine::http::{Request, Response, texts};

use crate::api::object;
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, role};
use crate::run::history::acts;
use crate::run::http::paths;
use crate::run::{CallContext, http};
use crate::store::rights::owners;

sql_functions! {
    wf_http_request(method: Text, path: Text, headers: Jsonb, query: Jsonb, body: Bytea) => request;
    wf_grant_path(segment: Text, role: Text) => grant_path;
}

fn request(call: &Call) -> Result<Returned, PgError> {
    let method: String = call.required("method")?;
    let path: String = call.required("path")?;
    let headers = texts_of(call, "headers")?;
    let query = texts_of(call, "query")?;
    // A body that is too large is not read at all.
    let request = too_large(call.size("body")).and_then(|()| {
        let body: Vec<u8> = call.arg("body").unwrap_or_default();
        Request::new(&method, &path, headers, query, body)
    });
    let response = match request {
        Ok(request) => http::serve(&mut CallContext::begin(), &request)?,
        Err(response) => response,
    };
    Ok(returned(response))
}

fn grant_path(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("give HTTP paths")?;
    let segment = segment_of(&call.required::<String>("segment")?)?;
    let role = call.arg::<String>("role").map(|name| {
        role::by_name(&name).ok_or_else(|| PgError::new("42704", format!("role \"{name}\" does not exist")))
    });
    let owner = role.transpose()?.map(|role| owners::by_id(owners::id_of(role)));
    let moved = paths::give(&segment, owner.as_ref())?;
    let detail = json!({ "segment": segment, "role": owner.as_ref().map(owners::Owner::title) });
    acts::record("grant path", None, &detail)?;
    Ok(Returned::Integer(moved))
}

/// A segment in its stored form.
fn segment_of(text: &str) -> Result<String, PgError> {
    let segment = text.trim_matches('/').to_lowercase();
    if segment.contains(['/', '{', '}']) {
        return Err(PgError::new("22023", format!("\"{text}\" is not the first segment of an HTTP path"))
            .hint("An empty text means the root, and * means the paths that begin with a parameter."));
    }
    Ok(segment)
}

fn texts_of(call: &Call, name: &str) -> Result<Map<String, Value>, PgError> {
    texts(object(call, name)?, name).map_err(|fault| error::fault(&fault))
}

/// A `wf_http_response`.
fn returned(response: Response) -> Returned {
    Returned::Row(vec![
        Returned::Integer(response.status.into()),
        Returned::Object(response.headers),
        Returned::Bytea(response.body),
    ])
}

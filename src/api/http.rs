//! `wf_http_request`.

use serde_json::{Map, Value};
use workflow_engine::http::content::too_large;
use workflow_engine::http::{Request, Response, texts};

use crate::api::object;
use crate::error;
use crate::pg::{Call, PgError, Returned};
use crate::run::{Session, http};
use crate::sql_functions;

sql_functions! {
    wf_http_request => request;
}

fn request(call: &Call) -> Result<Returned, PgError> {
    let method: String = call.required(0, "method")?;
    let path: String = call.required(1, "path")?;
    let headers = texts_of(call, 2, "headers")?;
    let query = texts_of(call, 3, "query")?;
    // Nothing of a body that is too large is read.
    let request = too_large(call.size(4)).and_then(|()| {
        let body: Vec<u8> = call.arg(4).unwrap_or_default();
        Request::new(&method, &path, headers, query, body)
    });
    let response = match request {
        Ok(request) => http::serve(&mut Session::begin(), &request)?,
        Err(response) => response,
    };
    Ok(returned(response))
}

fn texts_of(call: &Call, i: usize, name: &str) -> Result<Map<String, Value>, PgError> {
    texts(object(call, i, name)?, name).map_err(|fault| error::fault(&fault))
}

/// A `wf_http_response`.
fn returned(response: Response) -> Returned {
    Returned::Row(vec![
        Returned::Integer(response.status.into()),
        Returned::Object(response.headers),
        Returned::Bytea(response.body),
    ])
}

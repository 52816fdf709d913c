//! Endpoints of workflows, on a listener of their own: any request is passed to `wf_begin_http_request` as one role.
//!
//! Workflows are not trusted as the gateway's own pages are: what they respond is sandboxed, and they get neither the
//! session cookie nor keys of the gateway.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::json;
use tokio_postgres::Row;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowHeaders, AllowMethods, AllowOrigin, CorsLayer};
use tracing::Instrument as _;
use uuid::Uuid;

use crate::caller::Caller;
use crate::config::EndpointOptions;
use crate::failure::Failure;
use crate::gateway::App;
use crate::guard;
use crate::identity::logins::network;
use crate::memory::Hold;
use crate::parameters;
use crate::traffic::{self, Counted};
use crate::waiting::Waiter;

mod headers;
pub mod receiving;

use headers::REQUEST_ID;

/// `wait_ms` is by the clock of the database, which has decided when the wait ends.
const BEGIN: &str = "SELECT b.status, b.headers::pg_catalog.text AS headers, b.body, \
       (EXTRACT(epoch FROM b.wait_until OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp()) \
        OPERATOR(pg_catalog.*) 1000)::pg_catalog.int8 AS wait_ms, b.instance_id \
     FROM @wf.wf_begin_http_request($1, $2, $3, $4, $5::pg_catalog.jsonb, '{}', $6, \
       pg_catalog.make_interval(secs => $7)) b";

const STOPPING: &str = "the server is stopping";

/// The router of the listener for endpoints.
pub fn router(app: &App) -> Router {
    let mut router = Router::new().fallback(serve).layer(from_fn_with_state(app.clone(), bounded));
    if let Some(cors) = cors(&app.options.endpoints) {
        router = router.layer(cors);
    }
    router
        .layer(CatchPanicLayer::custom(guard::panicked))
        .layer(from_fn_with_state(app.clone(), identified))
        .layer(from_fn_with_state(Counted { listener: "endpoints", traffic: app.traffic.clone() }, traffic::count))
        .with_state(app.clone())
}

/// Refuses what comes too often, before its body is read.
async fn bounded(State(app): State<App>, request: Request, next: Next) -> Response {
    match app.endpoint_rates.check(guard::address_of(&app, &request), request.uri().path()) {
        Ok(()) => next.run(request).await,
        Err(failure) => failed(failure),
    }
}

/// Answers preflight requests of the origins that may call endpoints. Without such origins, that is left to workflows.
fn cors(options: &EndpointOptions) -> Option<CorsLayer> {
    let origins = &options.endpoints_cors;
    if origins.is_empty() {
        return None;
    }
    let allowed = if origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()))
    };
    let layer = CorsLayer::new().allow_origin(allowed).allow_methods(AllowMethods::mirror_request());
    Some(layer.allow_headers(AllowHeaders::mirror_request()).expose_headers([REQUEST_ID]))
}

/// The id of a request, for the workflow, the response and the log.
#[derive(Clone, Debug)]
struct RequestId(String);

/// Gives each request an id, that of the client if it has sent one, and each response the headers that protect the
/// gateway's users.
async fn identified(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let id = headers::request_id(request.headers()).unwrap_or_else(|| Uuid::now_v7().to_string());
    let span =
        tracing::info_span!("endpoint", request_id = %id, method = %request.method(), path = request.uri().path());
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = next.run(request).instrument(span.clone()).await;
    span.in_scope(|| tracing::debug!(status = response.status().as_u16(), "answered"));
    headers::protect(response.headers_mut(), &app.options.endpoints);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// A failure of the gateway, in the form of the responses of `wf_begin_http_request`. Clients are strangers: they learn
/// nothing of the database.
fn failed(failure: Failure) -> Response {
    let failure = match failure.code {
        None => failure,
        Some(_) if failure.status == StatusCode::SERVICE_UNAVAILABLE => {
            Failure::unavailable("the database cannot serve the request now")
        }
        Some(code) => Failure::internal(format_args!("{code}: {}", failure.message)),
    };
    let headers = failure.headers();
    let message = [Some(failure.message), failure.hint].into_iter().flatten().collect::<Vec<_>>().join(". ");
    (failure.status, headers, axum::Json(json!({ "message": message }))).into_response()
}

async fn serve(State(app): State<App>, request: Request) -> Response {
    answer(&app, request).await.unwrap_or_else(failed)
}

/// The response of the workflow. The memory of the request is held until it has begun, that of the response until it is
/// sent; a request that waits holds none.
async fn answer(app: &App, request: Request) -> Result<Response, Failure> {
    if app.is_stopping() {
        return Err(Failure::unavailable(STOPPING));
    }
    let address = guard::address_of(app, &request);
    let hold = app.memory_of_endpoints.hold(&network(address).to_string());
    let waiter = app.waiting.register();
    let is_repeatable = request.headers().contains_key("idempotency-key");
    let response = match begin(app, request, address, &waiter, &hold).await? {
        Begun::Responded(response) => response,
        Begun::Waits(time, instance) => {
            hold.release();
            let response = wait(app, waiter, time, instance, is_repeatable).await?;
            let size = response.body().size_hint().exact().unwrap_or_default();
            hold.grow(usize::try_from(size).unwrap_or(usize::MAX))
                .map_err(|_| without_response("responses take too much memory at once", is_repeatable))?;
            response
        }
    };
    Ok(guard::hold_until_sent(response, hold))
}

/// What has become of a request.
enum Begun {
    Responded(Response),
    /// So long, for this instance, if the role may read it.
    Waits(Duration, Option<Uuid>),
}

async fn begin(
    app: &App,
    request: Request,
    address: IpAddr,
    waiter: &Waiter,
    hold: &Arc<Hold>,
) -> Result<Begun, Failure> {
    let (parts, body) = guard::read_body(app, request, hold).await?;
    let id = parts.extensions.get::<RequestId>().map(|RequestId(id)| id.as_str()).unwrap_or_default();
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let values = parameters![
        waiter.id(),
        app.waiting.server(),
        parts.method.as_str(),
        target,
        headers::passed(app, &parts.headers, address, id).to_string(),
        body.to_vec(),
        f64::from(app.options.endpoints.endpoints_wait),
    ];
    drop((parts, body));
    let rows = Arc::clone(hold).during(app.database.write(&caller(app), BEGIN, values)).await?;
    let row = rows.first().ok_or_else(|| Failure::internal("no row for a request"))?;
    match row.try_get::<_, Option<i64>>("wait_ms").map_err(Failure::internal)? {
        None => response_of(row).map(Begun::Responded),
        Some(milliseconds) => {
            let instance = row.try_get("instance_id").map_err(Failure::internal)?;
            Ok(Begun::Waits(Duration::from_millis(milliseconds.max(0).unsigned_abs()), instance))
        }
    }
}

async fn wait(
    app: &App,
    waiter: Waiter,
    time: Duration,
    instance: Option<Uuid>,
    is_repeatable: bool,
) -> Result<Response, Failure> {
    let mut stop = app.stopping.subscribe();
    tokio::select! {
        biased;
        response = waiter.response() => response,
        () = tokio::time::sleep(time) => Ok(timed_out(instance)),
        _ = stop.wait_for(|stops| *stops) => Err(without_response(STOPPING, is_repeatable)),
    }
}

/// The response to a client whose time is over. It names the instance as the response to a fault does: only if the role
/// may read it.
fn timed_out(instance: Option<Uuid>) -> Response {
    let mut body = json!({ "message": "the workflow has not responded in time" });
    if let Some(instance) = instance {
        body["workflowInstanceId"] = json!(instance);
    }
    (StatusCode::GATEWAY_TIMEOUT, axum::Json(body)).into_response()
}

/// The failure of a request that has had its effect. If it is repeated, it gets its response if it has an
/// `Idempotency-Key`, and has its effect once more if not.
fn without_response(message: &str, is_repeatable: bool) -> Failure {
    if is_repeatable {
        return Failure::unavailable(message);
    }
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, message).hint("The request took effect, and the workflow continues")
}

/// The role as which all requests run.
fn caller(app: &App) -> Caller {
    let role = app.options.endpoints.endpoints_role.clone().unwrap_or_default();
    Caller::of_role(role.clone(), role)
}

/// The response in the columns `status`, `headers` and `body` of a row.
fn response_of(row: &Row) -> Result<Response, Failure> {
    let status: i32 = row.try_get("status").map_err(Failure::internal)?;
    let headers: String = row.try_get("headers").map_err(Failure::internal)?;
    let body: Vec<u8> = row.try_get("body").map_err(Failure::internal)?;
    let status = u16::try_from(status).ok().and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.ok_or_else(|| Failure::internal("a workflow responded with a status that is none"))?;
    let mut response = Response::new(Body::from(Bytes::from(body)));
    *response.status_mut() = status;
    headers::write(response.headers_mut(), &headers)?;
    // Only the gateway switches protocols.
    if status.is_informational() {
        return Err(Failure::new(StatusCode::BAD_GATEWAY, "the workflow responded with an informational status"));
    }
    Ok(response)
}

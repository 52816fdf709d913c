//! All routes, and what stands before them.

use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::trace::{DefaultOnResponse, TraceLayer};
use tracing::Level;

use crate::failure::Failure;
use crate::gateway::App;
use crate::{elsa, guard, pages};

/// The whole gateway. Requests pass the layers from the last to the first.
pub fn router(app: &App) -> Router {
    Router::new()
        .nest("/elsa/api", elsa::router())
        .merge(pages::router())
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(app.clone(), guard::bounded_body))
        .layer(from_fn_with_state(app.clone(), guard::authenticate))
        .layer(from_fn_with_state(app.clone(), guard::known_host))
        // What watches the process need not know its name.
        .merge(Router::new().route("/healthz", get(async || "ok")).route("/readyz", get(ready)))
        .layer(from_fn_with_state(app.clone(), guard::secure_headers))
        .layer(CatchPanicLayer::custom(guard::panicked))
        .layer(TraceLayer::new_for_http().on_response(DefaultOnResponse::new().level(Level::DEBUG)))
        .with_state(app.clone())
}

/// Whether new requests should come here: the database answers, and the process is not stopping.
async fn ready(State(app): State<App>) -> Result<&'static str, Failure> {
    if app.is_stopping.load(Ordering::Relaxed) {
        return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, "stopping"));
    }
    app.database.ready().await?;
    Ok("ready")
}

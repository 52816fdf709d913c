//! All routes and middleware.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::from_fn_with_state;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::trace::{DefaultOnResponse, TraceLayer};
use tracing::{Level, Span};

use crate::failure::Failure;
use crate::gateway::App;
use crate::routing::Routes;
use crate::traffic::{self, Counted};
use crate::{elsa, guard, pages, studio};

/// The routes that need authentication, and the routes for monitoring.
pub fn routes() -> Routes {
    served().merge(watched())
}

fn served() -> Routes {
    let elsa = Routes::new().nest("/elsa/api", elsa::routes()).nest("/elsa/hubs", elsa::hub::routes());
    elsa.merge(pages::routes()).merge(studio::routes())
}

fn watched() -> Routes {
    Routes::new().get("/healthz", async || "ok").get("/readyz", ready)
}

/// The complete router. Requests pass the layers from the last to the first.
pub fn router(app: &App) -> Router {
    served()
        .into_router()
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(app.clone(), guard::bounded_body))
        .layer(from_fn_with_state(app.clone(), guard::authenticate))
        .layer(from_fn_with_state(app.clone(), guard::known_host))
        // Monitoring need not use the gateway's host name.
        .merge(watched().into_router())
        .layer(from_fn_with_state(app.clone(), guard::secure_headers))
        .layer(CatchPanicLayer::custom(guard::panicked))
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(named)
                .on_response(DefaultOnResponse::new().level(Level::DEBUG))
                .on_failure(()),
        )
        .layer(from_fn_with_state(Counted { listener: "gateway", traffic: app.traffic.clone() }, traffic::count))
        .with_state(app.clone())
}

/// The log entry of a request: without the query string, in which SignalR clients send their key.
fn named(request: &Request) -> Span {
    tracing::debug_span!("request", method = %request.method(), path = request.uri().path())
}

/// Readiness: the database answers, and the process is not stopping.
async fn ready(State(app): State<App>) -> Result<&'static str, Failure> {
    if app.is_stopping() {
        return Err(Failure::unavailable("stopping"));
    }
    app.database.ready().await?;
    Ok("ready")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_rights_has_every_route() {
        let page = include_str!("../../../docs/security.md");
        let routes = routes();
        let is_missing = |route: &&String| !page.contains(&format!("`{route}`"));
        let missing: Vec<&String> = routes.listed().iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "docs/security.md does not say who may use {missing:?}");
    }
}

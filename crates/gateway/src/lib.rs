//! The gateway, as a library for the program `wf`: Elsa's API, Elsa Studio and an inbox in front of a database with the
//! extension `workflow`.
//!
//! It stores nothing: each request is a transaction under its user's database role.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod caller;
mod config;
mod database;
mod elsa;
mod endpoints;
mod failure;
mod gateway;
mod guard;
mod identity;
mod json;
mod memory;
mod metrics;
mod pages;
mod rates;
mod routes;
mod routing;
mod samples;
mod scopes;
mod server;
mod shares;
mod studio;
mod tls;
mod traces;
mod traffic;
mod waiting;

pub use config::{DEFAULT_STUDIO, ServeOptions};
pub use identity::cookies::new_key_line;
pub use identity::keys::add as add_key;
pub use identity::oidc::ProviderExamination;
pub use scopes::Scope;
pub use studio::fetch::fetch as fetch_studio;

use database::UnusableDatabase;
use gateway::Gateway;
use workflow_client::ConnectOptions;

/// Serves until the process gets SIGTERM or SIGINT. The process must have installed a provider of TLS for rustls.
pub async fn serve(options: ServeOptions, database: ConnectOptions) -> Result<(), String> {
    if let Some(problem) = options.problem() {
        return Err(problem);
    }
    let app = Gateway::new(options, &database)?;
    first_check(&app).await?;
    let endpoints = app.options.endpoints.endpoints_listen.map(|address| (address, endpoints::router(&app)));
    if endpoints.is_some() {
        tokio::spawn(endpoints::receiving::receive(app.clone()));
    }
    let metrics = app.options.metrics.metrics_listen.map(|address| (address, metrics::router(&app)));
    if metrics.is_some() && app.options.metrics.metrics_role.is_some() {
        tokio::spawn(metrics::first_check(app.clone()));
    }
    if app.options.traces.traces_endpoint.is_some() {
        tokio::spawn(traces::export(app.clone()));
    }
    server::serve(&app, routes::router(&app), endpoints, metrics)
        .await
        .map_err(|error| format!("cannot serve: {error}"))
}

/// Stops the start-up if the database is incompatible. An unreachable database may come back: `/readyz` reports it
/// until then.
async fn first_check(app: &Gateway) -> Result<(), String> {
    match app.database.first_check(app.options.sign_on.is_used()).await {
        Ok(()) => Ok(()),
        Err(UnusableDatabase::Refused(reason)) => Err(reason),
        Err(unreachable) => {
            tracing::warn!(cause = %unreachable, "starting without a database");
            Ok(())
        }
    }
}

/// What the identity provider of the options says, and whether it accepts the gateway. There must be one.
pub async fn examine_provider(options: &ServeOptions) -> Result<ProviderExamination, String> {
    let provider = identity::oidc::Provider::new(&options.sign_on, &options.origin())?;
    provider.ok_or("there is no identity provider")?.examine().await
}

/// All routes, as `METHOD /path`.
pub fn listed_routes() -> Vec<String> {
    routes::routes().listed().to_vec()
}

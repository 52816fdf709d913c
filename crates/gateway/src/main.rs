//! `workflow-gateway`: Elsa's API, Elsa Studio and an inbox in front of a database with the extension `workflow`.
//!
//! It stores nothing: each request is a transaction under its user's database role.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod caller;
mod config;
mod database;
mod elsa;
mod failure;
mod gateway;
mod guard;
mod identity;
mod json;
mod memory;
mod pages;
mod routes;
mod routing;
mod server;
mod shares;
mod studio;

use std::process::ExitCode;
use std::time::Duration;

use config::{KeyCommand, LogFormat, Options, Serving, StudioCommand, Subcommands};
use database::UnusableDatabase;
use gateway::Gateway;
use identity::{cookies, keys};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

fn main() -> ExitCode {
    let options = Options::read();
    let done = match options.command {
        None | Some(Subcommands::Serve) => serve(options.serving),
        Some(Subcommands::Key(command)) => manage_keys(&options.serving, command),
        Some(Subcommands::CookieKey) => {
            println!("{}", cookies::new_key_line());
            Ok(())
        }
        Some(Subcommands::Studio(StudioCommand::Fetch { from, registry })) => {
            studio::fetch::fetch(&options.serving.studio, from.as_deref(), &registry)
        }
        Some(Subcommands::Routes) => {
            println!("{}", routes::routes().listed().join("\n"));
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("workflow-gateway: {message}");
            ExitCode::FAILURE
        }
    }
}

fn manage_keys(options: &Serving, command: KeyCommand) -> Result<(), String> {
    let path = options.api_keys.as_deref().ok_or("--api-keys must name the file of keys")?;
    let KeyCommand::Add { role, days, note } = command;
    println!("{}", keys::add(path, &role, days, &note)?);
    Ok(())
}

fn serve(options: Serving) -> Result<(), String> {
    if let Some(problem) = options.problem() {
        return Err(problem);
    }
    start_log(&options)?;
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "there are two TLS providers")?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let served = runtime.block_on(async {
        let app = Gateway::new(options)?;
        first_check(&app).await?;
        server::serve(&app, routes::router(&app)).await.map_err(|error| format!("cannot serve: {error}"))
    });
    // Requests that are still running have used up their grace period.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Stops the start-up if the database is incompatible. An unreachable database may come back: `/readyz` reports it
/// until then.
async fn first_check(app: &Gateway) -> Result<(), String> {
    match app.database.first_check().await {
        Ok(()) => Ok(()),
        Err(UnusableDatabase::Refused(reason)) => Err(reason),
        Err(unreachable) => {
            tracing::warn!(cause = %unreachable, "starting without a database");
            Ok(())
        }
    }
}

fn start_log(options: &Serving) -> Result<(), String> {
    let filter = tracing_subscriber::EnvFilter::try_new(&options.log)
        .map_err(|error| format!("--log makes no sense: {error}"))?;
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = match options.log_format {
        LogFormat::Text => log.with_ansi(false).boxed(),
        LogFormat::Json => log.json().boxed(),
    };
    tracing_subscriber::registry().with(log.with_filter(filter).with_filter(filter_fn(keeps_secrets))).init();
    Ok(())
}

/// Whether an event may be logged regardless of `--log`. Below the level of a warning, other crates log statements with
/// their parameters, notices of workflows, and WebSocket frames.
fn keeps_secrets(metadata: &tracing::Metadata) -> bool {
    let is_ours = |target: &str| target.starts_with("workflow_gateway") || target.starts_with("tower_http");
    *metadata.level() <= tracing::Level::WARN || is_ours(metadata.target())
}

//! The log of the commands that keep running.

use clap::{Args, ValueEnum};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

#[derive(Debug, Args)]
pub struct LogArguments {
    /// Form of the log, which goes to standard error
    #[arg(long, default_value = "text", value_name = "FORMAT", global = true)]
    pub log_format: LogFormat,

    /// What is logged, as tracing's filters say it: a level, or levels by target
    #[arg(long, default_value = "info", value_name = "FILTER", global = true)]
    pub log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

impl LogArguments {
    /// Starts the log of the process.
    pub fn start(&self) -> Result<(), String> {
        let filter = tracing_subscriber::EnvFilter::try_new(&self.log)
            .map_err(|error| format!("--log makes no sense: {error}"))?;
        let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
        let log = match self.log_format {
            LogFormat::Text => log.with_ansi(false).boxed(),
            LogFormat::Json => log.json().boxed(),
        };
        tracing_subscriber::registry().with(log.with_filter(filter).with_filter(filter_fn(is_free_of_secrets))).init();
        Ok(())
    }
}

/// Whether an event may be logged at all. Those of other crates below the level of a warning are never logged, whatever
/// `--log` says: they contain statements with their parameters, notices of workflows, and WebSocket frames.
fn is_free_of_secrets(metadata: &tracing::Metadata) -> bool {
    let is_ours = ["wf", "workflow_", "tower_http"].iter().any(|prefix| metadata.target().starts_with(prefix));
    *metadata.level() <= tracing::Level::WARN || is_ours
}

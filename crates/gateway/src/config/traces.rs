//! The options of the exporter of traces.

use axum::http::Uri;
use clap::Args;

/// The options of `wf serve` for traces.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Traces")]
pub struct TracesOptions {
    /// URL to which spans are sent (OTLP over HTTP, as JSON), as http://127.0.0.1:4318/v1/traces; without it, none are
    /// sent
    #[arg(long, value_name = "URL")]
    pub traces_endpoint: Option<String>,

    /// Role as which the spans are read: a member of pg_monitor. The gateway's role must be a member of it
    #[arg(long, value_name = "ROLE")]
    pub traces_role: Option<String>,
}

impl TracesOptions {
    /// Describes what makes no sense.
    pub fn problem(&self) -> Option<String> {
        let Some(endpoint) = &self.traces_endpoint else {
            let without = "--traces-role needs --traces-endpoint: the URL to which spans are sent";
            return self.traces_role.as_ref().map(|_| without.to_owned());
        };
        let url: Option<Uri> = endpoint.parse().ok();
        let is_http = url.as_ref().is_some_and(|url| matches!(url.scheme_str(), Some("http" | "https")));
        match &self.traces_role {
            _ if !is_http => Some(format!("--traces-endpoint {endpoint} must be an http:// or https:// URL")),
            None => Some("--traces-endpoint needs --traces-role: the role as which the spans are read".to_owned()),
            Some(_) => None,
        }
    }
}

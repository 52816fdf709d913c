//! The options of the listener for endpoints.

use std::net::SocketAddr;

use axum::http::HeaderName;
use clap::Args;

/// The options of `wf serve` for endpoints of workflows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Endpoints of workflows")]
pub struct EndpointOptions {
    /// Address and port on which endpoints of workflows are served, with --endpoints-role; without it, none is
    #[arg(long, value_name = "ADDRESS")]
    pub endpoints_listen: Option<SocketAddr>,

    /// Role as which requests to endpoints run. The gateway's role must be a member of it, and it needs EXECUTE on
    /// wf_begin_http_request, wf_wait_http_responses and wf_take_http_responses
    #[arg(long, value_name = "ROLE")]
    pub endpoints_role: Option<String>,

    /// Seconds that a client waits for the response of a workflow, unless the endpoint has a requestTimeout
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub endpoints_wait: u16,

    /// Endpoints have an origin of their own, on which no other application has cookies or pages: their responses are
    /// sent without Content-Security-Policy: sandbox
    #[arg(long)]
    pub endpoints_own_origin: bool,

    /// Origins whose pages may call endpoints, as https://shop.example.com; * is any
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',')]
    pub endpoints_cors: Vec<String>,

    /// Requests a second of one client address to one first segment of a path; bursts may have as many
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub endpoints_rate: u32,

    /// Request headers by which a proxy says who the user is; no workflow gets them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub endpoints_identity_header: Vec<HeaderName>,
}

impl EndpointOptions {
    /// Describes what makes no sense.
    pub fn problem(&self) -> Option<String> {
        if self.endpoints_listen.is_some() && self.endpoints_role.is_none() {
            return Some("--endpoints-listen needs --endpoints-role: the role as which requests run".into());
        }
        let is_origin = |origin: &&String| {
            let rest = origin.strip_prefix("https://").or(origin.strip_prefix("http://"));
            *origin == "*" || rest.is_some_and(|host| !host.is_empty() && !host.contains('/') && origin.is_ascii())
        };
        let wrong = self.endpoints_cors.iter().find(|origin| !is_origin(origin))?;
        Some(format!("--endpoints-cors {wrong} is no origin: write http:// or https:// and a host, without a path"))
    }
}

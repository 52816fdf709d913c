//! The gateway's options, which `wf serve` reads.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};

mod endpoints;
mod metrics;
mod sign_on;
mod traces;

pub use endpoints::EndpointOptions;
pub use metrics::MetricsOptions;
pub use sign_on::{PROXY_GROUPS, PROXY_PERSON, RoleRule, SignOnOptions, texts};
pub use traces::TracesOptions;

/// The folder of Elsa Studio by default.
pub const DEFAULT_STUDIO: &str = "/var/lib/wf/studio";

/// The options of `wf serve`.
#[derive(Debug, Clone, Args)]
pub struct ServeOptions {
    /// Address and port to listen on
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,

    /// Connections to the database
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub database_connections: u16,

    /// Origin under which browsers reach the gateway, as https://workflows.example.com; by default http:// and the
    /// address that it listens on
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,

    /// A proxy in front of the gateway ends TLS: permits to listen without TLS on an address that is not loopback, and
    /// takes the address of a client from the end of X-Forwarded-For
    #[arg(long, action = ArgAction::SetTrue)]
    pub behind_proxy: bool,

    /// Certificate chain (PEM); with it the gateway speaks TLS
    #[arg(long, value_name = "FILE")]
    pub tls_certificate: Option<PathBuf>,

    /// Private key (PEM) of the certificate
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// File with the keys that seal the session cookies, one a line; the first seals, all open. Without it sessions
    /// end with the process
    #[arg(long, value_name = "FILE")]
    pub cookie_keys: Option<PathBuf>,

    /// Hours that a session lasts after the log-in
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=720))]
    pub session_hours: u16,

    /// File with the API keys; `wf key add` writes it, and it is read again when it changes
    #[arg(long, value_name = "FILE")]
    pub api_keys: Option<PathBuf>,

    /// Folder with Elsa Studio; `wf studio fetch` fills it
    #[arg(long, default_value = DEFAULT_STUDIO, value_name = "FOLDER")]
    pub studio: PathBuf,

    /// Seconds that a request may take
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub request_seconds: u16,

    /// Largest body of a request, in MB
    #[arg(long, default_value_t = 20, value_name = "MB", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub max_body: u16,

    /// Memory of all requests together, in MB: bodies, what they decode to, and answers. One user gets half of it
    #[arg(long, default_value_t = 512, value_name = "MB", value_parser = clap::value_parser!(u16).range(2..=60_000))]
    pub max_memory: u16,

    /// Open connections of clients
    #[arg(long, default_value_t = 2048, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_connections: u32,

    /// Seconds that running requests get when the gateway is told to stop
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub stop_seconds: u16,

    #[command(flatten)]
    pub endpoints: EndpointOptions,

    #[command(flatten)]
    pub sign_on: SignOnOptions,

    #[command(flatten)]
    pub metrics: MetricsOptions,

    #[command(flatten)]
    pub traces: TracesOptions,
}

impl ServeOptions {
    /// The origin that browsers see, such as `https://workflows.example.com`.
    pub fn origin(&self) -> String {
        match &self.public_url {
            // In the normalized form that browsers send.
            Some(url) => {
                let origin = url.trim_end_matches('/').to_ascii_lowercase();
                let port = if origin.starts_with("https:") { ":443" } else { ":80" };
                origin.strip_suffix(port).map_or_else(|| origin.clone(), str::to_owned)
            }
            None => format!("{}://{}", if self.tls_certificate.is_some() { "https" } else { "http" }, self.listen),
        }
    }

    pub fn request_time(&self) -> Duration {
        Duration::from_secs(self.request_seconds.into())
    }

    /// Whether browsers reach the gateway over https.
    pub fn is_secure(&self) -> bool {
        self.origin().starts_with("https://")
    }

    /// Describes a combination of options that is contradictory or unsafe.
    pub fn problem(&self) -> Option<String> {
        let host = self.public_url.as_deref().map(|url| url.parse::<axum::http::Uri>());
        match host {
            Some(Err(error)) => return Some(format!("--public-url is no URL: {error}")),
            Some(Ok(url)) if !matches!(url.scheme_str(), Some("http" | "https")) || !matches!(url.path(), "" | "/") => {
                return Some("--public-url must be http:// or https:// and a host, without a path".into());
            }
            _ => {}
        }
        if self.tls_certificate.is_some() != self.tls_key.is_some() {
            return Some("--tls-certificate and --tls-key belong together: give both".into());
        }
        let addresses = [Some(self.listen), self.endpoints.endpoints_listen, self.metrics.metrics_listen];
        let is_open = |address: &SocketAddr| !address.ip().is_loopback();
        if let Some(address) = addresses.into_iter().flatten().find(is_open)
            && self.tls_certificate.is_none()
            && !self.behind_proxy
        {
            return Some(format!(
                "will not listen on {address} without TLS: passwords and data would be readable on the way. \
                 Give --tls-certificate and --tls-key, or --behind-proxy if a proxy ends TLS"
            ));
        }
        let others = [Some(self.listen), self.endpoints.endpoints_listen];
        let problem = self.metrics.problem(others.into_iter().flatten());
        let problem = problem.or_else(|| self.traces.problem());
        problem.or_else(|| self.sign_on.problem()).or_else(|| self.endpoints.problem())
    }
}

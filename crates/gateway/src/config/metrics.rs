//! The options of the listener for metrics.

use std::net::SocketAddr;

use clap::Args;

/// The options of `wf serve` for Prometheus.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Metrics")]
pub struct MetricsOptions {
    /// Address and port on which /metrics is served, without a login; without it, it is not served
    #[arg(long, value_name = "ADDRESS")]
    pub metrics_listen: Option<SocketAddr>,

    /// Role as which /metrics reads the database: a member of pg_monitor. The gateway's role must be a member of it.
    /// Without it, /metrics has only the numbers of the gateway
    #[arg(long, value_name = "ROLE")]
    pub metrics_role: Option<String>,
}

impl MetricsOptions {
    /// Describes what makes no sense; `others` are the addresses of the other listeners.
    pub fn problem(&self, mut others: impl Iterator<Item = SocketAddr>) -> Option<String> {
        match (self.metrics_listen, &self.metrics_role) {
            (None, Some(_)) => {
                Some("--metrics-role needs --metrics-listen: the address on which /metrics is served".into())
            }
            (Some(address), _) if address.port() != 0 && others.any(|other| other == address) => {
                Some(format!("--metrics-listen {address} must be an address of its own"))
            }
            _ => None,
        }
    }
}

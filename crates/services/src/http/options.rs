//! The options of requests.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::addresses::ListedAddress;
use crate::hosts::HostLimits;

/// How requests are sent.
#[derive(Debug, Clone, Args)]
pub struct HttpOptions {
    #[allow(rustdoc::broken_intra_doc_links, reason = "--help shows the comment as it is")]
    /// Addresses to which the worker may connect although they are not public, as 10.0.0.0/8, 127.0.0.1:8080, fd00::/8 or
    /// [::1]:8080
    #[arg(long, env = "WF_WORK_ALLOW_ADDRESSES", value_name = "ADDRESS", value_delimiter = ',')]
    pub allow_addresses: Vec<ListedAddress>,

    /// Certificates (PEM) that services' may be signed by, beside those that the system trusts
    #[arg(long, env = "WF_WORK_SERVICES_CA", value_name = "FILE")]
    pub services_ca: Option<PathBuf>,

    /// Seconds for a connection, TLS included
    #[arg(long, env = "WF_WORK_CONNECT_SECONDS", default_value_t = 10, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub connect_seconds: u32,

    /// Largest body of a response after decompression, in MB
    #[arg(long, env = "WF_WORK_MAX_BODY", default_value_t = 10, value_name = "MB",
          value_parser = clap::value_parser!(u16).range(1..=100))]
    pub max_body: u16,

    /// Redirects that a request follows
    #[arg(long, env = "WF_WORK_MAX_REDIRECTS", default_value_t = 5, value_name = "N",
          value_parser = clap::value_parser!(u8).range(0..=20))]
    pub max_redirects: u8,

    /// Requests per second to each host; 0 is no limit
    #[arg(long, env = "WF_WORK_HOST_RATE", default_value_t = 0, value_name = "N")]
    pub host_rate: u32,

    /// Failures in a row after which requests to a host pause: no connection, no response in time, or status 502, 503 or
    /// 504. 0: they never pause
    #[arg(long, env = "WF_WORK_BREAKER_FAILURES", default_value_t = 10, value_name = "N")]
    pub breaker_failures: u32,

    /// Seconds that requests to such a host pause
    #[arg(long, env = "WF_WORK_BREAKER_SECONDS", default_value_t = 30, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub breaker_seconds: u32,
}

impl HttpOptions {
    /// Bytes of the largest body.
    pub fn max_bytes(&self) -> usize {
        usize::from(self.max_body) * 1_000_000
    }

    /// Time for a connection.
    pub fn connect_time(&self) -> Duration {
        Duration::from_secs(self.connect_seconds.into())
    }

    /// Rate and circuit breaker.
    pub fn host_limits(&self) -> HostLimits {
        HostLimits {
            rate: NonZeroU32::new(self.host_rate),
            failures: self.breaker_failures,
            pause: Duration::from_secs(self.breaker_seconds.into()),
        }
    }
}

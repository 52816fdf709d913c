//! The options of the worker.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::http::HttpOptions;
use crate::mail::MailOptions;

/// How the worker for services works.
#[derive(Debug, Clone, Args)]
pub struct WorkOptions {
    /// Names of the tasks to do; by default those of all services that are configured
    #[arg(long, env = "WF_WORK_NAMES", value_name = "NAME", value_delimiter = ',')]
    pub names: Vec<String>,

    /// Name that workflow.open_tasks shows; by default wf with the host and the process id
    #[arg(long, env = "WF_WORK_WORKER", value_name = "NAME")]
    pub worker: Option<String>,

    /// Tasks at once
    #[arg(long, env = "WF_WORK_CONCURRENCY", default_value_t = 100, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub concurrency: u16,

    /// Connections to the database for answers. There are three more: two for claims and leases, and one that waits for
    /// tasks
    #[arg(long, env = "WF_WORK_CONNECTIONS", default_value_t = 8, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub connections: u16,

    /// Seconds that a task stays with a worker that has died. While a worker lives, it extends its leases
    #[arg(long, env = "WF_WORK_LEASE_SECONDS", default_value_t = 60, value_name = "N",
          value_parser = clap::value_parser!(u32).range(3..=86_400))]
    pub lease_seconds: u32,

    /// Seconds that a task may take, redirects and the body included
    #[arg(long, env = "WF_WORK_TIMEOUT_SECONDS", default_value_t = 30, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub timeout_seconds: u32,

    /// Seconds that running tasks get when the worker is told to stop. Others are given back, and their attempts do not
    /// count. TimeoutStopSec of a systemd unit must be 20 seconds longer
    #[arg(long, env = "WF_WORK_STOP_SECONDS", default_value_t = 30, value_name = "N",
          value_parser = clap::value_parser!(u32).range(0..=86_400))]
    pub stop_seconds: u32,

    /// File (TOML) with the secrets that definitions name
    #[arg(long, env = "WF_WORK_SECRETS", value_name = "FILE")]
    pub secrets: Option<PathBuf>,

    /// Seconds after which the file is read again, and its commands run again
    #[arg(long, env = "WF_WORK_SECRETS_SECONDS", default_value_t = 300, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub secrets_seconds: u32,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub http: HttpOptions,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub mail: MailOptions,
}

impl WorkOptions {
    pub(crate) fn lease(&self) -> Duration {
        Duration::from_secs(self.lease_seconds.into())
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.into())
    }

    pub(crate) fn grace(&self) -> Duration {
        Duration::from_secs(self.stop_seconds.into())
    }

    pub(crate) fn worker_name(&self) -> String {
        let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = || format!("wf@{}:{}", host().trim_end(), std::process::id());
        self.worker.clone().unwrap_or_else(name)
    }
}

//! The gateway's options. Flags override the environment, which overrides the configuration file.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

/// Elsa's API, Elsa Studio and an inbox in front of a PostgreSQL database with the extension workflow.
///
/// Each option can stand on the command line, in the environment, or in a file of `name = value` lines (TOML), with
/// the name of the flag. The command line wins over the environment, and that over the file.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub struct Options {
    #[command(subcommand)]
    pub command: Option<Subcommands>,

    /// File of options
    #[arg(long, env = "WORKFLOW_GATEWAY_CONFIG", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub serving: Serving,
}

#[derive(Debug, Subcommand)]
pub enum Subcommands {
    /// Serve; what is done without a command
    Serve,
    /// Manage the API keys of the file that --api-keys names
    #[command(subcommand)]
    Key(KeyCommand),
    /// Print a new line for the file that --cookie-keys names
    CookieKey,
    /// Manage Elsa Studio, which is not part of the gateway
    #[command(subcommand)]
    Studio(StudioCommand),
    /// Print all routes, one a line
    Routes,
}

#[derive(Debug, Subcommand)]
pub enum StudioCommand {
    /// Put the one version of Elsa Studio that the gateway serves into the folder that --studio names
    Fetch {
        /// Package (.tgz) to take instead of asking a registry
        #[arg(long, value_name = "FILE", conflicts_with = "registry")]
        from: Option<PathBuf>,
        /// Registry of npm packages to ask
        #[arg(long, env = "npm_config_registry", default_value = "https://registry.npmjs.org", value_name = "URL")]
        registry: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Add a key that stands for a database role, and print it once
    Add {
        /// Database role that the key stands for
        #[arg(long)]
        role: String,
        /// Days until the key expires; without it the key does not
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: Option<u32>,
        /// Who or what the key is for: the audit names the requests with it so
        #[arg(long, default_value = "")]
        note: String,
    },
}

/// The options of `serve`.
#[derive(Debug, Clone, Args)]
pub struct Serving {
    /// Address and port to listen on
    #[arg(
        long,
        env = "WORKFLOW_GATEWAY_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS",
        global = true
    )]
    pub listen: SocketAddr,

    /// How to reach the database, as libpq spells it: a URL or `key=value` pairs; several hosts and
    /// target_session_attrs are understood
    #[arg(
        long,
        env = "WORKFLOW_GATEWAY_DATABASE",
        default_value = "host=/var/run/postgresql user=workflow_gateway dbname=postgres",
        value_name = "CONNECTION",
        hide_env_values = true,
        global = true
    )]
    pub database: String,

    /// File with the password of the gateway's own role, for a connection string without one
    #[arg(long, env = "WORKFLOW_GATEWAY_DATABASE_PASSWORD_FILE", value_name = "FILE", global = true)]
    pub database_password_file: Option<PathBuf>,

    /// Certificates (PEM) that the database server's must be signed by; by default those that the system trusts
    #[arg(long, env = "WORKFLOW_GATEWAY_DATABASE_CA", value_name = "FILE", global = true)]
    pub database_ca: Option<PathBuf>,

    /// Connections to the database
    #[arg(long, env = "WORKFLOW_GATEWAY_DATABASE_CONNECTIONS", default_value_t = 16, value_name = "N", global = true,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub database_connections: u16,

    /// Origin under which browsers reach the gateway, as https://workflows.example.com; by default http:// and the
    /// address that it listens on
    #[arg(long, env = "WORKFLOW_GATEWAY_PUBLIC_URL", value_name = "URL", global = true)]
    pub public_url: Option<String>,

    /// A proxy in front of the gateway ends TLS: permits to listen without TLS on an address that is not loopback, and
    /// takes the address of a client from the end of X-Forwarded-For
    #[arg(long, env = "WORKFLOW_GATEWAY_BEHIND_PROXY", global = true, action = ArgAction::SetTrue)]
    pub behind_proxy: bool,

    /// Certificate chain (PEM); with it the gateway speaks TLS
    #[arg(long, env = "WORKFLOW_GATEWAY_TLS_CERTIFICATE", value_name = "FILE", requires = "tls_key", global = true)]
    pub tls_certificate: Option<PathBuf>,

    /// Private key (PEM) of the certificate
    #[arg(long, env = "WORKFLOW_GATEWAY_TLS_KEY", value_name = "FILE", requires = "tls_certificate", global = true)]
    pub tls_key: Option<PathBuf>,

    /// File with the keys that seal the session cookies, one a line; the first seals, all open. Without it sessions
    /// end with the process
    #[arg(long, env = "WORKFLOW_GATEWAY_COOKIE_KEYS", value_name = "FILE", global = true)]
    pub cookie_keys: Option<PathBuf>,

    /// Hours that a session lasts after the log-in
    #[arg(long, env = "WORKFLOW_GATEWAY_SESSION_HOURS", default_value_t = 12, value_name = "N", global = true,
          value_parser = clap::value_parser!(u16).range(1..=720))]
    pub session_hours: u16,

    /// File with the API keys; `key add` writes it, and it is read again when it changes
    #[arg(long, env = "WORKFLOW_GATEWAY_API_KEYS", value_name = "FILE", global = true)]
    pub api_keys: Option<PathBuf>,

    /// Folder with Elsa Studio; `studio fetch` fills it
    #[arg(
        long,
        env = "WORKFLOW_GATEWAY_STUDIO",
        default_value = "/var/lib/workflow-gateway/studio",
        value_name = "FOLDER",
        global = true
    )]
    pub studio: PathBuf,

    /// Seconds that a request may take
    #[arg(long, env = "WORKFLOW_GATEWAY_REQUEST_SECONDS", default_value_t = 30, value_name = "N", global = true,
          value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub request_seconds: u16,

    /// Largest body of a request, in MB
    #[arg(long, env = "WORKFLOW_GATEWAY_MAX_BODY", default_value_t = 20, value_name = "MB", global = true,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub max_body: u16,

    /// Memory of all requests together, in MB: bodies, what they decode to, and answers. One user gets half of it
    #[arg(long, env = "WORKFLOW_GATEWAY_MAX_MEMORY", default_value_t = 512, value_name = "MB", global = true,
          value_parser = clap::value_parser!(u16).range(2..=60_000))]
    pub max_memory: u16,

    /// Open connections of clients
    #[arg(long, env = "WORKFLOW_GATEWAY_MAX_CONNECTIONS", default_value_t = 2048, value_name = "N", global = true,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_connections: u32,

    /// Seconds that running requests get when the gateway is told to stop
    #[arg(long, env = "WORKFLOW_GATEWAY_STOP_SECONDS", default_value_t = 30, value_name = "N", global = true,
          value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub stop_seconds: u16,

    /// Form of the log
    #[arg(long, env = "WORKFLOW_GATEWAY_LOG_FORMAT", default_value = "text", value_name = "FORMAT", global = true)]
    pub log_format: LogFormat,

    /// What is logged, as tracing's filters say it: a level, or levels by target
    #[arg(long, env = "WORKFLOW_GATEWAY_LOG", default_value = "info", value_name = "FILTER", global = true)]
    pub log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

impl Options {
    /// Reads command line, environment and file. Ends the process after `--help`, and on invalid options.
    pub fn read() -> Self {
        let command = Self::command();
        let file = config_file(&command);
        let command = match file.map(|path| with_file(command.clone(), &path)) {
            None => command,
            Some(Ok(command)) => command,
            Some(Err(message)) => Self::command().error(clap::error::ErrorKind::InvalidValue, message).exit(),
        };
        Self::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
    }
}

impl Serving {
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
        if self.tls_certificate.is_none() && !self.listen.ip().is_loopback() && !self.behind_proxy {
            return Some(format!(
                "will not listen on {} without TLS: passwords would be readable on the way. \
                 Give --tls-certificate and --tls-key, or --behind-proxy if a proxy ends TLS",
                self.listen
            ));
        }
        None
    }
}

/// Finds the configuration file in the arguments or the environment, before clap parses either.
fn config_file(command: &Command) -> Option<PathBuf> {
    let lenient = command.clone().ignore_errors(true).disable_help_flag(true).disable_version_flag(true);
    lenient.get_matches().get_one::<PathBuf>("config").cloned()
}

/// Turns the values of a file into the defaults of the flags, so that clap validates them and the other sources
/// override them.
fn with_file(mut command: Command, path: &std::path::Path) -> Result<Command, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let table: toml::Table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    for (name, value) in table {
        let known = |arg: &Arg| arg.get_long() == Some(name.as_str()) && name != "config";
        let Some(id) = command.get_arguments().find(|arg| known(arg)).map(|arg| arg.get_id().clone()) else {
            return Err(format!("{}: there is no option {name}", path.display()));
        };
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(_) | toml::Value::Boolean(_) => value.to_string(),
            _ => return Err(format!("{}: {name} must be a text, an integer, or true or false", path.display())),
        };
        // clap keeps defaults for the lifetime of the process.
        let text: &'static str = text.leak();
        command = command.mut_arg(id, |arg| arg.default_value(text));
    }
    Ok(command)
}

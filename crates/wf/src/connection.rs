//! How to reach the database: options that all commands share.

use std::path::PathBuf;

use clap::Args;
use workflow_client::tokio_postgres::Config;
use workflow_client::{ConnectOptions, Error};

use crate::failure::Failure;

/// What `wf serve` connects to if nothing is said.
const DATABASE_OF_GATEWAY: &str = "host=/var/run/postgresql user=workflow_gateway dbname=postgres";

#[derive(Debug, Args)]
pub struct ConnectionArguments {
    /// How to reach the database, as libpq spells it: a URL or `key=value` pairs; several hosts and
    /// target_session_attrs are understood. By default PGHOST, PGUSER and libpq's other variables say it. Hosts other
    /// than sockets and loopback addresses need TLS, unless sslmode says otherwise
    #[arg(long, value_name = "CONNECTION", global = true)]
    pub database: Option<String>,

    /// File with the password, for a connection string without one
    #[arg(long, value_name = "FILE", global = true)]
    pub database_password_file: Option<PathBuf>,

    /// Certificates (PEM) that the database server's must be signed by; by default those that the system trusts
    #[arg(long, value_name = "FILE", global = true)]
    pub database_ca: Option<PathBuf>,
}

impl ConnectionArguments {
    /// For all other commands, each of which is known by its name to who looks into pg_stat_activity.
    pub fn client(&self, command: &str) -> Result<ConnectOptions, Failure> {
        self.client_of(self.database.as_deref(), command)
    }

    /// As the role of the gateway, which is a member of those of its users.
    pub fn client_of_gateway(&self, command: &str) -> Result<ConnectOptions, Failure> {
        self.client_of(Some(self.database.as_deref().unwrap_or(DATABASE_OF_GATEWAY)), command)
    }

    fn client_of(&self, database: Option<&str>, command: &str) -> Result<ConnectOptions, Failure> {
        let mut options = match database {
            Some(database) => parse(database)?,
            None => ConnectOptions::from_environment()?,
        };
        let is_named = match database {
            Some(database) => database.parse::<Config>().is_ok_and(|config| config.get_application_name().is_some()),
            None => std::env::var_os("PGAPPNAME").is_some(),
        };
        if !is_named {
            options = options.application_name(command);
        }
        if let Some(file) = &self.database_password_file {
            options = options.password_file(file)?;
        }
        Ok(match &self.database_ca {
            Some(file) => options.certificate_authority(file),
            None => options,
        })
    }
}

fn parse(database: &str) -> Result<ConnectOptions, Failure> {
    ConnectOptions::new(database).map_err(|error| match error {
        Error::Options(problem) => Failure::Message(format!("--database makes no sense: {problem}")),
        other => other.into(),
    })
}

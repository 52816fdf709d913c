//! How to reach the database: options that all commands share.

use std::path::PathBuf;

use clap::Args;
use workflow_client::tokio_postgres::Config;
use workflow_client::tokio_postgres::config::Host;
use workflow_client::{ConnectOptions, Error};

use crate::failure::Failure;

/// What `wf serve` connects to if nothing is said.
const DATABASE_OF_GATEWAY: &str = "host=/var/run/postgresql user=workflow_gateway dbname=postgres";

/// Where the client library looks for a server without PGHOST.
const DEFAULT_SOCKET: &str = "/var/run/postgresql";

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

    /// Which server a client of [`Self::client`] is for, and how to name another one.
    pub fn advice(&self) -> String {
        let target = match &self.database {
            Some(database) => database.parse::<Config>().map(|config| target_of(&config)).unwrap_or_default(),
            None => target_of_environment(|name| std::env::var(name).ok().filter(|value| !value.is_empty())),
        };
        format!(
            "The connection is {target}. Name another one by --database, or by PGHOST, PGDATABASE, PGUSER and PGPASSWORD; \
             `wf dev` prints those of its server."
        )
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

/// Where a connection goes, without passwords.
fn target_of(config: &Config) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let ports: Vec<String> = config.get_ports().iter().map(ToString::to_string).collect();
    target(&hosts.join(","), &ports.join(","), config.get_dbname(), config.get_user())
}

fn target_of_environment(variable: impl Fn(&str) -> Option<String>) -> String {
    let host = variable("PGHOST").unwrap_or_else(|| DEFAULT_SOCKET.to_owned());
    let port = variable("PGPORT").unwrap_or_default();
    target(&host, &port, variable("PGDATABASE").as_deref(), variable("PGUSER").as_deref())
}

fn target(host: &str, port: &str, database: Option<&str>, user: Option<&str>) -> String {
    let port = if port.is_empty() { "5432" } else { port };
    let named = [("dbname", database), ("user", user)];
    let named = named.into_iter().filter_map(|(name, value)| value.map(|value| format!(" {name}={value}")));
    format!("host={host} port={port}{}", named.collect::<String>())
}

fn parse(database: &str) -> Result<ConnectOptions, Failure> {
    ConnectOptions::new(database).map_err(|error| match error {
        Error::Options(problem) => Failure::Message(format!("--database makes no sense: {problem}")),
        other => other.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_described_without_its_password() {
        let config = "host=/run/pg,db port=1,2 user=ada password=s3cr3t dbname=shop".parse::<Config>().unwrap();
        assert_eq!(target_of(&config), "host=/run/pg,db port=1,2 dbname=shop user=ada");
        let variable = |name: &str| (name == "PGUSER").then(|| "ada".to_owned());
        assert_eq!(target_of_environment(variable), "host=/var/run/postgresql port=5432 user=ada");
    }
}

//! How to reach the database: options that all commands share.

use std::path::PathBuf;

use clap::Args;
use workflow_gateway::DatabaseOptions;

/// What `wf serve` connects to if nothing is said.
const DATABASE_OF_GATEWAY: &str = "host=/var/run/postgresql user=workflow_gateway dbname=postgres";

#[derive(Debug, Args)]
pub struct ConnectionArguments {
    /// How to reach the database, as libpq spells it: a URL or `key=value` pairs; several hosts and
    /// target_session_attrs are understood
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
    /// For the gateway, whose role is a member of those of its users.
    pub fn of_gateway(&self) -> DatabaseOptions {
        DatabaseOptions {
            connection: self.database.clone().unwrap_or_else(|| DATABASE_OF_GATEWAY.into()),
            password_file: self.database_password_file.clone(),
            authority: self.database_ca.clone(),
        }
    }
}

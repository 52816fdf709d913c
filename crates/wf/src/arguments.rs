//! The command line: subcommands, and the options that they share.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use workflow_gateway::ServeOptions;
use workflow_services::WorkOptions;

use crate::completion::{CompletionArguments, ManArguments};
use crate::configuration;
use crate::connection::ConnectionArguments;
use crate::define::DefineArguments;
use crate::dev::DevArguments;
use crate::doctor::DoctorArguments;
use crate::explain::ExplainArguments;
use crate::gateway_files::{KeyCommand, StudioCommand};
use crate::log::LogArguments;
use crate::retry::RetryArguments;
use crate::schema::SchemaArguments;
use crate::status::StatusArguments;
use crate::tail::TailArguments;
use crate::tasks::TasksArguments;
use crate::validate::ValidateArguments;

/// The program beside a PostgreSQL database with the extension workflow.
///
/// Each option can stand on the command line, in the environment, or in the configuration file (TOML). The command line
/// wins over the environment, and that over the file. In the file, the options of `wf serve` stand in the
/// table `[serve]`, those of `wf work` in `[work]`, and what all commands share at its top; what stands in a table wins
/// for its command.
#[derive(Debug, Parser)]
#[command(name = "wf", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    #[command(flatten)]
    pub shared: SharedArguments,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve Elsa's API, Elsa Studio and the pages for people
    Serve(Box<ServeOptions>),
    /// Do the tasks of activities that reach outside the database: HTTP requests and mail
    Work(WorkOptions),
    Schema(SchemaArguments),
    Validate(ValidateArguments),
    Define(DefineArguments),
    Dev(DevArguments),
    Status(StatusArguments),
    Tasks(TasksArguments),
    Explain(ExplainArguments),
    Retry(RetryArguments),
    Tail(TailArguments),
    Doctor(DoctorArguments),
    /// Manage the API keys of the file that --api-keys names
    #[command(subcommand)]
    Key(KeyCommand),
    /// Print a new line for the file that --cookie-keys of `wf serve` names
    CookieKey,
    /// Manage Elsa Studio, which is not part of this program
    #[command(subcommand)]
    Studio(StudioCommand),
    /// Print all routes of `wf serve`, one a line
    Routes,
    Completion(CompletionArguments),
    /// Write the manual pages
    #[command(hide = true)]
    Man(ManArguments),
}

/// The options of all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of all commands")]
pub struct SharedArguments {
    /// Configuration file; by default /etc/wf/wf.toml, if it is there
    #[arg(long, env = "WF_CONFIG", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub connection: ConnectionArguments,

    #[command(flatten)]
    pub log: LogArguments,
}

impl Arguments {
    /// Reads command line, environment and file. Ends the process after `--help`, and on invalid options.
    pub fn read() -> Self {
        let command = configuration::configured(Self::command())
            .unwrap_or_else(|message| Self::command().error(clap::error::ErrorKind::InvalidValue, message).exit());
        Self::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        configuration::with_variables(Arguments::command()).debug_assert();
    }
}

//! `wf key`, `wf cookie-key`, `wf studio` and `wf routes`: the files that `wf serve` reads, and what it serves.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Subcommand;

use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Add a key that stands for a database role, and print it once
    Add {
        /// Database role that the key stands for
        #[arg(long)]
        role: String,
        /// What the key is for; by default for everything. The role's rights are the limit in any case
        #[arg(long, value_name = "SCOPE", value_delimiter = ',')]
        scope: Vec<workflow_gateway::Scope>,
        /// Days until the key expires; without it the key does not
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: Option<u32>,
        /// Who or what the key is for: the audit names the requests with it so
        #[arg(long, default_value = "")]
        note: String,
        /// File with the API keys
        #[arg(long, value_name = "FILE")]
        api_keys: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub enum StudioCommand {
    /// Fetch the one version of Elsa Studio that `wf serve` takes
    Fetch {
        /// Folder to put it into
        #[arg(long, default_value = workflow_gateway::DEFAULT_STUDIO, value_name = "FOLDER")]
        studio: PathBuf,
        /// Package (.tgz) to take instead of asking a registry
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Registry of npm packages to ask
        #[arg(long, env = "npm_config_registry", default_value = "https://registry.npmjs.org", value_name = "URL")]
        registry: String,
    },
}

pub fn manage_keys(command: KeyCommand) -> Result<(), Failure> {
    let KeyCommand::Add { role, scope, days, note, api_keys } = command;
    let path = api_keys.ok_or("--api-keys must name the file of keys")?;
    let key = workflow_gateway::add_key(&path, &role, &scope, days, &note)?;
    Ok(writeln!(std::io::stdout(), "{key}")?)
}

pub fn print_cookie_key() -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout(), "{}", workflow_gateway::new_key_line())?)
}

pub fn manage_studio(command: StudioCommand) -> Result<(), Failure> {
    let StudioCommand::Fetch { studio, from, registry } = command;
    Ok(workflow_gateway::fetch_studio(&studio, from.as_deref(), &registry)?)
}

pub fn print_routes() -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout(), "{}", workflow_gateway::listed_routes().join("\n"))?)
}

//! `wf`: the program beside a database with the extension `workflow`. Each subcommand is a module.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod arguments;
mod completion;
mod configuration;
mod connection;
mod define;
mod dev;
mod doctor;
mod document;
mod explain;
mod failure;
mod gateway_files;
mod log;
mod retry;
mod schema;
mod serve;
mod status;
mod tail;
mod tasks;
mod terminal;
mod validate;
mod work;

use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;

use arguments::{Arguments, Command};
use failure::Failure;

/// How long tasks that still run when a command has ended may take to notice it.
const END_TIME: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let Arguments { command, shared } = Arguments::read();
    let done = match command {
        Command::Serve(options) => serve::serve(*options, &shared),
        Command::Key(command) => gateway_files::manage_keys(command),
        Command::CookieKey => gateway_files::print_cookie_key(),
        Command::Studio(command) => gateway_files::manage_studio(command),
        Command::Routes => gateway_files::print_routes(),
        Command::Work(options) => work::work(options, &shared),
        Command::Schema(arguments) => schema::print(&arguments, &shared),
        Command::Validate(arguments) => validate::validate(&arguments),
        Command::Define(arguments) => define::define(arguments, &shared),
        Command::Dev(arguments) => dev::run(arguments),
        Command::Status(arguments) => status::show(&arguments, &shared),
        Command::Tasks(arguments) => tasks::tasks(arguments, &shared),
        Command::Explain(arguments) => explain::explain(&arguments, &shared),
        Command::Retry(arguments) => retry::retry(arguments, &shared),
        Command::Tail(arguments) => tail::tail(arguments, &shared),
        Command::Doctor(arguments) => doctor::examine(arguments, &shared),
        Command::Completion(arguments) => completion::complete(arguments),
        Command::Man(arguments) => completion::write_pages(arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed it.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Reported) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("wf: {}", terminal::lines(&failure.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// Runs a command that uses the network.
fn run(command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "there are two TLS providers")?;
    let runtime = tokio::runtime::Runtime::new()?;
    let done = runtime.block_on(command);
    runtime.shutdown_timeout(END_TIME);
    done
}

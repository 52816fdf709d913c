//! `wf completion` and `wf man`: the command line, described for shells and as manual pages.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::configuration;
use crate::failure::Failure;

/// Print what makes a shell complete the arguments of wf
///
/// The Debian package installs it for bash, zsh and fish. Otherwise, for bash:
///
///     wf completion bash >~/.local/share/bash-completion/completions/wf
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionArguments {
    /// Shell to print it for
    shell: Shell,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// Folder to put the pages into
    folder: PathBuf,
}

pub fn complete(arguments: CompletionArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "wf", &mut script);
    Ok(std::io::stdout().write_all(&script)?)
}

/// Writes wf.1, and a page for each subcommand.
pub fn write_pages(arguments: ManArguments) -> Result<(), Failure> {
    std::fs::create_dir_all(&arguments.folder)?;
    let command = configuration::with_variables(Arguments::command()).disable_help_subcommand(true);
    Ok(clap_mangen::generate_to(command, &arguments.folder)?)
}

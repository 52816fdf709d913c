//! `wf define`: stores and publishes definitions from files.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use workflow_client::{Define, DefinedVersion, Problem, Transaction, Validate};

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::terminal::{self, OutputArguments, one_line};
use crate::validate;

/// Store and publish definitions from files, as wf_define does
///
/// All of them in one transaction, in the order of the files: a definition that another one uses as an activity comes
/// before it. Content that is already the latest version makes no new version, so a deployment can define all its files
/// each time. Warnings go to standard error. `wf validate` checks the files without a database.
#[derive(Debug, Args)]
pub struct DefineArguments {
    /// Files and folders, as for `wf validate`; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Store the versions without publishing them
    #[arg(long)]
    without_publishing: bool,

    #[command(flatten)]
    output: OutputArguments,
}

pub fn define(arguments: DefineArguments, shared: &SharedArguments) -> Result<(), Failure> {
    let definitions = validate::read_definitions(&arguments.files)?;
    if definitions.is_empty() {
        return Err("no file has a definition".into());
    }
    let call = |definition: &Value| match arguments.without_publishing {
        true => Define::new(definition).without_publishing(),
        false => Define::new(definition),
    };
    let both = |definition: &Value| (call(definition), Validate::new(definition).with_warnings());
    let calls: Vec<(Define, Validate)> = definitions.iter().map(both).collect();
    crate::run(async {
        let client = terminal::connect(shared, "wf define").await?;
        let defined = client.transaction(async |tx: Transaction| {
            let mut versions = Vec::new();
            for (call, check) in &calls {
                versions.push((tx.run(call.clone()).await?, tx.run(check.clone()).await?));
            }
            Ok(versions)
        });
        let (defined, problems): (Vec<DefinedVersion>, Vec<Vec<Problem>>) = defined.await?.into_iter().unzip();
        for (version, problems) in defined.iter().zip(&problems) {
            for Problem { path, message, .. } in problems {
                let (id, message) = (one_line(&version.definition_id), one_line(message));
                eprintln!("wf: {id}: warning: {message} ({})", one_line(path));
            }
        }
        let versions: Vec<Value> =
            defined.iter().map(|of| json!({"definition_id": of.definition_id, "version": of.version})).collect();
        arguments.output.print(&versions, || {
            let line = |of: &DefinedVersion| format!("{}, version {}", one_line(&of.definition_id), of.version);
            defined.iter().map(line).collect::<Vec<_>>().join("\n")
        })
    })
}

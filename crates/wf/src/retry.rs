//! `wf retry`: runs the faulted activities of an instance again.

use clap::Args;
use serde_json::json;
use workflow_client::Retry;

use crate::arguments::SharedArguments;
use crate::explain;
use crate::failure::Failure;
use crate::terminal::{self, OutputArguments};

/// Run the faulted activities of an instance again, as wf_retry does
///
/// To repeat a call whose result a Fault has reported, or to skip a step, make the call that `wf explain` prints.
#[derive(Debug, Args)]
pub struct RetryArguments {
    /// Id of the instance or of one of its open tasks, or the correlation id
    id: String,
    /// Only these activities, by their ids
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    activities: Vec<String>,

    #[command(flatten)]
    output: OutputArguments,
}

pub fn retry(arguments: RetryArguments, shared: &SharedArguments) -> Result<(), Failure> {
    crate::run(async {
        let client = terminal::connect(shared, "wf retry").await?;
        let instance = explain::find(&client, &arguments.id).await?;
        let retry = Retry::new(instance);
        let state = client.run(match arguments.activities.is_empty() {
            true => retry,
            false => retry.activities(arguments.activities),
        });
        let state = state.await?;
        let said = json!({"instance_id": state.instance_id, "sub_status": state.sub_status});
        let advice = match &*state.sub_status {
            "Faulted" => format!("; `wf explain {instance}` says what repairs it"),
            _ => String::new(),
        };
        arguments.output.print(&said, || format!("retried; the instance: {}{advice}", state.sub_status.to_lowercase()))
    })
}

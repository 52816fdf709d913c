//! `wf explain`: what happened to an instance, what it waits for, and the call that continues it.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;
use workflow_client::tokio_postgres::types::Type;
use workflow_client::{Client, Error, Explain, Transaction};

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::terminal::{self, OutputArguments, one_line};

/// Tell what happened to an instance, what it waits for, and the call that continues it
///
/// With --json also the rows of the instance, of what it waits for, of its incidents, and of the executions of its
/// activities.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Id of the instance or of one of its open tasks, or the correlation id
    id: String,

    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Serialize)]
struct Explanation {
    instance: Value,
    lines: Vec<String>,
    waiting: Vec<Value>,
    incidents: Vec<Value>,
    executions: Vec<Value>,
}

#[derive(Deserialize)]
struct Found {
    instance_id: Uuid,
    definition_id: String,
    sub_status: String,
}

const BY_TASK: &str = "SELECT i.instance_id, i.definition_id, i.sub_status FROM workflow.open_tasks t \
    JOIN workflow.instance_list i ON i.instance_id = t.instance_id WHERE t.task_id = $1";
const BY_CORRELATION: &str = "SELECT i.instance_id, i.definition_id, i.sub_status FROM workflow.instance_list i \
    WHERE i.correlation_id = $1 ORDER BY i.created_at DESC LIMIT 20";

pub fn explain(arguments: &ExplainArguments, shared: &SharedArguments) -> Result<(), Failure> {
    crate::run(async {
        let client = terminal::connect(shared, "wf explain").await?;
        let instance = find(&client, &arguments.id).await?;
        if !arguments.output.json {
            let lines = client.run(Explain::new(instance)).await?;
            return arguments.output.print(&lines, || joined(&lines));
        }
        let explanation = read(&client, instance).await?;
        arguments.output.print(&explanation, String::new)
    })
}

/// The instance that an id names: its own, that of an open task, or a correlation id that only one instance has.
pub async fn find(client: &Client, id: &str) -> Result<Uuid, Failure> {
    if let Ok(uuid) = id.parse::<Uuid>() {
        let of_task = client
            .transaction(async |tx: Transaction| terminal::rows::<Found>(&tx, BY_TASK, &[(&uuid, Type::UUID)]).await);
        return Ok(of_task.await?.first().map_or(uuid, |found| found.instance_id));
    }
    let found = client
        .transaction(async |tx: Transaction| terminal::rows::<Found>(&tx, BY_CORRELATION, &[(&id, Type::TEXT)]).await);
    let found = found.await?;
    match &found[..] {
        [] => Err(format!("no instance that your role may see has the correlation id {id:?}").into()),
        [one] => Ok(one.instance_id),
        several => {
            let line =
                |of: &Found| format!("\n  {}  {}  {}", of.instance_id, one_line(&of.definition_id), of.sub_status);
            let lines: String = several.iter().map(line).collect();
            Err(format!("several instances have the correlation id {id:?}; give the id of one:{lines}").into())
        }
    }
}

async fn read(client: &Client, instance: Uuid) -> Result<Explanation, Error> {
    client
        .transaction(async |tx: Transaction| {
            let of = |query: &'static str| {
                let tx = &tx;
                async move { terminal::rows(tx, query, &[(&instance, Type::UUID)]).await }
            };
            Ok(Explanation {
                lines: tx.run(Explain::new(instance)).await?,
                instance: of("SELECT * FROM workflow.instance_list i WHERE i.instance_id = $1")
                    .await?
                    .pop()
                    .unwrap_or_default(),
                waiting: of("SELECT * FROM workflow.waiting w WHERE w.instance = $1 ORDER BY w.since").await?,
                incidents: of("SELECT * FROM workflow.open_incidents n WHERE n.instance_id = $1 ORDER BY n.created_at")
                    .await?,
                executions: of("SELECT * FROM workflow.activity_executions($1)").await?,
            })
        })
        .await
}

/// The lines with their layout, without what could control the terminal.
fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| one_line(line)).collect::<Vec<_>>().join("\n")
}

//! `wf tasks`: the open tasks, and what a person does with one.

use std::io::Read as _;
use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;
use workflow_client::tokio_postgres::types::Type;
use workflow_client::{AfterFailure, ClaimTask, CompleteTask, FailTask, ReleaseTask, Transaction};

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::terminal::{self, OutputArguments, age, one_line, table};

/// List the open tasks that your role may see, or answer one
///
/// Without a subcommand it lists them, the oldest first.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TasksArguments {
    #[command(subcommand)]
    command: Option<TaskCommand>,

    #[command(flatten)]
    filter: TaskFilter,

    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Debug, Args)]
struct TaskFilter {
    /// Only tasks of this name
    #[arg(long)]
    name: Option<String>,
    /// Only tasks of instances of this definition
    #[arg(long, value_name = "ID")]
    definition: Option<String>,
    /// Only tasks of instances with this correlation id
    #[arg(long, value_name = "ID")]
    correlation_id: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    limit: i64,
}

#[derive(Debug, Subcommand)]
enum TaskCommand {
    /// Claim a task, and print the token with which it can be answered while others cannot
    Claim {
        /// Id of the task
        id: Uuid,
        /// Name by which others see who holds it; by default your role
        #[arg(long, value_name = "NAME")]
        worker: Option<String>,
        /// Minutes until others can claim it again
        #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_080))]
        minutes: u64,
    },
    /// Complete a task, which resumes its instance
    Complete {
        /// Id of the task
        id: Uuid,
        /// Result, as JSON; - reads it from standard input
        #[arg(default_value = "null", value_name = "RESULT")]
        result: String,
        /// Token of the claim, if the task was claimed
        #[arg(long)]
        token: Option<Uuid>,
    },
    /// Report that an attempt at a task has failed; its retry policy decides what follows
    Fail {
        /// Id of the task
        id: Uuid,
        /// What went wrong
        message: String,
        /// Token of the claim; without it the task is claimed first
        #[arg(long)]
        token: Option<Uuid>,
        /// Word by which catches and retry policies know the failure
        #[arg(long)]
        code: Option<String>,
        /// Let no attempt follow
        #[arg(long)]
        without_retry: bool,
    },
    /// Give a claimed task back; the attempt does not count
    Release {
        /// Id of the task
        id: Uuid,
        /// Token of the claim
        #[arg(long)]
        token: Uuid,
    },
}

#[derive(Serialize, Deserialize)]
struct OpenTask {
    task_id: Uuid,
    instance_id: Uuid,
    definition_id: String,
    activity_id: String,
    name: Option<String>,
    correlation_id: Option<String>,
    payload: Option<Value>,
    created_at: DateTime<Utc>,
    attempt: i32,
    /// Only while a worker holds it.
    lease_until: Option<DateTime<Utc>>,
    worker: Option<String>,
    last_error: Option<String>,
    assignee: Option<String>,
    candidates: Option<Vec<String>>,
    deadline: Option<DateTime<Utc>>,
    paused_at: Option<DateTime<Utc>>,
}

const LIST: &str = "SELECT t.task_id, t.instance_id, t.definition_id, t.activity_id, t.name, t.correlation_id, t.payload, \
    t.created_at, t.attempt, CASE WHEN t.lease_until > pg_catalog.now() THEN t.lease_until END AS lease_until, t.worker, \
    t.last_error, t.assignee, t.candidates, t.deadline, t.paused_at FROM workflow.open_tasks t \
    WHERE ($1 IS NULL OR t.name = $1) AND ($2 IS NULL OR t.definition_id = $2) AND ($3 IS NULL OR t.correlation_id = $3) \
    ORDER BY t.created_at, t.task_id LIMIT $4";

pub fn tasks(arguments: TasksArguments, shared: &SharedArguments) -> Result<(), Failure> {
    let TasksArguments { command, filter, output } = arguments;
    crate::run(async {
        match command {
            None => list(&filter, output, shared).await,
            Some(command) => answer(command, output, shared).await,
        }
    })
}

async fn list(filter: &TaskFilter, output: OutputArguments, shared: &SharedArguments) -> Result<(), Failure> {
    let client = terminal::connect(shared, "wf tasks").await?;
    let listed = client.transaction(async |tx: Transaction| {
        let TaskFilter { name, definition, correlation_id, limit } = filter;
        let values: [terminal::Parameter; 4] =
            [(name, Type::TEXT), (definition, Type::TEXT), (correlation_id, Type::TEXT), (limit, Type::INT8)];
        terminal::rows::<OpenTask>(&tx, LIST, &values).await
    });
    let tasks = listed.await?;
    output.print(&tasks, || text(&tasks))
}

fn text(tasks: &[OpenTask]) -> String {
    if tasks.is_empty() {
        return "no open task".into();
    }
    let now = Utc::now();
    let shown = |text: &Option<String>| one_line(text.as_deref().unwrap_or("-"));
    let line = |task: &OpenTask| {
        let state = match (&task.paused_at, &task.lease_until) {
            (Some(_), _) => "paused".to_owned(),
            (None, Some(_)) => format!("held by {}", shown(&task.worker)),
            (None, None) if task.assignee.is_some() => format!("for {}", shown(&task.assignee)),
            (None, None) if task.last_error.is_some() => format!("failed: {}", shown(&task.last_error)),
            (None, None) => "open".to_owned(),
        };
        let definition = one_line(&task.definition_id);
        vec![
            task.task_id.to_string(),
            shown(&task.name),
            definition,
            shown(&task.correlation_id),
            age(task.created_at, now),
            state,
        ]
    };
    table(&["id", "name", "definition", "correlation id", "age", "state"], &tasks.iter().map(line).collect::<Vec<_>>())
}

async fn answer(command: TaskCommand, output: OutputArguments, shared: &SharedArguments) -> Result<(), Failure> {
    let result = match &command {
        TaskCommand::Complete { result, .. } => read_result(result)?,
        _ => Value::Null,
    };
    let client = terminal::connect(shared, "wf tasks").await?;
    match command {
        TaskCommand::Claim { id, worker, minutes } => {
            let claim = ClaimTask::new(id).lease(Duration::from_secs(minutes * 60));
            let task = client.run(match worker {
                Some(worker) => claim.worker(worker),
                None => claim,
            });
            let task = task.await?;
            let said = json!({"task_id": id, "token": task.token, "attempt": task.attempt, "lease_until": task.lease_until,
                "payload": task.payload});
            output.print(&said, || format!("token {}\nheld until {}", task.token, terminal::local(task.lease_until)))
        }
        TaskCommand::Complete { id, token, .. } => {
            let complete = CompleteTask::new(id).result(result);
            let state = client.run(match token {
                Some(token) => complete.token(token),
                None => complete,
            });
            let state = state.await?;
            let said = json!({"task_id": id, "instance_id": state.instance_id, "sub_status": state.sub_status});
            output.print(&said, || format!("completed; its instance: {}", state.sub_status.to_lowercase()))
        }
        TaskCommand::Fail { id, message, token, code, without_retry } => {
            let after = client.transaction(async |tx: Transaction| {
                let token = match token {
                    Some(token) => token,
                    None => tx.run(ClaimTask::new(id)).await?.token,
                };
                let mut fail = FailTask::new(id, token, &message);
                if let Some(code) = &code {
                    fail = fail.code(code);
                }
                tx.run(if without_retry { fail.without_retry() } else { fail }).await
            });
            let is_open = after.await? == AfterFailure::Open;
            let text = if is_open { "failed; another attempt follows" } else { "failed; it was the last attempt" };
            output.print(&json!({"task_id": id, "is_open": is_open}), || text.into())
        }
        TaskCommand::Release { id, token } => {
            let is_released = client.run(ReleaseTask::new(id, token)).await?;
            let text = if is_released { "released" } else { "the token no longer holds the task" };
            output.print(&json!({"task_id": id, "is_released": is_released}), || text.into())
        }
    }
}

fn read_result(text: &str) -> Result<Value, Failure> {
    let mut read = String::new();
    let text = match text {
        "-" => {
            std::io::stdin().read_to_string(&mut read)?;
            &read
        }
        text => text,
    };
    serde_json::from_str(text)
        .map_err(|error| format!("the result is no JSON: {error}. A text needs quotes: '\"yes\"'").into())
}

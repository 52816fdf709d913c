//! `ScheduledCommand`: runs the command of a schedule made by `wf_schedule`.
//!
//! A command that may not run inside a transaction block waits at a bookmark that is due immediately. The background
//! worker that fires the bookmark runs the command as a top-level statement and resumes with its result or error.

use serde_json::{Map, Value, json};

use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, InputDescriptor, NonEmpty, OutputDescriptor, WaitKind};
use crate::bookmark::{NewBookmark, Resumed};
use crate::execution::Execution;
use workflow_value::fault::Fault;
use workflow_value::value::{copy_or_null, to_text};

/// Type of the activity, and name of the bookmark of a top-level command.
pub const SCHEDULED_COMMAND: &str = "Workflow.ScheduledCommand";

/// Runs the command of a schedule.
#[derive(Debug)]
pub struct ScheduledCommand;

inputs! {
    STATEMENT: NonEmpty =
        InputDescriptor::new("statement", "Object", "The command, or the list of statements that it consists of.")
            .required()
            .edited_as("sql"),
    TOP_LEVEL: bool =
        InputDescriptor::new("topLevel", "Boolean", "Whether it runs outside a transaction block, in a background worker.")
            .default("false"),
    RETRY: bool = InputDescriptor::new(
        "retry",
        "Boolean",
        "Whether a command at top level that a crash interrupted is run again.",
    )
    .default("false"),
}

outputs! {
    ROW_COUNT =
        OutputDescriptor::new("rowCount", "Int64", "Number of rows that the last statement returned or affected."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: SCHEDULED_COMMAND,
    category: "Scheduling",
    description: "Runs the command of a schedule of wf_schedule. In your own definitions, use Sql.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    uses_sql: true,
    example: r#"{"type": "ScheduledCommand", "statement": "REFRESH MATERIALIZED VIEW sales", "rowCount": {"output": "rows"}}"#,
    waits: WaitKind::IfTrue("topLevel"),
    ..Descriptor::BASE
};

impl Activity for ScheduledCommand {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        if cx.get(TOP_LEVEL)? {
            return wait_for_worker(cx);
        }
        let mut count = 0;
        for statement in statements(cx)? {
            count = cx.sql(&statement, &[])?.count;
        }
        cx.set_output(ROW_COUNT, Value::from(count))?;
        cx.complete()
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        if let Some(Value::Object(error)) = input.and_then(|input| input.get("error")) {
            return Err(reported(error));
        }
        let rows = input.and_then(|input| input.get("rows")).map(copy_or_null);
        cx.set_output(ROW_COUNT, rows.unwrap_or_default())?;
        cx.complete()
    }
}

fn wait_for_worker(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let payload = json!({ "statement": statements(cx)?.join(";\n"), "retry": cx.get(RETRY)? });
    cx.create_bookmark(NewBookmark {
        payload: Some(payload),
        due_at: Some(cx.instant()),
        // Two runs of one command must not have the same hash.
        include_activity_instance: Some(true),
        ..NewBookmark::default()
    })?;
    Ok(())
}

fn statements(cx: &Execution<'_>) -> Result<Vec<String>, Fault> {
    match cx.peek(STATEMENT) {
        Value::Array(statements) if !statements.is_empty() => Ok(statements.iter().map(to_text).collect()),
        Value::Array(_) => Err(Fault::new("22004", "input \"statement\" must not be empty")),
        _ => Ok(vec![cx.get(STATEMENT)?]),
    }
}

/// The fault for the error of the command.
fn reported(error: &Map<String, Value>) -> Fault {
    let text = |name: &str| error.get(name).filter(|value| !value.is_null()).map(to_text);
    Fault {
        sqlstate: text("sqlstate").filter(|state| state.len() == 5).unwrap_or_else(|| "XX000".into()),
        message: text("message").unwrap_or_else(|| "scheduled command failed".into()),
        detail: text("detail"),
        hint: text("hint"),
        context: text("context"),
        original: None,
        code: None,
    }
}

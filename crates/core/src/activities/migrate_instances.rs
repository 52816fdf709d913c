//! `MigrateInstances`: migrates the instances of a definition to a version that was published with `options.migrate`.
//!
//! Each batch is a burst that a timer starts immediately, so background workers run it in a session of the instance's
//! owner. The memory of the activity contains the progress for the next batch.

use serde_json::{Value, json};

use crate::activities::timing::wait_seconds;
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, InputDescriptor, NonEmpty, OutputDescriptor, WaitKind};
use crate::bookmark::Resumed;
use crate::execution::Execution;
use crate::instance::Memory;
use workflow_value::fault::Fault;
use workflow_value::value::{Json, copy_or_null};

/// Type of the activity, and id of the built-in definition that consists of it.
pub const MIGRATE_INSTANCES: &str = "Workflow.MigrateInstances";

/// Moves the instances of a definition.
#[derive(Debug)]
pub struct MigrateInstances;

/// Returns the progress for the next batch, the numbers of moved and rejected instances, and the seconds until the next
/// batch; NULL when all is done.
const STATEMENT: &str = "SELECT b.next, b.moved, b.refused, b.pause \
     FROM workflow._migrate_batch($1::text, $2::integer, $3::jsonb) AS b";

inputs! {
    DEFINITION_ID: NonEmpty =
        InputDescriptor::new("definitionId", "String", "The definition whose instances are migrated.")
            .required()
            .hint("workflow-definition-picker"),
    VERSION: i64 = InputDescriptor::new(
        "version", "Int64", "The version to which they are migrated. If it is no longer published, they stay as they are.").required(),
}

outputs! {
    RESULT = OutputDescriptor::new("result", "Object", "How many instances were migrated, and how many were refused in the end."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: MIGRATE_INSTANCES,
    category: "Alterations",
    description: "Migrates the instances of a definition to its published version, in batches that background workers run in transactions of their own. Publishing with the option migrate uses it.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    uses_sql: true,
    example: r#"{"type": "MigrateInstances", "definitionId": "leave", "version": 2, "result": {"var": "Total"}}"#,
    waits: WaitKind::Always,
    ..Descriptor::BASE
};

impl Activity for MigrateInstances {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        // A retry continues where a batch failed.
        if !matches!(cx.memory(), Memory::Json(_)) {
            let (definition_id, version) = (cx.get(DEFINITION_ID)?, cx.get(VERSION)?);
            let memory = json!({"definitionId": definition_id, "version": version, "progress": {}});
            cx.set_memory(Memory::Json(Json(memory)));
        }
        wait_seconds(cx, 0)
    }

    fn remembers(&self) -> bool {
        true
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, _input: Option<&Value>) -> Result<(), Fault> {
        let Memory::Json(Json(memory)) = cx.memory() else {
            return Err(Fault::new("XX001", "the progress of the migration is lost"));
        };
        let mut memory = copy_or_null(memory);
        let parameters = ["definitionId", "version", "progress"].map(|name| copy_or_null(&memory[name]));
        let batch = cx.sql(STATEMENT, &parameters)?.rows.into_iter().next().unwrap_or_default();
        memory["progress"] = copy_or_null(&batch["next"]);
        cx.set_memory(Memory::Json(Json(memory)));
        match batch["pause"].as_i64() {
            Some(seconds) => wait_seconds(cx, seconds),
            None => {
                cx.set_output(RESULT, json!({"moved": batch["moved"], "refused": batch["refused"]}))?;
                cx.complete()
            }
        }
    }
}

//! `SqlSingleValue`: outputs one value of a query.

use crate::activities::database;
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, NonEmpty, OutputDescriptor};
use crate::execution::Execution;
use serde_json::Value;
use workflow_expression::Take;
use workflow_value::fault::Fault;

/// Runs a query and outputs the first column of its first row; null without a row.
#[derive(Debug)]
pub struct SqlSingleValue;

inputs! {
    CLIENT: Value = database::CLIENT,
    CONNECTION: Value = database::CONNECTION,
    COMMAND: NonEmpty = database::statement("command"),
}

outputs! {
    RESULT = OutputDescriptor::new("result", "Object", "The value."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SqlSingleValue",
    category: "SQL",
    description: "Runs a query and returns the first column of its first row, or null without a row. It runs in this database, in the transaction of the call; parameters such as {{Variable.Name}} are bound as values.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    uses_sql: true,
    example: r#"{"type": "SqlSingleValue", "command": "SELECT count(*) FROM employees WHERE name = {{Input.name}}", "result": {"var": "Total"}}"#,
    ..Descriptor::BASE
};

impl Activity for SqlSingleValue {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let rows = database::run(cx, CLIENT, COMMAND, Take::FirstColumn)?;
        cx.set_output(RESULT, rows.rows.into_iter().next().unwrap_or_default())?;
        cx.complete()
    }
}

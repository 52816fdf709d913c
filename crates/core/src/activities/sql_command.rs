//! `SqlCommand`: runs a statement for its effect.

use serde_json::Value;

use crate::activities::database;
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, NonEmpty, OutputDescriptor};
use crate::execution::Execution;
use workflow_expression::Take;
use workflow_value::fault::Fault;

/// Runs a statement and outputs the number of rows that it affected.
#[derive(Debug)]
pub struct SqlCommand;

inputs! {
    CLIENT: Value = database::CLIENT,
    CONNECTION: Value = database::CONNECTION,
    COMMAND: NonEmpty = database::statement("command"),
}

outputs! {
    RESULT = OutputDescriptor::new("result", "Int64", "Number of rows affected."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SqlCommand",
    category: "SQL",
    description: "Runs a statement and returns the number of rows that it affected. It runs in this database, in the transaction of the call; parameters such as {{Variable.Name}} are bound as values.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    uses_sql: true,
    example: r#"{"type": "SqlCommand", "command": "UPDATE employees SET name = {{Input.name}} WHERE id = {{Input.employee}}", "result": {"var": "Total"}}"#,
    ..Descriptor::BASE
};

impl Activity for SqlCommand {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let rows = database::run(cx, CLIENT, COMMAND, Take::Rows)?;
        cx.set_output(RESULT, Value::from(rows.count))?;
        cx.complete()
    }
}

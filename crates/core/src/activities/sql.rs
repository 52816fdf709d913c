//! `Sql`: runs a statement in the transaction of the burst.

use serde_json::Value;

use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, InputDescriptor, NonEmpty, OutputDescriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Runs one SQL statement of the author in the transaction of the burst.
#[derive(Debug)]
pub struct Sql;

inputs! {
    STATEMENT: NonEmpty = InputDescriptor::new("statement", "String", "One SQL statement.")
        .required()
        .edited_as("sql"),
    PARAMETERS: Value =
        InputDescriptor::new("parameters", "ICollection<Object>", "Values of $1, $2, …; each may be an expression.")
            .default("[]"),
}

outputs! {
    RESULT =
        OutputDescriptor::new("result", "ICollection<Object>", "The rows, each an object."),
    ROW_COUNT =
        OutputDescriptor::new("rowCount", "Int64", "Number of rows returned or affected."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.Sql",
    category: "SQL",
    description: "Runs a SQL statement in the transaction of the call. Parameters are bound as $1, $2, …, with the types that their context requires (jsonb if it requires none), and never spliced into the text.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    uses_sql: true,
    example: r#"{"type": "Sql", "statement": "SELECT name FROM employees WHERE id = $1", "parameters": [{"input": "employee"}], "result": {"var": "Rows"}}"#,
    ..Descriptor::BASE
};

impl Activity for Sql {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let statement = cx.get(STATEMENT)?;
        let parameters = match cx.take(PARAMETERS) {
            Value::Array(parameters) => parameters,
            Value::Null => Vec::new(),
            _ => {
                return Err(Fault::new("22023", "parameters of a Sql activity must be a list"));
            }
        };
        let rows = cx.sql(&statement, &parameters)?;
        cx.set_output(RESULT, Value::Array(rows.rows))?;
        cx.set_output(ROW_COUNT, Value::from(rows.count))?;
        cx.complete()
    }
}

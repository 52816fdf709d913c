//! `Sql`: a statement in the transaction of the burst.

use serde_json::Value;

use crate::activity::{Activity, Descriptor, InputDescriptor, OutputDescriptor};
use crate::execution::Execution;
use crate::fault::Fault;

/// Runs a statement.
#[derive(Debug)]
pub struct Sql;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.Sql",
    description: "Runs a SQL statement in the transaction of the call. Parameters are bound as $1, $2, …, with the types that their places ask for (jsonb where they ask for none), and never spliced into the text.",
    inputs: &[
        InputDescriptor::new("statement", "String", "One SQL statement.").required(),
        InputDescriptor::new("parameters", "ICollection<Object>", "Values of $1, $2, …; each may be an expression.")
            .default("[]"),
    ],
    outputs: &[
        OutputDescriptor::new("result", "ICollection<Object>", "The rows, each an object."),
        OutputDescriptor::new("rowCount", "Int64", "Number of rows returned or affected."),
    ],
    uses_sql: true,
    example: r#"{"type": "Sql", "statement": "SELECT name FROM employees WHERE id = $1", "parameters": [{"input": "employee"}], "result": {"var": "Rows"}}"#,
    ..Descriptor::BASE
};

impl Activity for Sql {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let statement = cx.required_text(0)?;
        let parameters = match cx.take_input(1) {
            Value::Array(parameters) => parameters,
            Value::Null => Vec::new(),
            _ => {
                return Err(Fault::new("22023", "parameters of a Sql activity must be a list"));
            }
        };
        let rows = cx.sql(&statement, &parameters)?;
        cx.set_output(0, Value::Array(rows.rows))?;
        cx.set_output(1, Value::from(rows.count))?;
        cx.complete()
    }
}

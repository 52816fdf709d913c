//! `SqlQuery`: outputs the rows of a query.

use serde_json::Value;

use crate::activities::database;
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, NonEmpty, OutputDescriptor};
use crate::execution::Execution;
use workflow_expression::Take;
use workflow_value::fault::Fault;

/// Runs a query and outputs its rows.
#[derive(Debug)]
pub struct SqlQuery;

inputs! {
    CLIENT: Value = database::CLIENT,
    CONNECTION: Value = database::CONNECTION,
    QUERY: NonEmpty = database::statement("query"),
}

outputs! {
    RESULTS =
        OutputDescriptor::new("results", "ICollection<Object>", "The rows, each an object."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SqlQuery",
    category: "SQL",
    description: "Runs a query and returns its rows. It runs in this database, in the transaction of the call; parameters such as {{Variable.Name}} are bound as values.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    uses_sql: true,
    example: r#"{"type": "SqlQuery", "query": "SELECT name FROM employees WHERE id = {{Input.employee}}", "results": {"var": "Rows"}}"#,
    ..Descriptor::BASE
};

impl Activity for SqlQuery {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let rows = database::run(cx, CLIENT, QUERY, Take::Rows)?;
        cx.set_output(RESULTS, Value::Array(rows.rows))?;
        cx.complete()
    }
}

//! Inputs and functions shared by the activities of Elsa's SQL extension.
//!
//! They run in this database and in the transaction of the call. So the client must be PostgreSQL, and no connection is
//! opened.

use serde_json::Value;

use crate::activity::{Input, InputDescriptor, NonEmpty};
use crate::execution::Execution;
use workflow_expression::sql_template::SqlTemplate;
use workflow_expression::{Rows, Scope, Take};
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::to_text;

/// The input with the name of the database client.
pub(super) const CLIENT: InputDescriptor =
    InputDescriptor::new("client", "String", "PostgreSql, or empty: the statement runs in this database.")
        .checked(is_postgresql);

/// The input with the connection string.
pub(super) const CONNECTION: InputDescriptor =
    InputDescriptor::new("connectionString", "String", "Ignored: the statement runs in this database.");

/// Client names that mean PostgreSQL.
const CLIENTS: [&str; 5] = ["postgresql", "postgres", "npgsql", "pgsql", ""];

fn is_postgresql(client: &Value) -> Result<(), Fault> {
    let name = to_text(client).trim().to_ascii_lowercase();
    // Elsa may write the assembly-qualified name of the client's class.
    let short = name.split(',').next().unwrap_or_default().rsplit('.').next().unwrap_or_default();
    let short = short.strip_suffix("client").unwrap_or(short);
    if CLIENTS.contains(&short) {
        return Ok(());
    }
    Err(Fault::new("0A000", format!("SQL client \"{}\" is not supported", shorten(&name, 60)))
        .hint("Statements run in this database; reach another one through a foreign table."))
}

/// The input with the SQL statement, under the activity's name for it.
pub(super) const fn statement(name: &'static str) -> InputDescriptor {
    InputDescriptor::new(name, "String", "One SQL statement.").statement().checked(is_statement).needed()
}

fn is_statement(statement: &Value) -> Result<(), Fault> {
    SqlTemplate::parse(&to_text(statement)).map(|_| ()).map_err(|message| Fault::new("22023", message))
}

/// Runs the statement of an activity.
pub(super) fn run(
    cx: &mut Execution<'_>,
    client: Input<Value>,
    statement: Input<NonEmpty>,
    take: Take,
) -> Result<Rows, Fault> {
    is_postgresql(cx.peek(client))?;
    let statement = cx.get(statement)?;
    let template = SqlTemplate::parse(&statement).map_err(|message| Fault::new("22023", message))?;
    let values = template.values(cx)?;
    cx.sql_inferred(template.statement(), &values, take)
}

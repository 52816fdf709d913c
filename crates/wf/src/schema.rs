//! `wf schema`: the JSON Schema of definitions, for editors.

use std::io::Write as _;

use clap::Args;
use serde_json::Value;
use workflow_client::{Client, Error};
use workflow_engine::activities::catalogue;
use workflow_engine::definition::{DeclaredMember, DeclaredType, json_schema};

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::terminal;

/// Print the JSON Schema of definitions, with which editors complete and check them
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Include the activity types of the database: registered ones, and workflows that are used as activities, as far as
    /// the role may use them. Otherwise the schema accepts every type with a dot in its name
    #[arg(long)]
    registered: bool,
}

/// Activity types that are not built in have a description of each input and output.
const TYPES: &str = "SELECT a.type, a.description, a.kind, pg_catalog.jsonb_build_object('inputs', a.inputs, 'outputs', a.outputs, \
                     'flags', a.flags)::pg_catalog.text FROM @wf.wf_activities() AS a";

const SCHEMA_OF_FUNCTIONS: &str = "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension AS e \
                                   JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'workflow'";

pub fn print(arguments: &SchemaArguments, shared: &SharedArguments) -> Result<(), Failure> {
    if !arguments.registered {
        return write(&[]);
    }
    crate::run(async { write(&declared_types(&terminal::connect(shared, "wf schema").await?).await?) })
}

fn write(declared: &[DeclaredType]) -> Result<(), Failure> {
    let schema = serde_json::to_string_pretty(&json_schema(declared))?;
    Ok(writeln!(std::io::stdout(), "{schema}")?)
}

async fn declared_types(client: &Client) -> Result<Vec<DeclaredType>, Error> {
    client
        .transaction(async |tx| {
            let schema = tx.query(SCHEMA_OF_FUNCTIONS, &[]).await?;
            let schema: String = schema.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
            let rows = tx.query(&TYPES.replace("@wf", &schema), &[]).await?;
            let mut declared = Vec::new();
            for row in rows {
                let name: String = row.try_get(0)?;
                if catalogue::find(&name).is_none() {
                    let details: String = row.try_get(3)?;
                    let details: Value = serde_json::from_str(&details)?;
                    let kind: Option<String> = row.try_get(2)?;
                    declared.push(DeclaredType {
                        name,
                        description: row.try_get(1)?,
                        trigger: kind.is_some_and(|kind| kind == "Trigger"),
                        closed: details["flags"].get("definitionId").is_some(),
                        inputs: members(&details["inputs"]),
                        outputs: members(&details["outputs"]),
                    });
                }
            }
            Ok(declared)
        })
        .await
}

/// Declared inputs or outputs: names, or objects with a name.
fn members(declared: &Value) -> Vec<DeclaredMember> {
    let text = |member: &Value, key: &str| member.get(key).and_then(Value::as_str).map(str::to_owned);
    let member = |member: &Value| {
        let name = member.as_str().map(str::to_owned).or_else(|| text(member, "name"))?;
        Some(DeclaredMember { name, type_name: text(member, "type"), description: text(member, "description") })
    };
    declared.as_array().into_iter().flatten().filter_map(member).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::members;

    #[test]
    fn members_are_names_or_objects() {
        let found = members(&json!(["a", {"name": "b", "type": "Int32", "description": "B."}, 5, {}]));
        let shown: Vec<_> = found.iter().map(|member| (member.name.as_str(), member.type_name.as_deref())).collect();
        assert_eq!(shown, [("a", None), ("b", Some("Int32"))]);
        assert!(members(&json!(null)).is_empty());
    }
}

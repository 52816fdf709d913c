//! Links as a column of JSON. Nothing of PostgreSQL is here, so `crates/engine/tests/extension.rs` runs the tests.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::definition::WorkflowReference;

/// The version to which a reference was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The reference in the document: type, ids and version number.
    pub reference: WorkflowReference,
    /// Id of the version to which it was resolved.
    pub uses: Uuid,
}

/// Encodes links for their column; `None` if there are none.
pub fn encode(links: &[Link]) -> Option<Value> {
    let written = links.iter().map(|Link { reference, uses }| {
        let WorkflowReference { type_name, definition_id, version_id, version } = reference;
        let members = [
            ("type", Some(type_name.as_str()).filter(|name| !name.is_empty()).map(Value::from)),
            ("definitionId", definition_id.as_deref().map(Value::from)),
            ("versionId", version_id.as_deref().map(Value::from)),
            ("version", version.map(Value::from)),
            ("uses", Some(Value::from(uses.to_string()))),
        ];
        members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect::<Map<_, _>>()
    });
    (!links.is_empty()).then(|| written.map(Value::Object).collect())
}

/// Decodes links from their column.
pub fn decode(links: &Value) -> Vec<Link> {
    let text = |link: &Value, name: &str| link.get(name).and_then(Value::as_str).map(str::to_owned);
    let read = |link: &Value| {
        let version = link.get("version").and_then(Value::as_i64).and_then(|version| i32::try_from(version).ok());
        let reference = WorkflowReference {
            type_name: text(link, "type").unwrap_or_default(),
            definition_id: text(link, "definitionId"),
            version_id: text(link, "versionId"),
            version,
        };
        Some(Link { reference, uses: text(link, "uses")?.parse().ok()? })
    };
    links.as_array().into_iter().flatten().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_as_they_were_written() {
        let whole = WorkflowReference {
            type_name: "AddNumbers".into(),
            definition_id: Some("add@1".into()),
            version_id: Some("v".into()),
            version: Some(3),
        };
        let by_type = WorkflowReference { type_name: "AddNumbers".into(), ..WorkflowReference::default() };
        let links = [whole, by_type].map(|reference| Link { reference, uses: Uuid::from_u128(7) });
        assert_eq!(decode(&encode(&links).unwrap_or_default()), links);
        assert_eq!(encode(&[]), None);
    }
}

//! Which version of another workflow an activity is: what a definition that uses others was settled to use.
//!
//! A version's links never change: instances name nodes by their index, so the version must be put together of the same
//! workflows for good. They are a column of the version, `[{type, definitionId, versionId, version, uses}]`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::definition::WorkflowReference;

use crate::pg::{PgError, object_lock};

/// What a reference was settled to mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The reference as written.
    pub reference: WorkflowReference,
    /// Id of the version that is used.
    pub uses: Uuid,
}

/// Writes links for their column; `None` if there are none.
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

/// Reads links from their column.
pub(super) fn decode(links: &Value) -> Vec<Link> {
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

/// Makes this transaction the only one that settles or changes what uses definitions of these owners: says which,
/// before and after it waited.
///
/// Before the lock on any definition: publishing goes on from a definition to those that use it, defining looks from
/// one that uses others at those; with these locks first, in order of owner, no two of them wait for each other. Only
/// where the owners changed meanwhile is the order another one, and a deadlock is found as any other. Definitions that
/// neither use others nor update those that use them do without it. One lock for all owners would let each role that
/// may define keep all others waiting, as long as its transaction is open.
pub fn lock(whose: impl Fn() -> Result<BTreeSet<i32>, PgError>) -> Result<(), PgError> {
    let mut held = BTreeSet::new();
    loop {
        let wanted = whose()?;
        if wanted.is_subset(&held) {
            return Ok(());
        }
        for owner in &wanted {
            object_lock::lock(c"owners", owner.cast_unsigned(), 0);
        }
        held.extend(wanted);
    }
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

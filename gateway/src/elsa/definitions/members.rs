//! The members of a document that Studio's client reads, and what becomes of all others.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::document::raw;
use crate::failure::Failure;

/// An object whose values are kept as text.
pub type Members = BTreeMap<String, Box<RawValue>>;

/// Members that the client reads, and what it takes for their values.
pub type Known<'a> = &'a [(&'static str, Kind)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Boolean,
    List,
    Object,
    Any,
}
use Kind::{Any, Boolean, List, Object, Text};

pub const TOP: Known<'static> = &[
    ("name", Text),
    ("description", Text),
    ("isReadonly", Boolean),
    ("variables", List),
    ("inputs", List),
    ("outputs", List),
    ("outcomes", List),
    ("customProperties", Object),
    ("options", Object),
    ("root", Object),
];
pub const OPTION: Known<'static> = &[
    ("activationStrategyType", Text),
    ("usableAsActivity", Boolean),
    ("autoUpdateConsumingWorkflows", Boolean),
    ("activityCategory", Text),
    ("incidentStrategyType", Text),
    ("commitStrategyName", Text),
];
const VARIABLE: Known<'static> = &[
    ("id", Text),
    ("name", Text),
    ("typeName", Text),
    ("isArray", Boolean),
    ("value", Any),
    ("storageDriverTypeName", Text),
];
const INPUT: Known<'static> = &[
    ("type", Text),
    ("isArray", Boolean),
    ("name", Text),
    ("displayName", Text),
    ("description", Text),
    ("category", Text),
    ("uiHint", Text),
    ("storageDriverType", Text),
];
const OUTPUT: Known<'static> = &[
    ("type", Text),
    ("isArray", Boolean),
    ("name", Text),
    ("displayName", Text),
    ("description", Text),
    ("category", Text),
];
pub const LISTS: &[(&str, Known<'static>)] = &[("variables", VARIABLE), ("inputs", INPUT), ("outputs", OUTPUT)];

/// Members of the top level that `wf_export` writes itself, whatever the document has.
pub const OF_VERSION: &[&str] = &["definitionId", "version", "isLatest", "isPublished"];
/// Members of the top level that an answer has from elsewhere than the document, which may have its own.
pub const OF_ANSWER: &[&str] = &["id", "createdAt", "toolVersion", "links", "materializerName", "providerName"];

/// What `wf_export` writes where a document says nothing: these need not travel.
const FILLED: &[(&str, &str)] = &[
    ("$schema", r#""https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json""#),
    ("toolVersion", r#""3.6.0.0""#),
    ("isSystem", "false"),
    ("isReadonly", "false"),
    ("isArray", "false"),
    ("storageDriverType", "null"),
];

/// Whether a member is as `wf_export` writes it by itself.
pub fn is_filled(name: &str, value: &RawValue) -> bool {
    FILLED.iter().any(|(filled, written)| *filled == name && *written == value.get())
}

/// Gives known members the letter case in which they are known.
pub fn canonical(members: Members, known: Known<'_>) -> Members {
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let (exact, others): (Members, Members) = members.into_iter().partition(|(name, _)| names.contains(&name.as_str()));
    let mut all = exact;
    for (name, value) in others {
        let spelled = names.iter().find(|known| known.eq_ignore_ascii_case(&name) && !all.contains_key(**known));
        let name = spelled.map_or(name, |known| (*known).to_owned());
        all.insert(name, value);
    }
    all
}

/// What the client reads of an object, and what it would lose: members that it does not know, or cannot read, and
/// those with a value that it does not tell from none.
pub fn split(members: Members, known: Known<'_>) -> (Members, Members) {
    let (mut shown, mut rest) = (Members::new(), Members::new());
    for (name, value) in canonical(members, known) {
        let kind = known.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        let is_read = kind.is_some_and(|kind| fits(kind, value.get()));
        if !is_filled(&name, &value) && (!is_read || is_default(value.get())) {
            rest.insert(name.clone(), value.clone());
        }
        // The client has no null where it has a boolean.
        if is_read && value.get() != "null" {
            shown.insert(name, value);
        }
    }
    (shown, rest)
}

/// Puts back what the client has lost: a member that has a value now keeps it. What the client writes where it has
/// read nothing is left out.
pub fn put_back(members: &mut Members, rest: Members, known: Known<'_>) {
    members.retain(|name, value| !(known.iter().any(|(known, _)| known == name) && is_default(value.get())));
    for (name, value) in rest {
        if members.get(&name).is_none_or(|now| is_blank(now.get())) {
            members.insert(name, value);
        }
    }
}

fn fits(kind: Kind, text: &str) -> bool {
    let first = text.as_bytes().first();
    match kind {
        Text => matches!(first, Some(b'"' | b'n')),
        Boolean => matches!(first, Some(b't' | b'f' | b'n')),
        List => first == Some(&b'['),
        Object => first == Some(&b'{'),
        Any => true,
    }
}

/// What .NET has where nothing was given.
fn is_default(text: &str) -> bool {
    matches!(text, "null" | "false")
}

fn is_blank(text: &str) -> bool {
    is_default(text)
        || text == "\"\""
        || text.strip_prefix(['[', '{']).is_some_and(|inside| inside.trim_start().starts_with([']', '}']))
}

/// The text of a member.
pub fn text(members: &Members, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// The members of a member that is an object.
pub fn object(members: &Members, name: &str) -> Option<Members> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// Writes out all options that the client knows.
pub fn fill_options(document: &mut Members) -> Result<(), Failure> {
    let mut options = object(document, "options").unwrap_or_default();
    for (name, _) in OPTION {
        let default = if *name == "autoUpdateConsumingWorkflows" { RawValue::FALSE } else { RawValue::NULL };
        options.entry((*name).into()).or_insert_with(|| default.to_owned());
    }
    document.insert("options".into(), raw(&options)?);
    Ok(())
}

//! Which members of a document Studio's client reads, and how the others are preserved.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::json::raw;

/// An object whose values stay JSON text.
pub type Members = BTreeMap<String, Box<RawValue>>;

/// Which members of an object the client reads.
pub struct ObjectShape {
    /// The members, and which values it accepts for them.
    pub known: &'static [(&'static str, ValueKind)],
    /// Values that `wf_export` fills in for missing members; they need not be carried.
    pub filled: &'static [(&'static str, &'static str)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Text,
    Boolean,
    List,
    Texts,
    Object,
    Any,
}
use ValueKind::{Any, Boolean, List, Object, Text, Texts};

/// An object whose members belong to the user.
pub const FREE: ObjectShape = ObjectShape { known: &[], filled: &[] };
pub const TOP: ObjectShape = ObjectShape {
    known: &[
        ("name", Text),
        ("description", Text),
        ("isReadonly", Boolean),
        ("variables", List),
        ("inputs", List),
        ("outputs", List),
        ("outcomes", Texts),
        ("customProperties", Object),
        ("options", Object),
        ("root", Object),
    ],
    filled: &[
        ("$schema", r#""https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json""#),
        ("toolVersion", r#""3.6.0.0""#),
        ("isSystem", "false"),
        ("isReadonly", "false"),
    ],
};
pub const OPTION: ObjectShape = ObjectShape {
    known: &[
        ("activationStrategyType", Text),
        ("usableAsActivity", Boolean),
        ("autoUpdateConsumingWorkflows", Boolean),
        ("activityCategory", Text),
        ("incidentStrategyType", Text),
        ("commitStrategyName", Text),
    ],
    filled: &[],
};
const VARIABLE: ObjectShape = ObjectShape {
    known: &[
        ("id", Text),
        ("name", Text),
        ("typeName", Text),
        ("isArray", Boolean),
        ("value", Any),
        ("storageDriverTypeName", Text),
    ],
    filled: &[("isArray", "false")],
};
const INPUT: ObjectShape = ObjectShape {
    known: &[
        ("type", Text),
        ("isArray", Boolean),
        ("name", Text),
        ("displayName", Text),
        ("description", Text),
        ("category", Text),
        ("uiHint", Text),
        ("storageDriverType", Text),
    ],
    filled: &[("isArray", "false"), ("storageDriverType", "null")],
};
const OUTPUT: ObjectShape = ObjectShape {
    known: &[
        ("type", Text),
        ("isArray", Boolean),
        ("name", Text),
        ("displayName", Text),
        ("description", Text),
        ("category", Text),
    ],
    filled: &[("isArray", "false")],
};
pub const LISTS: &[(&str, ObjectShape)] = &[("variables", VARIABLE), ("inputs", INPUT), ("outputs", OUTPUT)];

/// Top-level members that `wf_export` always writes itself, whatever the document has.
pub const OF_VERSION: &[&str] = &["definitionId", "version", "isLatest", "isPublished"];
/// Top-level members that the answer takes from elsewhere; the document may have its own of these names.
pub const OF_ANSWER: &[&str] = &["id", "createdAt", "toolVersion", "links", "materializerName", "providerName"];

impl ObjectShape {
    /// Whether a member has the value that `wf_export` fills in.
    pub fn fills(&self, name: &str, value: &RawValue) -> bool {
        self.filled.iter().any(|(filled, written)| *filled == name && *written == value.get())
    }

    fn kind(&self, name: &str) -> Option<ValueKind> {
        self.known.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// Renames known members to their canonical letter case.
pub fn canonical(members: Members, known: &[(&'static str, ValueKind)]) -> Members {
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

/// Splits an object into what the client reads and what it would lose: members that it does not know or cannot parse,
/// and values that it does not distinguish from a missing member.
pub fn split(members: Members, shape: &ObjectShape) -> (Members, Members) {
    let (mut shown, mut rest) = (Members::new(), Members::new());
    for (name, value) in canonical(members, shape.known) {
        let is_read = shape.kind(&name).is_some_and(|kind| fits(kind, value.get()));
        if !shape.fills(&name, &value) && (!is_read || is_default(value.get())) {
            rest.insert(name.clone(), value.clone());
        }
        // The client cannot parse null where it expects a boolean.
        if is_read && value.get() != "null" {
            shown.insert(name, value);
        }
    }
    (shown, rest)
}

/// Restores the members that the client has lost; a member that has a value now keeps it. Defaults that the client
/// wrote for members that it never received are removed.
pub fn put_back(members: &mut Members, rest: Members, shape: &ObjectShape) {
    members.retain(|name, value| shape.kind(name).is_none() || !is_default(value.get()));
    for (name, value) in rest {
        if members.get(&name).is_none_or(|now| is_blank(now.get())) {
            members.insert(name, value);
        }
    }
}

fn fits(kind: ValueKind, text: &str) -> bool {
    let first = text.as_bytes().first();
    match kind {
        Text => matches!(first, Some(b'"' | b'n')),
        Boolean => matches!(first, Some(b't' | b'f' | b'n')),
        List => first == Some(&b'['),
        Texts => serde_json::from_str::<Vec<String>>(text).is_ok(),
        Object => first == Some(&b'{'),
        Any => true,
    }
}

/// Whether this is .NET's default value for a missing member.
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

/// Adds all options that the client knows.
pub fn fill_options(document: &mut Members) -> Result<(), Failure> {
    let mut options = object(document, "options").unwrap_or_default();
    for (name, _) in OPTION.known {
        let default = if *name == "autoUpdateConsumingWorkflows" { RawValue::FALSE } else { RawValue::NULL };
        options.entry((*name).into()).or_insert_with(|| default.to_owned());
    }
    document.insert("options".into(), raw(&options)?);
    Ok(())
}

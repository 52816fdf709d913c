//! The identity of a definition: the id that all its versions share.

use serde_json::{Map, Value};

use super::content::whole_number;
use super::json::{entry, kind_of};
use super::problem::{Problem, ProblemKind};

/// Identity, description and version number in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `definitionId`; without it `id`, then `name`.
    pub definition_id: String,
    /// `name` in the document; `None`: it has none.
    pub name: Option<String>,
    /// `description` in the document; `None`: it has none.
    pub description: Option<String>,
    /// Version number requested by the document.
    pub version: Option<i32>,
}

/// Reads the identity of a definition.
///
/// # Errors
///
/// The document is no object, has none of `definitionId`, `id` and `name`, or one of them is invalid.
pub fn identity(document: &Value) -> Result<Identity, Problem> {
    let Value::Object(members) = document else {
        return Err(problem("", format!("a definition must be an object, not {}", kind_of(document))));
    };
    let definition_id = text(members, "definitionId")?;
    let id = text(members, "id")?;
    let name = text(members, "name")?;
    let description = text(members, "description")?;
    let version = version(members)?;
    match definition_id.or(id).or_else(|| name.clone()) {
        Some(definition_id) => Ok(Identity { definition_id, name, description, version }),
        None => Err(problem("", "a definition needs a \"definitionId\", an \"id\" or a \"name\"")),
    }
}

/// Reads a text; a missing or blank one is `None`.
fn text(members: &Map<String, Value>, name: &str) -> Result<Option<String>, Problem> {
    match entry(members, name) {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::String(text))) => Ok((!text.trim().is_empty()).then(|| text.clone())),
        Some((key, value)) => {
            Err(problem(&format!("/{key}"), format!("\"{name}\" must be a string, not {}", kind_of(value))))
        }
    }
}

fn version(members: &Map<String, Value>) -> Result<Option<i32>, Problem> {
    let Some((key, value)) = entry(members, "version").filter(|(_, value)| !value.is_null()) else {
        return Ok(None);
    };
    let number = whole_number(value).and_then(|number| i32::try_from(number).ok());
    match number.filter(|number| *number > 0) {
        Some(version) => Ok(Some(version)),
        None => Err(problem(&format!("/{key}"), "\"version\" must be a positive integer")),
    }
}

fn problem(path: &str, message: impl Into<String>) -> Problem {
    Problem { path: path.into(), message: message.into(), kind: ProblemKind::Invalid, near: None }
}

//! People whom a task excludes.

use serde_json::{Map, Value};

use workflow_expression::{Expression, ExpressionKind};
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::{parse_json, to_text};

/// Maximum number of exclusions of one task.
const MAX_EXCLUDED: usize = 100;

/// Someone who must not answer a task because of an earlier act in the same instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// The starter of the instance.
    Starter,
    /// The people who answered a task of the activity with this id, in any of its executions.
    Answered(String),
    /// The people who answered another task of the same execution: a person has one vote. A task that changes a vote is
    /// for the person who gave it.
    OtherVoters,
}

impl Excluded {
    /// Reads a list of exclusions; null is an empty one. Designers write JSON as text.
    ///
    /// # Errors
    /// 22023 if the value is no such list.
    pub fn read(value: &Value) -> Result<Vec<Self>, Fault> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
            Value::String(text) => match parse_json(text) {
                Ok(list @ Value::Array(_)) => Self::read(&list),
                _ => Err(not_a_list()),
            },
            Value::Array(list) if list.len() > MAX_EXCLUDED => {
                let message = format!("input \"not\" has at most {MAX_EXCLUDED} entries, not {}", list.len());
                Err(Fault::new("22023", message))
            }
            Value::Array(list) => list.iter().map(Self::entry).collect(),
            _ => Err(not_a_list()),
        }
    }

    /// Reads the list in an input, which must be a constant.
    ///
    /// # Errors
    /// 22023 if it is no constant, or no such list.
    pub fn of_input(input: Option<&Expression>) -> Result<Vec<Self>, Fault> {
        match input.map(|input| &input.kind) {
            None => Ok(Vec::new()),
            Some(ExpressionKind::Literal(value)) => Self::read(value),
            Some(_) => Err(Fault::new("22023", "input \"not\" must be a constant")),
        }
    }

    fn entry(value: &Value) -> Result<Self, Fault> {
        match value {
            Value::String(text) if text == "starter" => Ok(Self::Starter),
            Value::Object(members) => Self::answered(members).ok_or_else(|| unknown(value)),
            _ => Err(unknown(value)),
        }
    }

    fn answered(members: &Map<String, Value>) -> Option<Self> {
        let id = members.get("answered").and_then(Value::as_str).filter(|id| !id.is_empty() && members.len() == 1)?;
        Some(Self::Answered(id.to_owned()))
    }
}

fn not_a_list() -> Fault {
    Fault::new("22023", "input \"not\" must be a list")
}

fn unknown(value: &Value) -> Fault {
    let text = shorten(&to_text(value), 60);
    let message = format!("an entry of \"not\" must be \"starter\" or {{\"answered\": \"<activity id>\"}}, not {text}");
    Fault::new("22023", message)
}

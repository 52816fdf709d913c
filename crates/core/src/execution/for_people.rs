//! The part of a task that an inbox for people needs.

use chrono::{DateTime, Utc};
use serde_json::Value;

use workflow_value::fault::{Fault, shorten};

/// Maximum length of an assignee or candidate, in characters.
const MAX_NAME: usize = 200;

/// Who is to do a task, and what an inbox for people shows of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForPeople {
    /// Who is to do it: a label of the application, or `role:` with the name of a role.
    pub assignee: Option<String>,
    /// Who may take it, in the same form.
    pub candidates: Vec<String>,
    /// Its deadline.
    pub deadline: Option<DateTime<Utc>>,
    /// JSON Schema of a form for the answer.
    pub form: Option<Value>,
    /// JSON Schema that the answer must match.
    pub result_schema: Option<Value>,
    /// Of a vote that the other voters may see: the number of the execution whose votes belong together.
    pub approval: Option<u32>,
}

impl ForPeople {
    /// The prefix of a role name in an assignee or a candidate.
    pub const ROLE: &str = "role:";

    /// Validates an assignee or candidate, which `what` describes, and returns it trimmed.
    ///
    /// # Errors
    /// 22023 if it is empty or too long.
    pub fn entry(text: &str, what: &str) -> Result<String, Fault> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Fault::new("22023", format!("{what} must not be empty")));
        }
        if text == Self::ROLE {
            return Err(Fault::new("22023", format!("{what} \"{text}\" names no role")));
        }
        if text.chars().count() > MAX_NAME {
            let message = format!("{what} \"{}\" is longer than {MAX_NAME} characters", shorten(text, 20));
            return Err(Fault::new("22023", message));
        }
        Ok(text.to_owned())
    }
}

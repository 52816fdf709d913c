//! Comments on open tasks, with references to attachments.
//!
//! They are in the row of the task, so they are moved, erased and removed with it. The row of the instance is locked, as
//! for an answer, so a comment is written before the end of the task or refused.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::access::{people, person};
use crate::compiled;
use crate::pg::{PgError, role};
use crate::run::CallContext;
use crate::run::call::running;
use crate::run::history::acts;
use crate::run::instances::not_found::{self, Missing};
use crate::store::instances::bookmarks;
use crate::store::tasks;

/// Comments on one task, and their bytes.
const MAX_COMMENTS: i32 = 100;
const MAX_BYTES: i32 = 256 * 1024;
/// Characters of a comment.
const MAX_TEXT: usize = 4_000;
/// Attachments of one comment.
const MAX_ATTACHMENTS: usize = 10;
/// Characters of the name of an attachment, and of its URI.
const MAX_NAME: usize = 200;
const MAX_URI: usize = 2_000;
/// Schemes of addresses at which files are kept. With others, such as `javascript` and `data`, a page that shows the
/// address as a link would run what the author of a comment has written.
const SCHEMES: [&str; 10] = ["https", "http", "ftp", "ftps", "sftp", "smb", "file", "s3", "gs", "urn"];

/// Adds a comment to an open task.
pub fn add(
    context: &mut CallContext,
    task: Uuid,
    text: Option<&str>,
    attachments: Option<&Value>,
) -> Result<(), PgError> {
    let attachments = attachments.map(read_attachments).transpose()?.unwrap_or_default();
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    check_text(text, &attachments)?;
    context.has_waited = true;
    let Some(waiting) = bookmarks::lock(task) else { return Err(not_found::missing_error(Missing::Task(task))?) };
    if !waiting.kind.is_task() {
        return Err(PgError::new("42704", format!("task {task} does not exist")));
    }
    running::refuse(waiting.row.instance.id)?;
    let compiled = compiled::of_instance(&waiting.row)?;
    if !people::sees(&waiting.row, &compiled, waiting.lease.assignment.as_deref()) {
        return Err(PgError::new("42501", format!("permission denied for task {task}"))
            .detail("Those may comment a task who see it in workflow.open_tasks."));
    }
    let by = person::current()?;
    acts::require_actor(&by, &compiled)?;
    let who = [("role", role::name(role::current())), ("actor", by.actor), ("comment", text.map(str::to_owned))];
    let mut members = Map::from_iter([("at".to_owned(), json!(context.now))]);
    members.extend(who.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::String(value?)))));
    if !attachments.is_empty() {
        members.insert("attachments".to_owned(), Value::Array(attachments));
    }
    let assignment = waiting.lease.assignment.as_deref();
    if !tasks::add_comment(task, &Value::Object(members), assignment, MAX_COMMENTS, MAX_BYTES) {
        return Err(PgError::new("54000", format!("task {task} has no room for another comment"))
            .detail(format!("A task has at most {MAX_COMMENTS} comments, of {MAX_BYTES} bytes together.")));
    }
    Ok(())
}

fn check_text(text: Option<&str>, attachments: &[Value]) -> Result<(), PgError> {
    match text {
        Some(text) if text.chars().count() > MAX_TEXT => {
            Err(PgError::new("22023", format!("argument \"comment\" is longer than {MAX_TEXT} characters")))
        }
        None if attachments.is_empty() => Err(PgError::new("22023", "a comment needs a text or an attachment")),
        _ => Ok(()),
    }
}

/// Reads a list of objects with a name and a URI.
fn read_attachments(given: &Value) -> Result<Vec<Value>, PgError> {
    let wrong = || {
        PgError::new("22023", "argument \"attachments\" must be a list of objects with \"name\" and \"uri\"")
            .hint("Example: [{\"name\": \"offer.pdf\", \"uri\": \"https://files.example/offer.pdf\"}]")
    };
    let list = given.as_array().ok_or_else(wrong)?;
    if list.len() > MAX_ATTACHMENTS {
        return Err(PgError::new("22023", format!("a comment has at most {MAX_ATTACHMENTS} attachments")));
    }
    let read = |entry: &Value| {
        let members = entry.as_object().filter(|members| members.len() == 2).ok_or_else(wrong)?;
        let text = |name: &str| members.get(name).and_then(Value::as_str).ok_or_else(wrong);
        let (name, uri) = (text("name")?.trim(), text("uri")?.trim());
        if name.is_empty() || name.chars().count() > MAX_NAME {
            return Err(PgError::new("22023", format!("the name of an attachment has 1 to {MAX_NAME} characters")));
        }
        check_uri(uri)?;
        Ok(json!({ "name": name, "uri": uri }))
    };
    list.iter().map(read).collect()
}

fn check_uri(uri: &str) -> Result<(), PgError> {
    let refused = |why: &str| Err(PgError::new("22023", "invalid URI of an attachment").detail(why));
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme {
        None => refused("It must begin with a scheme, such as \"https:\"."),
        Some(scheme) if !SCHEMES.contains(&scheme.as_str()) => {
            refused(&format!("Its scheme must be one of {}.", SCHEMES.join(", ")))
        }
        _ if uri.chars().any(|c| c.is_whitespace() || c.is_control()) => refused("It must not contain spaces."),
        _ if uri.chars().count() > MAX_URI => refused("It is longer than 2000 characters."),
        _ => Ok(()),
    }
}

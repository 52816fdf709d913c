//! The actions on a task, as statements. Each action returns the address to continue at.

use serde_json::json;

use super::Task;
use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::pages::frame::Visitor;
use crate::pages::inbox::list::{List, ListQuery};
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;
use crate::scopes::Scope;

/// The field for an operator's reason. No form field has this name.
const OVERRIDE_REASON: &str = "in-their-place";

fn complete(task: &Task, answer: Option<String>) -> Statement {
    Statement::new(
        "SELECT sub_status FROM @wf.wf_complete_task($1::pg_catalog.uuid, $2::pg_catalog.jsonb, on_fault => 'store')",
        vec![Some(task.open.id.to_string()), answer],
    )
}

/// An answer from one of the task's people, or from an operator in their place.
pub fn answer(task: &Task, typed: &Typed, answer: Option<String>) -> Statement {
    if !task.is_overridden() {
        return complete(task, answer);
    }
    Statement::new(
        "SELECT sub_status FROM @wf.wf_override_task($1::pg_catalog.uuid, $2, $3::pg_catalog.jsonb, on_fault => 'store')",
        vec![Some(task.open.id.to_string()), Some(typed.non_empty(OVERRIDE_REASON).unwrap_or_default()), answer],
    )
}

/// Assigns the task to a person, as tasks name people.
pub fn take(task: &Task, person: String) -> Statement {
    Statement::new(
        "SELECT @wf.wf_assign_task($1::pg_catalog.uuid, $2)",
        vec![Some(task.open.id.to_string()), Some(person)],
    )
}

/// Assigns the task to the colleague who was typed.
pub fn pass_on(task: &Task, typed: &Typed, by: &Visitor) -> Statement {
    take(task, by.entry_of(typed.one("colleague").trim()))
}

/// Adds a comment, with at most one reference to a file.
pub fn comment(task: &Task, typed: &Typed) -> Statement {
    let (name, uri) = (typed.non_empty("attachment"), typed.non_empty("uri"));
    let attachment = name.clone().or_else(|| uri.clone()).map(|text| {
        let name = name.unwrap_or(text);
        json!([{ "name": name, "uri": uri.unwrap_or_default() }]).to_string()
    });
    Statement::new(
        "SELECT @wf.wf_comment_task($1::pg_catalog.uuid, $2, $3::pg_catalog.jsonb)",
        vec![Some(task.open.id.to_string()), typed.non_empty("comment"), attachment],
    )
}

pub fn give_back(task: &Task) -> Statement {
    Statement::new("SELECT @wf.wf_unassign_task($1::pg_catalog.uuid)", vec![Some(task.open.id.to_string())])
}

/// Reports a failure for a claimed task.
pub fn fail(task: &Task, typed: &Typed, role: &str) -> Statement {
    let is_last = !typed.one("last").is_empty();
    Statement::new(
        "SELECT @wf.wf_fail_task(c.task_id, c.token, $3, code => $4, retry => NOT $5::boolean, on_fault => 'store') \
         FROM @wf.wf_claim_task($1::pg_catalog.uuid, worker => $2, lease => '1 min') c",
        vec![
            Some(task.open.id.to_string()),
            Some(role.to_owned()),
            Some(typed.non_empty("reason").unwrap_or_default()),
            typed.non_empty("code"),
            Some(is_last.to_string()),
        ],
    )
}

pub async fn run_complete(
    app: &Gateway,
    by: &Visitor,
    task: &Task,
    query: &ListQuery,
    typed: &Typed,
    given: Option<String>,
) -> Result<String, Failure> {
    if task.is_overridden() {
        by.caller.require(Scope::Operate)?;
        if typed.non_empty(OVERRIDE_REASON).is_none() {
            return Err(Failure::bad_request("a reason is required"));
        }
    }
    let rows = answer(task, typed, given).run(&app.database, &by.caller).await?;
    let has_faulted = rows.first().and_then(|row| row.get::<_, Option<&str>>("sub_status")) == Some("Faulted");
    let done = if has_faulted { "faulted" } else { "completed" };
    let list = List::read(app, by, query.clone()).await?;
    let next = list.after(&task.open).map_or_else(|| "/inbox".to_owned(), |next| format!("/inbox/{}", next.id));
    let answered = task.open.id.to_string();
    Ok(query.address(&next, &[("done", done), ("task", answered.as_str())]))
}

pub async fn run_take(app: &Gateway, by: &Visitor, task: &Task, query: &ListQuery) -> Result<String, Failure> {
    take(task, by.entry()).run(&app.database, &by.caller).await?;
    Ok(query.address(&format!("/inbox/{}", task.open.id), &[("done", "taken")]))
}

/// A visitor who is no candidate cannot see the task any more and is sent to the list.
pub async fn run_give_back(app: &Gateway, by: &Visitor, task: &Task, query: &ListQuery) -> Result<String, Failure> {
    give_back(task).run(&app.database, &by.caller).await?;
    Ok(query.address("/inbox", &[("done", "given-back")]))
}

pub async fn run_comment(
    app: &Gateway,
    by: &Visitor,
    task: &Task,
    query: &ListQuery,
    typed: &Typed,
) -> Result<String, Failure> {
    comment(task, typed).run(&app.database, &by.caller).await?;
    Ok(query.address(&format!("/inbox/{}", task.open.id), &[("done", "commented")]))
}

/// The visitor need not see the task any more, and is sent to the list.
pub async fn run_pass_on(
    app: &Gateway,
    by: &Visitor,
    task: &Task,
    query: &ListQuery,
    typed: &Typed,
) -> Result<String, Failure> {
    pass_on(task, typed, by).run(&app.database, &by.caller).await?;
    let passed_on = task.open.id.to_string();
    Ok(query.address("/inbox", &[("done", "passed-on"), ("task", passed_on.as_str())]))
}

pub async fn run_fail(
    app: &Gateway,
    by: &Visitor,
    task: &Task,
    query: &ListQuery,
    typed: &Typed,
) -> Result<String, Failure> {
    if typed.non_empty("reason").is_none() {
        return Err(Failure::bad_request("a reason is required"));
    }
    let rows = fail(task, typed, &by.caller.role).run(&app.database, &by.caller).await?;
    match rows.first().and_then(|row| row.get::<_, Option<&str>>("wf_fail_task")) {
        Some("Failed") => Ok(query.address("/inbox", &[("done", "failed")])),
        _ => Ok(query.address(&format!("/inbox/{}", task.open.id), &[("done", "again")])),
    }
}

//! What can be done with a task, as statements. Each gives the address to go on at.

use super::Task;
use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::pages::frame::Visitor;
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;

pub fn complete(task: &Task, answer: Option<String>) -> Statement {
    Statement::new(
        "SELECT sub_status FROM @wf.wf_complete_task($1::uuid, $2::jsonb, on_fault => 'store')",
        vec![Some(task.id.to_string()), answer],
    )
}

pub fn take(task: &Task, role: &str) -> Statement {
    Statement::new(
        "SELECT @wf.wf_assign_task($1::uuid, $2)",
        vec![Some(task.id.to_string()), Some(format!("role:{role}"))],
    )
}

pub fn give_back(task: &Task) -> Statement {
    Statement::new("SELECT @wf.wf_unassign_task($1::uuid)", vec![Some(task.id.to_string())])
}

/// A failure is reported for a claim, and claims give tasks in their order: as many are claimed as there are up to this
/// one, and the others are given back before another session sees it.
pub fn fail(task: &Task, typed: &Typed, role: &str) -> Statement {
    let is_last = !typed.one("last").is_empty();
    Statement::new(
        "WITH place AS (SELECT greatest(count(*), 1)::integer AS number FROM (SELECT FROM workflow.open_tasks t JOIN workflow.open_tasks o \
         ON o.name = t.name AND (o.priority > t.priority OR o.priority = t.priority AND o.task_id <= t.task_id) \
         WHERE t.task_id = $1::uuid LIMIT 1000) t), \
         claimed AS MATERIALIZED (SELECT c.task_id, c.token FROM place p, \
         @wf.wf_claim_tasks(ARRAY[$2], worker => $3, max => p.number, lease => '1 min') c), \
         failed AS MATERIALIZED (SELECT @wf.wf_fail_task(task_id, token, $4, code => $5, retry => NOT $6::boolean, on_fault => 'store') \
         AS status FROM claimed WHERE task_id = $1::uuid), \
         released AS MATERIALIZED (SELECT @wf.wf_release_task(task_id, token) FROM claimed WHERE task_id <> $1::uuid) \
         SELECT (SELECT status FROM failed) AS status, (SELECT count(*) FROM released) AS given_back",
        vec![
            Some(task.id.to_string()),
            Some(task.name.clone()),
            Some(role.to_owned()),
            Some(typed.given("reason").unwrap_or_default()),
            typed.given("code"),
            Some(is_last.to_string()),
        ],
    )
}

pub async fn completed(app: &Gateway, by: &Visitor, task: &Task, answer: Option<String>) -> Result<String, Failure> {
    let rows = complete(task, answer).run(&app.database, &by.caller).await?;
    let has_faulted = rows.first().and_then(|row| row.get::<_, Option<&str>>(0)) == Some("Faulted");
    Ok(format!("/inbox?done={}", if has_faulted { "faulted" } else { "completed" }))
}

pub async fn taken(app: &Gateway, by: &Visitor, task: &Task) -> Result<String, Failure> {
    take(task, &by.caller.role).run(&app.database, &by.caller).await?;
    Ok(format!("/inbox/{}?done=taken", task.id))
}

/// Who is no candidate does not see the task any more: the list is where to go on.
pub async fn given_back(app: &Gateway, by: &Visitor, task: &Task) -> Result<String, Failure> {
    give_back(task).run(&app.database, &by.caller).await?;
    Ok("/inbox?done=given-back".to_owned())
}

pub async fn failed(app: &Gateway, by: &Visitor, task: &Task, typed: &Typed) -> Result<String, Failure> {
    if typed.given("reason").is_none() {
        return Err(Failure::bad_request("a reason is required"));
    }
    let rows = fail(task, typed, &by.caller.role).run(&app.database, &by.caller).await?;
    match rows.first().and_then(|row| row.get::<_, Option<&str>>(0)) {
        Some("Failed") => Ok("/inbox?done=failed".to_owned()),
        Some(_) => Ok(format!("/inbox/{}?done=again", task.id)),
        None => Err(Failure::new(axum::http::StatusCode::CONFLICT, format!("task {} cannot be claimed now", task.id))
            .hint("A worker holds it, its next attempt is later, its instance is paused, or it is for others.")),
    }
}

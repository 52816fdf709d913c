//! The activity that opened a task: what it says of an answer, and whether the attempts of workers are its own.

use serde_json::Value;
use workflow_engine::fault::Fault;
use workflow_engine::program::Node;
use workflow_engine::schema::Schema;
use workflow_engine::{Program, execution};

use crate::compiled::Compiled;
use crate::pg::{PgError, json};
use crate::store::instances::bookmarks::Waiting;
use crate::store::tasks::leases;

/// The activity that opened a task.
pub fn opener<'a>(program: &'a Program, node_id: &str) -> Option<&'a Node> {
    program.nodes.iter().find(|node| node.node_id == node_id)
}

/// Compares an answer with the schema that the task has for it, and asks the activity that opened the task what the
/// answer means: the fault of an attempt that failed, if it is that.
///
/// # Errors
/// 22023 if it is no answer to such a task.
pub fn judge(program: &Program, waiting: &Waiting, answer: Option<&Value>) -> Result<Option<Fault>, PgError> {
    let refused = |fault: Fault| PgError {
        detail: fault.detail,
        hint: fault.hint,
        ..PgError::new(&fault.sqlstate, fault.message)
    };
    if let Some(schema) = waiting.lease.assignment.as_ref().and_then(|given| given.result_schema.as_ref()) {
        let what = format!("result of task {}", waiting.bookmark.id);
        Schema::new(json::copy(schema)).accept(answer.unwrap_or(&Value::Null), &what, "").map_err(refused)?;
    }
    let Some(node) = opener(program, &waiting.bookmark.node_id) else { return Ok(None) };
    node.activity.judge(answer).map_err(refused)
}

/// Counts the attempts of workers as those of an activity whose time is over.
pub fn count_attempts(waiting: &mut Waiting, compiled: &Compiled) {
    let opens = |node: &Node| node.activity.descriptor().opens_tasks;
    if !opener(&compiled.program, &waiting.bookmark.node_id).is_some_and(opens) {
        return;
    }
    let (instance, execution) = (&mut waiting.row.instance, waiting.bookmark.activity_instance_id);
    if let Some(attempts) = leases::attempts(&instance.id, &execution) {
        execution::count_attempts(instance, execution, attempts.unsigned_abs());
    }
}

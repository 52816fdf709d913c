//! `workflow.instance_calls`, `workflow.task_calls` and `workflow.may_reassign`, and whether a task excludes the caller:
//! for pages, which offer what is permitted.

use uuid::Uuid;

use crate::access::exclusion::Exclusion;
use crate::access::{calls, person};
use crate::compiled;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned};
use crate::store::instances;
use crate::store::instances::bookmarks;

sql_functions! {
    wf_instance_calls(instance_id: Uuid) => of_instance;
    wf_task_calls(task_id: Uuid) => of_task;
    wf_may_reassign(task_id: Uuid) => may_reassign;
    wf_is_excluded(task: Uuid, version: Uuid) => is_excluded;
}

/// An instance of a version that cannot be read has no calls, as one that does not exist.
fn of_instance(call: &Call) -> Result<Returned, PgError> {
    let row = instances::get(call.required("instance_id")?);
    let found = row.and_then(|row| {
        let compiled = compiled::of_version(row.definition_version_id).ok()?;
        Some(calls::of_instance(&row, &compiled))
    });
    Ok(names(found))
}

fn of_task(call: &Call) -> Result<Returned, PgError> {
    let waiting = bookmarks::get(call.required("task_id")?);
    let found = waiting.and_then(|waiting| {
        let compiled = compiled::of_version(waiting.row.definition_version_id).ok()?;
        calls::of_task(&waiting, &compiled, &person::reader()).ok()
    });
    Ok(names(found))
}

/// A task that cannot be answered because its version cannot be read is not assigned to others either.
fn may_reassign(call: &Call) -> Result<Returned, PgError> {
    let waiting = bookmarks::get(call.required("task_id")?).filter(|waiting| waiting.kind.is_task());
    let may = waiting.is_some_and(|waiting| {
        compiled::of_version(waiting.row.definition_version_id)
            .and_then(|compiled| calls::may_reassign(&waiting, &compiled, &person::reader()))
            .unwrap_or_default()
    });
    Ok(Returned::Boolean(may))
}

fn names(found: Option<Vec<&str>>) -> Returned {
    Returned::Texts(found.into_iter().flatten().map(str::to_owned).collect())
}

/// A view asks for each of its rows. Few versions exclude people, and a version that cannot be read excludes no one: its
/// tasks cannot be answered.
fn is_excluded(call: &Call) -> Result<Returned, PgError> {
    let (task, version): (Uuid, Uuid) = (call.required("task")?, call.required("version")?);
    let excludes_people =
        call.once(version, || compiled::of_version(version).is_ok_and(|compiled| compiled.program.excludes_people));
    let waiting = if excludes_people { bookmarks::get(task) } else { None };
    let exclusion = waiting.filter(|waiting| waiting.row.definition_version_id == version).and_then(|waiting| {
        let compiled = compiled::of_version(waiting.row.definition_version_id).ok()?;
        Exclusion::of_bookmark(&waiting.row, &compiled, &waiting.bookmark).ok().flatten()
    });
    Ok(Returned::Boolean(exclusion.is_some_and(|exclusion| exclusion.excludes(&person::reader()))))
}

//! Elsa's routes for definitions.

pub mod activities;
mod bulk;
mod document;
mod execute;
mod files;
mod lifecycle;
mod list;
mod members;
mod one;
mod places;
pub mod query;
mod save;
mod subgraph;

use crate::caller::Caller;
use crate::failure::Failure;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new()
        .get("/workflow-definitions", list::list)
        .post("/workflow-definitions", save::save)
        .get("/workflow-definitions/by-definition-id/{definition_id}", one::get)
        .get("/workflow-definitions/by-id/{version_id}", one::get_version)
        .get("/workflow-definitions/many-by-id", one::get_many)
        .get("/workflow-definitions/validation/is-name-unique", list::is_name_unique)
        .get("/workflow-definitions/query/count", list::count)
        .post("/workflow-definitions/import", save::import)
        .post("/workflow-definitions/import-files", import_files)
        .get("/workflow-definitions/subgraph/{version_id}", subgraph::subgraph)
        .get("/workflow-definitions/subgraph/segments/{version_id}", subgraph::segments)
        .delete("/workflow-definitions/{definition_id}", lifecycle::delete)
        .post("/workflow-definitions/{definition_id}/publish", lifecycle::publish)
        .post("/workflow-definitions/{definition_id}/retract", lifecycle::retract)
        .post("/workflow-definitions/{definition_id}/revert/{version}", lifecycle::revert)
        .get("/workflow-definitions/{definition_id}/export", files::export)
        .get("/workflow-definitions/{definition_id}/consumers", list::consumers)
        .post("/workflow-definitions/{definition_id}/update-references", lifecycle::update_references)
        .post("/workflow-definitions/{definition_id}/execute", execute::execute)
        .post("/workflow-definitions/{definition_id}/dispatch", execute::dispatch)
        .delete("/workflow-definition-versions/{version_id}", lifecycle::delete_version)
        .post("/bulk-actions/delete/workflow-definitions/by-definition-id", bulk::delete)
        .post("/bulk-actions/delete/workflow-definitions/by-id", bulk::delete_versions)
        .post("/bulk-actions/publish/workflow-definitions/by-definition-ids", bulk::publish)
        .post("/bulk-actions/retract/workflow-definitions/by-definition-ids", bulk::retract)
        .post("/bulk-actions/export/workflow-definitions", files::export_many)
}

async fn import_files(_: Caller) -> Failure {
    Failure::bad_request("importing several files in one request is not supported")
        .hint("workflow-definitions/import takes the definition of one file.")
}

/// A new id in Elsa's format: 16 hexadecimal digits.
fn new_id() -> String {
    format!("{:016x}", rand::random::<u64>())
}

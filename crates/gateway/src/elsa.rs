//! Elsa's API, below `/elsa/api`.

mod archive;
mod catalogues;
mod definitions;
mod descriptors;
mod executions;
pub mod hub;
mod instances;
mod journal;
mod many;

use axum::http::{Method, StatusCode, Uri};

use crate::failure::Failure;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new()
        .merge(catalogues::routes())
        .merge(definitions::routes())
        .merge(descriptors::routes())
        .merge(instances::routes())
        .merge(journal::routes())
        .merge(executions::routes())
        .map(|router| router.fallback(unknown_call).method_not_allowed_fallback(wrong_method))
}

async fn unknown_call(uri: Uri) -> Failure {
    Failure::not_found("call", uri.path())
}

async fn wrong_method(method: Method, uri: Uri) -> Failure {
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, format!("{} does not take {method}", uri.path()))
}

//! HTML pages.

mod frame;
mod inbox;
mod incidents;
mod instance;
mod login;
mod policy;
mod statement;
mod studio;
mod task;
mod task_form;
mod typed;

use axum::middleware::map_response;

use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new()
        .merge(frame::routes())
        .merge(login::routes())
        .merge(policy::routes())
        .merge(studio::routes())
        .merge(inbox::routes())
        .merge(task::routes())
        .merge(incidents::routes())
        .merge(instance::routes())
        .map(|router| router.fallback(frame::unknown_page).layer(map_response(policy::restrict)))
}

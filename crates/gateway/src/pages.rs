//! HTML pages.

mod console;
mod csv;
mod frame;
mod inbox;
mod incidents;
mod instance;
mod landing;
mod login;
mod policy;
mod reader;
mod requests;
mod sign_on;
mod start;
mod statement;
mod studio;
mod substitutes;
mod task;
mod task_form;
mod texts;
mod typed;
mod values;

use axum::middleware::{from_fn, map_response};

use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new()
        .merge(frame::routes())
        .merge(landing::routes())
        .merge(login::routes())
        .merge(sign_on::routes())
        .merge(policy::routes())
        .merge(reader::routes())
        .merge(studio::routes())
        .merge(inbox::routes())
        .merge(task::routes())
        .merge(start::routes())
        .merge(requests::routes())
        .merge(substitutes::routes())
        .merge(console::routes())
        .merge(incidents::routes())
        .merge(instance::routes())
        .map(|router| {
            let router = router.fallback(frame::unknown_page).layer(from_fn(frame::show_failures));
            router.layer(map_response(policy::restrict))
        })
}

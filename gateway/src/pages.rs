//! Pages for people.

mod frame;
mod login;
mod policy;
mod studio;

use axum::middleware::map_response;

use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new()
        .merge(frame::routes())
        .merge(login::routes())
        .merge(policy::routes())
        .merge(studio::routes())
        .map(|router| router.fallback(frame::unknown_page).layer(map_response(policy::restrict)))
}

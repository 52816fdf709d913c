//! Pages for people.

mod frame;
mod login;

use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().merge(frame::routes()).merge(login::routes()).map(|router| router.fallback(frame::unknown_page))
}

//! Pages for people.

pub mod login;

use crate::routing::Routes;

pub fn routes() -> Routes {
    login::routes()
}

//! Pages for people.

pub mod login;

use axum::Router;

use crate::gateway::App;

pub fn router() -> Router<App> {
    login::router()
}

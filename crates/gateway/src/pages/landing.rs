//! The first page: each visitor lands where there is something to do.

use axum::extract::State;
use axum::response::Redirect;

use super::frame::PageFailure;
use super::frame::Visitor;
use crate::gateway::App;
use crate::routing::Routes;
use crate::{is_mine, parameters};

pub fn routes() -> Routes {
    Routes::new().get("/", first_page)
}

/// Whether the role owns definitions.
const OWNS: &str =
    concat!("SELECT EXISTS (SELECT FROM workflow.definition_list d WHERE ", is_mine!("d.owner"), ") AS owns");

/// The definitions for a role that owns some, the inbox for others.
async fn first_page(State(app): State<App>, visitor: Visitor) -> Result<Redirect, PageFailure> {
    let rows = app.database.read(&visitor.caller, OWNS, parameters![]).await?;
    let owns = rows.first().is_some_and(|row| row.get("owns"));
    Ok(Redirect::to(if owns { "/definitions" } else { "/inbox" }))
}

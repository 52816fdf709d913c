//! The layout common to all pages: navigation, the logged-in user, and the role that the user acts as.

use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Redirect, Response};

use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::routing::Routes;
use crate::{may_act_as, parameters};

pub fn routes() -> Routes {
    Routes::new()
        .get("/static/icon.svg", async || asset("image/svg+xml", include_str!("../../static/icon.svg")))
        .get("/static/frame.css", async || asset("text/css", include_str!("../../static/frame.css")))
        .get("/static/workflow.css", async || asset("text/css", include_str!("../../static/workflow.css")))
}

/// A static file used by pages.
pub fn asset(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")], text)
}

/// The data of `frame.html`, which page templates extend.
pub struct Frame {
    pub title: String,
    /// Path of the menu entry of this page.
    pub here: &'static str,
    /// Path and query of this page.
    pub path: String,
    pub login: String,
    pub role: String,
    /// The roles that the visitor can act as.
    pub roles: Vec<String>,
}

/// The roles that $1 can act as.
const ROLES: &str = concat!(
    "SELECT rolname::pg_catalog.text FROM pg_catalog.pg_roles WHERE ",
    may_act_as!("$1::pg_catalog.name", "oid"),
    " AND ",
    may_act_as!("session_user", "oid"),
    " AND rolname OPERATOR(pg_catalog.<>) session_user AND NOT rolsuper \
      AND rolname OPERATOR(pg_catalog.!~) '^pg_' ORDER BY 1"
);

impl Frame {
    /// Reads from the database which roles the visitor can act as.
    pub async fn new(
        app: &Gateway,
        visitor: &Visitor,
        here: &'static str,
        title: impl Into<String>,
    ) -> Result<Self, Failure> {
        let rows = app.database.catalogue(ROLES, parameters![visitor.caller.login.as_str()]).await?;
        Ok(Self {
            title: title.into(),
            here,
            path: visitor.path.clone(),
            login: visitor.caller.name().to_owned(),
            role: visitor.caller.role.clone(),
            roles: rows.iter().map(|row| row.get("rolname")).collect(),
        })
    }
}

/// The user of a page. An unauthenticated request is redirected to the log-in, which leads back afterwards.
pub struct Visitor {
    pub caller: Caller,
    pub path: String,
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Redirect;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Redirect> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        match parts.extensions.get::<Caller>() {
            Some(caller) => Ok(Self { caller: caller.clone(), path }),
            None => Err(to_login(&path)),
        }
    }
}

fn to_login(path: &str) -> Redirect {
    let next: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    Redirect::to(&format!("/login?next={next}"))
}

/// Renders a template as a response.
pub fn html(template: &impl askama::Template) -> Result<Response, PageFailure> {
    Ok(Html(template.render().map_err(Failure::internal)?).into_response())
}

/// A failure shown as an HTML page.
pub struct PageFailure(pub Failure);

impl From<Failure> for PageFailure {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

#[derive(askama::Template)]
#[template(path = "failure.html")]
struct FailurePage<'a> {
    failure: &'a Failure,
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        if self.0.status == StatusCode::UNAUTHORIZED {
            return Redirect::to("/login").into_response();
        }
        match askama::Template::render(&FailurePage { failure: &self.0 }) {
            Ok(page) => (self.0.status, self.0.headers(), Html(page)).into_response(),
            Err(_) => self.0.into_response(),
        }
    }
}

/// The page for an unknown path.
pub async fn unknown_page(uri: Uri) -> PageFailure {
    Failure::not_found("page", uri.path()).into()
}

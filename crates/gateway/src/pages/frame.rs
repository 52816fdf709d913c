//! The layout common to all pages: navigation, the logged-in user, and the role that the user acts as.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{FromRequestParts, Request};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};

use super::console;
use super::reader::Reader;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::routing::Routes;
use crate::{may_act_as, parameters};

pub fn routes() -> Routes {
    Routes::new()
        .get("/static/icon.svg", async || asset("image/svg+xml", include_str!("../../static/icon.svg")))
        .get("/static/icons.svg", async || asset("image/svg+xml", include_str!("../../static/icons.svg")))
        .get("/static/workflow.css", async || asset("text/css", include_str!("../../static/workflow.css")))
        .get("/static/workflow.js", async || asset("text/javascript", include_str!("../../static/workflow.js")))
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
    pub reader: Reader,
    /// `None` for a visitor who has not logged in.
    pub session: Option<FrameSession>,
}

/// What the frame shows of a session.
pub struct FrameSession {
    pub login: String,
    /// Whom the page is for: a person, or else the role.
    pub name: String,
    pub role: String,
    /// The roles that the visitor can act as; empty on the page of an error.
    pub roles: Vec<String>,
    /// Whether the role may read definitions, so that the menu has the pages for those who build and operate.
    pub is_builder: bool,
    /// Whether the role may read the numbers of the whole database.
    pub is_monitor: bool,
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

/// Whether the role may read any definition, and whether it may read the numbers of the whole database.
const SEES: &str = "SELECT EXISTS (SELECT FROM workflow.definition_list) AS reads, \
     pg_catalog.pg_has_role('pg_monitor', 'USAGE') AS measures";

impl Frame {
    /// Reads from the database which roles the visitor can act as, and what the menu shows.
    pub async fn new(
        app: &Gateway,
        visitor: &Visitor,
        here: &'static str,
        title: impl Into<String>,
    ) -> Result<Self, Failure> {
        let caller = &visitor.caller;
        let (roles, sees) = tokio::try_join!(
            app.database.catalogue(ROLES, parameters![caller.login.as_str()]),
            app.database.read(caller, SEES, parameters![])
        )?;
        let session = FrameSession {
            login: caller.name().to_owned(),
            name: shown_name(caller),
            role: caller.role.clone(),
            roles: roles.iter().map(|row| row.get("rolname")).collect(),
            is_builder: sees.first().is_some_and(|row| row.get("reads")),
            is_monitor: sees.first().is_some_and(|row| row.get("measures")),
        };
        Ok(Self {
            title: title.into(),
            here,
            path: visitor.path.clone(),
            reader: visitor.reader,
            session: Some(session),
        })
    }

    /// The frame of a page that needs no database: a log-in, an error.
    pub fn plain(caller: Option<&Caller>, reader: Reader, path: String, title: &str) -> Self {
        let session = caller.map(|caller| FrameSession {
            login: caller.name().to_owned(),
            name: shown_name(caller),
            role: caller.role.clone(),
            roles: Vec::new(),
            is_builder: false,
            is_monitor: false,
        });
        Self { title: title.to_owned(), here: "", path, reader, session }
    }

    /// Whether the visitor builds or operates workflows: the role may read some, or details for developers are shown.
    pub fn is_builder(&self) -> bool {
        self.reader.is_developer || self.session.as_ref().is_some_and(|session| session.is_builder)
    }

    /// Whether the visitor may read the numbers of the whole database.
    pub fn is_monitor(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_monitor)
    }

    /// Whether a path is that of the menu entry of this page. The pages of the console have one entry together.
    pub fn is_here(&self, path: &str) -> bool {
        self.here == path || path == console::OVERVIEW && self.tabs().iter().any(|(tab, _)| *tab == self.here)
    }

    /// The tabs of the console: path and text.
    pub fn tabs(&self) -> [(&'static str, &'static str); console::TABS.len()] {
        console::TABS
    }

    /// The role that the visitor acts as.
    pub fn role(&self) -> &str {
        self.session.as_ref().map_or("", |session| &session.role)
    }

    /// The role that has logged in.
    pub fn login(&self) -> &str {
        self.session.as_ref().map_or("", |session| &session.login)
    }

    /// The text of a key, for templates.
    pub fn t(&self, key: &str) -> &'static str {
        self.reader.t(key)
    }

    /// The menu: path, icon and text.
    pub fn menu(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let people = [
            ("/inbox", "inbox", "frame.inbox"),
            ("/start", "plus", "start.title"),
            ("/requests", "list-checks", "requests.title"),
        ];
        let builders = [("/definitions", "workflow", "frame.definitions"), ("/instances", "layers", "frame.instances")];
        let builders = if self.is_builder() { &builders[..] } else { &[] };
        let is_shown = self.is_builder() || self.is_monitor();
        let console = is_shown.then_some((console::OVERVIEW, "triangle-alert", "frame.operations"));
        people
            .iter()
            .chain(builders)
            .copied()
            .chain(console)
            .map(|(path, icon, key)| (path, icon, self.t(key)))
            .collect()
    }
}

/// A person by name. Who has logged in as a role can act as another one.
fn shown_name(caller: &Caller) -> String {
    if caller.groups.is_some() { caller.actor.clone() } else { caller.role.clone() }
}

/// The user of a page. An unauthenticated request is redirected to the log-in, which leads back afterwards.
pub struct Visitor {
    pub caller: Caller,
    pub path: String,
    pub reader: Reader,
}

impl Visitor {
    /// The visitor as tasks name people: by the name at the proxy or identity provider, or else by the role.
    pub fn entry(&self) -> String {
        if self.is_person() { self.caller.actor.clone() } else { format!("role:{}", self.caller.role) }
    }

    /// Another person, named as the visitor is: without the prefix of a role.
    pub fn entry_of(&self, name: &str) -> String {
        if self.is_person() || name.starts_with("role:") { name.to_owned() } else { format!("role:{name}") }
    }

    /// The visitor's groups that are no roles, as tasks name them.
    pub fn groups(&self) -> Vec<String> {
        self.caller.groups.iter().flatten().map(|group| format!("group:{group}")).collect()
    }

    /// Whether the visitor is known by a name of their own, and not by a role.
    fn is_person(&self) -> bool {
        self.caller.groups.is_some()
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Redirect;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Redirect> {
        let path = path_of(&parts.uri);
        let Ok(reader) = Reader::from_request_parts(parts, state).await;
        match parts.extensions.get::<Caller>() {
            Some(caller) => Ok(Self { caller: caller.clone(), path, reader }),
            None => Err(to_login(&path)),
        }
    }
}

/// The path and query of a request. A second slash at its beginning would make a link to it one to another server.
fn path_of(uri: &Uri) -> String {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    format!("/{}", path.trim_start_matches(['/', '\\']))
}

fn to_login(path: &str) -> Redirect {
    let next: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    Redirect::to(&format!("/login?next={next}"))
}

/// Renders a template as a response.
pub fn html(template: &impl askama::Template) -> Result<Response, PageFailure> {
    Ok(Html(template.render().map_err(Failure::internal)?).into_response())
}

/// A failure shown as an HTML page. The middleware [`show_failures`] renders it.
pub struct PageFailure(pub Failure);

impl From<Failure> for PageFailure {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

#[derive(askama::Template)]
#[template(path = "failure.html")]
struct FailurePage<'a> {
    frame: Frame,
    failure: &'a Failure,
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        if self.0.status == StatusCode::UNAUTHORIZED {
            return Redirect::to("/login").into_response();
        }
        (self.0.status, Extension(Arc::new(self.0))).into_response()
    }
}

/// Renders the failures of pages in the frame of the visitor.
pub async fn show_failures(request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let Ok(reader) = Reader::from_request_parts(&mut parts, &()).await;
    let (caller, path) = (parts.extensions.get::<Caller>().cloned(), path_of(&parts.uri));
    let response = next.run(Request::from_parts(parts, body)).await;
    let Some(failure) = response.extensions().get::<Arc<Failure>>().cloned() else { return response };
    let title = reader.t("failure.title");
    let page = FailurePage { frame: Frame::plain(caller.as_ref(), reader, path, title), failure: &failure };
    match askama::Template::render(&page) {
        Ok(page) => (failure.status, failure.headers(), Html(page)).into_response(),
        Err(error) => Failure::internal(error).into_response(),
    }
}

/// The page for an unknown path.
pub async fn unknown_page(uri: Uri) -> PageFailure {
    Failure::not_found("page", uri.path()).into()
}

//! Logging in and out, and switching roles.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Form, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum_extra::extract::PrivateCookieJar;
use serde::Deserialize;

use super::frame::Frame;
use super::reader::Reader;
use super::sign_on;
use crate::caller::{Caller, Proof, Session};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::guard::{address, unknown_key};
use crate::identity::keys::digest;
use crate::identity::password::{MAX_NAME, PasswordVerdict, verify};
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get("/login", show).post("/login", log_in).post("/logout", log_out).post("/role", act_as)
}

/// Maximum length of a path in bytes.
const MAX_PATH: usize = 2048;

/// The path to return to afterwards.
#[derive(Deserialize)]
pub struct RedirectTarget {
    #[serde(default)]
    next: String,
}

impl RedirectTarget {
    /// Only a local path is accepted. Browsers ignore tabs and line ends anywhere, and treat a backslash as a slash. A
    /// cookie contains the path during a log-in at an identity provider, so a long one is not accepted either.
    pub fn path(&self) -> &str {
        let is_plain = self.next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let is_local = self.next.starts_with('/') && !self.next.starts_with("//");
        if is_plain && is_local && self.next.len() <= MAX_PATH { &self.next } else { "/" }
    }
}

#[derive(askama::Template)]
#[template(path = "login.html")]
struct Page<'a> {
    frame: Frame,
    next: &'a str,
    problem: Option<&'a Failure>,
    /// The address at which the log-in at the identity provider begins, if there is one.
    provider: Option<String>,
}

/// The page for the log-in, with the reason why the last attempt failed.
pub fn page(app: &Gateway, reader: Reader, next: &str, problem: Option<&Failure>) -> Response {
    let status = problem.map_or(StatusCode::OK, |problem| problem.status);
    let here: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
    let provider = app.provider.as_ref().map(|_| format!("{}?next={here}", sign_on::BEGIN));
    let frame = Frame::plain(None, reader, format!("/login?next={here}"), reader.t("login.title"));
    match askama::Template::render(&Page { frame, next, problem, provider }) {
        Ok(html) => (status, problem.and_then(Failure::headers), Html(html)).into_response(),
        Err(error) => Failure::internal(error).into_response(),
    }
}

async fn show(State(app): State<App>, reader: Reader, Query(next): Query<RedirectTarget>) -> Response {
    page(&app, reader, next.path(), None)
}

/// A role with its password, or an API key.
#[derive(Deserialize)]
struct Credentials {
    #[serde(default)]
    role: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    key: String,
    #[serde(flatten)]
    next: RedirectTarget,
}

async fn log_in(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    reader: Reader,
    Form(credentials): Form<Credentials>,
) -> Response {
    match session(&app, address(&app, peer.ip(), &headers), &credentials).await {
        Ok(cookies) => (cookies, Redirect::to(credentials.next.path())).into_response(),
        Err(problem) => page(&app, reader, credentials.next.path(), Some(&problem)),
    }
}

async fn session(app: &Gateway, address: IpAddr, given: &Credentials) -> Result<PrivateCookieJar, Failure> {
    app.logins.admit(address, &given.role)?;
    if !given.key.is_empty() {
        let digest = digest(given.key.trim());
        let role = app.keys.owner(&digest).ok_or_else(unknown_key)?.role;
        return begin(app, &role, Proof::Key(digest)).await;
    }
    let _turn = app.logins.slot().await?;
    match verify(&app.database, &given.role, &given.password).await? {
        PasswordVerdict::Right(salt) => begin(app, &given.role, Proof::Password(salt)).await,
        PasswordVerdict::Wrong => {
            Err(Failure::new(StatusCode::UNAUTHORIZED, "role or password is wrong, or the role may not log in here"))
        }
        PasswordVerdict::NotAsked => {
            Err(Failure::new(StatusCode::UNAUTHORIZED, "the database does not ask for a password of SCRAM").hint(
                "The administrator of the database sets scram-sha-256 in pg_hba.conf for connections from the gateway.",
            ))
        }
    }
}

async fn begin(app: &Gateway, role: &str, proof: Proof) -> Result<PrivateCookieJar, Failure> {
    let oid = oid(app, role).await?;
    let session = Session { login_oid: oid, role_oid: oid, ends: app.cookies.end_of_session(), proof };
    Ok(app.cookies.seal(role, role, session))
}

/// The OID of a role; 0, which no role has, if it does not exist.
pub async fn oid(app: &Gateway, role: &str) -> Result<u32, Failure> {
    const SQL: &str = "SELECT oid FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) $1";
    let rows = app.database.catalogue(SQL, parameters![role]).await?;
    Ok(rows.first().map_or(0, |row| row.get("oid")))
}

/// Ends the session. That of a person who has logged in at the identity provider ends there, too.
async fn log_out(State(app): State<App>, reader: Reader, headers: HeaderMap) -> Response {
    let session = app.cookies.open(&headers).and_then(|caller| caller.session);
    let is_of_provider = session.is_some_and(|session| matches!(session.proof, Proof::Person { .. }));
    match app.provider.as_ref().filter(|_| is_of_provider) {
        Some(provider) => sign_on::leave(&app, reader, provider).await,
        None => (app.cookies.end(), Redirect::to("/login")).into_response(),
    }
}

#[derive(Deserialize)]
struct ChosenRole {
    role: String,
    #[serde(flatten)]
    next: RedirectTarget,
}

/// Continues the session as another role of which the login role is a member.
async fn act_as(State(app): State<App>, caller: Caller, Form(wanted): Form<ChosenRole>) -> Result<Response, Failure> {
    if wanted.role.len() > MAX_NAME {
        return Err(Failure::unauthenticated());
    }
    if caller.is_by_proxy {
        return Err(Failure::bad_request("the role of people whom the proxy has logged in cannot be changed"));
    }
    // An API key is for one role only.
    let session = caller.session.clone().ok_or_else(Failure::unauthenticated)?;
    let session = Session { role_oid: oid(&app, &wanted.role).await?, ..session };
    let acting = Caller { role: wanted.role, session: Some(session.clone()), ..caller };
    app.database.read(&acting, "SELECT 1", parameters![]).await?;
    let cookies = app.cookies.seal(&acting.login, &acting.role, session);
    Ok((cookies, Redirect::to(wanted.next.path())).into_response())
}

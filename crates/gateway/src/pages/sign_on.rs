//! Log-in at the identity provider: to the provider and back, and log-out there.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Query, State};
use axum::http::header::REFRESH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum_extra::extract::PrivateCookieJar;
use chrono::{TimeDelta, Utc};
use serde::Deserialize;

use super::frame::Frame;
use super::login::{RedirectTarget, oid, page};
use super::reader::Reader;
use crate::caller::{Proof, Session};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::guard::{address, is_navigation};
use crate::identity::cookies::LoginAttempt;
use crate::identity::oidc::{Begun, CALLBACK, Provider};
use crate::identity::people::Person;
use crate::identity::sessions::provider_fingerprint;
use crate::routing::Routes;

/// The path at which a log-in begins.
pub const BEGIN: &str = "/login/oidc";
/// How long a person may take at the provider.
const MAX_TIME: TimeDelta = TimeDelta::minutes(10);

pub fn routes() -> Routes {
    Routes::new().get(BEGIN, begin).get(CALLBACK, finish)
}

fn provider(app: &Gateway) -> Result<&Provider, Failure> {
    app.provider.as_ref().ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "there is no identity provider"))
}

/// Sends the browser to the provider.
async fn begin(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    reader: Reader,
    Query(next): Query<RedirectTarget>,
) -> Response {
    let begun = async {
        let provider = provider(&app)?;
        // Otherwise any page could use up the log-ins of the address, also those with a password.
        if !is_navigation(&headers) {
            return Err(Failure::new(StatusCode::FORBIDDEN, "a log-in begins with a page, not with a part of a page"));
        }
        app.logins.admit(address(&app, peer.ip(), &headers), "")?;
        provider.begin().await
    };
    match begun.await {
        Ok(Begun { url, state, nonce, verifier }) => {
            let (next, ends) = (next.path().to_owned(), Utc::now() + MAX_TIME);
            (app.cookies.seal_attempt(&LoginAttempt { state, nonce, verifier, next, ends }), Redirect::to(&url))
                .into_response()
        }
        Err(problem) => page(&app, reader, next.path(), Some(&problem)),
    }
}

/// What the provider sends with the browser.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Brought {
    code: String,
    state: String,
    /// The issuer, of providers that say it (RFC 9207).
    iss: Option<String>,
    error: Option<String>,
}

/// Begins the session of a person whom the provider has sent back. Then the log-in is over, and its cookie is removed.
/// It is over after a failure as well, unless the code has not been used: the browser can then come back with it again.
async fn finish(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    reader: Reader,
    Query(brought): Query<Brought>,
) -> Response {
    let attempt = app.cookies.attempt(&headers);
    let next = attempt.as_ref().map_or("/", |attempt| &attempt.next).to_owned();
    match session(&app, address(&app, peer.ip(), &headers), attempt, brought).await {
        Ok(cookies) => (app.cookies.end_attempt(cookies), Redirect::to(&next)).into_response(),
        Err(problem) => {
            let kept = app.cookies.none();
            let cookies = if problem.retry_after.is_some() { kept } else { app.cookies.end_attempt(kept) };
            (cookies, page(&app, reader, &next, Some(&problem))).into_response()
        }
    }
}

/// Fails with a time after which to retry only if the code has not been used.
async fn session(
    app: &Gateway,
    address: IpAddr,
    attempt: Option<LoginAttempt>,
    brought: Brought,
) -> Result<PrivateCookieJar, Failure> {
    let provider = provider(app)?;
    let refused = |message: &str| Failure::new(StatusCode::UNAUTHORIZED, message);
    // Without its own cookie, another browser or a page of another site has begun the log-in.
    let attempt = attempt
        .filter(|attempt| !attempt.state.is_empty() && attempt.state == brought.state)
        .ok_or_else(|| refused("this log-in was not begun here, or took too long: log in again"))?;
    let issuer = app.options.sign_on.oidc_issuer.as_deref();
    if brought.iss.is_some_and(|named| Some(named.as_str()) != issuer) {
        return Err(refused("another identity provider has sent this answer"));
    }
    if let Some(error) = brought.error {
        tracing::info!(?error, "the identity provider refuses a log-in");
        return Err(refused("the identity provider has refused the log-in"));
    }
    // Counted only here: pages of other sites can send browsers to this address, but not with the right state.
    app.logins.admit_return(address)?;
    let LoginAttempt { nonce, verifier, .. } = attempt;
    let person = provider.finish(&app.options.sign_on, brought.code, nonce, verifier).await?;
    begin_session(app, person).await.map_err(Failure::without_retry)
}

/// A new session, whatever session the browser had before.
async fn begin_session(app: &Gateway, person: Person) -> Result<PrivateCookieJar, Failure> {
    let Person { name, groups, rule } = person;
    let oid = oid(app, &rule.role).await?;
    let provider = provider_fingerprint(&app.options.sign_on);
    let proof = Proof::Person { name, groups, rule: rule.to_string(), provider };
    let session = Session { login_oid: oid, role_oid: oid, ends: app.cookies.end_of_session(), proof };
    Ok(app.cookies.seal(&rule.role, &rule.role, session))
}

#[derive(askama::Template)]
#[template(path = "logged_out.html")]
struct LoggedOut<'a> {
    frame: Frame,
    provider: &'a str,
}

/// Ends the session here and sends the browser to the provider to end the one there. It is a page, because browsers
/// apply the policy of the page with the button (`form-action`) to redirects as well.
pub async fn leave(app: &Gateway, reader: Reader, provider: &Provider) -> Response {
    let Some(url) = provider.log_out().await else {
        return (app.cookies.end(), Redirect::to("/login")).into_response();
    };
    let frame = Frame::plain(None, reader, "/login".to_owned(), reader.t("login.logged-out"));
    match askama::Template::render(&LoggedOut { frame, provider: &url }) {
        Ok(html) => (app.cookies.end(), [(REFRESH, format!("0; url={url}"))], Html(html)).into_response(),
        Err(error) => Failure::internal(error).into_response(),
    }
}

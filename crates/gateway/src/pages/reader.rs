//! What the reader of a page prefers: language, time zone, and whether to show what is for developers. All of it is in
//! cookies, so that no server has to remember it.

use std::convert::Infallible;

use axum::extract::{Form, FromRequestParts, Query, State};
use axum::http::header::ACCEPT_LANGUAGE;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::Deserialize;

use super::frame::{Frame, PageFailure, Visitor, html};
use super::login::RedirectTarget;
use super::texts::Language;
use crate::failure::Failure;
use crate::gateway::App;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get("/preferences", show).post("/preferences", save)
}

/// The cookies of the preferences. Scripts set the zone, if the reader has not.
const LANGUAGE: &str = "wf-language";
const ZONE: &str = "wf-zone";
const DEVELOPER: &str = "wf-developer";

/// The preferences of the reader of a page.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub language: Language,
    pub zone: Tz,
    /// Whether to show what is for developers: SQL, ids, codes.
    pub is_developer: bool,
}

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let jar = CookieJar::from_headers(&parts.headers);
        let chosen = |name: &str| jar.get(name).map(Cookie::value);
        let accepted = parts.headers.get(ACCEPT_LANGUAGE).and_then(|header| header.to_str().ok());
        let language = chosen(LANGUAGE).and_then(Language::of_code).or_else(|| Language::accepted(accepted?));
        Ok(Self {
            language: language.unwrap_or(Language::English),
            // A script encodes the slash of the name.
            zone: chosen(ZONE).and_then(|zone| zone.replace("%2F", "/").parse().ok()).unwrap_or(Tz::UTC),
            is_developer: chosen(DEVELOPER) == Some("on"),
        })
    }
}

impl Reader {
    /// The same for a page that is in English only.
    pub fn in_english(self) -> Self {
        Self { language: Language::English, ..self }
    }

    /// The text of a key, for templates.
    pub fn t(&self, key: &str) -> &'static str {
        self.language.text(key)
    }

    /// The same with values in place of `{0}`, `{1}` …
    pub fn filled(&self, key: &str, values: &[&str]) -> String {
        self.language.filled(key, values)
    }

    /// An instant in the reader's zone.
    pub fn exact(&self, at: &DateTime<Utc>) -> String {
        let format = match self.language {
            Language::English => "%-d %b %Y, %H:%M %Z",
            Language::German => "%d.%m.%Y, %H:%M %Z",
        };
        at.with_timezone(&self.zone).format(format).to_string()
    }

    /// An instant relative to now, as HTML, with the exact one as its tooltip.
    pub fn when(&self, at: &DateTime<Utc>) -> String {
        let exact = self.exact(at);
        let shown = self.relative(*at - Utc::now()).unwrap_or_else(|| exact.clone());
        format!("<time datetime=\"{}\" title=\"{exact}\">{shown}</time>", at.format("%Y-%m-%dT%H:%M:%SZ"))
    }

    /// The same with the exact instant beside it, for what is kept on record.
    pub fn dated(&self, at: &DateTime<Utc>) -> String {
        match self.relative(*at - Utc::now()) {
            Some(_) => format!("{} <span class=\"quiet small\">({})</span>", self.when(at), self.exact(at)),
            None => self.when(at),
        }
    }

    /// `None` if the instant is so far away that a date says more.
    fn relative(&self, distance: TimeDelta) -> Option<String> {
        let seconds = distance.num_seconds().unsigned_abs();
        let (number, unit) = match seconds {
            0..60 => return Some(self.t("time.now").to_owned()),
            60..3600 => (seconds / 60, "time.minutes"),
            // A deadline of two days is a second less away when the page is shown.
            3600..129_600 => (seconds.saturating_add(60) / 3600, "time.hours"),
            129_600..2_592_000 => (seconds.saturating_add(43_200) / 86_400, "time.days"),
            _ => return None,
        };
        let amount = self.filled(unit, &[&number.to_string()]);
        Some(self.filled(if distance < TimeDelta::zero() { "time.ago" } else { "time.in" }, &[&amount]))
    }
}

#[derive(askama::Template)]
#[template(path = "preferences.html")]
struct Page {
    frame: Frame,
    next: String,
}

impl Page {
    /// The names of all zones, for the list of the field.
    fn zones(&self) -> impl Iterator<Item = &'static str> {
        chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name())
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(next): Query<RedirectTarget>,
) -> Result<Response, PageFailure> {
    let title = visitor.reader.t("preferences.title");
    html(&Page { frame: Frame::new(&app, &visitor, "/preferences", title).await?, next: next.path().to_owned() })
}

/// The choices in a form. What a form does not have stays as it is.
#[derive(Deserialize)]
struct Chosen {
    language: Option<String>,
    zone: Option<String>,
    developer: Option<String>,
    #[serde(flatten)]
    next: RedirectTarget,
}

/// Sets cookies, and nothing else: anyone may.
async fn save(State(app): State<App>, Form(chosen): Form<Chosen>) -> Result<Response, PageFailure> {
    let is_secure = app.options.is_secure();
    let kept = |name: &'static str, value: &'static str| {
        Cookie::build((name, value)).path("/").same_site(SameSite::Lax).secure(is_secure).permanent()
    };
    let unknown = |what: &str, given: &str| Failure::bad_request(format!("there is no {what} {given:?}"));
    let mut jar = CookieJar::new();
    if let Some(code) = &chosen.language {
        let language = Language::of_code(code).ok_or_else(|| unknown("language", code))?;
        jar = jar.add(kept(LANGUAGE, language.code()));
    }
    if let Some(name) = &chosen.zone {
        let zone: Tz = name.parse().map_err(|_| unknown("time zone", name))?;
        jar = jar.add(kept(ZONE, zone.name()));
    }
    if let Some(developer) = &chosen.developer {
        jar = jar.add(kept(DEVELOPER, if developer == "on" { "on" } else { "off" }));
    }
    Ok((jar, Redirect::to(chosen.next.path())).into_response())
}

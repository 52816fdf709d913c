//! Sessions: a sealed cookie, and no state in memory. Gateways with the same keys accept each other's cookies.

use std::path::Path;

use axum::http::HeaderMap;
use axum_extra::extract::PrivateCookieJar;
use axum_extra::extract::cookie::{Cookie, Key, SameSite};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use rand::RngCore as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::caller::{Caller, Proof, Session};

/// Bytes of a key: 32 to sign, 32 to encrypt.
const KEY_BYTES: usize = 64;

/// The content of a cookie.
#[derive(Serialize, Deserialize)]
struct SealedSession {
    login: String,
    role: String,
    #[serde(flatten)]
    session: Session,
}

/// The names of the cookie, over http and over https.
pub const NAMES: [&str; 2] = ["workflow", "__Host-workflow"];

/// The same for the cookie of a log-in at the identity provider.
pub const NAMES_OF_ATTEMPT: [&str; 2] = ["workflow-login", "__Host-workflow-login"];

/// A log-in at the identity provider, from its begin until the browser comes back.
#[derive(Serialize, Deserialize)]
pub struct LoginAttempt {
    /// It binds the answer of the provider to this browser.
    pub state: String,
    pub nonce: String,
    /// The secret of PKCE.
    pub verifier: String,
    /// The path to return to afterwards.
    pub next: String,
    pub ends: DateTime<Utc>,
}

/// Seals and opens session cookies.
pub struct Cookies {
    /// The first key seals, all keys open. Never empty.
    keys: Vec<Key>,
    is_secure: bool,
    lasts: TimeDelta,
}

impl Cookies {
    /// Uses the keys of a file; without a file, a random key that ends with the process.
    pub fn new(file: Option<&Path>, is_secure: bool, hours: u16) -> Result<Self, String> {
        let keys = match file {
            Some(path) => read_keys(path)?,
            None => vec![Key::from(&random_key())],
        };
        Ok(Self { keys, is_secure, lasts: TimeDelta::hours(hours.into()) })
    }

    /// The caller in the request's cookie, if it was sealed with one of the keys and has not expired.
    pub fn open(&self, headers: &HeaderMap) -> Option<Caller> {
        let content: SealedSession = self.content(headers, self.name())?;
        let SealedSession { login, role, session } = content;
        if session.ends <= Utc::now() {
            return None;
        }
        let (actor, groups) = match &session.proof {
            Proof::Person { name, groups, .. } => (name.clone(), Some(groups.clone())),
            _ => (login.clone(), None),
        };
        Some(Caller { role, groups, session: Some(session), ..Caller::of_role(login, actor) })
    }

    /// The expiry of a session that begins now.
    pub fn end_of_session(&self) -> DateTime<Utc> {
        Utc::now() + self.lasts
    }

    /// The cookie that starts a session, or continues one as another role.
    pub fn seal(&self, login: &str, role: &str, session: Session) -> PrivateCookieJar {
        let content = SealedSession { login: login.into(), role: role.into(), session };
        let text = serde_json::to_string(&content).unwrap_or_default();
        PrivateCookieJar::new(self.keys[0].clone()).add(self.cookie(self.name(), text))
    }

    /// The cookie that ends a session.
    pub fn end(&self) -> PrivateCookieJar {
        PrivateCookieJar::new(self.keys[0].clone()).add(removal(self.cookie(self.name(), String::new())))
    }

    /// The cookie of a log-in at the identity provider that begins now. It replaces that of an earlier one.
    pub fn seal_attempt(&self, attempt: &LoginAttempt) -> PrivateCookieJar {
        let text = serde_json::to_string(attempt).unwrap_or_default();
        PrivateCookieJar::new(self.keys[0].clone()).add(self.cookie(self.name_of_attempt(), text))
    }

    /// The log-in at the identity provider that this browser has begun, unless it took too long.
    pub fn attempt(&self, headers: &HeaderMap) -> Option<LoginAttempt> {
        let attempt: LoginAttempt = self.content(headers, self.name_of_attempt())?;
        (attempt.ends > Utc::now()).then_some(attempt)
    }

    /// Ends the log-in at the identity provider, so that nothing can complete it again.
    pub fn end_attempt(&self, cookies: PrivateCookieJar) -> PrivateCookieJar {
        cookies.add(removal(self.cookie(self.name_of_attempt(), String::new())))
    }

    /// No cookies yet.
    pub fn none(&self) -> PrivateCookieJar {
        PrivateCookieJar::new(self.keys[0].clone())
    }

    /// The content of a cookie that was sealed with one of the keys.
    fn content<T: DeserializeOwned>(&self, headers: &HeaderMap, name: &str) -> Option<T> {
        let opened = |key: &Key| PrivateCookieJar::from_headers(headers, key.clone()).get(name);
        serde_json::from_str(self.keys.iter().find_map(opened)?.value()).ok()
    }

    fn cookie(&self, name: &'static str, value: String) -> Cookie<'static> {
        Cookie::build((name, value)).path("/").http_only(true).same_site(SameSite::Lax).secure(self.is_secure).build()
    }

    /// With the prefix `__Host-`, browsers accept the cookie only over https and only from this host.
    fn name(&self) -> &'static str {
        NAMES[usize::from(self.is_secure)]
    }

    fn name_of_attempt(&self) -> &'static str {
        NAMES_OF_ATTEMPT[usize::from(self.is_secure)]
    }
}

fn removal(mut cookie: Cookie<'static>) -> Cookie<'static> {
    cookie.make_removal();
    cookie
}

fn random_key() -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    rand::rng().fill_bytes(&mut key);
    key
}

/// A new line for the key file.
pub fn new_key_line() -> String {
    STANDARD.encode(random_key())
}

fn read_keys(path: &Path) -> Result<Vec<Key>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let keys: Option<Vec<Key>> =
        lines.map(|line| STANDARD.decode(line).ok().and_then(|key| Key::try_from(&key[..]).ok())).collect();
    match keys {
        Some(keys) if !keys.is_empty() => Ok(keys),
        _ => Err(format!("{} must have one key a line, as `wf cookie-key` prints them", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::{COOKIE, SET_COOKIE};
    use axum::response::IntoResponse as _;

    fn sent_back(jar: PrivateCookieJar) -> HeaderMap {
        let answer = (jar, ()).into_response();
        let set = answer.headers()[SET_COOKIE].to_str().unwrap().to_owned();
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, set.split(';').next().unwrap().parse().unwrap());
        headers
    }

    fn with_keys(keys: Vec<Key>, hours: i64) -> Cookies {
        Cookies { keys, is_secure: true, lasts: TimeDelta::hours(hours) }
    }

    fn session(cookies: &Cookies) -> Session {
        let proof = Proof::Key("0".into());
        Session { login_oid: 10, role_oid: 11, ends: cookies.end_of_session(), proof }
    }

    #[test]
    fn a_cookie_opens_with_any_of_the_keys_and_with_no_other() {
        let (old, new) = (Key::generate(), Key::generate());
        let session = session(&with_keys(vec![new.clone()], 1));
        let headers = sent_back(with_keys(vec![old.clone()], 1).seal("ada", "clerks", session.clone()));
        let rotated = with_keys(vec![new.clone(), old], 1);
        let as_ada = Caller::of_role("ada".into(), "ada".into());
        let caller = Caller { role: "clerks".into(), session: Some(session), ..as_ada };
        assert_eq!(rotated.open(&headers), Some(caller));
        assert_eq!(with_keys(vec![new], 1).open(&headers), None);
    }

    #[test]
    fn a_session_ends() {
        let key = Key::generate();
        let ended = with_keys(vec![key.clone()], -1);
        let headers = sent_back(ended.seal("ada", "ada", session(&ended)));
        assert_eq!(with_keys(vec![key], 1).open(&headers), None);
    }
}

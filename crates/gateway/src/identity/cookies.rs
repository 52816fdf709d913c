//! Sessions: a sealed cookie, and no state in memory. Gateways with the same keys accept each other's cookies.

use std::path::Path;

use axum::http::HeaderMap;
use axum_extra::extract::PrivateCookieJar;
use axum_extra::extract::cookie::{Cookie, Key, SameSite};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use rand::RngCore as _;
use serde::{Deserialize, Serialize};

use crate::caller::{Caller, Session};

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
        let opened = |key: &Key| PrivateCookieJar::from_headers(headers, key.clone()).get(self.name());
        let cookie = self.keys.iter().find_map(opened)?;
        let content: SealedSession = serde_json::from_str(cookie.value()).ok()?;
        let SealedSession { login, role, session } = content;
        let is_live = session.ends > Utc::now();
        let caller = Caller::of_role(login.clone(), login);
        is_live.then_some(Caller { role, session: Some(session), ..caller })
    }

    /// The expiry of a session that begins now.
    pub fn end_of_session(&self) -> DateTime<Utc> {
        Utc::now() + self.lasts
    }

    /// The cookie that starts a session, or continues one as another role.
    pub fn seal(&self, login: &str, role: &str, session: Session) -> PrivateCookieJar {
        let content = SealedSession { login: login.into(), role: role.into(), session };
        let text = serde_json::to_string(&content).unwrap_or_default();
        PrivateCookieJar::new(self.keys[0].clone()).add(self.cookie(text))
    }

    /// The cookie that ends a session.
    pub fn end(&self) -> PrivateCookieJar {
        let mut cookie = self.cookie(String::new());
        cookie.make_removal();
        PrivateCookieJar::new(self.keys[0].clone()).add(cookie)
    }

    fn cookie(&self, value: String) -> Cookie<'static> {
        Cookie::build((self.name(), value))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(self.is_secure)
            .build()
    }

    /// With the prefix `__Host-`, browsers accept the cookie only over https and only from this host.
    fn name(&self) -> &'static str {
        NAMES[usize::from(self.is_secure)]
    }
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
    use crate::caller::Proof;
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

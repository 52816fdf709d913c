//! Who a request is from.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Who a request is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The role that logged in.
    pub login: String,
    /// The role that the request runs as: the login role, or a role that it is a member of.
    pub role: String,
    /// The name that the audit has beside the role: the role that logged in, or the note of the API key.
    pub actor: String,
    /// The session that a cookie names; none of a request with an API key.
    pub session: Option<Session>,
}

/// What a cookie says of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Another role of the same name is another role.
    pub login_oid: u32,
    pub role_oid: u32,
    /// Counted from the log-in. Acting as another role does not prolong it.
    pub ends: DateTime<Utc>,
    pub proof: Proof,
}

/// What was shown at the log-in. A session ends when that would not be taken any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// A password, by the salt that the database keeps it with: a new one has another salt.
    Password(String),
    /// An API key, by its digest.
    Key(String),
}

impl Caller {
    /// Whether a browser says so by itself, as with cookies: then another site can make it send requests.
    pub fn is_ambient(&self) -> bool {
        self.session.is_some()
    }
}

/// Handlers take the caller as an argument; `guard` has put it there.
impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Failure::unauthenticated)
    }
}

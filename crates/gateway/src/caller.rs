//! The authenticated caller of a request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::scopes::{self, Scope};

/// The authenticated caller of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The role that authenticated.
    pub login: String,
    /// The role that the request runs as: the login role, or a role that it is a member of.
    pub role: String,
    /// The actor recorded in the audit beside the role: the login role, the note of the API key, or the person.
    pub actor: String,
    /// The groups of a person whom a proxy or an identity provider has authenticated; `None` for other callers.
    pub groups: Option<Vec<String>>,
    /// Whether a proxy has authenticated the person of this request.
    pub is_by_proxy: bool,
    /// What the API key is for; `None` if the caller has no API key, or one for everything.
    pub scopes: Option<Vec<Scope>>,
    /// The session from the cookie; `None` for a request with an API key.
    pub session: Option<Session>,
}

/// The contents of a session cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// OID of the login role. It detects a role that was dropped and created again under the same name.
    pub login_oid: u32,
    pub role_oid: u32,
    /// Counted from the log-in. Switching to another role does not extend the session.
    pub ends: DateTime<Utc>,
    pub proof: Proof,
}

/// What the caller proved at the log-in. The session ends as soon as this proof would no longer be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// A password, identified by the salt of its stored SCRAM verifier: a new password has another salt.
    Password(String),
    /// An API key, identified by its digest.
    Key(String),
    /// A log-in at the identity provider: the person, the groups, the rule that gave the role, and the fingerprint of
    /// the provider.
    Person { name: String, groups: Vec<String>, rule: String, provider: String },
}

impl Caller {
    /// A caller that acts as the role that has authenticated, for every purpose.
    pub fn of_role(role: String, actor: String) -> Self {
        Self { login: role.clone(), role, actor, groups: None, is_by_proxy: false, scopes: None, session: None }
    }

    /// Fails with 403 unless the API key is for this purpose.
    pub fn require(&self, scope: Scope) -> Result<(), Failure> {
        match &self.scopes {
            Some(scopes) if !scopes.contains(&scope) => Err(scopes::missing(scope)),
            _ => Ok(()),
        }
    }

    /// Whether browsers attach the credentials by themselves, as they do with cookies, also with those of a proxy. Such
    /// requests can be forged by other sites (CSRF).
    pub fn is_ambient(&self) -> bool {
        self.session.is_some() || self.is_by_proxy
    }

    /// Who is logged in: the person, or else the login role.
    pub fn name(&self) -> &str {
        if self.groups.is_some() { &self.actor } else { &self.login }
    }

    /// Whose share of memory and connections the requests use. Many people may have one role.
    pub fn account(&self) -> String {
        match self.groups {
            Some(_) => format!("person {}", self.actor),
            None => self.login.clone(),
        }
    }
}

/// Handlers take the caller as an extractor; the `guard` middleware has inserted it.
impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Failure::unauthenticated)
    }
}

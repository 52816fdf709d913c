//! Who a request is from.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::failure::Failure;

/// Who a request is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The role that logged in.
    pub login: String,
    /// The role that the request runs as: the login role, or a role that it is a member of.
    pub role: String,
    /// Whether a browser says so by itself, as with cookies: then another site can make it send requests.
    pub is_ambient: bool,
}

/// Handlers take the caller as an argument; `guard` has put it there.
impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Failure::unauthenticated)
    }
}

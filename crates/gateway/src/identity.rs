//! Authentication: by session cookie, a role's password, API key, a proxy, or an identity provider.

pub mod cookies;
pub mod keys;
pub mod logins;
pub mod oidc;
pub mod password;
pub mod people;
pub mod sessions;

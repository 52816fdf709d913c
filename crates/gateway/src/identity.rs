//! Authentication: by session cookie, a role's password, API key, or a proxy.

pub mod cookies;
pub mod keys;
pub mod logins;
pub mod password;
pub mod people;
pub mod scopes;
pub mod sessions;

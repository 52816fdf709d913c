//! How a caller is known: by a session's cookie, a role's password, an API key.

pub mod cookies;
pub mod keys;
pub mod logins;
pub mod password;
pub mod sessions;

//! Authentication: by session cookie, a role's password, or API key.

pub mod cookies;
pub mod keys;
pub mod logins;
pub mod password;
pub mod sessions;

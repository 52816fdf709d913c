//! HTTP: the routes of triggers and bookmarks, and the owners of paths.

pub mod paths;
pub mod routes;

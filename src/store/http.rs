//! HTTP: the routes of triggers and bookmarks, the owners of paths, and requests that wait.

pub mod paths;
pub mod requests;
pub mod routes;

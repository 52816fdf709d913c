//! Routes that can be listed, which axum's router does not offer: tests try every route.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, post};

use crate::gateway::App;

/// A router with its routes as `METHOD /path`.
#[derive(Default)]
pub struct Routes {
    router: Router<App>,
    listed: Vec<String>,
}

impl Routes {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn get<H: Handler<T, App>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.with("GET", path, get(handler))
    }

    pub fn post<H: Handler<T, App>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.with("POST", path, post(handler))
    }

    pub fn delete<H: Handler<T, App>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.with("DELETE", path, delete(handler))
    }

    fn with(mut self, method: &str, path: &str, handler: MethodRouter<App>) -> Self {
        self.listed.push(format!("{method} {path}"));
        self.router = self.router.route(path, handler);
        self
    }

    pub fn merge(mut self, other: Self) -> Self {
        self.listed.extend(other.listed);
        self.router = self.router.merge(other.router);
        self
    }

    /// Adds the routes of another one below a path.
    pub fn nest(mut self, below: &str, other: Self) -> Self {
        let moved = other.listed.iter().filter_map(|route| route.split_once(' '));
        self.listed.extend(moved.map(|(method, path)| format!("{method} {below}{path}")));
        self.router = self.router.nest(below, other.router);
        self
    }

    /// Applies a change that adds no route.
    pub fn map(mut self, change: impl FnOnce(Router<App>) -> Router<App>) -> Self {
        self.router = change(self.router);
        self
    }

    pub fn into_router(self) -> Router<App> {
        self.router
    }

    pub fn listed(&self) -> &[String] {
        &self.listed
    }
}

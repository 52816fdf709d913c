//! The inputs of waiting workflows: HTTP requests as callers pass them to the database, and stimuli.
//!
//! [`http`] parses and orders route templates, reads the bodies of requests and writes responses. A mistake of the
//! client becomes a response with its status, a mistake of the definition's author a [`Fault`](workflow_value::Fault).
//! [`traceparent`] reads the header of that name and computes the ids of spans.
//! [`stimulus`] normalises and hashes the name and payload that a bookmark or a trigger waits for.
//!
//! The crate opens no socket and reads no table. Its functions are pure and independent of definitions and bursts.
//! Which instances wait is not decided here.
//!
//! # Examples
//!
//! An endpoint waits for a stimulus with its path. A request that matches its route sends the same stimulus:
//!
//! ```
//! use serde_json::json;
//! use workflow_http::http::route::Route;
//! use workflow_http::stimulus::{hash, normalise};
//!
//! let route = Route::new("orders/{id:int}", "GET").expect("a template");
//! assert_eq!(route.matches(&["orders".into(), "42".into()]).expect("a match")["id"], "42");
//!
//! let waits = normalise("Elsa.HttpEndpoint", &json!({"path": "Orders/{id:int}", "method": "GET"})).expect("a payload");
//! let sent = normalise("Elsa.HttpEndpoint", &json!({"Method": "get", "Path": "orders/{id:int}"})).expect("a payload");
//! assert_eq!(hash("Elsa.HttpEndpoint", Some(&waits), None), hash("Elsa.HttpEndpoint", Some(&sent), None));
//! ```
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod http;
pub mod stimulus;
pub mod traceparent;

#[cfg(test)]
#[path = "../../value/tests/support/any_json.rs"]
mod any_json;

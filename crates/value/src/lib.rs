//! The basis of all crates of the engine: JSON values, faults, and calendars.
//!
//! [`value`] converts, compares, copies and prints the engine's JSON values. [`calendar`] computes when an interval,
//! a cron expression or a schedule fires. [`fault`] defines the failure of one activity and the error that ends a call.
//! [`spelling`] finds the name that a misspelt word most likely means.
//!
//! The crate is independent of definitions, activities and instances. It reads no clock, does no I/O, keeps no state,
//! and does not recurse over a value, which may be nested as deep as PostgreSQL allows.
//!
//! # Examples
//!
//! Numbers keep their digits, and a local time needs the rules of its zone:
//!
//! ```
//! use chrono::DateTime;
//! use workflow_value::calendar::{Cron, Utc0};
//! use workflow_value::value::{canonical, parse_json};
//!
//! let price = parse_json(r#"{"unit": "EUR", "amount": 1.10}"#).expect("JSON");
//! assert_eq!(price["amount"].to_string(), "1.10");
//! assert_eq!(canonical(&price), r#"{"amount":1.1,"unit":"EUR"}"#);
//!
//! let noon = Cron::parse("0 12 * * *").expect("five fields");
//! let next = noon.next_after(DateTime::UNIX_EPOCH, &Utc0).expect("a later noon");
//! assert_eq!(next.to_rfc3339(), "1970-01-01T12:00:00+00:00");
//! ```
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod calendar;
pub mod fault;
pub mod spelling;
pub mod value;

pub use fault::{Error, Fault};

#[cfg(test)]
#[path = "../tests/support/any_json.rs"]
mod any_json;

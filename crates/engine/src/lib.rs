//! The pure core of `workflow`.
//!
//! A **definition** (Elsa 3's JSON, or the short form) is read, validated and compiled to a
//! [`Program`]. An [`Instance`] is the durable state of one run. A **burst** takes a program, an
//! instance and one reason to run (start, resume, retry, cancel). It processes the activity queue until every branch
//! waits or ends. It leaves the changed instance and a [`Delta`]: the bookmarks, tasks, incidents and journal events
//! that the extension stores.
//!
//! The crate knows no database, no clock and no randomness. The trait [`Host`] is its only port.
//!
//! # Examples
//!
//! Reading, checking and drawing a definition need no host:
//!
//! ```
//! use serde_json::json;
//! use workflow_engine::definition::{ReadLimits, appearances, compile};
//! use workflow_engine::picture::{Caption, Picture};
//!
//! let limits = ReadLimits::default();
//! let leave = json!({"definitionId": "leave", "root": [
//!     {"id": "ask", "type": "RunTask", "taskName": "approve", "result": {"var": "Answer"}},
//!     {"id": "tell", "type": "WriteLine", "text": {"js": "`approved: ${getAnswer()}`"}}],
//!     "variables": {"Answer": null}});
//! let program = compile(&leave, &(), &limits, false).expect("acceptable");
//! assert_eq!(program.nodes[1].type_name, "Elsa.RunTask");
//!
//! let looks = appearances(&leave, &(), &limits, &program);
//! let picture = Picture::new(&program, &looks, Caption::default(), None);
//! assert!(picture.mermaid().starts_with("flowchart"));
//!
//! let wrong = json!({"definitionId": "leave", "root": [{"type": "RunTak"}]});
//! let problems = compile(&wrong, &(), &limits, false).unwrap_err();
//! assert_eq!(problems[0].path, "/root/0");
//! assert!(problems[0].message.contains("did you mean \"RunTask\"?"));
//! ```
//!
//! Running a workflow needs a host: the documentation of [`Host`] has the smallest one, and runs a workflow.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod execution_records;
pub mod explain;
pub mod picture;

pub use workflow_core::{
    Bookmark, Delta, Host, Instance, Limits, NodeIx, Program, activities, activity, alteration, bookmark, bundle,
    child, execution, host, instance, journal, migration, program, resilience, retry, trigger,
};
pub use workflow_definition as definition;
pub use workflow_expression as expression;
pub use workflow_http::{http, stimulus};
pub use workflow_schema as schema;
pub use workflow_value::{Error, Fault, calendar, fault, spelling, value};

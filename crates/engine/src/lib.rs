//! The engine of `workflow` without PostgreSQL: one name for the crates that it consists of.
//!
//! | Crate | Content |
//! | --- | --- |
//! | `workflow-value` | JSON values, faults, calendars |
//! | `workflow-schema` | JSON Schema |
//! | `workflow-expression` | JavaScript, Liquid, SQL templates |
//! | `workflow-http` | HTTP without sockets, stimuli |
//! | `workflow-core` | programs, activities, bursts, instances |
//! | `workflow-definition` | from JSON to a program and back |
//! | `workflow-picture` | diagrams and explanations |
//!
//! A **definition** (Elsa 3's JSON, or the short form) is read, validated and compiled to a
//! [`Program`]. An [`Instance`] is the durable state of one run. A **burst** takes a program, an
//! instance and one reason to run (start, resume, retry, cancel). It processes the activity queue until every branch
//! waits or ends. It leaves the changed instance and a [`Delta`]: the bookmarks, tasks, incidents and journal events
//! that the extension stores.
//!
//! This crate has no code of its own. None of its parts uses a database, a clock or random numbers: the trait [`Host`]
//! is the only interface to the outside.
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
//! ```
//!
//! Running a workflow needs a host: the documentation of [`Host`] has the smallest one, and runs a workflow.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub use workflow_core::{
    Bookmark, Delta, Host, Instance, Limits, NodeIx, Program, activities, activity, alteration, approval, bookmark,
    bundle, child, execution, host, instance, journal, migration, notification, program, retry, trigger,
};
pub use workflow_definition as definition;
pub use workflow_expression as expression;
pub use workflow_http::{http, stimulus, traceparent};
pub use workflow_picture::{execution_records, explain, picture};
pub use workflow_schema as schema;
pub use workflow_value::{Error, Fault, calendar, fault, spelling, value};

//! Pictures and explanations of definitions and runs.
//!
//! [`picture`] draws a program, or the progress of a run in it, as Mermaid text or SVG. [`explain`] describes in
//! sentences what happened to an instance and how it continues. [`execution_records`] lists what each execution of an
//! activity did.
//!
//! The crate only reads: it changes no instance and starts no burst. It estimates widths of texts without fonts or a
//! browser, and shortens long texts.
//!
//! # Examples
//!
//! ```
//! use serde_json::json;
//! use workflow_definition::{ReadLimits, appearances, compile};
//! use workflow_picture::picture::{Caption, Picture};
//!
//! let limits = ReadLimits::default();
//! let leave = json!({"definitionId": "leave", "root": {"type": "RunTask", "taskName": "approve"}});
//! let program = compile(&leave, &(), &limits, false).expect("acceptable");
//! let looks = appearances(&leave, &(), &limits, &program);
//! let picture = Picture::new(&program, &looks, Caption::default(), None);
//! assert!(picture.mermaid().starts_with("flowchart"));
//! assert!(picture.svg().contains("approve"));
//! ```
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod execution_records;
pub mod explain;
pub mod picture;

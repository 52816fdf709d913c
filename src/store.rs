//! The tables: one function per statement, rows to structs and back.
//!
//! docs/internals/locking.md describes the lock order. In short, the instance's row comes before its bookmarks, tasks
//! and queue items. Statements run with the rights of the extension's owner.
//!
//! Rows that every call reads or writes by key go through [`crate::pg::rows`], without plans; all other queries are
//! statements of [`crate::pg::spi`].

pub mod definitions;
pub mod events;
pub mod history;
pub mod http;
pub mod instances;
pub mod maintenance;
pub mod nodes;
pub mod repair;
pub mod rights;
pub mod tables;
pub mod tasks;
pub mod timers;

//! The tables: one function per statement, rows to structs and back.
//!
//! **Lock order: the instance's row first.** A call that comes from a bookmark, a queue item or a task reads it
//! without a lock, locks the instance `FOR NO KEY UPDATE` (not `FOR UPDATE`, which would block foreign keys of
//! users' tables), then reads, locks or deletes the row; no row means that another session won. Only the first
//! instance lock of a call waits; every further one is `SKIP LOCKED`. Queue items are locked `SKIP LOCKED`,
//! always after the instance they are for. The table `instances` is locked before `bookmarks`; what a call and DROP
//! EXTENSION meet at is `schema_1`, before all others. Statements run with the rights of the extension's owner.
//!
//! What every call reads and writes by key goes through [`crate::pg::rows`], without plans; all other questions are
//! statements of [`crate::pg::spi`].

pub mod activity_types;
pub mod adoption;
pub mod bookmarks;
pub mod dead_letters;
pub mod definitions;
pub mod due;
pub mod event_grants;
pub mod history;
pub mod identity;
pub mod incidents;
pub mod instances;
pub mod journal;
pub mod links;
pub mod matching;
pub mod named_schedules;
pub mod owners;
pub mod paths;
pub mod queue;
pub mod retention;
pub mod routes;
pub mod schedules;
pub mod schemas;
mod tables;
pub mod tasks;
pub mod triggers;
pub mod uses;

//! The tables: one function per statement, rows to structs and back.
//!
//! Section 4 of ARCHITECTURE.md has the order of locks. In short, the instance's row comes before its bookmarks, tasks
//! and queue items. Statements run with the rights of the extension's owner.
//!
//! Rows that every call reads or writes by key go through [`crate::pg::rows`], without plans; all other queries are
//! statements of [`crate::pg::spi`].

pub mod accepted_owners;
pub mod activity_types;
pub mod admissions;
pub mod adoption;
pub mod assignments;
pub mod audit;
pub mod bookmarks;
pub mod compensations;
pub mod dead_letters;
pub mod definitions;
pub mod due;
pub mod erasure;
pub mod event_grants;
pub mod history;
pub mod identity;
pub mod incidents;
pub mod instances;
pub mod invoker_grants;
pub mod journal;
pub mod leases;
pub mod limits;
pub mod links;
pub mod matching;
pub mod messages;
pub mod migration;
pub mod moving;
pub mod named_schedules;
pub mod owners;
pub mod partitions;
pub mod paths;
pub mod pauses;
pub mod queue;
pub mod removal;
pub mod retention;
pub mod route;
pub mod routes;
pub mod schedules;
pub mod schemas;
pub mod selection;
mod tables;
pub mod task_grants;
pub mod tasks;
pub mod testing;
pub mod triggers;
pub mod unheard;
pub mod uses;
pub mod zones;

//! Timers: due bookmarks, timer triggers, schedules, and the commands that schedules run.

pub mod command;
pub mod due_bookmark;
pub mod due_work;
pub mod fire;
pub mod moved_clock;
pub mod schedule;
pub mod scheduled;
pub mod timing;
